//! Whether the warnings about a target were read.

use std::time::Duration;

/// How long to wait for the first list of warnings. Without them some causes are taken for others, or lack the
/// words of the component that knows.
const PATIENCE: Duration = Duration::from_secs(3);

/// What is known of the warnings. They are read once a rollout is seen to be unfinished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FirstWarnings {
    /// Nothing depended on them so far.
    #[default]
    Unneeded,
    /// They are waited for until this time at most.
    Awaited(Duration),
    /// They were read, may not be read, or did not come in time.
    Known,
}

impl FirstWarnings {
    /// Whether the causes of an unfinished rollout have to wait for them.
    pub(super) fn are_awaited(&mut self, now: Duration) -> bool {
        *self = match *self {
            Self::Unneeded => Self::Awaited(now + PATIENCE),
            Self::Awaited(until) if now >= until => Self::Known,
            other => other,
        };
        *self != Self::Known
    }

    /// When causes wait no longer.
    pub(super) fn due(self) -> Option<Duration> {
        match self {
            Self::Awaited(until) => Some(until),
            Self::Unneeded | Self::Known => None,
        }
    }
}
