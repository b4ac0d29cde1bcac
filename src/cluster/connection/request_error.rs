//! Why a request failed, whether a retry can help, and a failure that several requests share.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;
use tokio::time::Instant;

use super::message::ApiResponse;
use crate::error::Error;

/// Why a request failed.
#[derive(Clone, Debug)]
pub(crate) enum RequestError {
    /// Nothing was sent: there is no credential, or it cannot be used.
    NotSent(Error),
    /// No response arrived, or not all of it.
    NoResponse(NoResponse),
    /// The server sent a response other than the expected one.
    Status(ApiResponse),
}

/// Why no response arrived, or not all of it.
#[derive(Clone, Debug)]
pub(crate) struct NoResponse {
    /// The failure as a fragment for a notice: `connection refused`.
    pub(super) summary: String,
    /// The error for the user.
    pub(super) error: Error,
    /// Whether the server may have handled the request.
    pub(crate) may_be_handled: bool,
    /// Whether a further attempt may succeed at once.
    pub(super) is_transient: bool,
}

impl NoResponse {
    /// Creates the failure of a connection over which nothing was sent.
    pub(crate) fn without_connection(summary: impl Into<String>, error: Error) -> Self {
        Self { summary: summary.into(), error, may_be_handled: false, is_transient: false }
    }

    /// Creates the failure of a request that may have been sent.
    pub(crate) fn after_sending(summary: impl Into<String>, error: Error) -> Self {
        Self { may_be_handled: true, ..Self::without_connection(summary, error) }
    }

    /// Marks a failure after which a further attempt may succeed at once.
    pub(crate) fn transient(self) -> Self {
        Self { is_transient: true, ..self }
    }
}

impl From<NoResponse> for RequestError {
    fn from(failure: NoResponse) -> Self {
        Self::NoResponse(failure)
    }
}

impl RequestError {
    /// Whether the server responded with 403.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.has_status(StatusCode::FORBIDDEN)
    }

    /// Whether the server responded with 401 or 403, or no credential could be obtained.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self, Self::NotSent(_)) || self.is_forbidden() || self.has_status(StatusCode::UNAUTHORIZED)
    }

    /// Whether the requested resourceVersion or continue token has expired (410).
    pub(crate) fn is_expired(&self) -> bool {
        self.has_status(StatusCode::GONE)
    }

    /// Whether the server responded with this status.
    pub(crate) fn has_status(&self, status: StatusCode) -> bool {
        matches!(self, Self::Status(response) if response.status == status)
    }

    /// Returns the minimum delay before a retry; none when a retry cannot help.
    ///
    /// A refused connection is not retried: it mostly means a wrong address, and the user should learn that
    /// at once. A 500 is retried only when the server sends `Retry-After`.
    pub(super) fn retry_delay(&self) -> Option<Duration> {
        match self {
            Self::NotSent(_) => None,
            Self::NoResponse(failure) => failure.is_transient.then_some(Duration::ZERO),
            Self::Status(response) => match response.status {
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT => Some(response.retry_after().unwrap_or_default()),
                StatusCode::INTERNAL_SERVER_ERROR => response.retry_after(),
                _ => None,
            },
        }
    }

    /// Returns the failure as a fragment for a notice: `503 Service Unavailable`.
    pub(crate) fn summary(&self) -> String {
        match self {
            Self::NotSent(error) => error.sentence(),
            Self::NoResponse(failure) => failure.summary.clone(),
            Self::Status(response) => response.status.to_string(),
        }
    }
}

/// The last failure of an attempt that runs once at a time. The requests that waited for it fail with it, instead of
/// trying one after another. A later request tries again.
#[derive(Debug)]
pub(in crate::cluster) struct SharedFailure<E>(Mutex<Option<(Instant, E)>>);

impl<E> Default for SharedFailure<E> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<E: Clone> SharedFailure<E> {
    /// Returns the failure of an attempt that ended after a request `asked` for its result.
    pub(in crate::cluster) fn since(&self, asked: Instant) -> Option<E> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(at, _)| *at >= asked).map(|(_, failure)| failure.clone())
    }

    /// Records that the attempt failed now.
    pub(in crate::cluster) fn record(&self, failure: &E) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), failure.clone()));
    }
}
