//! The outcome of a target: its result and that of its rollback, what still serves, and what helps.

use k8s_openapi::jiff::Timestamp;

use crate::model::cause::{Cause, CauseId, surge_deadlock_commands};
use crate::model::follow::{FollowedTarget, Outcome, RollbackResult, RolloutFailure, TargetResult};
use crate::model::kind::verdict::{Counts, RolloutState};
use crate::model::text::go_duration;
use crate::model::text::shell_command::{Word, command};
use crate::model::view::RolloutView;
use crate::render::age::lasting;
use crate::render::state_words::{NameContext, gone, named_line, reason, rollback_words, serving_words};
use crate::render::ui::Ui;

/// Prints the result of a target and of its rollback, what still serves, and what helps. A failure that was rolled back was
/// printed when the rollback started. Everything goes to stderr, but what serves may belong to the lines on stdout.
pub fn print_outcome(
    target: &FollowedTarget,
    result: &TargetResult,
    names: NameContext,
    now: Timestamp,
    serving_on_stdout: bool,
    ui: &mut Ui,
) {
    let view = target.view(now);
    ui.err_lines(outcome_line(target, result, names).filter(|_| target.rollback().is_none()));
    let rollback = result.rollback.as_ref();
    ui.err_lines(rollback.map(|rollback| rollback_line(target, &result.outcome, rollback, names)));
    if let Some(view) = view.as_ref().filter(|view| shows_what_serves(view, result)) {
        let ago = result.since_answer.map(|ago| format!("{} ago: ", lasting(ago))).unwrap_or_default();
        let serving = format!("  {ago}{}", serving_words(view));
        if serving_on_stdout { ui.out_line(&serving) } else { ui.err_line(&serving) }
    }
    if let Outcome::Unreadable(error) = &result.outcome {
        ui.err_lines(error.next_step().map(|hint| format!("hint: {hint}")));
    }
    if let Some(view) = &view {
        ui.err_lines(rollback_at_end(view, result).map(|command| format!("hint: {command}")));
        ui.err_lines(deadlock_hints(view));
    }
    if let Some(RollbackResult::Unknown(_)) = rollback {
        let target = target.workload().command_target();
        ui.err_line(&command("hint: when the API server answers: kubectl rollout2 status {}", [target]));
    }
    if matches!(rollback, Some(RollbackResult::RolledBack { outcome, .. }) if *outcome != Outcome::Reached) {
        ui.err_lines(target.causes().find_map(|cause| delete_hint(target, cause)));
    }
    if let Some(hold) = view.and_then(|view| view.next_change_hold) {
        ui.err_line(&format!("note: {} is {hold}", target.workload().target()));
    }
}

/// Whether the end of a failed, unfinished or held rollout says what still serves.
fn shows_what_serves(view: &RolloutView, result: &TargetResult) -> bool {
    match &result.outcome {
        Outcome::Failed(RolloutFailure::Replaced(_)) => false,
        Outcome::Unfinished | Outcome::Held => view.needs_a_fix || view.is_outage,
        Outcome::Failed(_) | Outcome::OtherTargetFailed(_) => {
            !matches!(&result.rollback, Some(RollbackResult::RolledBack { outcome: Outcome::Reached, .. }))
        }
        Outcome::TimedOut(_) => true,
        _ => false,
    }
}

/// Returns the command that rolls a target back at its end; none if it does not help, or was tried already.
pub(in crate::render) fn rollback_at_end<'v>(
    view: &'v RolloutView,
    result: &TargetResult,
) -> Option<&'v str> {
    let helps = match &result.outcome {
        Outcome::Failed(RolloutFailure::Replaced(_)) => false,
        Outcome::Unfinished | Outcome::TimedOut(_) | Outcome::Held => view.needs_a_fix,
        Outcome::Failed(_) | Outcome::OtherTargetFailed(_) => true,
        _ => false,
    };
    let was_tried = result.rollback.as_ref().is_some_and(|one| !matches!(one, RollbackResult::NotStarted(_)));
    view.rollback.as_deref().filter(|_| helps && !was_tried)
}

/// Returns the commands that end a deadlock of the surge pods, one a line.
fn deadlock_hints(view: &RolloutView) -> Vec<String> {
    if !view.causes.iter().any(|cause| cause.id == CauseId::SurgeDeadlock) {
        return Vec::new();
    }
    let [unblock, restore] = surge_deadlock_commands(&view.workload);
    vec![format!("hint: let an old pod go first: {unblock}"), format!("hint: afterwards: {restore}")]
}

/// Returns the hint for a stuck pod that blocks the rollback of a StatefulSet; none for another cause.
pub(super) fn delete_hint(target: &FollowedTarget, cause: &Cause) -> Option<String> {
    if cause.id != CauseId::BlockedByPod || target.options().replace_stuck_pods {
        return None;
    }
    let words = [Word::name(cause.pods.first()?, "POD"), target.workload().in_namespace()];
    Some(command("hint: --replace-stuck-pods deletes stuck pods; by hand: kubectl delete pod {}{}", words))
}

/// Returns the result of a target. None where another line says so, as kubectl's last one of a complete rollout.
pub(super) fn outcome_line(
    target: &FollowedTarget,
    result: &TargetResult,
    names: NameContext,
) -> Option<String> {
    let name = names.name(target.workload());
    let last = if result.line.is_empty() { String::new() } else { format!(": {}", result.line) };
    Some(match &result.outcome {
        Outcome::Reached
            if target.verdict().is_none_or(|verdict| verdict.state == RolloutState::Complete) =>
        {
            return None;
        }
        // Its status says so, or the lines of the rollback.
        Outcome::Unfinished | Outcome::OtherTargetFailed(_) => return None,
        // Its causes say so, below its line.
        Outcome::Held | Outcome::Failed(RolloutFailure::ProgressDeadline(_)) if target.options().once => {
            return None;
        }
        Outcome::Failed(RolloutFailure::Replaced(message)) if target.options().once => {
            format!("error: {}", named_line(target.workload(), message, names))
        }
        // kubectl's line does not say so.
        Outcome::Reached => format!("note: {name} has reached the goal of --until"),
        Outcome::Held => held(target, &name),
        // kubectl has words for these.
        Outcome::Failed(RolloutFailure::ProgressDeadline(seconds)) => {
            let limit = seconds.map(|seconds| format!(" (progressDeadlineSeconds: {seconds})"));
            format!(
                "error: {}{}",
                named_line(target.workload(), &result.line, names),
                limit.unwrap_or_default()
            )
        }
        Outcome::Failed(RolloutFailure::Replaced(line)) => format!("error: {name}: {line}"),
        Outcome::Failed(failure) => format!("error: {name} failed: {}{last}", reason(failure)),
        Outcome::Deleted => gone(&name, false),
        Outcome::Recreated => gone(&name, true),
        Outcome::TimedOut(limit) => {
            let is_complete = target.verdict().is_some_and(|verdict| verdict.state == RolloutState::Complete);
            let last = match result.since_answer {
                Some(ago) => format!("; the server does not answer; known {} ago{last}", lasting(ago)),
                None if is_complete => ": complete, but not for as long or as far as asked".to_owned(),
                None => last,
            };
            let limit = go_duration::write(*limit);
            format!("error: timed out waiting for the condition: {name} after {limit} (--timeout){last}")
        }
        Outcome::Unreadable(error) => format!("error: {name}: {error}"),
        Outcome::Interrupted(stop) => {
            format!("{}; the rollout of {name} continues in the cluster{last}", stop.words())
        }
    })
}

/// Returns that outdated pods are held, and how far the rollout is: a pause can come at any moment.
fn held(target: &FollowedTarget, name: &str) -> String {
    let is_paused = target.verdict().is_some_and(|verdict| verdict.state == RolloutState::Paused);
    let word = if is_paused { "paused" } else { "held" };
    let Counts { updated, wanted, .. } = target.workload().counts();
    format!("note: {name} is {word}: {updated} of {wanted} updated; outdated pods remain")
}

/// Returns the outcome of the rollback of a failed target.
fn rollback_line(
    target: &FollowedTarget,
    failure: &Outcome,
    rollback: &RollbackResult,
    names: NameContext,
) -> String {
    let name = names.name(target.workload());
    let words = rollback_words(target, rollback);
    match rollback {
        RollbackResult::NotStarted(why) => {
            let kind = if matches!(failure, Outcome::OtherTargetFailed(_)) { "note" } else { "error" };
            return format!("{kind}: {name}: {words}: {why}");
        }
        RollbackResult::Unknown(why) => return format!("warning: {name}: {words}: {why}"),
        RollbackResult::RolledBack { .. } => {}
    }
    match failure {
        Outcome::OtherTargetFailed(other) => format!("error: {other} failed; {name}: {words}"),
        _ => format!("error: {name} failed; {words}"),
    }
}
