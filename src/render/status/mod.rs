//! What `status` prints of its reports: which words, and which stream. At the end the result of a target and of its rollback,
//! what still serves, and what helps.

pub mod json;

use k8s_openapi::jiff::Timestamp;

use super::age::{age, duration_text};
use super::cause::{cause_in_width, cause_line, cause_report, log_lines, new_evidence};
use super::change::replaces_stuck_pod;
use super::line::Line;
use super::message_writer::usable_width;
use super::revisions;
use super::state_words::{NameContext, gone, named_line, reason, rollback_words, serving_words, state_style};
use super::ui::Ui;
use crate::model::cause::container_logs::LogLines;
use crate::model::cause::{Cause, CauseId, lost_node_words, surge_deadlock_commands};
use crate::model::change::restart::restart_command;
use crate::model::engine::Now;
use crate::model::follow::{
    CauseChange, FollowOptions, Followed, FollowedTarget, Goal, NoRollback, Outcome, Report, RolloutFailure,
    TargetResult,
};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::pod_stage::SETTLE_TIME;
use crate::model::status::stale_configuration::{PodsReadingAtStart, StaleConfiguration};
use crate::model::text::go_duration;
use crate::model::text::shell_command::{Word, command};
use crate::model::view::RolloutView;

/// Prints a report: kubectl's lines and the pods on stdout, present causes and what serves there on a terminal only, and
/// everything else on stderr. `shows_pods` adds each pod to the end.
pub fn print(
    followed: Followed<'_>,
    report: &Report,
    names: NameContext,
    shows_pods: bool,
    now: Now,
    ui: &mut Ui,
) {
    let (target, terminal) = (followed.target, ui.terminal());
    match report {
        Report::Status { prints_line: false, .. } => {}
        Report::Status { verdict, .. } => {
            let line = named_line(target.workload(), &verdict.line, names);
            match (verdict.state, followed.is_rollback_written()) {
                // kubectl prints this line as its error. `Report::Ended` does so, and here it is above the causes.
                (RolloutState::Failed, false) if target.options().once => {
                    ui.messages.line(&format!("error: {line}"));
                }
                (RolloutState::Failed, _) => {}
                (state, false) => {
                    ui.out_lines(&Line::styled(state_style(state), line).wrapped_for(terminal, "  "));
                }
                // A script that waits for `successfully rolled out` on stdout waits for the rollout that failed.
                (_, true) => ui.messages.line(&format!("rolling back: {line}")),
            }
        }
        Report::Cause { cause: reported, change } => {
            // A script reads only kubectl's lines from stdout; a person reads the causes below them.
            let workload = target.workload();
            match terminal.filter(|_| *change != CauseChange::Gone) {
                Some(size) => {
                    let evidence = new_evidence(reported);
                    ui.out_lines(&cause_in_width(reported, evidence, workload, names, size.width.into()));
                }
                None => ui.messages.line(&cause_report(workload, reported, *change, names)),
            }
            if *change == CauseChange::Appeared && followed.rollback.is_some() {
                // The controller would wait until the deadline.
                ui.messages.lines(delete_hint(followed, reported).map(|hint| format!("hint: {hint}")));
            }
            // All logs were read before the only evaluation is printed.
            if let Some(log) = target.log_for(reported).filter(|_| target.options().once) {
                print_log(log, ui);
            }
        }
        Report::Log(_) if target.options().once => {}
        Report::Log(log) => {
            // The line above may be that of another cause.
            let has_log = |cause: &&Cause| cause.id.ends_container() || cause.id.keeps_unready();
            let has_others = target.causes().filter(has_log).count() > 1;
            let mut causes = target.causes().filter(|cause| has_others && target.log_for(cause) == Some(log));
            if let Some(cause) = causes.next() {
                ui.messages.line(&cause_line(cause, target.workload(), names));
            }
            print_log(log, ui);
        }
        Report::Waiting(reason) => {
            ui.messages.line(&format!("note: {}: waiting for {reason}", names.name(target.workload())));
        }
        Report::RollbackTarget(_) | Report::ReplacesStuckPod(_) => {
            ui.messages.lines(notes(followed, report, names));
        }
        Report::Ended(_) => {
            if let Some(observed) = target.observation().filter(|_| shows_pods) {
                let width = terminal.map_or(usize::MAX, usable_width);
                ui.out_lines(&revisions::tree(observed, now.server_time, width, true));
            }
            print_outcome(followed, names, now.server_time, terminal.is_some(), ui);
        }
    }
}

fn print_log(log: &LogLines, ui: &mut Ui) {
    ui.messages.group(&format!("log of {} {}", log.pod, log.container), &log_lines(log));
}

/// Returns that the rollback of a target begins. The last frame shows the rollback, so with frames the causes of the failure
/// have to stay above it.
#[must_use]
pub fn rollback_started(followed: Followed<'_>, names: NameContext, draws: bool) -> Vec<String> {
    let (target, Some(rollback)) = (followed.target, followed.rollback) else { return Vec::new() };
    let causes = rollback.causes.iter().filter(|_| draws).flat_map(|cause| {
        let log = target.log_for(cause).map(log_lines).unwrap_or_default();
        std::iter::once(cause_line(cause, target.workload(), names)).chain(log)
    });
    let why = match &rollback.failed.outcome {
        Outcome::OtherTargetFailed(other) => format!(", because {other} failed"),
        _ => String::new(),
    };
    let (name, revision) = (names.name(target.workload()), &rollback.revision);
    let back = format!("{name}: rolling back to revision {revision}, the stable revision{why}");
    causes.chain(outcome_line(target, &rollback.failed, names)).chain([back]).collect()
}

/// Returns the notes that a report is in every format for reading. No frame shows them.
#[must_use]
pub fn notes(followed: Followed<'_>, report: &Report, names: NameContext) -> Vec<String> {
    let name = names.name(followed.target.workload());
    match report {
        Report::RollbackTarget(Ok((label, images))) => {
            let image = if images.len() == 1 { "image" } else { "images" };
            let images = images.join(", ");
            vec![format!("note: {name}: would roll back to revision {label} ({image} {images})")]
        }
        Report::RollbackTarget(Err(why)) => {
            vec![format!("note: {name}: nothing to roll back to: {}", why.words())]
        }
        Report::ReplacesStuckPod(pod) => {
            vec![replaces_stuck_pod(pod)]
        }
        _ => Vec::new(),
    }
}

/// Returns the warning about a grace period that ends after the command, so that its causes fail no rollout.
#[must_use]
pub fn timeout_before_grace(options: &FollowOptions) -> Option<String> {
    let timeout = options.timeout?;
    let of_causes = options.fail_on.iter().map(|(id, grace)| (format!("--fail-on {}", id.name()), *grace));
    let of_all = options.fail_fast.map(|grace| ("--fail-fast".to_owned(), grace));
    let (flag, grace) = of_all.into_iter().chain(of_causes).find(|(_, grace)| *grace >= timeout)?;
    let [timeout, grace, shorter] = [timeout, grace, timeout / 2].map(go_duration::short);
    Some(format!(
        "warning: --timeout {timeout} does not outlast the grace period of {flag}={grace}, so no cause can fail a rollout; \
         for example: {flag}={shorter}"
    ))
}

/// Returns that the command stops following a target because the reader of its output exited. `is_undo` says that a failure
/// would have been rolled back.
#[must_use]
pub fn without_reader(followed: Followed<'_>, is_undo: bool) -> String {
    let (what, and) = match followed.rollback {
        Some(_) => ("rollback", ""),
        None if is_undo => ("rollout", ", and is not rolled back"),
        None => ("rollout", ""),
    };
    format!(
        "note: stdout was closed; the {what} of {} continues in the cluster{and}",
        followed.target.workload().target()
    )
}

/// Returns `3 of 3 pods started before`, or that all pods have the change.
pub(super) fn started_before(pods: PodsReadingAtStart) -> String {
    if pods.started_before == 0 {
        return "all pods have it".to_owned();
    }
    format!("{} of {} pods started before", pods.started_before, pods.total)
}

/// Returns the note about each ConfigMap and Secret of which pods have earlier values, with the command that replaces them.
pub fn stale_configuration(
    workload: &Workload,
    stale: &[StaleConfiguration],
    now: Timestamp,
) -> impl Iterator<Item = String> {
    stale.iter().map(move |one| {
        let (object, ago) = (one.object.target(), age(one.change.time, now));
        let pods = started_before(one.pods);
        format!("note: {object} changed {ago} ago; {pods}: {}", restart_command(workload))
    })
}

/// Prints the result of a target and of its rollback, what still serves, and what helps. A failure that was rolled back was
/// printed when the rollback started. Everything goes to stderr, but what serves may belong to the lines on stdout.
pub fn print_outcome(
    followed: Followed<'_>,
    names: NameContext,
    now: Timestamp,
    serving_on_stdout: bool,
    ui: &mut Ui,
) {
    let (target, Some(result)) = (followed.target, followed.result()) else { return };
    let view = target.view(now);
    ui.messages.lines(outcome_line(target, result, names).filter(|_| followed.rollback.is_none()));
    let leaves_out_nodes = target.options().goal == Goal::AvailableOnReadyNodes;
    let reached = target.observation().filter(|_| result.outcome == Outcome::Reached && leaves_out_nodes);
    let lost = reached.and_then(|observed| lost_node_words(observed, now));
    ui.messages.lines(lost.map(|lost| format!("note: {}: {lost}", names.name(target.workload()))));
    ui.messages.lines(rollback_line(followed, names));
    if let Some(view) = view.as_ref().filter(|view| shows_what_serves(view, followed)) {
        let ago = result.since_answer.map(|ago| format!("{} ago: ", duration_text(ago))).unwrap_or_default();
        let serving = format!("  {ago}{}", serving_words(view));
        if serving_on_stdout { ui.out_line(&serving) } else { ui.messages.line(&serving) }
    }
    ui.messages.lines(hints(followed, view.as_ref()).into_iter().map(|hint| format!("hint: {hint}")));
    if let Some(hold) = view.and_then(|view| view.next_change_hold) {
        ui.messages.line(&format!("note: {} is {hold}", target.workload().target()));
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
    match followed.outcome() {
        _ if view.workload.kind().runs_to_completion() => false,
        Some(Outcome::Unfinished | Outcome::Held | Outcome::Interrupted(_)) => {
            view.needs_a_fix() || view.is_outage
        }
        Some(Outcome::Failed(RolloutFailure::Replaced(_))) => false,
        Some(Outcome::Failed(_) | Outcome::OtherTargetFailed(_)) => {
            !matches!(followed.rolled_back(), Some((_, Outcome::Reached)))
        }
        Some(Outcome::TimedOut(_)) => true,
        _ => false,
    }
}

/// Returns the command that rolls a target back at its end; `None` if it does not help, or was tried already.
pub(super) fn rollback_at_end<'v>(view: &'v RolloutView, followed: Followed<'_>) -> Option<&'v str> {
    let helps = match followed.outcome()? {
        Outcome::Failed(RolloutFailure::Replaced(_)) => false,
        Outcome::Unfinished | Outcome::TimedOut(_) | Outcome::Held | Outcome::Interrupted(_) => {
            view.needs_a_fix()
        }
        Outcome::Failed(_) | Outcome::OtherTargetFailed(_) => true,
        _ => false,
    };
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
fn delete_hint(followed: Followed<'_>, cause: &Cause) -> Option<String> {
    let (target, is_rollback) = (followed.target, followed.rollback.is_some());
    if cause.id != CauseId::BlockedByPod || is_rollback && target.options().replace_stuck_pods {
        return None;
    }
    let words = [Word::name(cause.pods.first()?, "POD"), target.workload().in_namespace()];
    let by_hand = command("kubectl delete pod {}{}", words);
    let hint = if is_rollback { "--replace-stuck-pods deletes stuck pods; by hand: " } else { "" };
    Some(format!("{hint}{by_hand}"))
}

/// Returns the result of a target. `None` where another line says so, as kubectl's last one of a complete rollout.
fn outcome_line(target: &FollowedTarget, result: &TargetResult, names: NameContext) -> Option<String> {
    let name = names.name(target.workload());
    // After a colon kubectl's line is a part of the sentence.
    let last = match result.line.strip_prefix("Waiting") {
        _ if result.line.is_empty() => String::new(),
        Some(rest) => format!(": waiting{rest}"),
        None => format!(": {}", result.line),
    };
    Some(match &result.outcome {
        Outcome::Reached
            if target.verdict().is_none_or(|verdict| verdict.state == RolloutState::Complete) =>
        {
            return None;
        }
        // Its status says so, or the lines of the rollback.
        Outcome::Unfinished | Outcome::OtherTargetFailed(_) => return None,
        // Its causes say so, below its line.
        Outcome::Held | Outcome::Failed(RolloutFailure::ProgressDeadline(_) | RolloutFailure::Condition)
            if target.options().once =>
        {
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
        Outcome::Failed(RolloutFailure::Condition) => {
            format!("error: {}", named_line(target.workload(), &result.line, names))
        }
        Outcome::Failed(RolloutFailure::Replaced(line)) => format!("error: {name}: {line}"),
        Outcome::Failed(failure) => format!("error: {name} failed: {}{last}", reason(failure)),
        Outcome::Deleted => format!("error: {}", gone(&name, false)),
        Outcome::Recreated => format!("error: {}", gone(&name, true)),
        Outcome::TimedOut(limit) => {
            let is_complete = target.verdict().is_some_and(|verdict| verdict.state == RolloutState::Complete);
            let last = match result.since_answer {
                Some(ago) => format!("; the server does not answer; known {} ago{last}", duration_text(ago)),
                None if is_complete => format!(": complete, but {}", lacking(target)),
                None => last,
            };
            let limit = go_duration::write(*limit);
            format!("error: timed out waiting for the condition: {name} after {limit} (--timeout){last}")
        }
        Outcome::Unreadable(error) => format!("error: {name}: {error}"),
        Outcome::Interrupted(stop) => {
            let needs_a_fix = target.causes().any(Cause::needs_a_fix);
            let does = if needs_a_fix { "needs a fix to continue" } else { "continues in the cluster" };
            format!("{}; the rollout of {name} {does}{last}", stop.words())
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
        return format!("note: {name} is suspended");
    }
    let word = if target.workload().is_paused() && !is_held { "paused" } else { "held" };
    let counts = target.workload().counts();
    let remain = if counts.outdated() > 0 { "; outdated pods remain" } else { "" };
    format!("note: {name} is {word}: {} of {} updated{remain}", counts.updated, counts.wanted)
}

/// Returns the outcome of the rollback of a failed target, or why there is none.
fn rollback_line(followed: Followed<'_>, names: NameContext) -> Option<String> {
    let (name, words) = (names.name(followed.target.workload()), rollback_words(followed)?);
    Some(match (followed.no_rollback(), followed.outcome()) {
        (Some(why), _) => format!("error: {name}: {words}: {}", why.words()),
        (None, Some(Outcome::OtherTargetFailed(other))) => format!("error: {other} failed; {name}: {words}"),
        _ => format!("error: {name} failed; {words}"),
    })
}
