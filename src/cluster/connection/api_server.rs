//! The API server of a connection, and what it means when it responds with an error.

use http::{StatusCode, Uri};
use hyper_util::client::proxy::matcher::Intercept;
use kube::config::{AuthInfo, Cluster};

use super::message::ApiResponse;
use super::request_error::RequestError;
use crate::cluster::kubeconfig::Endpoint;
use crate::error::{Error, ErrorKind};
use crate::model::text::shell_command::{Word, command};
use crate::model::text::untrusted::is_namespace_name;

/// The API server of a connection, and how it is reached.
#[derive(Debug)]
pub(super) struct ApiServer {
    /// The server's URL.
    pub(super) url: Uri,
    /// The proxy that requests go through.
    pub(super) proxy: Option<Intercept>,
    /// The cluster and the user.
    pub(super) endpoint: Endpoint,
    /// Whether credentials were left out because the server is reached over plain HTTP.
    pub(super) withheld: bool,
}

impl ApiServer {
    /// Creates a server in the same process, with the default namespace of its client.
    pub(super) fn in_process(namespace: &str) -> Self {
        let endpoint = Endpoint {
            cluster: Cluster::default(),
            user: AuthInfo::default(),
            namespace: Some(namespace.to_owned()),
            source: "this process".to_owned(),
            is_server_from_flag: false,
        };
        Self { url: Uri::from_static("http://in-process"), proxy: None, endpoint, withheld: false }
    }

    /// Returns the server as `HOST:PORT`.
    pub(super) fn address(&self) -> String {
        let usual = if self.url.scheme_str() == Some("http") { 80 } else { 443 };
        format!("{}:{}", self.host(), self.url.port_u16().unwrap_or(usual))
    }

    pub(super) fn host(&self) -> &str {
        self.url.host().unwrap_or_default()
    }

    /// Returns the proxy as `HOST:PORT`; nothing without one.
    pub(super) fn proxy_address(&self) -> &str {
        let proxy = self.proxy.as_ref().and_then(|proxy| proxy.uri().authority());
        proxy.map_or("", http::uri::Authority::as_str)
    }

    /// Returns the full URL of a request for the log.
    pub(super) fn display_url(&self, path: &Uri) -> String {
        let (base, scheme) =
            (self.url.path().trim_end_matches('/'), self.url.scheme_str().unwrap_or("https"));
        format!("{scheme}://{}{base}{path}", self.address())
    }

    /// Turns a request error into an error for the user, with a hint.
    pub(super) fn explain(&self, failure: &RequestError) -> Error {
        match failure {
            RequestError::NotSent(error)
            | RequestError::NotConnected(error)
            | RequestError::Lost(error)
            | RequestError::Unusable(error) => error.clone(),
            RequestError::Status(response) => self.explain_response(response),
        }
    }

    fn explain_response(&self, response: &ApiResponse) -> Error {
        match (response.status, response.status_text("message")) {
            (StatusCode::UNAUTHORIZED, _) => self.explain_unauthorized(),
            (StatusCode::FORBIDDEN, Some(message)) => {
                let why = message.split_once(" is forbidden: ").map_or(message.as_str(), |(_, why)| why);
                Error::new(ErrorKind::Refused, format!("forbidden: {why}"))
                    .hint(command("to see what is allowed: kubectl auth can-i --list{}", [within(why)]))
            }
            (status, Some(message)) => {
                Error::new(ErrorKind::Refused, format!("{} returned {status}", self.address()))
                    .caused_by(message)
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
            let source = &self.endpoint.source;
            Error::new(ErrorKind::Refused, format!("{server} does not accept the credentials"))
                .hint(format!("they may have expired, so log in again; they come from {source}"))
        }
    }

    /// Explains a response that does not come from an API server.
    fn explain_foreign_response(&self, response: &ApiResponse) -> Error {
        let (server, status) = (self.address(), response.status);
        let what = response.plain_text().unwrap_or_else(|| response.content_type().to_owned());
        unreachable(format!("{server} does not respond like an API server: {status}, {what}")).hint(format!(
            "the address may be wrong, or a login proxy may be in between; the address comes from {}",
            self.endpoint.source
        ))
    }
}

/// Creates the error of a server that cannot be reached.
pub(super) fn unreachable(message: String) -> Error {
    Error::new(ErrorKind::Unreachable, message)
}

/// Returns the `-n` flag for the namespace in a `Forbidden` message.
fn within(why: &str) -> Word {
    let namespace = why.split_once(" in the namespace \"").and_then(|(_, rest)| rest.split_once('"'));
    let namespace =
        namespace.map(|(namespace, _)| namespace).filter(|namespace| is_namespace_name(namespace));
    Word::in_namespace(namespace.unwrap_or_default())
}
