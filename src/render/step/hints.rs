//! Hints: the command to type next.

use super::Closing;
use crate::model::hold::plan::{
    Hold, Reach, is_rollback_held, is_rolling_back, lower_partition_by_hand, restore_by_hand,
};
use crate::model::hold::{end_command, left_fields, resume_and, step_command_with};
use crate::model::kind::{Workload, strategy};
use crate::model::step::{BatchStage, PlanView, RollbackOutcome, StepOutcome, StopReason};
use crate::model::text::shell_command::{Word, command};

/// Returns the commands to run after an outcome, each with its purpose.
pub(super) fn of(closing: &Closing<'_>, outcome: &StepOutcome) -> Vec<String> {
    let Closing { workload, check, .. } = *closing;
    let (target, view) = (workload.command_target(), closing.view.as_ref());
    let step = step_command_with(workload, check);
    match outcome {
        StepOutcome::Stopped(StopReason::Changed { .. })
        | StepOutcome::Failed { rollback: Some(RollbackOutcome::Unfinished { .. }), .. }
        | StepOutcome::TimedOut(_)
        | StepOutcome::Interrupted(_)
            if is_rolling_back(workload) =>
        {
            vec![continue_rollback(workload, step)]
        }
        StepOutcome::NothingOutdated if is_held_no_more(workload) => vec![end_leftover(workload)],
        StepOutcome::NothingOutdated => {
            below_its_own_partition(workload).into_iter().chain(stays_held(workload)).collect()
        }
        StepOutcome::Complete => below_its_own_partition(workload).into_iter().collect(),
        StepOutcome::Reached { .. } => vec![next_batch(view, step)],
        StepOutcome::Stopped(reason) if has_released_no_pod(workload, reason) => {
            let end = command(
                "to end the plan, so that its controller updates all pods: {}",
                [end_command(workload)],
            );
            let mut hints = stopped(workload, view, reason, step);
            hints.extend([roll_back(workload, view), end]);
            hints
        }
        StepOutcome::Stopped(reason) => stopped(workload, view, reason, step),
        StepOutcome::Failed { rollback: None, .. } if !is_held(workload) => {
            vec![command("to roll back: kubectl rollout2 undo {}", [target])]
        }
        StepOutcome::Failed { rollback: None, .. } => {
            let back = if workload.kind().pods().are_ordered() {
                // A broken pod may block the rollback.
                format!("{} --replace-stuck-pods", roll_back(workload, view))
            } else {
                roll_back(workload, view)
            };
            vec![command("once it is fixed: {}", [step]), back]
        }
        StepOutcome::Failed { rollback: Some(RollbackOutcome::NotStarted(_)), .. } => {
            vec![roll_back(workload, view)]
        }
        StepOutcome::TimedOut(_) | StepOutcome::Interrupted(_) if is_held(workload) => {
            vec![command("continue the plan: {}", [step]), roll_back(workload, view)]
        }
        StepOutcome::Failed { rollback: Some(RollbackOutcome::Unfinished { .. }), .. }
        | StepOutcome::TimedOut(_)
        | StepOutcome::Interrupted(_) => vec![status(target)],
        StepOutcome::Failed { rollback: Some(RollbackOutcome::Done { .. }), .. }
        | StepOutcome::Gone { .. }
        | StepOutcome::Error(_) => Vec::new(),
    }
}

fn stopped(workload: &Workload, view: Option<&PlanView>, reason: &StopReason, step: Word) -> Vec<String> {
    let target = workload.command_target();
    match reason {
        StopReason::Paused => vec![resume_and(workload, step).to_string()],
        StopReason::Locked(_) => vec![command("to take it over: {} --take-over", [step])],
        StopReason::TakenOver { .. } | StopReason::Changed { rolled_back_to: Some(_), .. } => {
            vec![status(target)]
        }
        StopReason::Changed { lost_original, .. } => {
            if let Err(unreadable) = workload.held().readable() {
                return unreadable.hint_text().map(str::to_owned).into_iter().collect();
            }
            if workload.held().is_lost() {
                return vec![command("to end the hold: {}", [end_command(workload)])];
            }
            let restore = lost_original.as_ref().and_then(|original| restore_by_hand(workload, original));
            if let Some(restore) = restore {
                return vec![
                    format!("to put its update strategy back: {restore}"),
                    roll_back(workload, view),
                ];
            }
            let again = if is_held(workload) {
                command("to continue with it as it is now: {}", [step])
            } else if keeps_every_outdated_pod(workload) {
                lower_partition(workload, 0)
            } else {
                command("to hold it again: {}", [step])
            };
            let mut hints = vec![again, roll_back(workload, view)];
            if is_held(workload) && workload.hold_blocks_availability() {
                hints.push(command("to end the hold: {}", [end_command(workload)]));
            } else if left_fields(workload).is_some() {
                hints.push(end_leftover(workload));
            }
            hints
        }
        StopReason::Unhealthy { pods, .. } => {
            // --force begins a batch, or ignores nodes that are not ready; another batch under way needs room.
            let batches = view.map(|view| view.batches.as_slice()).unwrap_or_default();
            let under_way = batches.iter().find(|batch| batch.stage == BatchStage::Updating);
            let is_left = view.is_none() || batches.iter().any(|batch| batch.stage == BatchStage::Waiting);
            let ignoring_nodes_helps = view.is_some_and(|view| view.ignoring_nodes_helps);
            let ignore = || command("ignore nodes that are not ready: {} --force", [step.clone()]);
            let hint = waits_for(workload, pods).or_else(|| {
                if let Some(batch) = under_way {
                    let needs_room = batch.slots.iter().any(|slot| slot.state.is_held());
                    let needed = Word::text(&(pods.len() + 1).to_string(), "COUNT");
                    let allow = || command("allow them: {} --max-unavailable {}", [step.clone(), needed]);
                    return needs_room.then(allow);
                }
                let begins = is_left && !ignoring_nodes_helps;
                begins.then(|| command("release the next batch anyway: {} --force", [step.clone()]))
            });
            [Some(status(target)), ignoring_nodes_helps.then(ignore), hint].into_iter().flatten().collect()
        }
        StopReason::NoReplicas => vec![command("after a scale-up: {}", [step])],
        StopReason::OwnPartition { partition: 0, .. } => Vec::new(),
        StopReason::OwnPartition { .. } => vec![lower_partition(workload, kept_by_goal(view))],
        StopReason::NotSelected { .. } => vec![command("the other nodes: {} --node-selector=", [step])],
        StopReason::OnUnreadyNodes(nodes) => vec![get_nodes(nodes)],
        StopReason::OnUnreadyNode { node, .. } => vec![get_nodes(std::slice::from_ref(node))],
    }
}

fn status(target: Word) -> String {
    command("kubectl rollout2 status {}", [target])
}

/// Returns how to roll back. `undo` needs a revision if the one that the plan began from is not stored any more.
fn roll_back(workload: &Workload, view: Option<&PlanView>) -> String {
    let target = workload.command_target();
    if view.is_some_and(|view| view.from.is_none()) {
        return command("to roll back, choose one: kubectl rollout2 undo {} --to NUMBER", [target]);
    }
    command("to roll back: kubectl rollout2 undo {}", [target])
}

fn get_nodes(nodes: &[String]) -> String {
    command("kubectl get nodes {}", [Word::names(nodes.iter().map(String::as_str), "NODE")])
}

/// Returns the pod that an ordered controller waits for: it replaces no pod while one is not ready.
fn waits_for(workload: &Workload, pods: &[(String, String)]) -> Option<String> {
    let (lowest, _) = pods.last().filter(|_| workload.kind().pods().wait_for_each_other(workload))?;
    let pod = Word::name(lowest, "POD").and(&workload.in_namespace());
    Some(command("its controller waits until this pod is ready: kubectl describe pod {}", [pod]))
}

/// Returns the hint that the next step completes the rollback.
fn continue_rollback(workload: &Workload, step: Word) -> String {
    if !is_rollback_held(workload) {
        return command("wait for the rollback: {}", [step]); // the original strategy is restored
    }
    let is_paused = workload.held().stored().is_some_and(Hold::is_paused);
    let next = if is_paused { resume_and(workload, step) } else { step };
    command("complete the rollback and restore the original strategy: {}", [next])
}

/// Returns the hint for the next batch, or for the other nodes after the last selected one.
fn next_batch(view: Option<&PlanView>, step: Word) -> String {
    let is_over = |view: &&PlanView| {
        let is_done = view.batches.iter().all(|batch| matches!(batch.stage, BatchStage::Done { .. }));
        is_done && view.pace.node_selector.as_deref().is_some_and(|selector| !selector.is_empty())
    };
    match view.filter(is_over) {
        Some(_) => command("the other nodes: {} --node-selector= --all", [step]),
        None if view.is_some_and(|view| view.pace.batch_size.check_end().is_err()) => {
            command("the next batch: {}", [step])
        }
        None => command("the next batch: {}; all of them: {} --all", [step.clone(), step]),
    }
}

fn below_its_own_partition(workload: &Workload) -> Option<String> {
    let is_kept = strategy::partition(workload) > 0 && workload.counts().outdated() > 0;
    is_kept.then(|| lower_partition(workload, 0))
}

/// Returns the hint to update pods that the workload's own partition keeps: `step` releases none of them.
fn lower_partition(workload: &Workload, kept: usize) -> String {
    format!("to update the pods that it keeps: {}", lower_partition_by_hand(workload, kept))
}

/// Returns how many pods the goal of a command leaves outdated.
fn kept_by_goal(view: Option<&PlanView>) -> usize {
    match view.map(|view| (view.reach, view.wanted)) {
        Some((Reach::To(amount), wanted)) => wanted.saturating_sub(amount.pods_of(wanted)),
        _ => 0,
    }
}

/// Whether every outdated pod is below the partition of the workload, so that a step releases none of them.
fn keeps_every_outdated_pod(workload: &Workload) -> bool {
    let (partition, outdated) = (strategy::partition(workload), workload.counts().outdated());
    !strategy::is_on_delete(workload) && (1..=partition).contains(&outdated)
}

/// Returns the hint to end a hold without outdated pods, because it also holds the next change of the template.
fn stays_held(workload: &Workload) -> Option<String> {
    let hold = workload.held().in_force()?;
    let end = if hold.has_plan() {
        "it stays held; to end the hold: kubectl rollout2 resume {} --release-all"
    } else {
        "it stays held; to end the hold: kubectl rollout2 resume {}"
    };
    Some(command(end, [workload.command_target()]))
}

/// Returns how to end what another client left of a hold.
fn end_leftover(workload: &Workload) -> String {
    match left_fields(workload) {
        Some(left) => {
            let restore = command("kubectl rollout2 resume {}", [workload.command_target()]);
            format!("the ended plan left {left}; to restore it: {restore}")
        }
        None => command(
            "remove the annotation of the hold that another client ended: kubectl rollout2 resume {}",
            [workload.command_target()],
        ),
    }
}

/// Whether a plan that has begun no batch holds a workload, because of pods that are not available or of their nodes.
pub(super) fn has_released_no_pod(workload: &Workload, reason: &StopReason) -> bool {
    let is_obstacle = matches!(
        reason,
        StopReason::Unhealthy { .. } | StopReason::OnUnreadyNodes(_) | StopReason::OnUnreadyNode { .. }
    );
    is_obstacle && workload.held().plan().is_some_and(|plan| plan.last_batch.is_none())
}

/// Whether a hold is in force.
pub(super) fn is_held(workload: &Workload) -> bool {
    workload.held().in_force().is_some()
}

/// Whether another client ended the hold by another strategy.
fn is_held_no_more(workload: &Workload) -> bool {
    workload.held().stored().is_some_and(|hold| !hold.is_in_force(workload))
}
