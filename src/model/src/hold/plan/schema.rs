//! The plan of `step`, how its batch failed, and its lock: members of the annotation.
//!
//! Only the plan outlives a process of `step`, so that any process can continue where another one died. It does not contain
//! facts that an observation shows, such as the revisions of pods and their availability.
//!
//! Every write of a plan tests the annotation with the lock in it, so two processes can never both write. Nothing renews
//! a lock, and it does not expire: a soak writes nothing. A holder whose process has ended on the host of the command is
//! replaced; any other one only with `--take-over`.
//!
//! Any client that may patch a workload can write the annotation, and the process that continues the plan may have more
//! permissions than that client. So its values have limits.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::pace::{Pace, Reach, duration};
use crate::text::json::Digest;

/// The plan of `step`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The digest of the template that `step` releases, in hexadecimal; during a rollback, of the stable revision.
    pub template: String,
    /// The name of the revision for a rollback: the stable revision when the plan began, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The size of the batches, and their conditions.
    pub pace: Pace,
    /// The goal of the running or interrupted command; none once it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// Whether the pods are rolled back to the stable revision. Otherwise batches are released.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rolling_back: bool,
    /// The last batch that began.
    #[serde(rename = "batch", default, skip_serializing_if = "Option::is_none")]
    pub last_batch: Option<PlannedBatch>,
    /// How a batch failed, until a command continues the plan; during a rollback, why it rolls back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<BatchFailure>,
}

/// A batch that began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedBatch {
    /// The number, counted from 1.
    pub number: usize,
    /// Whether it is the canary batch of one pod.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub canary: bool,
    /// The slots in the order of release: pod names of a StatefulSet, node names of a DaemonSet. Where pods are only counted,
    /// numbers of pods: the batch releases pods up to the last number, also after another client scaled the workload.
    pub slots: Vec<String>,
    /// Whether it soaked and passed its check.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
}

impl Plan {
    /// Returns a new plan.
    #[must_use]
    pub fn new(template: &Digest, from: Option<String>, pace: Pace, reach: Reach) -> Self {
        Self {
            template: template.hex(),
            from,
            pace,
            reach: Some(reach),
            rolling_back: false,
            last_batch: None,
            failure: None,
        }
    }
}

/// The limit of pods in a plan. A slot takes some hundred bytes, and any client that may scale a workload can set
/// `spec.replicas` to 2147483647. `step` refuses a workload of more pods.
pub const MAX_PODS: usize = 100_000;

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
        /// The batch; none if it ran for pods that no batch of the plan released.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batch: Option<usize>,
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
            Self::Check { batch: None, .. } => "the check failed".to_owned(),
            Self::Check { batch: Some(batch), failures: 0 | 1, .. } => {
                format!("the check of batch {batch} failed")
            }
            Self::Check { batch: Some(batch), failures, .. } => {
                format!("the check of batch {batch} failed {failures} times in a row")
            }
        }
    }
}

impl CheckResult {
    /// Returns the name for JSON.
    #[must_use]
    pub fn json_name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::TimedOut => "timed-out",
            Self::NotRun => "not-run",
        }
    }
}

/// The lock of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// A random identity, one for each run.
    pub holder: String,
    /// The user and the host, for display: `ada@laptop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The host of the process, as `src/world/process.rs` identifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The process on that host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The time of its last write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

impl Lock {
    /// Reads the member `lock`. An unreadable lock counts as held by another process.
    pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        let member = Value::deserialize(deserializer)?;
        let unreadable = |_| Self { holder: member.to_string(), ..Self::default() };
        Ok((!member.is_null()).then(|| Self::deserialize(&member).unwrap_or_else(unreadable)))
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

/// The limit of a stored text in characters. No name, digest or user is longer.
pub const LONGEST_TEXT: usize = 1024;

/// Whether every text in a value has at most [`LONGEST_TEXT`] characters, and every number 32 bits.
pub(crate) fn is_small(value: &Value) -> bool {
    let is_short = |text: &str| text.chars().count() <= LONGEST_TEXT;
    match value {
        Value::String(text) => is_short(text),
        Value::Number(number) => number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        Value::Array(items) => items.iter().all(is_small),
        Value::Object(members) => members.iter().all(|(name, value)| is_short(name) && is_small(value)),
        Value::Null | Value::Bool(_) => true,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::hold::plan::{Amount, BatchSize, Check, CheckResult, CheckWatch, OnFailure};
    use serde_json::json;
    use std::num::NonZeroU32;
    use std::time::Duration;

    /// Returns the member `plan` of an annotation.
    pub(crate) fn plan_json() -> Value {
        serde_json::to_value(plain()).unwrap()
    }

    fn plain() -> Plan {
        Plan::new(&Digest::of(&json!(1)), None, Pace::default(), Reach::Next)
    }

    #[test]
    fn a_plan_survives_writing_and_reading() {
        let full = Plan {
            from: Some("db-1".to_owned()),
            pace: Pace {
                batch_size: BatchSize::Until(vec![Amount::Pods(1), Amount::PerCent(50)]),
                canary: false,
                max_unavailable: Some(Amount::PerCent(25)),
                soak: Duration::from_millis(90_500),
                final_soak: Duration::from_secs(3600),
                batch_timeout: Duration::from_secs(7),
                on_failure: OnFailure::Undo,
                check: Some(Check {
                    digest: "ab".to_owned(),
                    watch: Some(CheckWatch {
                        every: Duration::from_secs(30),
                        failures: NonZeroU32::new(3).unwrap(),
                    }),
                }),
                ignore_unready_nodes: true,
                surge: Some(Amount::Pods(2)),
                order: Some("zone".to_owned()),
                node_selector: Some("a=b".to_owned()),
                evict: true,
            },
            reach: Some(Reach::To(Amount::PerCent(100))),
            rolling_back: true,
            last_batch: Some(PlannedBatch {
                number: 2,
                canary: true,
                slots: vec!["db-1".to_owned(), "db-0".to_owned()],
                done: true,
            }),
            failure: Some(BatchFailure::Check {
                batch: Some(2),
                result: CheckResult::Failed(Some(3)),
                failures: 2,
            }),
            ..plain()
        };
        for plan in [plain(), full] {
            let json = serde_json::to_value(&plan).unwrap();
            assert_eq!(serde_json::from_value::<Plan>(json.clone()).unwrap(), plan, "{json}");
        }
    }

    #[test]
    fn a_malformed_plan_is_refused() {
        let good = serde_json::to_value(plain()).unwrap();
        assert!(serde_json::from_value::<Plan>(good.clone()).is_ok());
        for (pointer, value) in [
            ("/template", json!(null)),
            ("/pace/soak", json!(5)),
            ("/pace/soak", json!("soon")),
            ("/pace/maxUnavailable", json!("0")),
            ("/pace/by", json!("-1")),
            ("/pace/by", json!(2)),
            ("/pace/onFailure", json!("panic")),
            ("/pace/check", json!("true")),
            ("/pace/check", json!({"sha256": "ab", "watch": {"every": "30s"}})),
            ("/pace/check", json!({"sha256": "ab", "watch": {"every": "30s", "failures": 0}})),
            ("/pace/check", json!({"sha256": "ab", "watch": {"every": "-1s", "failures": 1}})),
            ("/reach", json!("far")),
            ("/rollingBack", json!("sideways")),
            ("/batch", json!({"number": 1})),
            ("/batch", json!(3)),
        ] {
            let mut bad = good.clone();
            let (above, member) = pointer.rsplit_once('/').unwrap();
            bad.pointer_mut(above).unwrap()[member] = value.clone();
            assert!(serde_json::from_value::<Plan>(bad).is_err(), "{pointer}: {value}");
        }
    }

    #[test]
    fn large_texts_and_numbers_are_found_at_any_depth() {
        for (annotation, expected) in [
            (json!({"plan": {"batch": {"number": u64::MAX}}}), false),
            (json!({"plan": {"done": [1, i64::MIN]}}), false),
            (json!({"lock": {"turn": 1.5}}), false),
            (json!({"by": "x".repeat(1025)}), false),
            (json!({"plan": { "x".repeat(1025): 1 }}), false),
            (json!({"by": "ada@laptop", "later": {"a": [1, -1, true, null]}}), true),
        ] {
            assert_eq!(is_small(&annotation), expected, "{annotation}");
        }
    }

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
