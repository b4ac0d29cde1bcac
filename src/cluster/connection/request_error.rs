//! Why a request failed, and whether a retry can help.

use std::time::Duration;

use http::StatusCode;

use super::response::ApiResponse;
use super::transport_error::TransportError;
use crate::error::Error;

/// Why a request failed.
#[derive(Clone, Debug)]
pub(crate) enum RequestError {
    /// No response arrived.
    Transport(TransportError),
    /// The server sent nothing for this long.
    ReadTimeout(Duration),
    /// The response was not complete within this limit.
    DeadlineExceeded(Duration),
    /// The response exceeds a limit of memory, as a fragment: `has more than 256 MiB`.
    TooLarge(&'static str),
    /// The server sent a response other than the expected one.
    Status(ApiResponse),
    /// Nothing was sent: there is no credential, or it cannot be used.
    NotSent(Error),
}

impl RequestError {
    /// Whether the server responded with 403.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Status(response) if response.status == StatusCode::FORBIDDEN)
    }

    /// Whether the server responded with 401, or no credential could be obtained.
    pub(crate) fn is_unauthorized(&self) -> bool {
        match self {
            Self::Status(response) => response.status == StatusCode::UNAUTHORIZED,
            Self::NotSent(_) => true,
            Self::Transport(_) | Self::ReadTimeout(_) | Self::DeadlineExceeded(_) | Self::TooLarge(_) => {
                false
            }
        }
    }

    /// Whether the server responded with 401 or 403, or no credential could be obtained.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_forbidden() || self.is_unauthorized()
    }

    /// Whether the requested resourceVersion or continue token has expired (410).
    pub(crate) fn is_expired(&self) -> bool {
        matches!(self, Self::Status(response) if response.status == StatusCode::GONE)
    }

    /// Returns the minimum delay before a retry; none when a retry cannot help.
    ///
    /// A refused connection is not retried: it mostly means a wrong address, and the user should learn that
    /// at once. A 500 is retried only when the server sends `Retry-After`.
    pub(super) fn retry_delay(&self) -> Option<Duration> {
        match self {
            Self::Transport(TransportError::ConnectionBroken(_)) | Self::ReadTimeout(_) => {
                Some(Duration::ZERO)
            }
            Self::Status(response) => match response.status {
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT => Some(response.retry_after().unwrap_or_default()),
                StatusCode::INTERNAL_SERVER_ERROR => response.retry_after(),
                _ => None,
            },
            Self::Transport(_) | Self::DeadlineExceeded(_) | Self::TooLarge(_) | Self::NotSent(_) => None,
        }
    }

    /// Returns the failure as a fragment for a notice: `503 Service Unavailable`.
    pub(crate) fn summary(&self) -> String {
        match self {
            Self::Transport(error) => error.summary(),
            Self::ReadTimeout(silence) => format!("no response for {silence:?}"),
            Self::DeadlineExceeded(limit) => format!("no complete response within {limit:?}"),
            Self::TooLarge(why) => format!("the response {why}"),
            Self::Status(response) => response.status.to_string(),
            Self::NotSent(error) => error.sentence(),
        }
    }
}
