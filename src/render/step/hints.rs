//! Hints: the command to type next.

use crate::model::change::hold::{
    Hold, HoldReason, PlanRecord, is_rollback_held, is_rolling_back, step_command,
};
use crate::model::status::verdict::Counts;
use crate::model::step::{BatchStage, PlanView, RollbackOutcome, StepOutcome, StopReason};
use crate::model::workload::Workload;
use crate::model::workload::kind::{PodIdentity, StepBy};
use crate::model::workload::strategy;

/// Returns what to type next after an outcome: commands, and what each does.
pub(super) fn of(workload: &Workload, view: Option<&PlanView>, outcome: &StepOutcome) -> Vec<String> {
    let (target, step) = (workload.command_target(), step_command(workload));
    let (status, undo) =
        (format!("kubectl rollout2 status {target}"), format!("kubectl rollout2 undo {target}"));
    match outcome {
        StepOutcome::Stopped(StopReason::Changed { .. })
        | StepOutcome::Failed { rollback: Some(RollbackOutcome::Unfinished { .. }), .. }
        | StepOutcome::TimedOut(_)
        | StepOutcome::Interrupted
        | StepOutcome::Terminated
            if is_rolling_back(workload) =>
        {
            vec![continue_rollback(workload)]
        }
        StepOutcome::NothingOutdated if is_held_no_more(workload) => {
            vec![format!(
                "remove the annotation of the hold that another client ended: kubectl rollout2 resume {target}"
            )]
        }
        StepOutcome::NothingOutdated => {
            below_its_own_partition(workload).into_iter().chain(stays_held(workload)).collect()
        }
        StepOutcome::Complete if workload.is_paused() => {
            vec![format!("to let the next change roll out: kubectl rollout2 resume {target}")]
        }
        StepOutcome::Complete => below_its_own_partition(workload).into_iter().collect(),
        StepOutcome::Reached { .. } => vec![next_batch(view, &step)],
        StepOutcome::Stopped(reason) => stopped(workload, view, reason),
        StepOutcome::Failed { rollback: None, .. } => {
            let is_set = workload.kind().pods == PodIdentity::Ordinal;
            let stuck = if is_set { " --replace-stuck-pods" } else { "" }; // a broken pod may block the rollback
            vec![format!("once it is fixed: {step}"), format!("to roll back: {undo}{stuck}")]
        }
        StepOutcome::Failed { rollback: Some(RollbackOutcome::NotStarted(_)), .. } => {
            vec![format!("to roll back: {undo}")]
        }
        StepOutcome::TimedOut(_) | StepOutcome::Interrupted | StepOutcome::Terminated
            if is_held(workload) =>
        {
            vec![format!("continue the plan: {step}")]
        }
        StepOutcome::Failed { rollback: Some(RollbackOutcome::Unfinished { .. }), .. }
        | StepOutcome::TimedOut(_)
        | StepOutcome::Interrupted
        | StepOutcome::Terminated => vec![status],
        StepOutcome::Failed { rollback: Some(RollbackOutcome::Done { .. }), .. }
        | StepOutcome::Gone { .. }
        | StepOutcome::Error(_) => Vec::new(),
    }
}

fn stopped(workload: &Workload, view: Option<&PlanView>, reason: &StopReason) -> Vec<String> {
    let (target, step) = (workload.command_target(), step_command(workload));
    let status = format!("kubectl rollout2 status {target}");
    match reason {
        StopReason::Paused => vec![format!("kubectl rollout2 resume {target} && {step}")],
        StopReason::LeaseLost { .. } => vec![status],
        StopReason::Changed { .. } => {
            let flag = if is_for_another_template(workload) { " --new-plan" } else { "" };
            let again =
                if is_held(workload) { "to continue with it as it is now" } else { "to hold it again" };
            let back = format!("to roll back: kubectl rollout2 undo {target}");
            let mut hints = vec![format!("{again}: {step}{flag}"), back];
            if is_held(workload) && workload.kind().step == Ok(StepBy::UpdateBudget) {
                hints.push(format!("to end the hold: kubectl rollout2 resume {target} --release-all"));
            }
            hints
        }
        StopReason::Unhealthy { pods, .. } => {
            // --force begins a batch; a batch under way needs room.
            let is_at =
                |view: &PlanView, stage: &BatchStage| view.batches.iter().any(|batch| batch.stage == *stage);
            let is_under_way = view.is_some_and(|view| is_at(view, &BatchStage::Updating));
            let is_left = view.is_none_or(|view| is_at(view, &BatchStage::Waiting));
            let force = format!("release the next batch anyway: {step} --force");
            let room = format!("allow for them: {step} --max-unavailable {}", pods.len() + 1);
            let is_worse_by_nodes = view.is_some_and(|view| view.is_worse_by_nodes);
            let ignore = format!("ignore nodes that are not ready: {step} --ignore-unready-nodes");
            let waits = waits_for(workload, pods);
            let (is_alone, waits) = (waits.is_none(), waits.unwrap_or_default());
            let hints = [
                (true, status),
                (is_worse_by_nodes, ignore),
                (!is_alone, waits),
                (is_alone && is_under_way, room),
                (is_alone && is_left && !is_under_way, force),
            ];
            hints.into_iter().filter(|(is_apt, _)| *is_apt).map(|(_, hint)| hint).collect()
        }
        StopReason::OwnPartition { .. } => {
            vec![format!("go below it; it is restored in the end: {step} --to 100%")]
        }
        StopReason::NotSelected { .. } => vec![format!("the other nodes: {step} --node-selector=")],
        StopReason::OnUnreadyNodes(nodes) => vec![format!("kubectl get nodes {}", nodes.join(" "))],
        StopReason::OnUnreadyNode { node, .. } => vec![format!("kubectl get nodes {node}")],
    }
}

/// An ordered controller replaces no pod as long as one is not ready, whatever is released.
fn waits_for(workload: &Workload, pods: &[(String, String)]) -> Option<String> {
    let is_parallel = workload.object().text("/spec/podManagementPolicy") == Some("Parallel");
    let (lowest, _) = pods.last().filter(|_| workload.kind().pods == PodIdentity::Ordinal && !is_parallel)?;
    let place = workload.in_namespace();
    Some(format!("its controller waits until this pod is ready: kubectl describe pod {lowest}{place}"))
}

/// The next step completes a rollback.
fn continue_rollback(workload: &Workload) -> String {
    let (target, step) = (workload.command_target(), step_command(workload));
    if !is_rollback_held(workload) {
        return format!("wait for the rollback: {step}"); // the original strategy is restored
    }
    let is_paused = Hold::of(workload).ok().flatten().is_some_and(|hold| hold.is_paused());
    let resume = if is_paused { format!("kubectl rollout2 resume {target} && ") } else { String::new() };
    format!("complete the rollback and restore the original strategy: {resume}{step}")
}

/// After the last batch of the selected nodes only others are left.
fn next_batch(view: Option<&PlanView>, step: &str) -> String {
    let is_over = |view: &&PlanView| {
        let is_done = view.batches.iter().all(|batch| matches!(batch.stage, BatchStage::Done { .. }));
        is_done && view.pace.node_selector.as_deref().is_some_and(|selector| !selector.is_empty())
    };
    match view.filter(is_over) {
        Some(_) => format!("the other nodes: {step} --node-selector= --all"),
        None if view.is_some_and(|view| view.pace.batches.check_end().is_err()) => {
            format!("the next batch: {step}")
        }
        None => format!("the next batch: {step}; or all of them: --all"),
    }
}

fn below_its_own_partition(workload: &Workload) -> Option<String> {
    let is_kept = strategy::partition(workload) > 0 && Counts::of(workload).outdated() > 0;
    is_kept.then(|| format!("to step the pods below it too: {} --to 100%", step_command(workload)))
}

/// A hold without outdated pods also holds the next change of the template.
fn stays_held(workload: &Workload) -> Option<String> {
    let hold = Hold::in_force(workload)?;
    let flag = if hold.reason() == HoldReason::Plan { " --release-all" } else { "" };
    let target = workload.command_target();
    Some(format!("it stays held; to end the hold: kubectl rollout2 resume {target}{flag}"))
}

/// Whether a hold is in force.
pub(super) fn is_held(workload: &Workload) -> bool {
    Hold::in_force(workload).is_some()
}

/// Whether another client ended the hold by another strategy.
fn is_held_no_more(workload: &Workload) -> bool {
    Hold::of(workload).ok().flatten().is_some_and(|hold| !hold.is_in_force(workload))
}

fn is_for_another_template(workload: &Workload) -> bool {
    PlanRecord::in_force(workload).is_some_and(|record| !record.is_for(workload))
}
