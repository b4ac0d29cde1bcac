//! Explains why no response arrived, from the nested errors of hyper, rustls and the system.

use std::error::Error as StdError;
use std::io::{Error as IoError, ErrorKind as IoErrorKind};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error as TlsError};

use super::api_server::{ApiServer, unreachable};
use super::http_client::ConnectFailure;
use super::request_error::NoResponse;

/// How a server rejects the client certificate, or asks for one.
const CLIENT_CERTIFICATE_ALERTS: [AlertDescription; 8] = [
    AlertDescription::CertificateRequired,
    AlertDescription::BadCertificate,
    AlertDescription::UnsupportedCertificate,
    AlertDescription::CertificateRevoked,
    AlertDescription::CertificateExpired,
    AlertDescription::CertificateUnknown,
    AlertDescription::UnknownCA,
    AlertDescription::AccessDenied,
];

impl ApiServer {
    /// Explains an error of the HTTP client by the errors nested in it.
    pub(super) fn no_response(&self, error: &(dyn StdError + 'static)) -> NoResponse {
        let chain: Vec<_> = std::iter::successors(Some(error), |error| source_of(*error)).collect();
        let text = chain.last().map(ToString::to_string).unwrap_or_default();
        if let Some(tls) = chain.iter().find_map(|error| error.downcast_ref::<TlsError>()) {
            return self.tls_failed(tls);
        }
        if let Some(proxy) = chain.iter().find(|error| is_proxy_error(**error)) {
            return self.proxy_refused(if text.is_empty() { proxy.to_string() } else { text });
        }
        // HTTP/2 keeps only the text of the alert that ended a connection. A server checks the client certificate after
        // the handshake.
        if text.starts_with("received fatal alert") {
            let is_it = |alert: &AlertDescription| text == TlsError::AlertReceived(*alert).to_string();
            return match CLIENT_CERTIFICATE_ALERTS.into_iter().find(is_it) {
                Some(alert) => self.tls_failed(&TlsError::AlertReceived(alert)),
                None => self.handshake_failed(text),
            };
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
        let not_connected = |summary: &str, message: String, question: &str| {
            let hint = format!("{question} {}", self.where_from());
            NoResponse::without_connection(summary, unreachable(message).hint(hint))
        };
        // hyper-util's DNS error type is private, so only its text identifies it.
        if chain.iter().any(|error| error.to_string() == "dns error") {
            let message = format!("there is no host named {:?}", self.host());
            return not_connected("no such host", message, "is the VPN up?");
        }
        match chain.iter().find_map(|error| error.downcast_ref::<IoError>()).map(IoError::kind) {
            Some(IoErrorKind::ConnectionRefused) => not_connected(
                "connection refused",
                format!("{server} refuses connections"),
                "is the API server running?",
            ),
            Some(IoErrorKind::TimedOut) => {
                not_connected("connection timed out", format!("{server} does not answer"), "is the VPN up?")
            }
            Some(IoErrorKind::UnexpectedEof | IoErrorKind::ConnectionReset) => {
                self.connection_lost("the server closed the connection")
            }
            _ => {
                let hint = format!("is the network up? {}", self.where_from());
                let error = unreachable(format!("{server} cannot be reached")).hint(hint);
                let summary = format!("no route to the server ({text})");
                NoResponse::without_connection(summary, error.caused_by(text))
            }
        }
    }

    /// Explains the loss of a connection, over which the request may have been sent.
    pub(super) fn connection_lost(&self, why: &str) -> NoResponse {
        let error = unreachable(format!("the connection to {} was lost", self.address()))
            .hint(
                "try again; if it happens again, check the proxies and load balancers before the API server",
            )
            .caused_by(why);
        NoResponse::after_sending(format!("the connection was lost ({why})"), error).transient()
    }

    /// Explains that the server sent nothing for this long.
    pub(super) fn silent(&self, limit: Duration) -> NoResponse {
        let error = unreachable(format!("{} has not answered for {limit:?}", self.address()))
            .hint("try again, or raise the limit with --request-timeout");
        NoResponse::after_sending(format!("no response for {limit:?}"), error).transient()
    }

    /// Explains that the response was not complete within a limit.
    pub(super) fn late(&self, limit: Duration) -> NoResponse {
        let message = format!("{} did not send a complete response within {limit:?}", self.address());
        let error = unreachable(message).hint("raise the limit with --request-timeout");
        NoResponse::after_sending(format!("no complete response within {limit:?}"), error)
    }

    /// Explains that the response exceeds a limit of memory; `why` is a fragment: `has more than 256 MiB`.
    pub(super) fn too_large(&self, why: &str) -> NoResponse {
        let error = unreachable(format!("the answer of {} {why}", self.address()))
            .hint("name a namespace with -n, or fewer workloads, so that there is less to read");
        NoResponse::after_sending(format!("the response {why}"), error)
    }

    fn proxy_refused(&self, why: String) -> NoResponse {
        let summary = format!("the proxy refused the connection ({why})");
        let message =
            format!("the proxy {} refused the connection to {}", self.proxy_address(), self.address());
        let error = unreachable(message).caused_by(why).hint(
            "it is set with the kubeconfig's proxy-url or HTTPS_PROXY; NO_PROXY lists servers to reach directly",
        );
        NoResponse::without_connection(summary, error)
    }

    fn tls_failed(&self, error: &TlsError) -> NoResponse {
        let server = self.address();
        match error {
            TlsError::InvalidCertificate(certificate) => self.certificate_refused(certificate),
            TlsError::AlertReceived(alert) if CLIENT_CERTIFICATE_ALERTS.contains(alert) => {
                let hint = format!(
                    "it may have expired or belong to another cluster; it comes from {}",
                    self.endpoint.source
                );
                let error = unreachable(format!("{server} rejected the client certificate")).hint(hint);
                let error = error.caused_by(format!("{alert:?}"));
                NoResponse::without_connection(format!("client certificate rejected ({alert:?})"), error)
            }
            TlsError::InvalidMessage(_) => {
                let error = unreachable(format!("{server} does not speak TLS"))
                    .hint("if that is intended, write the server as http://HOST:PORT");
                NoResponse::without_connection("the server does not speak TLS", error)
            }
            other => self.handshake_failed(other.to_string()),
        }
    }

    fn handshake_failed(&self, why: String) -> NoResponse {
        let error = unreachable(format!("the TLS handshake with {} failed", self.address()));
        NoResponse::after_sending(format!("TLS failed ({why})"), error.caused_by(why))
    }

    /// Explains why the certificate of the server cannot be trusted.
    fn certificate_refused(&self, error: &CertificateError) -> NoResponse {
        let certificate = |what: String| unreachable(format!("the certificate of {} {what}", self.address()));
        let expired = |end: String| {
            let error = certificate(format!("has expired{end}"))
                .hint("check this machine's clock; if it is right, the cluster's administrator must renew the certificate");
            NoResponse::without_connection("the server's certificate has expired", error)
        };
        let not_yet_valid = |begin: String| {
            let error = certificate(format!("is not valid yet{begin}")).hint("check this machine's clock");
            NoResponse::without_connection("the server's certificate is not valid yet", error)
        };
        match error {
            CertificateError::UnknownIssuer => {
                let error = certificate("is not trusted: its issuer is unknown".to_owned()).hint(format!(
                    "set the cluster's certificate authority in {}, or with --certificate-authority FILE",
                    self.endpoint.source
                ));
                NoResponse::without_connection("the server's certificate has an unknown issuer", error)
            }
            CertificateError::Expired => expired(String::new()),
            CertificateError::ExpiredContext { not_after, .. } => expired(at(*not_after)),
            CertificateError::NotValidYet => not_yet_valid(String::new()),
            CertificateError::NotValidYetContext { not_before, .. } => not_yet_valid(at(*not_before)),
            CertificateError::NotValidForNameContext { expected, presented } => {
                let (expected, names) = (expected.to_str(), presented.iter().map(|name| plain(name)));
                let names = names.collect::<Vec<_>>().join(", ");
                let error = certificate(format!("is not valid for {expected}, only for {names}"))
                    .hint("set the name to check with --tls-server-name NAME");
                let summary = format!("the server's certificate is not valid for {expected}");
                NoResponse::without_connection(summary, error)
            }
            other => {
                let error = certificate("cannot be used".to_owned())
                    .hint("the cluster's administrator must renew it")
                    .caused_by(other.to_string());
                NoResponse::without_connection(
                    format!("the server's certificate is invalid ({other})"),
                    error,
                )
            }
        }
    }

    fn where_from(&self) -> String {
        if self.endpoint.is_server_from_flag {
            return "the server comes from --server".to_owned();
        }
        format!("the server comes from {}; choose another with --context or --server", self.endpoint.source)
    }
}

/// Returns ` (2026-11-20T13:00:00Z)`; nothing for a time that cannot be printed.
fn at(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).ok();
    let time = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map_or_else(String::new, |time| format!(" ({time})"))
}

/// Returns `api.corp` for `DnsName("api.corp")`, as rustls formats the names of a certificate.
fn plain(name: &str) -> String {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"').to_owned()
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
    use super::*;

    /// A certificate that either side refuses ends the handshake. After other failures the request may have been handled.
    #[test]
    fn nothing_was_handled_if_a_certificate_was_refused() {
        let alert = TlsError::AlertReceived(AlertDescription::CertificateRequired);
        for (error, summary, may_be_handled) in [
            (IoError::other(alert.to_string()), "client certificate rejected (CertificateRequired)", false),
            (IoError::other(alert), "client certificate rejected (CertificateRequired)", false),
            (
                IoError::other(TlsError::InvalidCertificate(CertificateError::UnknownIssuer)),
                "the server's certificate has an unknown issuer",
                false,
            ),
            (IoError::other(TlsError::DecryptError), "TLS failed (cannot decrypt peer's message)", true),
            (IoError::other("reset"), "the connection was lost (reset)", true),
        ] {
            let failure = ApiServer::in_process("shop").no_response(&error);
            assert_eq!((failure.summary.as_str(), failure.may_be_handled), (summary, may_be_handled));
            assert_eq!(failure.is_transient, summary.contains("lost"), "{summary}");
        }
    }
}
