//! The plan of `step`: the member `plan` of the annotation. It is the only memory of `step`, so that any
//! process can continue where another one died.
//!
//! Facts that an observation shows are not in it: which pods run which revision, and since when they are
//! available.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::amount::Amount;
use super::is_false;
use crate::model::revision::digest::Digest;

/// The default of `--soak`. A pod that crashes soon after its start is available for a moment.
pub const SETTLING_TIME: Duration = Duration::from_secs(10);

/// The plan of `step`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The digest of the template that is released, in hexadecimal; while rolling back, of the one before.
    pub template: String,
    /// The name of the revision to go back to: the stable revision when the plan began, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How large the batches are, and what each has to pass.
    pub pace: Pace,
    /// How far the command goes that runs, or that died; none once it went that far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// Whether the plan goes below the StatefulSet's own partition.
    #[serde(default, skip_serializing_if = "is_false")]
    pub below_partition: bool,
    /// Whether pods are released, or go back.
    #[serde(default)]
    pub phase: Phase,
    /// The batch that began last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchRecord>,
    /// The sizes of the batches before that one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batch_sizes: Vec<usize>,
    /// Members that only a newer version knows.
    #[serde(flatten)]
    pub(in crate::model) rest: Map<String, Value>,
}

/// The direction of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// Batches are released.
    #[default]
    Rolling,
    /// The pods go back to the revision before.
    RollingBack,
}

/// A batch that began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchRecord {
    /// The number, counted from 1.
    pub number: usize,
    /// Whether it is one pod before all others.
    #[serde(default, skip_serializing_if = "is_false")]
    pub canary: bool,
    /// The slots in the order of release: pod names of a StatefulSet, node names of a DaemonSet, numbers of the pods
    /// of a Deployment.
    pub slots: Vec<String>,
    /// Whether it soaked and passed its check.
    #[serde(default, skip_serializing_if = "is_false")]
    pub done: bool,
    /// Where pods are only counted: of how many pods. The slots are their numbers then, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

/// How large the batches of a plan are, and what each has to pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pace {
    /// The size of a batch.
    #[serde(flatten)]
    pub batches: Batches,
    /// Whether the first batch is one pod while no pod runs the new revision.
    pub canary: bool,
    /// How many pods may be unavailable at any time. None is the default of 1, which is never refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<Amount>,
    /// How long the pods of a batch have to stay available before the next batch.
    #[serde(with = "duration")]
    pub soak: Duration,
    /// How long all pods have to after the last batch, before the plan ends.
    #[serde(with = "duration")]
    pub final_soak: Duration,
    /// How long a batch may wait for its next pod to be available; soaking does not count.
    #[serde(with = "duration")]
    pub batch_timeout: Duration,
    /// What happens when a batch or a check fails.
    pub on_failure: OnFailure,
    /// The command that runs between batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Whether pods on nodes that are not ready are ignored.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ignore_unready_nodes: bool,
    /// Deployments: how many pods may be beside the wanted ones. None is the Deployment's own `maxSurge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surge: Option<Amount>,
    /// DaemonSets: the node label whose values group the nodes; none to go by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// DaemonSets: a label selector of the nodes to step; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<String>,
    /// DaemonSets: whether pods are evicted, so that PodDisruptionBudgets apply, and not deleted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub evict: bool,
}

/// The size of batches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Batches {
    /// Each of this size.
    #[serde(rename = "by")]
    By(Amount),
    /// How many pods run the new revision after each batch, in rising order.
    #[serde(rename = "batches")]
    Until(Vec<Amount>),
}

/// What happens when a batch or a check fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// No more pods are released, and everything stays as it is.
    #[default]
    Hold,
    /// The released pods go back.
    Undo,
}

/// The command that runs between batches. The plan never stores the command itself, because nothing that is
/// read from the cluster is executed (design rule 16).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// SHA-256 of the command, in hexadecimal.
    #[serde(rename = "sha256")]
    pub digest: String,
    /// How long it may take.
    #[serde(with = "duration")]
    pub timeout: Duration,
}

/// How far one command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Reach {
    /// One batch.
    Next,
    /// Until this many pods run the new revision.
    To(Amount),
    /// To the end.
    All,
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
            below_partition: false,
            phase: Phase::Rolling,
            batch: None,
            batch_sizes: Vec::new(),
            rest: Map::new(),
        }
    }

    /// Returns the batch that began and is not done.
    #[must_use]
    pub fn batch_under_way(&self) -> Option<&BatchRecord> {
        self.batch.as_ref().filter(|batch| !batch.done)
    }

    /// Returns the plan for another number of pods: where pods are only counted, the batch that began last keeps its
    /// proportion, as the controller keeps that of the updated pods.
    #[must_use]
    pub(super) fn scaled_to(mut self, wanted: usize) -> Self {
        if let Some(batch) = &mut self.batch {
            batch.scale_to(wanted);
        }
        self
    }

    /// Whether the pods go back.
    #[must_use]
    pub fn is_rolling_back(&self) -> bool {
        self.phase == Phase::RollingBack
    }
}

impl BatchRecord {
    fn scale_to(&mut self, wanted: usize) {
        let Some(before) = self.of.filter(|before| *before != wanted && *before > 0 && wanted > 0) else {
            return;
        };
        let number = |slot: Option<&String>| slot.and_then(|slot| slot.parse::<usize>().ok());
        let (Some(first), Some(last)) = (number(self.slots.first()), number(self.slots.last())) else { return };
        // Rounded to the nearest, as the controller rounds the size of a ReplicaSet.
        let scaled = |number: usize| (2 * number * wanted + before) / (2 * before);
        let last = scaled(last.min(before)).max(1);
        let first = (scaled(first.saturating_sub(1)) + 1).min(last);
        self.slots = (first..=last).map(|number| number.to_string()).collect();
        self.of = Some(wanted);
    }
}

impl OnFailure {
    /// Returns the word of the flag.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Undo => "undo",
        }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            batches: Batches::By(Amount::Pods(1)),
            canary: true,
            max_unavailable: None,
            soak: SETTLING_TIME,
            final_soak: Duration::ZERO,
            batch_timeout: Duration::from_secs(600),
            on_failure: OnFailure::Hold,
            check: None,
            ignore_unready_nodes: false,
            surge: None,
            order: None,
            node_selector: None,
            evict: false,
        }
    }
}

/// `next`, `all`, or an amount.
impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Next => f.write_str("next"),
            Self::All => f.write_str("all"),
            Self::To(amount) => amount.fmt(f),
        }
    }
}

impl FromStr for Reach {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "next" => Self::Next,
            "all" => Self::All,
            amount => Self::To(amount.parse()?),
        })
    }
}

impl TryFrom<String> for Reach {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Reach> for String {
    fn from(reach: Reach) -> Self {
        reach.to_string()
    }
}

/// Durations in Go's syntax.
mod duration {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::model::text::go_duration;

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&go_duration::write(*duration))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        go_duration::parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is no duration")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain() -> Plan {
        Plan::new(&Digest::of(&json!(1)), None, Pace::default(), Reach::Next)
    }

    #[test]
    fn a_plan_survives_writing_and_reading() {
        let full = Plan {
            from: Some("db-1".to_owned()),
            pace: Pace {
                batches: Batches::Until(vec![Amount::Pods(1), Amount::PerCent(50)]),
                canary: false,
                max_unavailable: Some(Amount::PerCent(25)),
                soak: Duration::from_millis(90_500),
                final_soak: Duration::from_secs(3600),
                batch_timeout: Duration::from_secs(7),
                on_failure: OnFailure::Undo,
                check: Some(Check { digest: "ab".to_owned(), timeout: Duration::from_secs(60) }),
                ignore_unready_nodes: true,
                surge: Some(Amount::Pods(2)),
                order: Some("zone".to_owned()),
                node_selector: Some("a=b".to_owned()),
                evict: true,
            },
            reach: Some(Reach::To(Amount::PerCent(100))),
            below_partition: true,
            phase: Phase::RollingBack,
            batch: Some(BatchRecord {
                number: 2,
                canary: true,
                slots: vec!["db-1".to_owned(), "db-0".to_owned()],
                done: true,
                of: Some(4),
            }),
            batch_sizes: vec![1, 2],
            ..plain()
        };
        for plan in [plain(), full] {
            let json = serde_json::to_value(&plan).unwrap();
            assert_eq!(serde_json::from_value::<Plan>(json.clone()).unwrap(), plan, "{json}");
        }
    }

    #[test]
    fn a_batch_of_counted_pods_keeps_its_proportion() {
        for (slots, before, after, expected) in [
            (2..=5, 10, 20, 3..=10),
            (3..=10, 20, 10, 2..=5),
            (1..=1, 10, 20, 1..=2),
            (1..=1, 10, 3, 1..=1),
            (6..=10, 10, 7, 5..=7),
            (2..=3, 10, 10, 2..=3),
            (2..=3, 10, 0, 2..=3),
            (1..=10, 10, 1, 1..=1),
        ] {
            let names = |slots: std::ops::RangeInclusive<usize>| slots.map(|slot| slot.to_string()).collect();
            let words = format!("{slots:?} of {before}, scaled to {after}");
            let mut batch =
                BatchRecord { number: 2, canary: false, slots: names(slots), done: false, of: Some(before) };
            batch.scale_to(after);
            assert_eq!(batch.slots, names(expected) as Vec<_>, "{words}");
        }
    }

    #[test]
    fn members_of_a_newer_version_are_kept() {
        let mut json = serde_json::to_value(plain()).unwrap();
        json["later"] = json!([1]);
        let plan: Plan = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(plan).unwrap(), json);
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
            ("/reach", json!("far")),
            ("/phase", json!("sideways")),
            ("/batch", json!({"number": 1})),
            ("/batch", json!(3)),
            ("/batchSizes", json!(["x"])),
        ] {
            let mut bad = good.clone();
            let (above, member) = pointer.rsplit_once('/').unwrap();
            bad.pointer_mut(above).unwrap()[member] = value.clone();
            assert!(serde_json::from_value::<Plan>(bad).is_err(), "{pointer}: {value}");
        }
    }
}
