//! What pausing writes.

use serde_json::{Value, json};

use super::{HELD, Hold, Reason};
use crate::error::{Error, ErrorKind, Result};
use crate::model::observed::Observed;
use crate::model::patch::{Patch, Place};
use crate::model::pod::Pod;
use crate::model::strategy::{self, EVERY_POD};
use crate::model::workload::Workload;

/// What pausing comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Pause {
    /// It is paused, and nothing is to be written.
    Already,
    /// Nothing is to be written, because its own strategy replaces no running pod.
    OnDelete,
    /// This is to be written.
    Change {
        /// The patch.
        patch: Patch,
        /// How it will be held.
        holding: Holding,
    },
}

/// How a workload is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// A Deployment by `spec.paused`.
    Paused,
    /// A StatefulSet by its partition.
    Partition(i64),
    /// A DaemonSet by `OnDelete`.
    OnDelete {
        /// How many pods stand beside the one they are to replace: they are removed by it.
        surging: usize,
    },
    /// A plan of `step` by a flag in its memory.
    Plan,
}

/// What to write to hold a workload as it is. `by` and `since` are remembered for people.
///
/// # Errors
/// When nobody can tell what holds it: its memory is unreadable, or its pods could not be read.
pub fn pause(observed: &Observed, by: Option<&str>, since: &str) -> Result<Pause> {
    let workload = &observed.workload;
    let mut patch = Patch::of(workload.object());
    let holding = match workload {
        Workload::Deployment(_) if workload.is_paused() => return Ok(Pause::Already),
        Workload::Deployment(_) => {
            patch.set(Place::of(["spec", "paused"]), Value::Bool(true));
            Holding::Paused
        }
        Workload::DaemonSet(_) | Workload::StatefulSet(_) => {
            patch.rely_on(strategy::place(workload));
            let hold = match Hold::of(workload)?.filter(|hold| hold.is_in_force(workload)) {
                Some(hold) if hold.is_paused() => return Ok(Pause::Already),
                Some(plan) => {
                    let plan = plan.with("paused", Value::Bool(true));
                    patch.set(Place::annotation(HELD), plan.annotation().into());
                    return Ok(Pause::Change { patch, holding: Holding::Plan });
                }
                None if strategy::is_on_delete(workload) => return Ok(Pause::OnDelete),
                None => holding_of(observed)?,
            };
            let set = hold.strategy(workload);
            let memory = Hold::new(workload, Reason::Pause, &set).with("since", since.into());
            let memory = by.into_iter().fold(memory, |memory, by| memory.with("by", by.into()));
            patch.set(strategy::place(workload), set);
            patch.set(Place::annotation(HELD), memory.annotation().into());
            hold
        }
    };
    Ok(Pause::Change { patch, holding })
}

impl Holding {
    /// The update strategy that holds.
    pub(in crate::model) fn strategy(self, workload: &Workload) -> Value {
        match self {
            Self::Partition(partition) => strategy::with_partition(workload, partition),
            _ => json!({"type": "OnDelete"}),
        }
    }
}

/// How a StatefulSet or a DaemonSet is held as it is.
///
/// # Errors
/// When nobody can tell, because its pods could not be read.
pub(in crate::model) fn holding_of(observed: &Observed) -> Result<Holding> {
    let workload = &observed.workload;
    let wanted = usize::try_from(workload.wanted()).unwrap_or_default();
    let Some(pods) = &observed.pods else { return Err(cannot_see_pods(workload)) };
    let own: Vec<&Pod> = pods.iter().filter(|pod| workload.owns(pod)).collect();
    Ok(match workload {
        Workload::StatefulSet(_) => Holding::Partition(holding_partition(observed, &own)),
        _ => Holding::OnDelete {
            surging: own.iter().filter(|pod| !pod.terminating).count().saturating_sub(wanted),
        },
    })
}

/// Design rule 12: one above the highest pod that is not on the update revision, never lower than
/// now; and where no pod is updated yet, or all are, above every pod there can be, so that nothing
/// starts on a revision that is still to come.
fn holding_partition(observed: &Observed, pods: &[&Pod]) -> i64 {
    let workload = &observed.workload;
    let is_updated =
        |pod: &Pod| observed.revisions.running().is_some_and(|update| workload.runs(pod, update));
    let (updated, outdated): (Vec<&Pod>, Vec<&Pod>) = pods.iter().partition(|pod| is_updated(pod));
    let highest = outdated.iter().filter_map(|pod| strategy::index(workload, &pod.name)).max();
    match highest {
        Some(highest) if !updated.is_empty() => {
            highest.saturating_add(1).max(strategy::partition(workload)).min(EVERY_POD)
        }
        _ => EVERY_POD,
    }
}

fn cannot_see_pods(workload: &Workload) -> Error {
    Error::new(
        ErrorKind::Refused,
        format!("{} cannot be held without a look at its pods, which could not be read", workload.target()),
    )
    .hint("ask for the right to list pods")
}
