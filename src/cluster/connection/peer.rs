//! Whom we talk to, and in whose name failures are explained.

mod answers;
mod faults;

use http::Uri;

use super::failure::Failure;
use crate::error::{Error, ErrorKind};

/// Whom we talk to.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// The server's address.
    pub(super) url: Uri,
    /// The proxy on the way there, as `HOST:PORT`.
    pub(super) proxy: Option<String>,
    /// What decided that it is this one: `context "shop"`.
    pub(super) source: String,
}

impl Peer {
    /// `HOST:PORT`.
    pub(super) fn address(&self) -> String {
        let usual = if self.url.scheme_str() == Some("http") { 80 } else { 443 };
        format!("{}:{}", self.host(), self.url.port_u16().unwrap_or(usual))
    }

    /// A failure as an error in words, with the way out.
    pub(super) fn explain(&self, failure: Failure) -> Error {
        let server = self.address();
        match failure {
            Failure::NotSent(error) => error,
            Failure::Fault(fault) => self.explain_fault(fault),
            Failure::Refused(answer) => self.explain_answer(&answer),
            Failure::Silent(limit) => unreachable(format!("{server} has not answered for {limit:?}"))
                .hint("try again, or give it longer with --request-timeout")
                .in_compat(unable(
                    "net/http: request canceled (Client.Timeout exceeded while awaiting headers)",
                )),
            Failure::OutOfTime(limit) => {
                unreachable(format!("{server} did not answer completely within {limit:?}"))
                    .hint("give it longer with --request-timeout")
                    .in_compat(unable(
                        "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
                    ))
            }
        }
    }

    fn host(&self) -> &str {
        self.url.host().unwrap_or_default()
    }
}

fn unreachable(message: String) -> Error {
    Error::new(ErrorKind::Unreachable, message)
}

/// kubectl's words for almost everything that keeps it from an answer.
fn unable(why: impl std::fmt::Display) -> String {
    format!("Unable to connect to the server: {why}")
}
