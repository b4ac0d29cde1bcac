//! Turns request errors into errors for the user, with hints.

use http::{StatusCode, Uri};
use k8s_openapi::jiff::Timestamp;

use super::request_error::RequestError;
use crate::cluster::connection::response::{ApiResponse, StatusError};
use crate::cluster::connection::transport_error::TransportError;
use crate::error::{Error, ErrorKind};
use crate::model::text::name::is_namespace_name;
use crate::model::text::shell_command::{Word, command};

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

impl ApiServer {
    fn explain_response(&self, response: &ApiResponse) -> Error {
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

impl ApiServer {
    fn explain_transport_error(&self, error: TransportError) -> Error {
        let server = self.address();
        match error {
            TransportError::ConnectionRefused => unreachable(format!("{server} refuses connections"))
                .hint(format!("is the API server running? {}", self.where_from())),
            TransportError::UnknownHost => unreachable(format!("there is no host named {:?}", self.host()))
                .hint(format!("is the VPN up? {}", self.where_from())),
            TransportError::ConnectTimeout => unreachable(format!("{server} does not answer"))
                .hint(format!("is the VPN up? {}", self.where_from())),
            TransportError::Unroutable(why) => unreachable(format!("{server} cannot be reached"))
                .hint(format!("is the network up? {}", self.where_from()))
                .caused_by(why),
            TransportError::Proxy(why) => self.explain_proxy(&why),
            TransportError::ClientCertificateRejected(alert) => {
                unreachable(format!("{server} rejected the client certificate"))
                    .hint(format!(
                        "it may have expired or belong to another cluster; it comes from {}",
                        self.source
                    ))
                    .caused_by(alert)
            }
            TransportError::NotTls => unreachable(format!("{server} does not speak TLS"))
                .hint("if that is intended, write the server as http://HOST:PORT"),
            TransportError::Tls(why) => {
                unreachable(format!("the TLS handshake with {server} failed")).caused_by(why)
            }
            TransportError::ConnectionBroken(why) => unreachable(format!(
                "the connection to {server} was lost"
            ))
            .hint(
                "try again; if it happens again, check the proxies and load balancers before the API server",
            )
            .caused_by(why),
            certificate => self.explain_certificate(certificate),
        }
    }

    fn explain_certificate(&self, error: TransportError) -> Error {
        let server = self.address();
        let certificate = |what: String| unreachable(format!("the certificate of {server} {what}"));
        match error {
            TransportError::CertificateExpired(end) => certificate(format!("has expired{}", at(end)))
                .hint("check this machine's clock; if it is right, the cluster's administrator must renew the certificate"),
            TransportError::CertificateNotYetValid(begin) => {
                certificate(format!("is not valid yet{}", at(begin)))
                    .hint("check this machine's clock")
            }
            TransportError::HostnameMismatch { expected, names } => {
                certificate(format!("is not valid for {expected}, only for {}", names.join(", ")))
                    .hint("set the name to check with --tls-server-name NAME")
            }
            TransportError::InvalidCertificate(why) => certificate("cannot be used".to_owned())
                .hint("the cluster's administrator must renew it")
                .caused_by(why),
            _ => certificate("is not trusted: its issuer is unknown".to_owned())
                .hint(format!(
                    "set the cluster's certificate authority in {}, or with --certificate-authority FILE",
                    self.source
                )),
        }
    }

    fn explain_proxy(&self, why: &str) -> Error {
        let proxy = self.proxy.as_deref().unwrap_or_default();
        unreachable(format!("the proxy {proxy} refused the connection to {}", self.address()))
            .caused_by(why)
            .hint(
                "it is set with the kubeconfig's proxy-url or HTTPS_PROXY; NO_PROXY lists servers to reach directly",
            )
    }

    fn where_from(&self) -> String {
        if self.is_server_from_flag {
            return "the server comes from --server".to_owned();
        }
        format!("the server comes from {}; choose another with --context or --server", self.source)
    }
}

fn at(time: Option<Timestamp>) -> String {
    time.map_or_else(String::new, |time| format!(" ({time})"))
}
