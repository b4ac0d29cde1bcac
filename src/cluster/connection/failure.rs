//! Why a request did not bring what was asked for, and whether that may pass.

use std::time::Duration;

use http::StatusCode;

use super::answer::Answer;
use super::fault::Fault;
use crate::error::Error;

/// Why a request did not bring what was asked for.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// No answer came.
    Fault(Fault),
    /// The server said nothing for so long.
    Silent(Duration),
    /// Its time was over before the answer was complete.
    OutOfTime(Duration),
    /// The server answered, and not with what was asked for.
    Refused(Answer),
    /// Nothing was sent: there is no credential, or no way to use it.
    NotSent(Error),
}

impl Failure {
    /// Whether the server said that we may not.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused(answer) if answer.status == StatusCode::FORBIDDEN)
    }

    /// Whether the server does not know who we are, or we have nothing to say it with.
    pub(crate) fn is_unauthorized(&self) -> bool {
        match self {
            Self::Refused(answer) => answer.status == StatusCode::UNAUTHORIZED,
            Self::NotSent(_) => true,
            Self::Fault(_) | Self::Silent(_) | Self::OutOfTime(_) => false,
        }
    }

    /// Whether the server no longer remembers the version that we wanted to go on from.
    pub(crate) fn is_forgotten(&self) -> bool {
        matches!(self, Self::Refused(answer) if answer.status == StatusCode::GONE)
    }

    /// How long to wait at least before it may have passed; none when it will not pass.
    ///
    /// A refused connection does not pass: a server that restarts is back later than anybody wants to
    /// wait for an answer to a wrong address. A refusal with a 500 passes only when the server says so.
    pub(super) fn passes_after(&self) -> Option<Duration> {
        match self {
            Self::Fault(Fault::Broken(_)) | Self::Silent(_) => Some(Duration::ZERO),
            Self::Refused(answer) => match answer.status {
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT => Some(answer.retry_after().unwrap_or_default()),
                StatusCode::INTERNAL_SERVER_ERROR => answer.retry_after(),
                _ => None,
            },
            Self::Fault(_) | Self::OutOfTime(_) | Self::NotSent(_) => None,
        }
    }

    /// The failure as a fragment for a notice: `503 Service Unavailable`.
    pub(crate) fn in_short(&self) -> String {
        match self {
            Self::Fault(Fault::Broken(words)) => format!("the connection broke ({words})"),
            Self::Fault(fault) => format!("{fault:?}"),
            Self::Silent(silence) => format!("no answer for {silence:?}"),
            Self::OutOfTime(limit) => format!("no complete answer within {limit:?}"),
            Self::Refused(answer) => answer.status.to_string(),
            Self::NotSent(error) => error.sentence(),
        }
    }
}
