//! The outcome of `step`, with hints below it.

use super::words::{check_result, slots};
use super::{Closing, hints, holder, last_write};
use crate::model::engine::Now;
use crate::model::finding::{Finding, Reason, Severity};
use crate::model::hold::plan::{BatchFailure, is_rollback_held, is_rolling_back};
use crate::model::kind::{Workload, strategy};
use crate::model::step::{BatchStage, PlanView, RollbackOutcome, SlotView, StepOutcome, Stepper, StopReason};
use crate::model::text::go_duration;
use crate::model::text::plural::plural;
use crate::render::finding::line;
use crate::render::pods::names;
use crate::render::state_words::gone;
use crate::render::ui::Ui;

/// What is left of a step whose lock is still stored.
const LOCK_KEPT: &str = "its lock was not released, so a step on another host needs --take-over";

/// Prints an outcome: on stdout when the goal is reached, otherwise on stderr. The caller prints errors.
pub fn print_outcome(closing: &Closing<'_>, outcome: &StepOutcome, ui: &mut Ui) {
    let finding = finding(closing, outcome);
    match outcome {
        StepOutcome::NothingOutdated | StepOutcome::Reached { .. } | StepOutcome::Complete => {
            ui.out_wrapped(&line(&finding));
        }
        StepOutcome::Error(_) => {}
        _ => ui.messages.line(&line(&finding)),
    }
    if let StepOutcome::Stopped(StopReason::Unhealthy { pods, .. }) = outcome {
        ui.messages.lines(pods.iter().map(|(pod, why)| match why.as_str() {
            "" => format!("  ! {pod}"),
            why => format!("  ! {pod}  {why}"),
        }));
    }
    ui.messages.findings(&further(closing, outcome));
    // A hint may have the command of a check, whose secrets are masked.
    ui.messages.lines(hints::of(closing, outcome).iter().map(|hint| format!("hint: {hint}")));
}

/// Returns the finding of an outcome. Its hints are in [`hints`]; only an error has one of its own.
pub(super) fn finding(closing: &Closing<'_>, outcome: &StepOutcome) -> Finding {
    let (workload, view) = (closing.workload, closing.view.as_ref());
    let name = workload.target();
    match outcome {
        StepOutcome::NothingOutdated => {
            Finding::info(Reason::NothingOutdated, nothing_outdated(workload)).about(name)
        }
        StepOutcome::Reached { updated, of } => {
            let to = view.and_then(|view| view.to.as_deref()).unwrap_or("new");
            Finding::info(Reason::Reached, format!("{name} held: {updated} of {of} pods run revision {to}"))
        }
        StepOutcome::Complete => {
            Finding::info(Reason::Complete, format!("{name} stepped: {}", complete(workload)))
        }
        StepOutcome::Stopped(reason) => stopped(workload, reason, closing.now),
        StepOutcome::Failed { failure, .. } => {
            Finding::error(Reason::Failed, failed(failure.as_ref())).about(name)
        }
        StepOutcome::TimedOut(limit) => {
            let text = format!("timed out after {}; {}", go_duration::short(*limit), left_behind(closing));
            Finding::error(Reason::TimedOut, text).about(name)
        }
        StepOutcome::Interrupted(stop) => {
            let text = format!("{}: {name}: {}", stop.words(), left_behind(closing));
            Finding::info(Reason::Interrupted, text)
        }
        StepOutcome::Gone { recreated } => {
            let reason = if *recreated { Reason::Recreated } else { Reason::Deleted };
            Finding::error(reason, gone(&name, *recreated))
        }
        StepOutcome::Error(error) => error.into(),
    }
}

/// Returns the findings after that of an outcome.
fn further(closing: &Closing<'_>, outcome: &StepOutcome) -> Vec<Finding> {
    let workload = closing.workload;
    let name = workload.target();
    let mut findings = Vec::new();
    match outcome {
        StepOutcome::Stopped(reason) if hints::has_released_no_pod(workload, reason) => {
            findings.push(Finding::note(Reason::Held, format!(
                "the plan of {name} is stored: its controller updates no more pods until the plan is continued or ended"
            )));
        }
        StepOutcome::Failed { rollback: Some(rollback), .. } => findings.push(rolled_back(rollback)),
        // Without a hold, a check failed where no pod was outdated.
        StepOutcome::Failed { rollback: None, .. } if hints::is_held(workload) => {
            let text = match &closing.view {
                Some(view) => format!(
                    "no more pods are released; {} of {} run the new revision",
                    view.updated, view.wanted
                ),
                None => "no more pods are released".to_owned(),
            };
            findings.push(Finding::note(Reason::Held, text));
        }
        _ => {}
    }
    let says_lock = matches!(outcome, StepOutcome::TimedOut(_) | StepOutcome::Interrupted(_));
    let lock = workload.held().in_force().and_then(|hold| hold.lock.as_ref()).filter(|_| !says_lock);
    if lock.is_some_and(|lock| closing.stepper.is_some_and(|stepper| stepper.holder() == lock.holder)) {
        findings.push(Finding::warning(Reason::LockKept, LOCK_KEPT).about(name));
    }
    findings
}

fn nothing_outdated(workload: &Workload) -> String {
    match own_reach(workload).filter(|_| workload.counts().outdated() > 0) {
        Some((reached, _)) => format!("no pod is outdated {reached}"),
        None => "no pod is outdated, so there is nothing to step".to_owned(),
    }
}

fn complete(workload: &Workload) -> String {
    let restored = "the original update strategy is restored; it is neither held nor paused";
    match (own_reach(workload), workload.counts().outdated()) {
        (Some((reached, rest)), outdated @ 1..) => {
            let stay = if outdated == 1 {
                format!("1 pod {rest} stays")
            } else {
                format!("{outdated} pods {rest} stay")
            };
            format!("every pod {reached} is updated, {stay} outdated; {restored}")
        }
        _ => format!("every pod is updated, and {restored}"),
    }
}

/// Returns which pods the workload's own strategy lets its controller update, and which are the rest, as they follow on "pod";
/// none if it updates every pod.
fn own_reach(workload: &Workload) -> Option<(String, &'static str)> {
    match strategy::partition(workload) {
        _ if strategy::has_node_selector(workload) => {
            Some(("within its own node selector and partition".to_owned(), "beyond"))
        }
        partition @ 1.. => Some((format!("at or above its own partition {partition}"), "below it")),
        _ => None,
    }
}

/// Returns the state in which a stopped command leaves the workload: its hold, and what continues in the cluster.
fn left_behind(closing: &Closing<'_>) -> String {
    let Closing { workload, view, stepper, .. } = closing;
    let under_way = || under_way(view.as_ref(), &stepper.map(Stepper::unanswered).unwrap_or_default());
    if let Some(write) = stepper.and_then(Stepper::unanswered_write) {
        return format!("it is unknown whether step could {write}, because the server did not answer");
    }
    if is_rolling_back(workload) {
        let held = if is_rollback_held(workload) { ", held by the plan" } else { "" };
        return format!("the rollback continues in the cluster{held}");
    }
    let Some(hold) = workload.held().in_force() else {
        return "it is not held, and its rollout continues in the cluster".to_owned();
    };
    match &hold.lock {
        Some(lock) if stepper.is_some_and(|own| own.holder() == lock.holder) => {
            format!("it stays held; {}; {LOCK_KEPT}", under_way())
        }
        Some(lock) => format!("it stays held, and is stepped by {}", holder(lock)),
        None if !hold.has_plan() => "it stays paused".to_owned(),
        None => format!("it stays held; {}", under_way()),
    }
}

/// Returns the pods of a batch whose update continues in the cluster. Its other pods wait for the next step.
fn under_way(view: Option<&PlanView>, unanswered: &[String]) -> String {
    if !unanswered.is_empty() {
        return format!(
            "it is unknown whether {} {} deleted, because the server did not answer",
            names(unanswered),
            if unanswered.len() == 1 { "was" } else { "were" }
        );
    }
    let batches = view.map(|view| view.batches.as_slice()).unwrap_or_default();
    let batch = batches.iter().find(|batch| matches!(batch.stage, BatchStage::Updating));
    let of_batch = batch.iter().flat_map(|batch| &batch.slots);
    let updating: Vec<SlotView> =
        of_batch.filter(|slot| !slot.state.is_held() && !slot.state.is_healthy()).cloned().collect();
    match (batch, updating.len()) {
        (None, _) | (_, 0) => "no pod is being replaced".to_owned(),
        (Some(batch), 1) => {
            format!("{} of batch {} continues in the cluster", slots(&updating), batch.number)
        }
        (Some(batch), _) => format!("{} of batch {} continue in the cluster", slots(&updating), batch.number),
    }
}

fn stopped(workload: &Workload, reason: &StopReason, now: Now) -> Finding {
    let name = workload.target();
    let held = |reason, text| Finding::new(Severity::Held, reason, text).about(name.as_str());
    match reason {
        StopReason::Paused => {
            held(Reason::Paused, "the plan is paused, so no more pods are released".to_owned())
        }
        StopReason::Locked(lock) => {
            let (by, written) = (holder(lock), last_write(lock, now));
            let text = format!("{by} steps it{written}; if that process has ended, use --take-over");
            held(Reason::Locked, text)
        }
        StopReason::TakenOver { by } => {
            let by = by.as_deref().unwrap_or("another process");
            held(Reason::TakenOver, format!("{by} took the plan over"))
        }
        StopReason::Changed { manager, changes, rolled_back_to, .. } => {
            let (severity, text) = changed(workload, manager.as_deref(), changes, rolled_back_to.as_deref());
            Finding::new(severity, Reason::Changed, text)
        }
        StopReason::Unhealthy { pods, allowed } => {
            let (count, are) = (plural(pods.len(), "pod"), if pods.len() == 1 { "is" } else { "are" });
            let limit = if pods.len() < *allowed {
                String::new() // a released pod has failed
            } else {
                format!(", the limit is {allowed} (--max-unavailable)")
            };
            held(Reason::Unhealthy, format!("{count} {are} unavailable{limit}: no pod is released"))
        }
        StopReason::NoReplicas => {
            let text = "it is scaled to 0 replicas, so no pod is released; \
                        a scale-up creates every pod on the new revision";
            held(Reason::NoReplicas, text.to_owned())
        }
        StopReason::OwnPartition { partition, outdated } => {
            let own = match partition {
                0 => "node selector".to_owned(),
                _ => format!("partition {partition}"),
            };
            let text = format!("its own {own} keeps {} outdated", plural(*outdated, "pod"));
            held(Reason::PartitionReached, text)
        }
        StopReason::NotSelected { others } => {
            let text = format!(
                "no node that --node-selector selects has an outdated pod, {others} other nodes have one"
            );
            held(Reason::NotSelected, text)
        }
        StopReason::OnUnreadyNodes(nodes) => {
            let count = plural(nodes.len(), "pod");
            held(Reason::NodeNotReady, format!("skipped {count} on NotReady nodes: {}", names(nodes)))
        }
        StopReason::OnUnreadyNode { pod, node } => {
            let text = format!("{pod} is next, its node {node} is NotReady, and the controller skips no pod");
            held(Reason::NodeNotReady, text)
        }
    }
}

/// Returns what another client did to a plan, and whether the workload is still held.
fn changed(
    workload: &Workload,
    manager: Option<&str>,
    changes: &[String],
    rolled_back_to: Option<&str>,
) -> (Severity, String) {
    let (name, by) = (workload.target(), manager.unwrap_or("another client"));
    if let Some(revision) = rolled_back_to {
        let text = format!(
            "stopped: {name} was rolled back to revision {revision} by {by}; the rollback continues in the cluster"
        );
        return (Severity::Info, text);
    }
    let changes = if changes.is_empty() { String::new() } else { format!(": {}", changes.join("; ")) };
    let keeps = match strategy::partition(workload) {
        _ if strategy::is_on_delete(workload) => Some("is OnDelete".to_owned()),
        partition => (partition > 0).then(|| format!("has partition {partition}")),
    };
    match keeps {
        _ if hints::is_held(workload) => {
            (Severity::Held, format!("{name} was changed by {by}, so no more pods are released{changes}"))
        }
        Some(keeps) => (
            Severity::Info,
            format!(
                "stopped: {name} was changed by {by}; no plan holds it any more, but its update strategy {keeps}{changes}"
            ),
        ),
        None => (
            Severity::Info,
            format!(
                "stopped: {name} was changed by {by} and is not held any more, so its rollout continues in the cluster{changes}"
            ),
        ),
    }
}

/// Returns how a batch failed, with the pods.
fn failed(failure: Option<&BatchFailure>) -> String {
    let Some(failure) = failure else {
        return "the plan failed or was undone before, and was rolling back".to_owned();
    };
    let detail = match failure {
        BatchFailure::Cause { pods, .. } => names(pods),
        BatchFailure::Check { result, .. } => check_result(*result),
        BatchFailure::TimedOut { pods, after, .. } => {
            let are = if pods.len() == 1 { "is" } else { "are" };
            format!("after {} {} {are} not updated and available", go_duration::short(*after), names(pods))
        }
    };
    // A quota or an admission webhook refuses pods before they have names.
    if detail.is_empty() { failure.words() } else { format!("{}: {detail}", failure.words()) }
}

fn rolled_back(rollback: &RollbackOutcome) -> Finding {
    match rollback {
        RollbackOutcome::Done { revision } => Finding::error(
            Reason::RolledBack,
            format!("rolled back to revision {revision}; it is neither held nor paused"),
        ),
        RollbackOutcome::Unfinished { revision, why } => Finding::error(
            Reason::RollbackUnfinished,
            format!("the rollback to revision {revision} is not complete: {why}"),
        ),
        RollbackOutcome::NotStarted(why) => {
            Finding::error(Reason::RollbackNotStarted, format!("the rollback did not start: {why}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quota or a webhook refuses pods before they have names.
    #[test]
    fn a_failure_without_pods_has_no_empty_list() {
        for (pods, expected) in [
            (&[][..], "batch 1 failed: admission-refused"),
            (&["web-1"], "batch 1 failed: admission-refused: web-1"),
        ] {
            let pods = pods.iter().map(|pod| (*pod).to_owned()).collect();
            let failure = BatchFailure::Cause { batch: Some(1), id: "admission-refused".to_owned(), pods };
            assert_eq!(failed(Some(&failure)), expected);
        }
    }
}
