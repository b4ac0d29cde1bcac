//! The facts by which kinds of workload differ. Code outside this folder matches on these, never on a kind.

use serde_json::Value;

/// Where a field is in an API version: the version, and the path.
pub type VersionedPath = (&'static str, &'static [&'static str]);

/// What identifies the pods of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodIdentity {
    /// Nothing: pods with other names replace them, and only their number matters.
    Interchangeable,
    /// The node, which has one of the pods.
    Node,
    /// The ordinal at the end of the name, which the replacement has too. The controller updates pods
    /// in the order of their ordinals.
    Ordinal,
}

/// What holds the outdated pods of a workload from updating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldBy {
    /// A field of the kind's own that is true while the workload is paused, by API version, the preferred
    /// one first. The end of the hold needs no stored state.
    Paused(&'static [VersionedPath]),
    /// The partition of the update strategy.
    Partition,
    /// The update strategy `OnDelete`.
    OnDelete,
}

impl HoldBy {
    /// Whether a hold replaces the user's strategy, which an annotation then stores.
    #[must_use]
    pub fn needs_annotation(self) -> bool {
        match self {
            Self::Paused(_) => false,
            Self::Partition | Self::OnDelete => true,
        }
    }
}

/// How `step` releases the pods of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepBy {
    /// Lowers the partition; the controller replaces the pods.
    Partition,
    /// Deletes the pods of a workload held by `OnDelete`; the controller creates the updated ones.
    PodDeletion,
    /// Raises the update budget, while no updated pod counts as available (see
    /// [`rolling_hold`](super::rolling_hold)); the controller replaces the pods.
    UpdateBudget,
}

/// How a controller may update a pod to another template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodUpdatePolicy {
    /// Each outdated pod is replaced by another pod.
    Recreate,
    /// A pod keeps its name and node where only its images or its metadata change, and is replaced otherwise.
    InPlaceIfPossible,
    /// As `InPlaceIfPossible`, but the API server refuses every other change of the template.
    InPlaceOnly,
}

/// The names of a kind's counters in `status`. One that is absent is 0, as in Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// All pods; for a DaemonSet, the nodes that have one.
    pub total: &'static str,
    /// The updated pods.
    pub updated: &'static str,
    /// The ready pods.
    pub ready: &'static str,
    /// The available pods.
    pub available: &'static str,
    /// Whether the controller always writes `available`, zero included. An absent counter then means an
    /// API server that does not know it.
    pub writes_zero_available: bool,
}

impl Counters {
    /// The names in most kinds.
    pub(super) const REPLICAS: Self = Self {
        total: "replicas",
        updated: "updatedReplicas",
        ready: "readyReplicas",
        available: "availableReplicas",
        writes_zero_available: false,
    };

    /// The names in DaemonSets.
    pub(super) const NODES: Self = Self {
        total: "currentNumberScheduled",
        updated: "updatedNumberScheduled",
        ready: "numberReady",
        available: "numberAvailable",
        writes_zero_available: false,
    };
}

/// The type of a field of an update strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyField {
    /// A word: `RollingUpdate`.
    Word,
    /// `true` or `false`.
    Flag,
    /// A number of pods, at least 0.
    Count,
    /// A number of pods, or a percentage: `25%`.
    CountOrPercent,
    /// An update strategy, whose fields the kind lists.
    Strategy,
    /// Any value: a field whose own fields belong to another API.
    Any,
}

impl StrategyField {
    /// Whether a value has this type.
    pub(super) fn has(self, value: &Value) -> bool {
        match self {
            Self::Word => value.as_str().is_some_and(is_word),
            Self::Flag => value.is_boolean(),
            Self::Count => value.as_i64().is_some_and(|count| (0..=i64::from(i32::MAX)).contains(&count)),
            Self::CountOrPercent => Self::Count.has(value) || value.as_str().is_some_and(is_percent),
            Self::Strategy => value.is_object(),
            Self::Any => true,
        }
    }
}

/// Whether a text can be a value such as `RollingUpdate`. A longer one fills the errors of the API server.
fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_percent(text: &str) -> bool {
    let digits = text.strip_suffix('%').unwrap_or_default();
    (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}
