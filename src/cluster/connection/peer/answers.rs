//! Answers that were not asked for, in words: an API server's no, and what is no API server's at all.

use http::StatusCode;

use super::{Peer, unable, unreachable};
use crate::cluster::connection::answer::{Answer, Refusal};
use crate::error::{Error, ErrorKind};
use crate::model::name;

impl Peer {
    pub(super) fn explain_answer(&self, answer: &Answer) -> Error {
        match (answer.status, answer.refusal()) {
            (StatusCode::UNAUTHORIZED, refusal) => {
                let message = refusal.map(|refusal| refusal.message).filter(|message| !message.is_empty());
                self.explain_unauthorized(message.as_deref().unwrap_or("Unauthorized"))
            }
            (StatusCode::FORBIDDEN, Some(refusal)) => {
                let message = &refusal.message;
                let why = message.split_once(" is forbidden: ").map_or(message.as_str(), |(_, why)| why);
                Error::new(ErrorKind::Refused, format!("forbidden: {why}"))
                    .hint(format!("kubectl auth can-i --list{} shows what is allowed", within(why)))
                    .in_compat(format!("Error from server (Forbidden): {message}"))
            }
            (status, Some(Refusal { reason, message })) => {
                let reason = if reason.is_empty() { reason } else { format!(" ({reason})") };
                Error::new(ErrorKind::Refused, format!("{} answered {status}", self.address()))
                    .caused_by(&message)
                    .in_compat(format!("Error from server{reason}: {message}"))
            }
            (_, None) => self.explain_stranger(answer),
        }
    }

    fn explain_unauthorized(&self, message: &str) -> Error {
        Error::new(ErrorKind::Refused, format!("{} does not accept our credentials", self.address()))
            .hint(format!("they may have expired: log in again; {} says which they are", self.source))
            .in_compat(format!("You must be logged in to the server ({message})"))
    }

    /// An answer that no API server gave.
    fn explain_stranger(&self, answer: &Answer) -> Error {
        let server = self.address();
        let words = answer.words();
        if words.as_deref().is_some_and(|words| words.contains("HTTP request to an HTTPS server")) {
            return unreachable(format!("{server} speaks only TLS"))
                .hint("write the server as https://HOST:PORT")
                .in_compat(format!("Error from server (BadRequest): {}", words.unwrap_or_default()));
        }
        let what = match (answer.redirect(), words, answer.content_type()) {
            (Some(elsewhere), _, _) => format!("it sends us to {elsewhere}"),
            (None, Some(words), _) => format!("{}, {words}", answer.status),
            (None, None, "text/html") => format!("{}, a web page", answer.status),
            (None, None, "application/json") => format!("{}, JSON of another kind", answer.status),
            (None, None, type_) => format!("{}, {type_}", answer.status),
        };
        unreachable(format!("{server} does not answer as an API server does: {what}"))
            .hint(format!(
                "a login proxy may be in the way, or the address be wrong; {} names it",
                self.source
            ))
            .in_compat(unable(answer.status))
    }
}

/// The flag for the namespace that an API server's no is about. Nothing but a name becomes part of a
/// command to type.
fn within(why: &str) -> String {
    let namespace = why.split_once(" in the namespace \"").and_then(|(_, rest)| rest.split_once('"'));
    match namespace {
        Some((namespace, _)) if name::is_namespace(namespace) => format!(" -n {namespace}"),
        _ => String::new(),
    }
}
