//! Why no answer came, read from the errors of four libraries stacked on each other.

use std::error::Error as StdError;
use std::io::{Error as IoError, ErrorKind as IoErrorKind};

use hyper_util::client::legacy::Error as ClientError;
use k8s_openapi::jiff::Timestamp;
use rustls::{AlertDescription, CertificateError, Error as TlsError};

/// Why no answer came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nobody listens there.
    Refused,
    /// The name leads nowhere.
    Unresolved,
    /// Nobody answered to the connection.
    ConnectTimeout,
    /// The system says that there is no way there.
    Unroutable(String),
    /// The proxy did not let us through, and why.
    Proxy(String),
    /// The server's certificate is signed by nobody we trust.
    UnknownIssuer,
    /// The server's certificate ended, and when.
    Expired(Option<Timestamp>),
    /// The server's certificate begins in the future, and when.
    NotValidYet(Option<Timestamp>),
    /// The server's certificate is for other names than the one we asked for.
    WrongName {
        /// The name we asked for.
        asked: String,
        /// Those that it is for.
        names: Vec<String>,
    },
    /// The server's certificate is wrong in another way.
    BadCertificate(String),
    /// The server does not accept our certificate, or wants one.
    OurCertificate(String),
    /// What answers there speaks no TLS.
    NotTls,
    /// TLS failed in another way.
    Tls(String),
    /// A connection that stood broke.
    Broken(String),
}

impl Fault {
    /// Finds out what lies beneath an error of the transport.
    pub(super) fn of(error: &(dyn StdError + 'static)) -> Self {
        let chain: Vec<_> = std::iter::successors(Some(error), |error| beneath(*error)).collect();
        let words = chain.last().map(ToString::to_string).unwrap_or_default();
        let through_proxy = chain.iter().find(|error| is_of_a_proxy(**error));
        if let Some(tls) = chain.iter().find_map(|error| error.downcast_ref::<TlsError>()) {
            return Self::of_tls(tls);
        }
        if let Some(proxy) = through_proxy {
            return Self::Proxy(if words.is_empty() { proxy.to_string() } else { words });
        }
        let client = chain.iter().find_map(|error| error.downcast_ref::<ClientError>());
        if !client.is_some_and(ClientError::is_connect) {
            return Self::Broken(words);
        }
        // The type that says so cannot be named.
        if chain.iter().any(|error| error.to_string() == "dns error") {
            return Self::Unresolved;
        }
        match chain.iter().find_map(|error| error.downcast_ref::<IoError>()).map(IoError::kind) {
            Some(IoErrorKind::ConnectionRefused) => Self::Refused,
            Some(IoErrorKind::TimedOut) => Self::ConnectTimeout,
            Some(IoErrorKind::UnexpectedEof | IoErrorKind::ConnectionReset) => {
                Self::Broken("the server closed the connection".to_owned())
            }
            _ => Self::Unroutable(words),
        }
    }

    fn of_tls(error: &TlsError) -> Self {
        match error {
            TlsError::InvalidCertificate(certificate) => Self::of_certificate(certificate),
            TlsError::AlertReceived(
                alert @ (AlertDescription::CertificateRequired
                | AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied),
            ) => Self::OurCertificate(format!("{alert:?}")),
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
            CertificateError::Expired => Self::Expired(None),
            CertificateError::ExpiredContext { not_after, .. } => Self::Expired(time(not_after)),
            CertificateError::NotValidYet => Self::NotValidYet(None),
            CertificateError::NotValidYetContext { not_before, .. } => Self::NotValidYet(time(not_before)),
            CertificateError::NotValidForNameContext { expected, presented } => Self::WrongName {
                asked: expected.to_str().into_owned(),
                names: presented.iter().map(|name| plain(name)).collect(),
            },
            other => Self::BadCertificate(other.to_string()),
        }
    }
}

/// `DnsName("api.corp")` and `IpAddress(10.0.0.1)`, as a certificate's names are given to us, without their shells.
fn plain(name: &str) -> String {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"').to_owned()
}

/// What lies directly beneath an error. An I/O error hands out what is beneath its content, not the content.
fn beneath<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<IoError>().and_then(IoError::get_ref) {
        Some(content) => Some(content),
        None => error.source(),
    }
}

/// The types cannot be named, but they all begin with their own name.
fn is_of_a_proxy(error: &(dyn StdError + 'static)) -> bool {
    let words = error.to_string();
    words.starts_with("tunnel error") || words.starts_with("SOCKS error")
}
