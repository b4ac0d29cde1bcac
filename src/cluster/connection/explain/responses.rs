//! Explains error responses: those of an API server, and those of a proxy or another server.

use http::StatusCode;

use super::{ApiServer, unreachable};
use crate::cluster::connection::response::{ApiResponse, StatusError};
use crate::error::{Error, ErrorKind};
use crate::model::text::name::is_namespace_name;
use crate::model::text::shell_command::{Word, command};

impl ApiServer {
    pub(super) fn explain_response(&self, response: &ApiResponse) -> Error {
        match (response.status, response.status_error()) {
            (StatusCode::UNAUTHORIZED, _) => self.explain_unauthorized(),
            (StatusCode::FORBIDDEN, Some(status_error)) => {
                let message = &status_error.message;
                let why = message.split_once(" is forbidden: ").map_or(message.as_str(), |(_, why)| why);
                Error::new(ErrorKind::Refused, format!("forbidden: {why}"))
                    .hint(command("to see what is allowed: kubectl auth can-i --list{}", [within(why)]))
            }
            (status, Some(StatusError { message, .. })) => {
                Error::new(ErrorKind::Refused, format!("{} returned {status}", self.address()))
                    .caused_by(message.as_str())
            }
            (_, None) => self.explain_foreign_response(response),
        }
    }

    fn explain_unauthorized(&self) -> Error {
        let server = self.address();
        if self.withheld {
            Error::new(
                ErrorKind::Refused,
                format!("{server} requires credentials, which are not sent over plain HTTP"),
            )
            .hint("write the server as https://HOST:PORT")
        } else {
            Error::new(ErrorKind::Refused, format!("{server} does not accept the credentials"))
                .hint(format!("they may have expired, so log in again; they come from {}", self.source))
        }
    }

    /// Explains a response that does not come from an API server.
    fn explain_foreign_response(&self, response: &ApiResponse) -> Error {
        let server = self.address();
        let words = response.plain_text();
        if words.as_deref().is_some_and(|words| words.contains("HTTP request to an HTTPS server")) {
            return unreachable(format!("{server} accepts only TLS"))
                .hint("write the server as https://HOST:PORT");
        }
        let what = match (response.redirect_host(), words, response.content_type()) {
            (Some(elsewhere), _, _) => format!("it redirects to {elsewhere}"),
            (None, Some(words), _) => format!("{}, {words}", response.status),
            (None, None, "text/html") => format!("{}, a web page", response.status),
            (None, None, "application/json") => format!("{}, JSON that is not a Status", response.status),
            (None, None, type_) => format!("{}, {type_}", response.status),
        };
        unreachable(format!("{server} does not respond like an API server: {what}")).hint(format!(
            "the address may be wrong, or a login proxy may be in between; the address comes from {}",
            self.source
        ))
    }
}

/// Returns the `-n` flag for the namespace in a `Forbidden` message.
fn within(why: &str) -> Word {
    let namespace = why.split_once(" in the namespace \"").and_then(|(_, rest)| rest.split_once('"'));
    let namespace =
        namespace.map(|(namespace, _)| namespace).filter(|namespace| is_namespace_name(namespace));
    Word::in_namespace(namespace.unwrap_or_default())
}
