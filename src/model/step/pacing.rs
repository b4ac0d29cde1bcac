//! How fast, how carefully, and what to do when it goes wrong: what the words said, and a plan keeps.

use std::fmt;
use std::time::Duration;

use super::amount::Amount;

/// The pace of a plan. It is kept in the cluster, so that the same command without options goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// How large the batches are.
    pub batches: Batches,
    /// Whether the first batch is one pod while no pod runs the new revision.
    pub canary: bool,
    /// How many pods may be unavailable at any time, those that we take down included. None is the
    /// default of 1, which is never refused.
    pub max_unavailable: Option<Amount>,
    /// How long the pods of a batch must stay available before the next one.
    pub soak: Duration,
    /// How long all of them must after the last batch, before the plan ends.
    pub final_soak: Duration,
    /// How long a batch may take until its pods are available; soaking is not counted.
    pub batch_timeout: Duration,
    /// What to do when a batch or a check failed.
    pub on_failure: OnFailure,
    /// The command to run between batches.
    pub check: Option<Check>,
    /// Whether pods on nodes that are not ready count as if they were not there.
    pub ignore_unready_nodes: bool,
    /// DaemonSets: the node label whose values group the nodes; none to go by name.
    pub order: Option<String>,
    /// DaemonSets: the nodes to step, as a label selector; none for all.
    pub node_selector: Option<String>,
    /// DaemonSets: whether pods are evicted, so that PodDisruptionBudgets count, and not deleted.
    pub evict: bool,
}

/// How large batches are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batches {
    /// So many pods each.
    By(Amount),
    /// How many pods run the new revision after each, in rising order.
    Until(Vec<Amount>),
}

/// What to do when a batch or a check failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// Release nothing more, leave everything as it is, and say how to go on.
    #[default]
    Hold,
    /// Take the released pods back.
    Undo,
}

/// The command to run between batches, as far as a plan keeps it: never the command itself, because
/// nothing read from the cluster is ever executed (design rule 16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// SHA-256 of the command, in hexadecimal.
    pub digest: String,
    /// How long it may take.
    pub timeout: Duration,
}

/// How far one command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// One batch.
    Next,
    /// Until so many pods run the new revision.
    To(Amount),
    /// To the end.
    All,
}

/// `next`, `all`, or an amount: as a plan keeps it, and as JSON tells it.
impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Next => f.write_str("next"),
            Self::All => f.write_str("all"),
            Self::To(amount) => amount.fmt(f),
        }
    }
}

impl OnFailure {
    /// As it is typed, and kept.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Undo => "undo",
        }
    }
}

impl Default for Pacing {
    fn default() -> Self {
        Self {
            batches: Batches::By(Amount::Pods(1)),
            canary: true,
            max_unavailable: None,
            soak: Duration::ZERO,
            final_soak: Duration::ZERO,
            batch_timeout: Duration::from_secs(600),
            on_failure: OnFailure::Hold,
            check: None,
            ignore_unready_nodes: false,
            order: None,
            node_selector: None,
            evict: false,
        }
    }
}
