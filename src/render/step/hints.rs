//! What to type next.

use crate::model::hold::{Hold, Reason, step_command};
use crate::model::step::{Back, End, Plan, Stage, View, Why, goes_back, is_on_the_way_back};
use crate::model::strategy;
use crate::model::verdict::Counts;
use crate::model::workload::Workload;

/// What to type next after a step that ended like this, each a command and what it does.
pub(super) fn of(workload: &Workload, view: Option<&View>, end: &End) -> Vec<String> {
    let (target, step) = (workload.command_target(), step_command(workload));
    let (status, undo) =
        (format!("kubectl rollout2 status {target}"), format!("kubectl rollout2 undo {target}"));
    match end {
        End::Stopped(Why::Changed { .. })
        | End::Failed { back: Some(Back::Unfinished { .. }), .. }
        | End::TimedOut(_)
        | End::Interrupted
        | End::Terminated
            if is_on_the_way_back(workload) =>
        {
            vec![on_with_the_way_back(workload)]
        }
        End::NothingOutdated if is_held_no_more(workload) => {
            vec![format!("forget the hold that somebody ended: kubectl rollout2 resume {target}")]
        }
        End::NothingOutdated => {
            below_its_own_partition(workload).into_iter().chain(stays_held(workload)).collect()
        }
        End::Complete => below_its_own_partition(workload).into_iter().collect(),
        End::Reached { .. } => vec![next_batch(view, &step)],
        End::Stopped(why) => stopped(workload, view, why),
        End::Failed { back: None, .. } => {
            let is_set = matches!(workload, Workload::StatefulSet(_));
            let stuck = if is_set { " --replace-stuck-pods" } else { "" }; // what broke may block the way
            vec![format!("once it is mended: {step}"), format!("to go back: {undo}{stuck}")]
        }
        End::Failed { back: Some(Back::Not(_)), .. } => vec![format!("to go back: {undo}")],
        End::TimedOut(_) | End::Interrupted | End::Terminated if is_held(workload) => {
            vec![format!("go on with the plan: {step}")]
        }
        End::Failed { back: Some(Back::Unfinished { .. }), .. }
        | End::TimedOut(_)
        | End::Interrupted
        | End::Terminated => vec![status],
        End::Failed { back: Some(Back::Done { .. }), .. } | End::Gone { .. } | End::Error(_) => Vec::new(),
    }
}

fn stopped(workload: &Workload, view: Option<&View>, why: &Why) -> Vec<String> {
    let (target, step) = (workload.command_target(), step_command(workload));
    let status = format!("kubectl rollout2 status {target}");
    match why {
        Why::Paused => vec![format!("kubectl rollout2 resume {target} && {step}")],
        Why::LeaseLost { .. } => vec![status],
        Why::Changed { .. } => {
            let flag = if is_for_another_template(workload) { " --new-plan" } else { "" };
            let again = if is_held(workload) { "to go on with it as it is now" } else { "to hold it again" };
            vec![format!("{again}: {step}{flag}"), format!("to go back: kubectl rollout2 undo {target}")]
        }
        Why::Unhealthy { pods, .. } => {
            // What is forced is that a batch begins; one that is under way needs room.
            let is_at = |view: &View, stage: &Stage| view.batches.iter().any(|batch| batch.stage == *stage);
            let is_under_way = view.is_some_and(|view| is_at(view, &Stage::Updating));
            let is_left = view.is_none_or(|view| is_at(view, &Stage::Waiting));
            let force = format!("release the next batch all the same: {step} --force");
            let room = format!("go on beside them: {step} --max-unavailable {}", pods.len() + 1);
            let is_worse_by_nodes = view.is_some_and(|view| view.is_worse_by_nodes);
            let ignore =
                format!("leave nodes that are not ready out of account: {step} --ignore-unready-nodes");
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
        Why::OwnPartition { .. } => {
            vec![format!("go below it, and have it back in the end: {step} --to 100%")]
        }
        Why::NotSelected { .. } => vec![format!("the nodes that are not selected: {step} --node-selector=")],
        Why::OnUnreadyNodes(nodes) => vec![format!("kubectl get nodes {}", nodes.join(" "))],
        Why::OnUnreadyNode { node, .. } => vec![format!("kubectl get nodes {node}")],
    }
}

/// What an ordered controller waits for: it replaces no pod as long as one is not ready, whatever is let go.
fn waits_for(workload: &Workload, pods: &[(String, String)]) -> Option<String> {
    let is_parallel = workload.object().text("/spec/podManagementPolicy") == Some("Parallel");
    let (lowest, _) = pods.last().filter(|_| matches!(workload, Workload::StatefulSet(_)) && !is_parallel)?;
    let place = workload.in_namespace();
    Some(format!("its controller replaces no pod before that is ready: kubectl describe pod {lowest}{place}"))
}

/// Whoever steps next brings a way back to its end.
fn on_with_the_way_back(workload: &Workload) -> String {
    let (target, step) = (workload.command_target(), step_command(workload));
    if !goes_back(workload) {
        return format!("see it to its end: {step}"); // nothing holds it
    }
    let is_paused = Hold::of(workload).ok().flatten().is_some_and(|hold| hold.is_paused());
    let resume = if is_paused { format!("kubectl rollout2 resume {target} && ") } else { String::new() };
    format!("go on with the way back, to the strategy as it was before: {resume}{step}")
}

/// After the last batch of some nodes only others are left.
fn next_batch(view: Option<&View>, step: &str) -> String {
    let is_over = |view: &&View| {
        let is_done = view.batches.iter().all(|batch| matches!(batch.stage, Stage::Done { .. }));
        is_done && view.pacing.node_selector.as_deref().is_some_and(|selector| !selector.is_empty())
    };
    match view.filter(is_over) {
        Some(_) => format!("the nodes that are not selected: {step} --node-selector= --all"),
        None if view.is_some_and(|view| view.pacing.batches.check_end().is_err()) => {
            format!("the next batch: {step}")
        }
        None => format!("the next batch: {step}; or all of them: --all"),
    }
}

fn below_its_own_partition(workload: &Workload) -> Option<String> {
    let is_kept = strategy::partition(workload) > 0 && Counts::of(workload).outdated() > 0;
    is_kept.then(|| format!("to step those too: {} --to 100%", step_command(workload)))
}

/// A hold that has nothing to hold back is easily forgotten, until the next change of the template meets it.
fn stays_held(workload: &Workload) -> Option<String> {
    let hold = Hold::in_force(workload)?;
    let flag = if hold.reason() == Some(Reason::Plan) { " --release-all" } else { "" };
    let target = workload.command_target();
    Some(format!("it stays held; to end that: kubectl rollout2 resume {target}{flag}"))
}

/// Whether a hold of ours is in force.
pub(super) fn is_held(workload: &Workload) -> bool {
    Hold::in_force(workload).is_some()
}

/// A memory without its effect: somebody wrote another strategy.
fn is_held_no_more(workload: &Workload) -> bool {
    Hold::of(workload).ok().flatten().is_some_and(|hold| !hold.is_in_force(workload))
}

fn is_for_another_template(workload: &Workload) -> bool {
    Plan::in_force(workload).is_some_and(|plan| plan.template != workload.template().digest().hex())
}
