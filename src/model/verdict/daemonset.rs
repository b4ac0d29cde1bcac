//! DaemonSets: one pod a node, counted by the oldest pod of each.

use super::{Counts, State, Told, Verdict, refuse_other_strategies, updated_pods_are_starting};
use crate::model::observed::Observed;
use crate::model::strategy;
use crate::model::workload::Workload;

pub(super) fn verdict(observed: &Observed) -> Verdict {
    let workload = &observed.workload;
    if !workload.is_observed() {
        return Verdict::new(State::Unobserved, unobserved().line);
    }
    let counts = Counts::of(workload);
    let told = counted(workload.name(), counts);
    if strategy::is_on_delete(workload) && counts.outdated() > 0 && !updated_pods_are_starting(observed) {
        return Verdict::new(State::Held, told.line);
    }
    told.into()
}

pub(super) fn kubectl(workload: &Workload) -> Result<Told, String> {
    refuse_other_strategies(workload)?;
    if !workload.is_observed() {
        return Ok(unobserved());
    }
    Ok(counted(workload.name(), Counts::of(workload)))
}

/// What the counters say, in the order in which kubectl reads them.
fn counted(name: &str, counts: Counts) -> Told {
    let Counts { wanted, updated, .. } = counts;
    let available = counts.available.unwrap_or_default();
    let finishing = format!("Waiting for daemon set {name:?} rollout to finish:");
    if updated < wanted {
        return Told::waiting(format!("{finishing} {updated} out of {wanted} new pods have been updated..."));
    }
    if available < wanted {
        return Told::waiting(format!("{finishing} {available} of {wanted} updated pods are available..."));
    }
    Told::done(format!("daemon set {name:?} successfully rolled out"))
}

fn unobserved() -> Told {
    Told::waiting("Waiting for daemon set spec update to be observed...")
}
