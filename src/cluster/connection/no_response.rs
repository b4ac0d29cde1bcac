//! Explains why no response arrived, from the nested errors of hyper, rustls and the system.

use std::error::Error as StdError;
use std::io::{Error as IoError, ErrorKind as IoErrorKind};
use std::time::Duration;

use kube::client::AuthError;
use rustls::{CertificateError, Error as TlsError};

use super::api_server::{ApiServer, unreachable};
use super::http_client::ConnectFailure;
use super::request_error::RequestError;
use super::trust::{in_words, is_unsupported, why_not_trusted};
use crate::error::{Error, words_of};

/// What to do about a P-521 key: of a server, of an authority, or of a client certificate.
pub(super) const WITHOUT_P521: &str = "issue it again with a P-256 or RSA key; until then run kubectl proxy, and add --server http://127.0.0.1:8001";

impl ApiServer {
    /// Explains an error of the HTTP client by the errors nested in it.
    pub(super) fn no_response(&self, error: &(dyn StdError + 'static)) -> RequestError {
        let chain: Vec<_> = std::iter::successors(Some(error), |error| source_of(*error)).collect();
        let text = chain.last().map(|error| words_of(*error)).unwrap_or_default();
        if chain.iter().any(|error| error.is::<AuthError>()) {
            return self.token_not_renewed(&text);
        }
        if let Some(tls) = chain.iter().find_map(|error| error.downcast_ref::<TlsError>()) {
            return self.tls_failed(tls);
        }
        if let Some(proxy) = chain.iter().find(|error| is_proxy_error(**error)) {
            return self.proxy_refused(if text.is_empty() { proxy.to_string() } else { text });
        }
        if text.starts_with("received fatal alert") {
            return self.alert_received(&text); // HTTP/2 keeps only the text of the alert that ended a connection
        }
        if !chain.iter().any(|error| error.is::<ConnectFailure>()) {
            let hyper = chain.iter().find_map(|error| error.downcast_ref::<hyper::Error>());
            let is_dead = hyper.is_some_and(hyper::Error::is_timeout);
            return self.connection_lost(if is_dead {
                "the server does not respond to a PING"
            } else {
                &text
            });
        }
        let server = self.address();
        let not_connected = |message: String, question: &str| {
            let hint = format!("{question} {}", self.where_from());
            RequestError::NotConnected(unreachable(message).hint(hint))
        };
        // hyper-util's DNS error type is private, so only its text identifies it.
        if chain.iter().any(|error| error.to_string() == "dns error") {
            return not_connected(format!("there is no host named {:?}", self.host()), "is the VPN up?");
        }
        match chain.iter().find_map(|error| error.downcast_ref::<IoError>()).map(IoError::kind) {
            Some(IoErrorKind::ConnectionRefused) => {
                not_connected(format!("{server} refuses connections"), "is the API server running?")
            }
            Some(IoErrorKind::TimedOut) => {
                not_connected(format!("{server} does not answer"), "is the VPN up?")
            }
            Some(IoErrorKind::UnexpectedEof | IoErrorKind::ConnectionReset) => {
                self.connection_lost("the server closed the connection")
            }
            _ => not_connected(format!("{server} cannot be reached: {text}"), "is the network up?"),
        }
    }

    /// Explains the loss of a connection, over which the request may have been sent.
    pub(super) fn connection_lost(&self, why: &str) -> RequestError {
        let error = unreachable(format!("the connection to {} was lost", self.address()))
            .hint(
                "try again; if it happens again, check the proxies and load balancers before the API server",
            )
            .caused_by(why);
        RequestError::Lost(error)
    }

    /// Explains that the response was not complete within a limit.
    pub(super) fn late(&self, limit: Duration) -> RequestError {
        let message = format!("{} did not send a complete response within {limit:?}", self.address());
        let error = unreachable(message).hint("try again, or raise the limit with --request-timeout");
        RequestError::Lost(error)
    }

    /// Explains that the response exceeds the limit of a response.
    pub(super) fn too_large(&self) -> RequestError {
        let error = unreachable(format!("the answer of {} has more than 256 MiB", self.address()))
            .hint("name a namespace with -n, or fewer workloads, so that there is less to read");
        RequestError::Unusable(error)
    }

    /// Explains that kube could not renew the token of an identity provider, which it does before it sends a request.
    fn token_not_renewed(&self, why: &str) -> RequestError {
        let error = unreachable("the OpenID Connect token cannot be renewed".to_owned()).caused_by(why);
        RequestError::NotSent(
            error.hint(format!("log in again; the token comes from {}", self.endpoint.source)),
        )
    }

    fn proxy_refused(&self, why: String) -> RequestError {
        let message =
            format!("the proxy {} refused the connection to {}", self.proxy_address(), self.address());
        let error = unreachable(message).caused_by(why).hint(
            "it is set with the kubeconfig's proxy-url or HTTPS_PROXY; NO_PROXY lists servers to reach directly",
        );
        RequestError::NotConnected(error)
    }

    fn tls_failed(&self, error: &TlsError) -> RequestError {
        match error {
            TlsError::InvalidCertificate(certificate) => self.certificate_refused(certificate),
            TlsError::AlertReceived(_) => self.alert_received(&error.to_string()),
            TlsError::InvalidMessage(_) => {
                let error = unreachable(format!("{} does not speak TLS", self.address()))
                    .hint("if that is intended, write the server as http://HOST:PORT");
                RequestError::NotConnected(error)
            }
            other => RequestError::Unusable(self.tls_error(&other.to_string())),
        }
    }

    /// Explains a TLS alert. A server checks the client certificate after the handshake.
    fn alert_received(&self, why: &str) -> RequestError {
        if why.ends_with("HandshakeFailure") {
            let why = "the server has no algorithm in common with this program's TLS library, \
                       which lacks P-521 keys that kubectl accepts";
            return RequestError::NotConnected(self.tls_error(why).hint(WITHOUT_P521));
        }
        let hint = format!(
            "the client certificate may have expired or belong to another cluster; it comes from {}",
            self.endpoint.source
        );
        RequestError::Unusable(self.tls_error(why).hint(hint))
    }

    fn tls_error(&self, why: &str) -> Error {
        unreachable(format!("TLS with {} failed", self.address())).caused_by(in_words(why))
    }

    /// Explains why the certificate of the server is not trusted.
    fn certificate_refused(&self, certificate: &CertificateError) -> RequestError {
        let hint = match certificate {
            certificate if is_unsupported(certificate) => WITHOUT_P521,
            CertificateError::UnknownIssuer => &format!(
                "set the cluster's certificate authority in {}, or with --certificate-authority FILE",
                self.endpoint.source
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "check this machine's clock; if it is right, the cluster's administrator must renew the certificate"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "check this machine's clock"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "set the name to check with --tls-server-name NAME"
            }
            _ => "the cluster's administrator must renew it",
        };
        let error = unreachable(format!("the certificate of {} is not trusted", self.address()));
        RequestError::NotConnected(error.caused_by(why_not_trusted(certificate)).hint(hint))
    }

    fn where_from(&self) -> String {
        if self.endpoint.is_server_from_flag {
            return "the server comes from --server".to_owned();
        }
        let choice = "choose another with --context or --server, or add !NAME to --contexts";
        format!("the server comes from {}; {choice}", self.endpoint.source)
    }
}

/// Returns the error directly below an error. The `source` of an I/O error skips the error it wraps.
fn source_of<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<IoError>().and_then(IoError::get_ref) {
        Some(content) => Some(content),
        None => error.source(),
    }
}

/// Whether an error comes from a proxy connector, whose error types are private.
fn is_proxy_error(error: &(dyn StdError + 'static)) -> bool {
    let text = error.to_string();
    text.starts_with("tunnel error") || text.starts_with("SOCKS error")
}

#[cfg(test)]
mod tests {
    use std::mem::discriminant;

    use rustls::AlertDescription;

    use super::*;

    /// A server certificate that is refused ends the handshake. After other failures the request may have been handled.
    #[test]
    fn nothing_was_handled_if_a_certificate_was_refused() {
        let alert = TlsError::AlertReceived(AlertDescription::CertificateRequired);
        let alerted = "TLS with in-process:80 failed: received fatal alert: certificate required";
        let [handled, lost, refused]: [fn(Error) -> RequestError; 3] =
            [RequestError::Unusable, RequestError::Lost, RequestError::NotConnected];
        for (error, sentence, failed) in [
            (IoError::other(alert.to_string()), alerted, handled),
            (IoError::other(alert), alerted, handled),
            (
                IoError::other(TlsError::InvalidCertificate(CertificateError::UnknownIssuer)),
                "the certificate of in-process:80 is not trusted: an unknown authority issued it",
                refused,
            ),
            (
                IoError::other(TlsError::DecryptError),
                "TLS with in-process:80 failed: cannot decrypt peer's message",
                handled,
            ),
            (
                IoError::other(TlsError::AlertReceived(AlertDescription::HandshakeFailure)),
                "TLS with in-process:80 failed: the server has no algorithm in common with this program's TLS \
                 library, which lacks P-521 keys that kubectl accepts",
                refused,
            ),
            (IoError::other("reset"), "the connection to in-process:80 was lost: reset", lost),
        ] {
            let server = ApiServer::in_process("shop");
            let failure = server.no_response(&error);
            let error = server.explain(&failure);
            assert_eq!(error.to_string(), sentence);
            assert_eq!(discriminant(&failure), discriminant(&failed(error)), "{sentence}");
        }
    }
}
