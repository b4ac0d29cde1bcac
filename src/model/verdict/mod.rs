//! How a rollout stands: one verdict a workload, from counters its controller keeps.
//!
//! The line of a verdict is always one of kubectl's own, because scripts look for them. Where kubectl
//! draws the wrong conclusion from the counters, the verdict is another one than its line would have
//! been taken for; [`kubectl`] is what kubectl itself makes of the same object.

mod counts;
mod daemonset;
mod deployment;
mod pin;
mod statefulset;

pub use counts::Counts;
pub use pin::{taken_over, taken_over_line};

use super::observed::Observed;
use super::workload::Workload;

/// How a rollout stands, and kubectl's line for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How it stands.
    pub state: State,
    /// The line, in one of kubectl's phrases.
    pub line: String,
}

/// How a rollout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// All that was to be updated is updated and available.
    Complete,
    /// Pods are still to be updated or to become available, and nothing holds them back.
    Progressing,
    /// Outdated pods remain because the Deployment is paused.
    Paused,
    /// Outdated pods remain because of `OnDelete`, or a partition that lets no pod update.
    Held,
    /// The controller has not seen the spec as it is now.
    Unobserved,
    /// The controller gave up, or another revision than the one asked for is rolled out.
    Failed,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Complete, Self::Progressing, Self::Paused, Self::Held, Self::Unobserved, Self::Failed];

    /// Its name in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Progressing => "progressing",
            Self::Paused => "paused",
            Self::Held => "held",
            Self::Unobserved => "unobserved",
            Self::Failed => "failed",
        }
    }
}

/// What kubectl makes of an object: its line, and whether it stops waiting there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The line it prints.
    pub line: String,
    /// Whether it takes the rollout for done.
    pub done: bool,
}

/// How the rollout of a workload stands.
#[must_use]
pub fn verdict(observed: &Observed) -> Verdict {
    match &observed.workload {
        Workload::Deployment(_) => deployment::verdict(observed),
        Workload::DaemonSet(_) => daemonset::verdict(observed),
        Workload::StatefulSet(_) => statefulset::verdict(observed),
    }
}

/// What `kubectl rollout status` says of a workload, its mistakes included; `revision` is the one it
/// was told to pin, which it compares for Deployments only.
///
/// # Errors
/// kubectl's own error text, where it ends with one.
pub fn kubectl(workload: &Workload, revision: Option<i64>) -> Result<Told, String> {
    match workload {
        Workload::Deployment(_) => deployment::kubectl(workload, revision),
        Workload::DaemonSet(_) => daemonset::kubectl(workload),
        Workload::StatefulSet(_) => statefulset::kubectl(workload),
    }
}

/// kubectl has no status for a set that is not `RollingUpdate`, whatever else it may be.
fn refuse_other_strategies(workload: &Workload) -> Result<(), String> {
    match workload.object().text("/spec/updateStrategy/type") {
        None | Some("RollingUpdate") => Ok(()),
        Some(_) => Err("rollout status is only available for RollingUpdate strategy type".to_owned()),
    }
}

/// Whether updated pods are there and not all of them are ready; an `OnDelete` set is held only once
/// they are. Pods that could not be read are given the benefit of the doubt.
fn updated_pods_are_starting(observed: &Observed) -> bool {
    let running = observed.revisions.running().and_then(|revision| observed.count(revision));
    running.is_some_and(|count| count.ready < count.total)
}

impl Verdict {
    fn new(state: State, line: impl Into<String>) -> Self {
        Self { state, line: line.into() }
    }
}

impl Told {
    fn waiting(line: impl Into<String>) -> Self {
        Self { line: line.into(), done: false }
    }

    fn done(line: impl Into<String>) -> Self {
        Self { line: line.into(), done: true }
    }
}

impl From<Told> for Verdict {
    /// What kubectl says, where it is right.
    fn from(told: Told) -> Self {
        let state = if told.done { State::Complete } else { State::Progressing };
        Self { state, line: told.line }
    }
}
