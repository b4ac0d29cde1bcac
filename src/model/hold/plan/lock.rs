//! The lock of a plan: which process may write it.
//!
//! Every write of a plan tests the annotation with the lock in it, so two processes can never both write. Nothing renews
//! a lock, and it does not expire: a soak writes nothing. A holder whose process has ended on the host of the command is
//! replaced; any other one only with `--take-over`.

use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The lock of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// A random identity, one for each run.
    pub holder: String,
    /// The user and the host, for display: `ada@laptop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The host of the process, as [`Process`](crate::world::process::Process) identifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The process on that host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The time of its last write. A lease of earlier versions has it as `renewed`.
    #[serde(default, alias = "renewed", skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

impl Lock {
    /// Reads the member `lock`. An unreadable lock counts as held by another process.
    #[must_use]
    pub(super) fn read(member: &Value) -> Self {
        let unreadable = |_| Self { holder: member.to_string(), ..Self::default() };
        serde_json::from_value(member.clone()).unwrap_or_else(unreadable)
    }

    /// Returns the same lock with the time of a write.
    #[must_use]
    pub fn written_at(&self, now: String) -> Self {
        Self { written: Some(now), ..self.clone() }
    }

    /// Returns the time of the last write, if it is stored and readable.
    #[must_use]
    pub fn last_write(&self) -> Option<Timestamp> {
        self.written.as_deref()?.parse().ok()
    }
}
