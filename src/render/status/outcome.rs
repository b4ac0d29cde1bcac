//! The end of a target: the findings of its result and of its rollback, what still serves, and what helps.

use k8s_openapi::jiff::Timestamp;

use crate::model::cause::{Cause, CauseId, lost_node_words, surge_deadlock_commands};
use crate::model::finding::{Finding, Reason};
use crate::model::follow::{
    FollowOptions, Followed, FollowedTarget, Goal, NoRollback, Outcome, RolloutFailure, TargetResult,
};
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::pod_stage::SETTLE_TIME;
use crate::model::text::go_duration;
use crate::model::text::shell_command::{Word, command};
use crate::model::view::RolloutView;
use crate::render::age::duration_text;
use crate::render::state_words::{NameContext, gone, named_line, reason, rollback_words, serving_words};
use crate::render::ui::Ui;

/// Prints the result of a target and of its rollback, what still serves, and what helps. A failure that was rolled back was
/// printed when the rollback started. Everything goes to stderr, but what serves may belong to the lines on stdout.
pub fn print_outcome(
    followed: Followed<'_>,
    names: NameContext<'_>,
    now: Timestamp,
    serving_on_stdout: bool,
    ui: &mut Ui,
) {
    let (target, Some(result)) = (followed.target, followed.result()) else { return };
    let names = names.of_target(target);
    let view = target.view(now);
    let outcome = outcome_finding(target, result, names).filter(|_| followed.rollback.is_none());
    let leaves_out_nodes = target.options().goal == Goal::AvailableOnReadyNodes;
    let reached = target.observation().filter(|_| result.outcome == Outcome::Reached && leaves_out_nodes);
    let lost = reached.and_then(|observed| lost_node_words(observed, now));
    let lost = lost.map(|lost| Finding::note(Reason::Skipped, lost).about(names.name(target.workload())));
    ui.messages.findings(outcome.iter().chain(&lost).chain(&rollback_finding(followed, names)));
    if let Some(view) = view.as_ref().filter(|view| shows_what_serves(view, followed)) {
        let ago = result.since_answer.map(|ago| format!("{} ago: ", duration_text(ago))).unwrap_or_default();
        let serving = format!("  {ago}{}", serving_words(view));
        if serving_on_stdout { ui.out_line(&serving) } else { ui.messages.line(&serving) }
    }
    for hint in hints(followed, view.as_ref()) {
        ui.messages.hint(&hint);
    }
    if let Some(hold) = view.and_then(|view| view.next_change_hold) {
        let text = format!("{} is {hold}", target.workload().target());
        ui.messages.finding(&Finding::note(Reason::Held, text));
    }
}

/// Returns the commands that help at the end of a target, each with its purpose. The first one helps most.
pub(super) fn hints(followed: Followed<'_>, view: Option<&RolloutView>) -> Vec<String> {
    let (target, mut hints) = (followed.target, Vec::new());
    if let Some(Outcome::Unreadable(error)) = followed.outcome() {
        hints.extend(error.hint_text().map(str::to_owned));
    }
    let ttl = target.workload().object().int("/spec/ttlSecondsAfterFinished");
    if let (Some(Outcome::Deleted), Some(seconds)) = (followed.outcome(), ttl) {
        hints.push(format!(
            "it was not seen complete; ttlSecondsAfterFinished {seconds} may be too short to see how it ended"
        ));
    }
    if let Some(view) = view {
        hints.extend(rollback_at_end(view, followed).map(str::to_owned));
        hints.extend(deadlock_hints(view));
    }
    if let Some(NoRollback::Unknown(_)) = followed.no_rollback() {
        let target = target.workload().command_target();
        hints.push(command("when the API server answers: kubectl rollout2 status {}", [target]));
    }
    let may_go_on = match (followed.rolled_back(), followed.no_rollback()) {
        (Some((_, outcome)), _) => *outcome != Outcome::Reached,
        (None, Some(_)) => false,
        (None, None) => view.is_some_and(|view| hints.is_empty() && shows_what_serves(view, followed)),
    };
    if may_go_on {
        let mut blocking = target.causes().filter(|cause| cause.needs_a_fix());
        hints.extend(blocking.find_map(|cause| delete_hint(followed, cause)));
    }
    hints
}

/// Whether the end of a failed, unfinished or held rollout says what still serves. A Job serves nothing.
fn shows_what_serves(view: &RolloutView, followed: Followed<'_>) -> bool {
    followed.outcome().is_some_and(|outcome| match outcome {
        _ if view.workload.kind().runs_to_completion() => false,
        Outcome::TimedOut(_) => true,
        outcome if outcome.is_unfinished() => view.needs_a_fix() || view.is_outage,
        outcome => outcome.is_failure() && !matches!(followed.rolled_back(), Some((_, Outcome::Reached))),
    })
}

/// Returns the command that rolls a target back at its end; `None` if it does not help, or was tried already.
pub(in crate::render) fn rollback_at_end<'v>(
    view: &'v RolloutView,
    followed: Followed<'_>,
) -> Option<&'v str> {
    let outcome = followed.outcome()?;
    let helps = outcome.is_failure() || outcome.is_unfinished() && view.needs_a_fix();
    // The command would undo what another client rolled out meanwhile.
    let was_tried = followed.rolled_back().is_some()
        || matches!(followed.no_rollback(), Some(NoRollback::OtherRollout | NoRollback::Unknown(_)));
    view.rollback.as_deref().filter(|_| helps && !was_tried)
}

/// Returns the commands that end a deadlock of the surge pods, one a line.
fn deadlock_hints(view: &RolloutView) -> Vec<String> {
    if !view.causes.iter().any(|cause| cause.id == CauseId::SurgeDeadlock) {
        return Vec::new();
    }
    let [unblock, restore] = surge_deadlock_commands(&view.workload);
    vec![format!("let an old pod go first: {unblock}"), format!("afterwards: {restore}")]
}

/// Returns the hint for a stuck pod that blocks a StatefulSet or its rollback; `None` for another cause.
pub(super) fn delete_hint(followed: Followed<'_>, cause: &Cause) -> Option<String> {
    let (target, is_rollback) = (followed.target, followed.rollback.is_some());
    if cause.id != CauseId::BlockedByPod || is_rollback && target.options().replace_stuck_pods {
        return None;
    }
    let words = [Word::name(cause.pods.first()?, "POD"), target.workload().in_namespace()];
    let by_hand = command("kubectl delete pod {}{}", words);
    let hint = if is_rollback { "--replace-stuck-pods deletes stuck pods; by hand: " } else { "" };
    Some(format!("{hint}{by_hand}"))
}

/// Returns the finding of a result. `None` where another line says so, as kubectl's last one of a complete rollout.
pub(super) fn outcome_finding(
    target: &FollowedTarget,
    result: &TargetResult,
    names: NameContext<'_>,
) -> Option<Finding> {
    let workload = target.workload();
    let name = names.name(workload);
    // After a colon kubectl's line is a part of the sentence.
    let last = match result.line.strip_prefix("Waiting") {
        _ if result.line.is_empty() => String::new(),
        Some(rest) => format!(": waiting{rest}"),
        None => format!(": {}", result.line),
    };
    let is_complete = target.verdict().is_none_or(|verdict| verdict.state == RolloutState::Complete);
    Some(match &result.outcome {
        // kubectl's line says so.
        Outcome::Reached if is_complete => return None,
        Outcome::Reached => Finding::note(Reason::Reached, format!("{name} has reached the goal of --until")),
        // Its status says so, or the lines of the rollback.
        Outcome::Unfinished | Outcome::OtherTargetFailed(_) => return None,
        // Its causes say so, below its line.
        Outcome::Held | Outcome::Failed(RolloutFailure::ProgressDeadline(_) | RolloutFailure::Condition)
            if target.options().once =>
        {
            return None;
        }
        Outcome::Held => Finding::note(Reason::Held, held(target, &name)),
        // kubectl has words for these.
        Outcome::Failed(RolloutFailure::ProgressDeadline(seconds)) => {
            let limit = seconds.map(|seconds| format!(" (progressDeadlineSeconds: {seconds})"));
            let text = named_line(workload, &result.line, names) + &limit.unwrap_or_default();
            Finding::error(Reason::Failed, text)
        }
        Outcome::Failed(RolloutFailure::Condition) => {
            Finding::error(Reason::Failed, named_line(workload, &result.line, names))
        }
        Outcome::Failed(RolloutFailure::Replaced(message)) if target.options().once => {
            Finding::error(Reason::Failed, named_line(workload, message, names))
        }
        Outcome::Failed(RolloutFailure::Replaced(line)) => {
            Finding::error(Reason::Failed, line.clone()).about(name)
        }
        Outcome::Failed(failure) => {
            Finding::error(Reason::Failed, format!("{name} failed: {}{last}", reason(failure)))
        }
        Outcome::Deleted => Finding::error(Reason::Deleted, gone(&name, false)),
        Outcome::Recreated => Finding::error(Reason::Recreated, gone(&name, true)),
        Outcome::TimedOut(limit) => {
            let last = match result.since_answer {
                Some(ago) => format!("; the server does not answer; known {} ago{last}", duration_text(ago)),
                None if is_complete && target.verdict().is_some() => {
                    format!(": complete, but {}", lacking(target))
                }
                None => last,
            };
            let limit = go_duration::write(*limit);
            let text = format!("timed out waiting for the condition: {name} after {limit} (--timeout){last}");
            Finding::error(Reason::TimedOut, text)
        }
        Outcome::Unreadable(error) => Finding { hint: None, ..Finding::from(error) }.about(name),
        Outcome::Interrupted(stop) => {
            let needs_a_fix = target.causes().any(Cause::needs_a_fix);
            let does = if needs_a_fix { "needs a fix to continue" } else { "continues in the cluster" };
            let text = format!("{}; the rollout of {name} {does}{last}", stop.words());
            Finding::info(Reason::Interrupted, text)
        }
    })
}

/// Returns what the goal of a complete rollout lacks when the timeout passes.
fn lacking(target: &FollowedTarget) -> String {
    let FollowOptions { goal, stable, .. } = target.options();
    match stable.filter(|stable| !stable.is_zero()) {
        _ if matches!(goal, Goal::Complete | Goal::OldGone) => "--until is not reached".to_owned(),
        Some(stable) => format!("not for --stable {} yet", go_duration::short(stable)),
        None => format!("its pods have not been ready for {} yet", go_duration::short(SETTLE_TIME)),
    }
}

/// Returns that a rollout is held, and how far it is: a pause can come at any moment.
fn held(target: &FollowedTarget, name: &str) -> String {
    let is_held = target.verdict().is_some_and(|verdict| verdict.state == RolloutState::Held);
    if target.workload().kind().runs_to_completion() {
        return format!("{name} is suspended");
    }
    let word = if target.workload().is_paused() && !is_held { "paused" } else { "held" };
    let counts = target.workload().counts();
    let remain = if counts.outdated() > 0 { "; outdated pods remain" } else { "" };
    format!("{name} is {word}: {} of {} updated{remain}", counts.updated, counts.wanted)
}

/// Returns the finding of the rollback of a failed target, or why there is none.
fn rollback_finding(followed: Followed<'_>, names: NameContext<'_>) -> Option<Finding> {
    let (name, words) = (names.name(followed.target.workload()), rollback_words(followed)?);
    Some(match (followed.no_rollback(), followed.outcome()) {
        (Some(why), _) => {
            Finding::error(Reason::RollbackNotStarted, format!("{words}: {}", why.words())).about(name)
        }
        (None, Some(Outcome::OtherTargetFailed(other))) => {
            Finding::error(Reason::Failed, format!("{other} failed; {name}: {words}"))
        }
        (None, Some(Outcome::TimedOut(_))) => {
            Finding::error(Reason::TimedOut, format!("{name} timed out; {words}"))
        }
        _ => Finding::error(Reason::Failed, format!("{name} failed; {words}")),
    })
}
