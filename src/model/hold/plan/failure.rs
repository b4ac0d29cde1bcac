//! How a batch failed. The plan stores it, so that the next process and `status` can say it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::pace::duration;

/// Why a batch failed, or updated pods outside a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "camelCase")]
pub enum BatchFailure {
    /// A fatal cause.
    Cause {
        /// The batch; none if an earlier plan released the pods, or if they failed after their batch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batch: Option<usize>,
        /// The id of the cause.
        id: String,
        /// The pods.
        pods: Vec<String>,
    },
    /// Pods were not updated and available in time. If they were not replaced either, the controller does not run, or a
    /// PodDisruptionBudget allows no eviction.
    TimedOut {
        /// The batch.
        batch: usize,
        /// The batch timeout.
        #[serde(with = "duration")]
        after: Duration,
        /// The pods.
        pods: Vec<String>,
    },
    /// The check did not pass.
    Check {
        /// The batch.
        batch: usize,
        /// The result of its last run.
        result: CheckResult,
        /// How many runs in a row did not pass.
        failures: u32,
    },
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckResult {
    /// Exit 0.
    Passed,
    /// Another exit code; none after a signal.
    Failed(Option<i32>),
    /// It exceeded its timeout, and was killed.
    TimedOut,
    /// It could not be started, or the command has no `--check`.
    NotRun,
}

/// The limit for the pod names of a stored failure, in bytes. With the names of a batch, and all other annotations of the object,
/// they have to fit into 256 KiB: a rollback must not be refused because of them.
const MAX_STORED_NAMES: usize = 32 << 10;

impl BatchFailure {
    /// Returns what a plan stores of it; none if it names too many pods.
    #[must_use]
    pub fn stored(&self) -> Option<Self> {
        let length = match self {
            Self::Check { .. } => 0,
            Self::Cause { pods, .. } | Self::TimedOut { pods, .. } => pods.iter().map(String::len).sum(),
        };
        (length <= MAX_STORED_NAMES).then(|| self.clone())
    }

    /// Returns it as a clause without the pods: `batch 2 failed: crash-loop`, after a timeout `batch 2 failed`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Cause { batch: Some(batch), id, .. } => format!("batch {batch} failed: {id}"),
            Self::Cause { batch: None, id, .. } => format!("updated pods failed outside a batch: {id}"),
            Self::TimedOut { batch, .. } => format!("batch {batch} failed"),
            Self::Check { batch, failures: 0 | 1, .. } => format!("the check of batch {batch} failed"),
            Self::Check { batch, failures, .. } => {
                format!("the check of batch {batch} failed {failures} times in a row")
            }
        }
    }
}

impl CheckResult {
    /// Returns the name for JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::TimedOut => "timed-out",
            Self::NotRun => "not-run",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_too_many_pods_is_not_stored() {
        let failure = |count: usize| BatchFailure::Cause {
            batch: None,
            id: "crash-loop".to_owned(),
            pods: vec!["x".repeat(64); count],
        };
        for (count, is_stored) in [(1, true), (512, true), (513, false)] {
            let failure = failure(count);
            assert_eq!(failure.stored(), is_stored.then_some(failure), "{count}");
        }
    }
}
