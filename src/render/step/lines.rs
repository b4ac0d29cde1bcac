//! Lines for the reports of `step`: the batches on stdout, everything else on stderr.

use super::Printed;
use super::words::{check_result, detail, pace, revisions, skipped, slots, time};
use crate::model::engine::Now;
use crate::model::hold::plan::{CheckResult, Lock};
use crate::model::kind::Workload;
use crate::model::step::{
    BatchStage, BatchView, Origin, PlanView, SlotState, StepReport, Stepper, counts_pods,
};
use crate::render::age::lasting;
use crate::render::follow::lines::{self, log};
use crate::render::pod_names::{names, pods};
use crate::render::status::NameContext;

pub use super::outcome::outcome;

/// Returns the lines of a report; none for the outcome.
#[must_use]
pub fn of(stepper: &Stepper, report: &StepReport, now: Now) -> Printed {
    let workload = stepper.workload();
    match report {
        StepReport::ReplacesLock(lock) => {
            let (by, written) = (holder(lock), last_write(lock, now));
            Printed::note(format!("note: replaced the lock of {by} on {}{written}", workload.target()))
        }
        StepReport::HoldEnded { manager } => Printed::note(hold_ended(workload, manager.as_deref())),
        StepReport::Began { origin, already_updated } => began(stepper, *origin, already_updated, now),
        StepReport::Scaled { from, to } => {
            Printed::note(format!("note: scaled from {from} to {} since the last batch", pods(*to)))
        }
        StepReport::Waiting(reason) => Printed::note(format!("note: waiting for {reason}")),
        StepReport::Skipped(pods) if pods.is_empty() => Printed::note("note: no pod is skipped any more"),
        StepReport::Skipped(pods) => Printed::note(format!("note: {}", skipped(pods))),
        StepReport::Batch(batch) => {
            batch_line(batch, stepper.workload()).map_or_else(Printed::default, Printed::result)
        }
        StepReport::Released { batch, slot } => Printed::result(format!("batch {batch}: {slot} released")),
        StepReport::EvictionRefused { pod, message } => {
            Printed::note(format!("note: the eviction of {pod} is not allowed yet: {message}"))
        }
        StepReport::SoakRestarted { pod, why } => {
            Printed::note(format!("note: the soak starts again, because of {pod}: {why}"))
        }
        StepReport::Checked { batch, result: CheckResult::Passed, .. } => {
            Printed::note(format!("note: the check of batch {batch} passed again"))
        }
        StepReport::Checked { batch, result, failures, limit } => Printed::note(format!(
            "note: the check of batch {batch} failed, {failures} of {limit} in a row: {}",
            check_result(*result)
        )),
        StepReport::AddedByController(pods) => Printed::note(format!(
            "note: the controller created these on the new revision, and they count as released: {}",
            names(pods)
        )),
        StepReport::BackToCanary => Printed::note(
            "note: a scale-down removed every released pod, so the next batch is the canary again",
        ),
        StepReport::FinalSoak(of) => Printed::result(format!("all batches done, soaking {}", time(*of))),
        StepReport::Cause { cause, change } => {
            Printed::note(lines::cause(workload, stepper.observed(), cause, *change, NameContext::default()))
        }
        StepReport::Log(lines) => Printed { results: Vec::new(), notes: log(lines) },
        StepReport::RollingBack { revision } => {
            Printed::note(format!("{} rolls back to revision {revision}", workload.target()))
        }
        StepReport::ReplacesStuckPod(pod) => Printed::note(format!(
            "deleting {pod}, which is not ready and whose controller does not replace it"
        )),
        StepReport::Decision(why) => Printed::note(decision(why)),
    }
}

/// Returns the heading of a plan: `statefulset/db  revision 3 -> 4   5 pods   2 per batch, soak 5m`.
pub(super) fn heading(workload: &Workload, view: &PlanView) -> String {
    let count = pods(i64::try_from(view.wanted).unwrap_or(i64::MAX));
    let heading = [revisions(view), count, pace(&view.pace)].join("   ");
    format!("{}  {heading}", workload.target())
}

fn began(stepper: &Stepper, origin: Origin, already_updated: &[String], now: Now) -> Printed {
    let workload = stepper.workload();
    let printed = match stepper.view(now) {
        Some(view) => Printed::result(heading(workload, &view)),
        None => Printed::default(),
    };
    let named = names(already_updated);
    match origin {
        Origin::Plan => printed.and_note("note: continuing the existing plan"),
        Origin::Pause | Origin::Free { .. } if already_updated.is_empty() => printed,
        Origin::Pause | Origin::Free { .. } => {
            printed.and_note(format!("note: already updated before this plan: {named}"))
        }
        Origin::Replaced if already_updated.is_empty() => {
            printed.and_note("note: a new plan replaces the existing one")
        }
        Origin::Replaced => printed.and_note(format!(
            "note: a new plan replaces the existing one; already updated before it: {named}"
        )),
    }
}

/// Where the controller chooses the pods, the last line of a batch has their names. That of a failed batch has only those
/// that are not available.
fn batch_line(batch: &BatchView, workload: &Workload) -> Option<String> {
    let has_failed = batch.stage == BatchStage::Failed;
    let listed = batch.slots.iter().filter(|slot| !has_failed || slot.state != SlotState::Updated);
    let listed: Vec<_> = listed.filter(|_| counts_pods(workload)).cloned().collect();
    let chosen = if listed.is_empty() { String::new() } else { format!(": {}", slots(&listed)) };
    let number = batch.number;
    let canary = if batch.is_canary { " (canary)" } else { "" };
    Some(match &batch.stage {
        BatchStage::Waiting => return None,
        BatchStage::Updating => format!("batch {number}{canary}: {}", slots(&batch.slots)),
        BatchStage::Soaking { of, .. } => format!("batch {number}: available, soaking {}", time(*of)),
        BatchStage::Checking => format!("batch {number}: checking"),
        BatchStage::Failed => format!("batch {number}: failed{chosen}"),
        BatchStage::Done { .. } => match detail(batch).as_str() {
            "" => format!("batch {number}: done{chosen}"),
            healthy => format!("batch {number}: done, {healthy}{chosen}"),
        },
    })
}

/// Returns who holds a lock: `ada@laptop`.
pub(super) fn holder(lock: &Lock) -> &str {
    lock.by.as_deref().unwrap_or("another process")
}

/// Returns `, last write 2m ago`; empty if the time is not known.
pub(super) fn last_write(lock: &Lock, now: Now) -> String {
    let since = lock.last_write().map(|written| now.server_time.duration_since(written));
    since
        .map(|since| format!(", last write {} ago", lasting(since.try_into().unwrap_or_default())))
        .unwrap_or_default()
}

fn hold_ended(workload: &Workload, manager: Option<&str>) -> String {
    format!(
        "note: {} ended the hold of {} with another update strategy; the plan begins with that one",
        manager.unwrap_or("another client"),
        workload.target()
    )
}

/// Returns the line of a decision (`-v 4`).
#[must_use]
pub fn decision(why: &str) -> String {
    format!("step: {why}")
}

/// Returns a line of the output of a check.
#[must_use]
pub fn check_output(line: &str) -> String {
    format!("    check| {line}")
}
