//! The pace of a plan: how large its batches are, what each has to pass, and how far one command goes.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::observation::pod_stage::SETTLE_TIME;

/// A number of pods: absolute, or in per cent of the replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Amount {
    /// A number; at least 1.
    Pods(u32),
    /// Per cent; 1 to 100.
    PerCent(u32),
}

impl Amount {
    /// Returns the number of pods for a number of replicas. Rounds per cent down, at least to 1.
    #[must_use]
    pub fn pods_of(self, replicas: usize) -> usize {
        match self {
            Self::Pods(pods) => pods as usize,
            Self::PerCent(per_cent) => (replicas.saturating_mul(per_cent as usize) / 100).max(1),
        }
    }

    /// Returns the number of pods of these wanted ones, at most all of them. Rounds per cent up.
    #[must_use]
    pub fn pods_at_least(self, wanted: i64) -> i64 {
        match self {
            Self::Pods(pods) => i64::from(pods).min(wanted),
            Self::PerCent(per_cent) => (wanted.saturating_mul(i64::from(per_cent)) + 99) / 100,
        }
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, is_per_cent) = match text.strip_suffix('%') {
            Some(number) => (number, true),
            None => (text, false),
        };
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<u32> = number.parse().ok().filter(|_| is_number);
        match number {
            Some(number @ 1..=100) if is_per_cent => Ok(Self::PerCent(number)),
            Some(number @ 1..) if !is_per_cent => Ok(Self::Pods(number)),
            Some(0) => Err("it must be at least 1".to_owned()),
            Some(_) => Err("it must be at most 100%".to_owned()),
            None => Err("it must be a number of pods, such as 2, or per cent, such as 25%".to_owned()),
        }
    }
}

impl TryFrom<String> for Amount {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.to_string()
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pods(pods) => write!(f, "{pods}"),
            Self::PerCent(per_cent) => write!(f, "{per_cent}%"),
        }
    }
}

/// The least time limit of a batch in a stored plan. With a shorter one, any batch would fail.
const LEAST_BATCH_TIMEOUT: Duration = Duration::from_secs(10);

/// The least interval of a check in a stored plan.
pub const LEAST_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The size of the batches of a plan, and their conditions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pace {
    /// The size of a batch.
    #[serde(flatten)]
    pub batch_size: BatchSize,
    /// Whether the first batch has one pod if no pod runs the new revision.
    pub canary: bool,
    /// How many pods may be unavailable at any time. None means 1, or for some Deployments 0, so that a surge pod comes
    /// before each removal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<Amount>,
    /// How long the released pods, of a DaemonSet those of the batch, must stay available before the next batch.
    #[serde(with = "duration")]
    pub soak: Duration,
    /// How long all pods must stay available after the last batch, before the plan ends.
    #[serde(with = "duration")]
    pub final_soak: Duration,
    /// How long a batch may wait for its next pod to become available. Soaking does not count.
    #[serde(with = "duration")]
    pub batch_timeout: Duration,
    /// The reaction to a failed batch or check.
    pub on_failure: OnFailure,
    /// The check that runs after each batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Whether pods on nodes that are not ready are ignored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignore_unready_nodes: bool,
    /// Deployments: the limit of surge pods. None means the Deployment's own `maxSurge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surge: Option<Amount>,
    /// DaemonSets: the node label whose values group the nodes; none for the order of names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// DaemonSets: a label selector of the nodes to step; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<String>,
    /// DaemonSets: whether to evict pods instead of deleting them, so that PodDisruptionBudgets apply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub evict: bool,
}

/// The size of batches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BatchSize {
    /// All batches have this size.
    #[serde(rename = "by")]
    By(Amount),
    /// How many pods run the new revision after each batch, in rising order.
    #[serde(rename = "batches")]
    Until(Vec<Amount>),
}

/// The reaction to a failed batch or check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// Release no more pods, and change nothing else.
    #[default]
    Hold,
    /// Roll the released pods back.
    Undo,
}

/// The check that runs after each batch. The plan never stores its command, because this program executes nothing that
/// it reads from the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The SHA-256 of the command, in hexadecimal.
    #[serde(rename = "sha256")]
    pub digest: String,
    /// Whether it also runs during the soak, and how often it may fail then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<CheckWatch>,
}

/// A check that runs again and again during the soak of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckWatch {
    /// The time from the begin of one run to the begin of the next one.
    #[serde(with = "duration")]
    pub every: Duration,
    /// After how many failures in a row the batch fails.
    pub failures: NonZeroU32,
}

/// The goal of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reach {
    /// One batch.
    Next,
    /// Until this many pods run the new revision.
    To(Amount),
    /// All batches.
    All,
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

impl Pace {
    /// Returns the pace of a stored plan, whose limits another client may have written.
    #[must_use]
    pub fn with_floors(mut self) -> Self {
        self.batch_timeout = self.batch_timeout.max(LEAST_BATCH_TIMEOUT);
        if let Some(watch) = self.check.as_mut().and_then(|check| check.watch.as_mut()) {
            watch.every = watch.every.max(LEAST_CHECK_INTERVAL);
        }
        self
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            batch_size: BatchSize::By(Amount::Pods(1)),
            canary: true,
            max_unavailable: None,
            soak: SETTLE_TIME,
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

/// The flags that set the pace; none for a flag that was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaceFlags {
    /// `--by`, `--batches`.
    pub batch_size: Option<BatchSize>,
    /// `--no-canary`: false.
    pub canary: Option<bool>,
    /// `--max-unavailable`.
    pub max_unavailable: Option<Amount>,
    /// `--soak`.
    pub soak: Option<Duration>,
    /// `--final-soak`.
    pub final_soak: Option<Duration>,
    /// `--batch-timeout`.
    pub batch_timeout: Option<Duration>,
    /// `--on-failure`.
    pub on_failure: Option<OnFailure>,
    /// `--check`: the SHA-256 of its command, in hexadecimal; empty for an empty command, which removes the check.
    pub check: Option<String>,
    /// `--check-every`.
    pub check_every: Option<Duration>,
    /// `--check-failures`.
    pub check_failures: Option<NonZeroU32>,
    /// `--force`: true.
    pub ignore_unready_nodes: Option<bool>,
    /// `--surge`.
    pub surge: Option<Amount>,
    /// `--order`.
    pub order: Option<String>,
    /// `--node-selector`.
    pub node_selector: Option<String>,
    /// `--evict`.
    pub evict: Option<bool>,
}

impl PaceFlags {
    /// Returns a pace with these flags applied.
    #[must_use]
    pub fn apply_to(&self, pace: Pace) -> Pace {
        let watch = self.check_watch(pace.check.as_ref().and_then(|check| check.watch));
        let check = match &self.check {
            None => pace.check,
            Some(digest) => (!digest.is_empty()).then(|| Check { digest: digest.clone(), watch }),
        };
        Pace {
            batch_size: self.batch_size.clone().unwrap_or(pace.batch_size),
            canary: self.canary.unwrap_or(pace.canary),
            max_unavailable: self.max_unavailable.or(pace.max_unavailable),
            soak: self.soak.unwrap_or(pace.soak),
            final_soak: self.final_soak.unwrap_or(pace.final_soak),
            batch_timeout: self.batch_timeout.unwrap_or(pace.batch_timeout),
            on_failure: self.on_failure.unwrap_or(pace.on_failure),
            check,
            ignore_unready_nodes: self.ignore_unready_nodes.unwrap_or(pace.ignore_unready_nodes),
            surge: self.surge.or(pace.surge),
            order: self.order.clone().or(pace.order),
            node_selector: self.node_selector.clone().or(pace.node_selector),
            evict: self.evict.unwrap_or(pace.evict),
        }
    }

    /// Returns how often the check runs during the soak. By default one failure fails the batch, as after the soak.
    fn check_watch(&self, stored: Option<CheckWatch>) -> Option<CheckWatch> {
        let every = self.check_every.or(stored.map(|watch| watch.every))?;
        let failures = self.check_failures.or(stored.map(|watch| watch.failures));
        Some(CheckWatch { every, failures: failures.unwrap_or(NonZeroU32::MIN) })
    }
}

/// Durations in Go's syntax.
pub(super) mod duration {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::text::go_duration;

    pub(in crate::hold::plan) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&go_duration::write(*duration))
    }

    pub(in crate::hold::plan) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        go_duration::parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is no duration")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_cent_is_rounded_down_and_at_least_one_pod() {
        for (text, replicas, expected) in
            [("2", 5, 2), ("25%", 10, 2), ("25%", 3, 1), ("100%", 7, 7), ("1%", 0, 1)]
        {
            assert_eq!(text.parse::<Amount>().map(|amount| amount.pods_of(replicas)), Ok(expected), "{text}");
            assert_eq!(text.parse::<Amount>().map(|amount| amount.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "0", "0%", "-1", "-5%", "101%", "1.5", "+2", "two", "%", "99999999999"] {
            assert!(text.parse::<Amount>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_stored_batch_timeout_has_a_floor() {
        let stored = |seconds| Pace { batch_timeout: Duration::from_secs(seconds), ..Pace::default() };
        for (seconds, expected) in [(0, 10), (9, 10), (10, 10), (11, 11)] {
            assert_eq!(stored(seconds).with_floors(), stored(expected), "{seconds}");
        }
    }
}
