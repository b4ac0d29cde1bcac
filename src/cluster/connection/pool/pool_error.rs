//! Why a request of the pool got no response.

use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, OnceLock};

use http::Request;
use hyper::client::conn::TrySendError;
use kube::client::Body;
use rustls::Error as TlsError;

/// Why a request got no response.
#[derive(Debug)]
pub(in crate::cluster::connection) enum PoolError {
    /// The connection could not be opened.
    Connect(Arc<dyn StdError + Send + Sync>),
    /// An established connection was lost.
    Broken(hyper::Error),
    /// TLS ended an established connection: a server checks the client certificate after the handshake.
    Tls(TlsError),
}

/// Why a request got no response, with the request if nothing of it was sent.
pub(super) struct SendError {
    pub(super) error: PoolError,
    pub(super) unsent: Option<Request<Body>>,
}

impl SendError {
    pub(super) fn of(
        mut error: TrySendError<Request<Body>>,
        tls_failure: &OnceLock<TlsError>,
        may_go_over_another: bool,
    ) -> Self {
        let unsent = error.take_message().filter(|_| may_go_over_another);
        let error = match tls_failure.get() {
            Some(failure) => PoolError::Tls(failure.clone()),
            None => PoolError::Broken(error.into_error()),
        };
        Self { error, unsent }
    }
}

impl fmt::Display for PoolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(_) => formatter.write_str("no connection to the server"),
            Self::Broken(_) | Self::Tls(_) => formatter.write_str("the connection to the server broke"),
        }
    }
}

impl StdError for PoolError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Connect(error) => Some(&**error),
            Self::Broken(error) => Some(error),
            Self::Tls(error) => Some(error),
        }
    }
}
