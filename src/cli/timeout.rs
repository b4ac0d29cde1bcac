//! The flags `--timeout` and `--fail-fast`, which every verb has that follows rollouts.

use std::time::Duration;

use clap::Args;

use super::duration::{count, duration};
use crate::error::{Error, Result};
use crate::model::cause::AllowedRestarts;
use crate::model::follow::FollowOptions;

/// The default grace period of a fatal cause.
pub(super) const GRACE: &str = "30s";

/// The time limits of following.
#[derive(Debug, Args)]
pub(super) struct TimeoutArgs {
    /// How long to follow, such as 90s or 1h30m; 0 is no limit
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = timeout)]
    timeout: Option<Timeout>,

    /// Fail once a cause that needs a fix has lasted for GRACE [default: 30s]
    ///
    /// These causes are: an image that cannot be pulled, a missing ConfigMap, Secret or key, a pod that cannot
    /// start, from the second restart on a crash or a kill by a probe, and pods that a quota or admission
    /// refuses. Success waits until the updated pods have been ready for 10s.
    #[arg(long, value_name = "GRACE", num_args = 0..=1, require_equals = true, default_missing_value = GRACE, value_parser = duration)]
    fail_fast: Option<Duration>,

    /// A container that runs again after at most N restarts is in no crash loop
    ///
    /// For containers that crash until what they need is there. Counted are the restarts since the pod was
    /// created. A crashed container that waits for its next run is shown, and fails nothing before restart
    /// N+1; without this flag, before the second.
    #[arg(long, value_name = "N", value_parser = count::<u32>, hide_short_help = true)]
    allow_restarts: Option<u32>,
}

impl TimeoutArgs {
    /// Whether any of them was given.
    pub(super) fn are_set(&self) -> bool {
        self.timeout.is_some() || self.fail_fast.is_some() || self.allow_restarts.is_some()
    }

    pub(super) fn lower(&self) -> Result<FollowOptions> {
        let timeout = self.timeout.map(Timeout::limit).transpose()?.flatten();
        let allowed_restarts = AllowedRestarts(self.allow_restarts);
        Ok(FollowOptions { timeout, fail_fast: self.fail_fast, allowed_restarts, ..FollowOptions::default() })
    }
}

/// How long to follow.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timeout {
    /// At most this long.
    Limit(Duration),
    /// No limit: 0.
    None,
    /// A negative duration, which is no limit in kubectl.
    Negative,
}

impl Timeout {
    /// Returns the limit.
    ///
    /// # Errors
    /// For a negative duration.
    pub(super) fn limit(self) -> Result<Option<Duration>> {
        match self {
            Self::Limit(limit) => Ok(Some(limit)),
            Self::Negative => {
                Err(Error::usage("--timeout cannot be negative").hint("for no limit: --timeout 0"))
            }
            Self::None => Ok(None),
        }
    }
}

/// Parses the value of `--timeout`.
pub(super) fn timeout(word: &str) -> Result<Timeout, &'static str> {
    let magnitude = duration(word.strip_prefix('-').unwrap_or(word))?;
    Ok(match magnitude {
        Duration::ZERO => Timeout::None,
        _ if word.starts_with('-') => Timeout::Negative,
        limit => Timeout::Limit(limit),
    })
}
