//! The lines about the outcome of a target: its result and that of its rollback, what still serves, and what helps.

use k8s_openapi::jiff::Timestamp;

use crate::model::cause::{Cause, CauseId};
use crate::model::follow::{FollowedTarget, Outcome, RollbackResult, RolloutFailure, TargetResult};
use crate::model::kind::verdict::{Counts, RolloutState};
use crate::model::text::go_duration;
use crate::model::text::shell_command::{Word, command};
use crate::model::view::RolloutView;
use crate::render::age::lasting;
use crate::render::state_words::{reason, rollback_words};
use crate::render::status::{
    NameContext, deadlock_hints, gone, named_line, next_change_note, reached, rollback_hint, serving_words,
};

/// The last lines about a target, in their order.
pub(super) struct OutcomeLines {
    /// Its result, and that of its rollback.
    pub(super) result: Vec<String>,
    /// What still serves.
    pub(super) serving: Option<String>,
    /// What helps, and what will be held.
    pub(super) hints: Vec<String>,
}

/// Returns the result of a target and of its rollback, what still serves, and what helps. A failure that was rolled back was
/// printed when the rollback started.
pub(super) fn outcome_lines(
    target: &FollowedTarget,
    result: &TargetResult,
    names: NameContext,
    now: Timestamp,
) -> OutcomeLines {
    let view = target.view(now);
    let line = outcome_line(target, result, names).filter(|_| target.rollback().is_none());
    let rollback_lines =
        result.rollback.iter().map(|rollback| rollback_line(target, &result.outcome, rollback, names));
    let hints = view
        .iter()
        .flat_map(|view| rollback_hint_at_end(view, result).into_iter().chain(deadlock_hints(view)));
    let stuck = result.rollback.iter().filter_map(|rollback| stuck_pod_hint(target, rollback));
    let serving = view.as_ref().filter(|view| shows_what_serves(view, result));
    let of_error = match &result.outcome {
        Outcome::Unreadable(error) => error.next_step().map(|hint| format!("hint: {hint}")),
        _ => None,
    };
    OutcomeLines {
        result: line.into_iter().chain(rollback_lines).collect(),
        serving: serving.map(|view| {
            let ago = result.since_answer.map(|ago| format!("{} ago: ", lasting(ago))).unwrap_or_default();
            format!("  {ago}{}", serving_words(view))
        }),
        hints: of_error
            .into_iter()
            .chain(hints)
            .chain(stuck)
            .chain(view.as_ref().and_then(next_change_note))
            .collect(),
    }
}

/// Whether the end of a failed, unfinished or held rollout says what still serves.
fn shows_what_serves(view: &RolloutView, result: &TargetResult) -> bool {
    match &result.outcome {
        Outcome::Failed(RolloutFailure::Replaced(_)) => false,
        Outcome::Unfinished | Outcome::Held => view.needs_a_fix || view.is_outage,
        Outcome::Failed(_) | Outcome::OtherTargetFailed(_) => !is_rolled_back(result),
        Outcome::TimedOut(_) => true,
        _ => false,
    }
}

/// Returns the hint with the command that rolls a target back at its end, unless a rollback was tried already.
pub(in crate::render) fn rollback_hint_at_end(view: &RolloutView, result: &TargetResult) -> Option<String> {
    let helps = match &result.outcome {
        Outcome::Failed(RolloutFailure::Replaced(_)) => false,
        Outcome::Unfinished | Outcome::TimedOut(_) | Outcome::Held => view.needs_a_fix,
        Outcome::Failed(_) | Outcome::OtherTargetFailed(_) => true,
        _ => false,
    };
    rollback_hint(view).filter(|_| helps && result.rollback.is_none())
}

/// Whether the rollback of a target is complete.
fn is_rolled_back(result: &TargetResult) -> bool {
    matches!(&result.rollback, Some(RollbackResult::RolledBack { outcome: Outcome::Reached, .. }))
}

/// Returns the hint for a stuck pod that blocks the rollback of a StatefulSet, at the end.
fn stuck_pod_hint(target: &FollowedTarget, rollback: &RollbackResult) -> Option<String> {
    let blocked = target.causes().find(|cause| cause.id == CauseId::BlockedByPod)?;
    let is_blocked =
        matches!(rollback, RollbackResult::RolledBack { outcome, .. } if *outcome != Outcome::Reached);
    is_blocked.then(|| delete_hint(target, blocked)).flatten()
}

/// Returns the same hint as soon as the cause is seen: the controller would wait until the deadline.
pub(super) fn blocked_rollback(target: &FollowedTarget, cause: &Cause) -> Option<String> {
    let is_blocked = cause.id == CauseId::BlockedByPod && target.rollback().is_some();
    is_blocked.then(|| delete_hint(target, cause)).flatten()
}

fn delete_hint(target: &FollowedTarget, blocked: &Cause) -> Option<String> {
    if target.options().replace_stuck_pods {
        return None;
    }
    let words = [Word::name(blocked.pods.first()?, "POD"), target.workload().in_namespace()];
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
        Outcome::Reached => reached(target.workload(), names),
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
    if let RollbackResult::NotStarted(why) = rollback {
        return format!("note: {name}: {words}: {why}");
    }
    match failure {
        Outcome::OtherTargetFailed(other) => format!("error: {other} failed; {name}: {words}"),
        _ => format!("error: {name} failed; {words}"),
    }
}
