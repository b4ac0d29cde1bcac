//! Deployments: the only kind whose controller gives up by itself.

use super::{Counts, State, Told, Verdict};
use crate::model::observed::Observed;
use crate::model::workload::Workload;

/// Why the controller says that a rollout stands still (`status.conditions[type=Progressing].reason`).
const DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";

pub(super) fn verdict(observed: &Observed) -> Verdict {
    let workload = &observed.workload;
    if !workload.is_observed() {
        return Verdict::new(State::Unobserved, unobserved().line);
    }
    let counts = Counts::of(workload);
    let told = counted(workload.name(), counts);
    if workload.is_paused() && is_held_back(observed, counts) {
        return Verdict::new(State::Paused, told.line);
    }
    if exceeded_its_deadline(workload) && !blames_another(observed) {
        return Verdict::new(State::Failed, gave_up(workload));
    }
    told.into()
}

/// Whether a pause keeps pods from being updated: outdated ones, and those of a template that has no
/// ReplicaSet yet. A ReplicaSet that is there is scaled, paused or not.
fn is_held_back(observed: &Observed, counts: Counts) -> bool {
    let has_no_replica_set = || observed.revisions.running().is_none();
    counts.outdated() > 0 || (counts.updated < counts.wanted && has_no_replica_set())
}

pub(super) fn kubectl(workload: &Workload, revision: Option<i64>) -> Result<Told, String> {
    if let Some(wanted) = revision {
        let running = workload.recorded_revision().map_err(|text| unreadable_revision(workload, &text))?;
        if wanted != running {
            return Err(super::pin::taken_over_line(&wanted, &running));
        }
    }
    if !workload.is_observed() {
        return Ok(unobserved());
    }
    if exceeded_its_deadline(workload) {
        return Err(gave_up(workload));
    }
    Ok(counted(workload.name(), Counts::of(workload)))
}

/// What the counters say, in the order in which kubectl reads them.
fn counted(name: &str, counts: Counts) -> Told {
    let Counts { wanted, total, updated, .. } = counts;
    let available = counts.available.unwrap_or_default();
    let finishing = format!("Waiting for deployment {name:?} rollout to finish:");
    if updated < wanted {
        return Told::waiting(format!(
            "{finishing} {updated} out of {wanted} new replicas have been updated..."
        ));
    }
    if total > updated {
        let old = total - updated;
        return Told::waiting(format!("{finishing} {old} old replicas are pending termination..."));
    }
    if available < updated {
        return Told::waiting(format!(
            "{finishing} {available} of {updated} updated replicas are available..."
        ));
    }
    Told::done(format!("deployment {name:?} successfully rolled out"))
}

fn unobserved() -> Told {
    Told::waiting("Waiting for deployment spec update to be observed...")
}

fn gave_up(workload: &Workload) -> String {
    format!("deployment {:?} exceeded its progress deadline", workload.name())
}

fn exceeded_its_deadline(workload: &Workload) -> bool {
    workload.condition("Progressing").is_some_and(|condition| condition.reason == DEADLINE_EXCEEDED)
}

/// Whether the deadline that passed was that of another ReplicaSet than the live template's: after
/// an undo the condition of the failed rollout outlives it for a moment. The message names the
/// ReplicaSet: `ReplicaSet "web-5c8f" has timed out progressing.`
fn blames_another(observed: &Observed) -> bool {
    let message = observed.workload.condition("Progressing").map(|condition| condition.message);
    let blamed = message.as_deref().and_then(|message| message.strip_prefix("ReplicaSet \""));
    let Some((blamed, _)) = blamed.and_then(|rest| rest.split_once('"')) else {
        return false;
    };
    match observed.revisions.running() {
        Some(running) => running.name != blamed,
        None => !observed.revisions.is_empty(), // the live template has no ReplicaSet yet
    }
}

fn unreadable_revision(workload: &Workload, text: &str) -> String {
    format!(
        "cannot get the revision of deployment {:?}: strconv.ParseInt: parsing {text:?}: invalid syntax",
        workload.name()
    )
}
