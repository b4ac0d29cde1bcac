//! Why no response arrived, read from the nested errors of hyper, rustls and the system.

use std::error::Error as StdError;
use std::io::{Error as IoError, ErrorKind as IoErrorKind};

use k8s_openapi::jiff::Timestamp;
use rustls::{AlertDescription, CertificateError, Error as TlsError};

use super::http_client::ConnectFailure;

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

/// Why no response arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TransportError {
    /// No process listens at the address.
    ConnectionRefused,
    /// DNS does not know the host name.
    UnknownHost,
    /// The TCP connection was not accepted in time.
    ConnectTimeout,
    /// The operating system has no route to the server.
    Unroutable(String),
    /// The proxy refused the connection, with its reason.
    Proxy(String),
    /// No trusted authority signed the server's certificate.
    UnknownIssuer,
    /// The server's certificate expired, with the time if it is known.
    CertificateExpired(Option<Timestamp>),
    /// The server's certificate is not valid yet, with the time from which it is.
    CertificateNotYetValid(Option<Timestamp>),
    /// The server's certificate is not valid for the server's name.
    HostnameMismatch {
        /// The name that was checked.
        expected: String,
        /// The names that the certificate is valid for.
        names: Vec<String>,
    },
    /// The server's certificate is invalid for another reason.
    InvalidCertificate(String),
    /// The server rejected the client certificate, or requires one.
    ClientCertificateRejected(String),
    /// The server does not speak TLS.
    NotTls,
    /// TLS failed for another reason.
    Tls(String),
    /// An established connection was lost.
    ConnectionBroken(String),
}

impl TransportError {
    /// Classifies an error of the HTTP client by the errors nested in it.
    pub(super) fn of(error: &(dyn StdError + 'static)) -> Self {
        let chain: Vec<_> = std::iter::successors(Some(error), |error| source_of(*error)).collect();
        let text = chain.last().map(ToString::to_string).unwrap_or_default();
        let through_proxy = chain.iter().find(|error| is_proxy_error(**error));
        if let Some(tls) = chain.iter().find_map(|error| error.downcast_ref::<TlsError>()) {
            return Self::of_tls(tls);
        }
        if let Some(proxy) = through_proxy {
            return Self::Proxy(if text.is_empty() { proxy.to_string() } else { text });
        }
        // HTTP/2 keeps only the text of the alert that ended a connection. A server checks the client certificate after
        // the handshake.
        if text.starts_with("received fatal alert") {
            let is_it = |alert: &AlertDescription| text == TlsError::AlertReceived(*alert).to_string();
            return match CLIENT_CERTIFICATE_ALERTS.into_iter().find(is_it) {
                Some(alert) => Self::of_tls(&TlsError::AlertReceived(alert)),
                None => Self::Tls(text),
            };
        }
        if !chain.iter().any(|error| error.is::<ConnectFailure>()) {
            let hyper = chain.iter().find_map(|error| error.downcast_ref::<hyper::Error>());
            let is_dead = hyper.is_some_and(hyper::Error::is_timeout);
            return Self::ConnectionBroken(if is_dead {
                "the server does not respond to a PING".to_owned()
            } else {
                text
            });
        }
        // hyper-util's DNS error type is private, so only its text identifies it.
        if chain.iter().any(|error| error.to_string() == "dns error") {
            return Self::UnknownHost;
        }
        match chain.iter().find_map(|error| error.downcast_ref::<IoError>()).map(IoError::kind) {
            Some(IoErrorKind::ConnectionRefused) => Self::ConnectionRefused,
            Some(IoErrorKind::TimedOut) => Self::ConnectTimeout,
            Some(IoErrorKind::UnexpectedEof | IoErrorKind::ConnectionReset) => {
                Self::ConnectionBroken("the server closed the connection".to_owned())
            }
            _ => Self::Unroutable(text),
        }
    }

    /// Returns the error as a fragment for a notice: `connection refused`.
    pub(super) fn summary(&self) -> String {
        match self {
            Self::ConnectionRefused => "connection refused".to_owned(),
            Self::UnknownHost => "no such host".to_owned(),
            Self::ConnectTimeout => "connection timed out".to_owned(),
            Self::Unroutable(text) => format!("no route to the server ({text})"),
            Self::Proxy(text) => format!("the proxy refused the connection ({text})"),
            Self::UnknownIssuer => "the server's certificate has an unknown issuer".to_owned(),
            Self::CertificateExpired(_) => "the server's certificate has expired".to_owned(),
            Self::CertificateNotYetValid(_) => "the server's certificate is not valid yet".to_owned(),
            Self::HostnameMismatch { expected, .. } => {
                format!("the server's certificate is not valid for {expected}")
            }
            Self::InvalidCertificate(text) => format!("the server's certificate is invalid ({text})"),
            Self::ClientCertificateRejected(text) => format!("client certificate rejected ({text})"),
            Self::NotTls => "the server does not speak TLS".to_owned(),
            Self::Tls(text) => format!("TLS failed ({text})"),
            Self::ConnectionBroken(text) => format!("the connection was lost ({text})"),
        }
    }

    fn of_tls(error: &TlsError) -> Self {
        match error {
            TlsError::InvalidCertificate(certificate) => Self::of_certificate(certificate),
            TlsError::AlertReceived(alert) if CLIENT_CERTIFICATE_ALERTS.contains(alert) => {
                Self::ClientCertificateRejected(format!("{alert:?}"))
            }
            TlsError::InvalidMessage(_) => Self::NotTls,
            other => Self::Tls(other.to_string()),
        }
    }

    fn of_certificate(error: &CertificateError) -> Self {
        let time = |time: &rustls::pki_types::UnixTime| {
            i64::try_from(time.as_secs()).ok().and_then(|seconds| Timestamp::from_second(seconds).ok())
        };
        match error {
            CertificateError::UnknownIssuer => Self::UnknownIssuer,
            CertificateError::Expired => Self::CertificateExpired(None),
            CertificateError::ExpiredContext { not_after, .. } => Self::CertificateExpired(time(not_after)),
            CertificateError::NotValidYet => Self::CertificateNotYetValid(None),
            CertificateError::NotValidYetContext { not_before, .. } => {
                Self::CertificateNotYetValid(time(not_before))
            }
            CertificateError::NotValidForNameContext { expected, presented } => Self::HostnameMismatch {
                expected: expected.to_str().into_owned(),
                names: presented.iter().map(|name| plain(name)).collect(),
            },
            other => Self::InvalidCertificate(other.to_string()),
        }
    }
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
