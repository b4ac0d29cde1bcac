//! The lease of a plan: which process may write it. Two processes never release pods at the same time, and a
//! process that died does not block the next one for long.
//!
//! The holder writes a random identity, and a higher turn every [`RENEW_EVERY`], in a patch that tests the
//! previous value. No clocks are compared: another process takes over after it has seen the same lease for
//! [`LEASE_DURATION`] of its own time.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a lease lasts that its holder does not renew.
pub const LEASE_DURATION: Duration = Duration::from_secs(60);

/// How often the holder renews it.
pub const RENEW_EVERY: Duration = Duration::from_secs(20);

/// The lease of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// A random identity, one for each process.
    pub holder: String,
    /// The user and the host, for display: `ada@laptop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When it was acquired, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// When it was renewed, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewed: Option<String>,
    /// Increases with every write of the holder.
    #[serde(default)]
    pub turn: u64,
}

impl Lease {
    /// Reads the member `lease`. An unreadable lease counts as held by another process.
    #[must_use]
    pub(super) fn read(member: &Value) -> Self {
        let unreadable =
            |_| Self { holder: member.to_string(), by: None, since: None, renewed: None, turn: 0 };
        serde_json::from_value(member.clone()).unwrap_or_else(unreadable)
    }

    /// Returns the same lease, renewed. `now` is the time of day, for display.
    #[must_use]
    pub fn renewed(&self, now: String) -> Self {
        Self { turn: self.turn.wrapping_add(1), renewed: Some(now), ..self.clone() }
    }
}
