//! Waits for the first list of warnings about a target.

use std::time::Duration;

/// How long to wait for the first list of warnings. Without warnings, some causes cannot be distinguished or have no
/// evidence.
const FIRST_WARNINGS_TIMEOUT: Duration = Duration::from_secs(3);

/// The state of the warnings. They are read once a rollout is known to be incomplete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FirstWarnings {
    /// They were not needed so far.
    #[default]
    Unneeded,
    /// The follower waits for them, until this time at most.
    Awaited(Duration),
    /// They were read, are forbidden, or did not arrive in time.
    Known,
}

impl FirstWarnings {
    /// Whether the causes of an incomplete rollout must wait for them.
    pub(super) fn are_awaited(&mut self, now: Duration) -> bool {
        *self = match *self {
            Self::Unneeded => Self::Awaited(now + FIRST_WARNINGS_TIMEOUT),
            Self::Awaited(until) if now >= until => Self::Known,
            other => other,
        };
        *self != Self::Known
    }

    /// Returns when the wait ends.
    pub(super) fn due(self) -> Option<Duration> {
        match self {
            Self::Awaited(until) => Some(until),
            Self::Unneeded | Self::Known => None,
        }
    }
}
