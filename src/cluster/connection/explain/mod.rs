//! Turns request errors into errors for the user, with hints.

mod responses;
mod transport_errors;

use http::Uri;

use super::request_error::RequestError;
use crate::error::{Error, ErrorKind};

/// The API server of a connection, as errors describe it.
#[derive(Clone, Debug)]
pub(super) struct ApiServer {
    /// The server's URL.
    pub(super) url: Uri,
    /// The proxy that requests go through, as `HOST:PORT`.
    pub(super) proxy: Option<String>,
    /// Where the cluster and the user come from: `context "shop"`.
    pub(super) source: String,
    /// Whether the address comes from `--server`.
    pub(super) is_server_from_flag: bool,
    /// Whether credentials were left out because the server is reached over plain HTTP.
    pub(super) withheld: bool,
}

impl ApiServer {
    /// Returns the server as `HOST:PORT`.
    pub(super) fn address(&self) -> String {
        let usual = if self.url.scheme_str() == Some("http") { 80 } else { 443 };
        format!("{}:{}", self.host(), self.url.port_u16().unwrap_or(usual))
    }

    /// Turns a request error into an error for the user, with a hint.
    pub(super) fn explain(&self, failure: RequestError) -> Error {
        let server = self.address();
        match failure {
            RequestError::NotSent(error) => error,
            RequestError::Transport(error) => self.explain_transport_error(error),
            RequestError::Status(response) => self.explain_response(&response),
            RequestError::ReadTimeout(limit) => {
                unreachable(format!("{server} has not answered for {limit:?}"))
                    .hint("try again, or raise the limit with --request-timeout")
            }
            RequestError::TooLarge(why) => unreachable(format!("the answer of {server} {why}"))
                .hint("name a namespace with -n, or fewer workloads, so that there is less to read"),
            RequestError::DeadlineExceeded(limit) => {
                unreachable(format!("{server} did not send a complete response within {limit:?}"))
                    .hint("raise the limit with --request-timeout")
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
