//! The reports of a follower as lines of text: kubectl's lines for stdout, all others for stderr.

use k8s_openapi::jiff::Timestamp;

use crate::model::cause::container_logs::LogLines;
use crate::model::cause::{Cause, CauseId};
use crate::model::change::least_time::LeastTime;
use crate::model::follow::{
    CauseChange, Outcome, RollbackResult, RollbackTarget, RolloutFailure, ShortTimeout, TargetResult,
    TargetTracker,
};
use crate::model::kind::Workload;
use crate::model::kind::verdict::{RolloutState, Verdict};
use crate::model::observation::Observation;
use crate::model::text::go_duration;
use crate::model::text::shell_command::{Word, command};
use crate::model::view::RolloutView;
use crate::render::age::lasting;
use crate::render::state_words::renumbered;
use crate::render::status::{
    NameContext, cause_line, deadlock_hints, line, named_line, next_change_note, reached, rollback_hint,
    serving_line,
};

/// Returns kubectl's line for the status of a target. None for a failed one: kubectl ends with an error then,
/// which [`result`] returns, or [`failed_line`] above its causes.
#[must_use]
pub fn status_line(tracker: &TargetTracker, verdict: &Verdict, names: NameContext) -> Option<String> {
    if verdict.state == RolloutState::Failed {
        return None;
    }
    Some(match tracker.observation() {
        Some(observed) => line(&observed.workload, verdict, names),
        None => verdict.line.clone(),
    })
}

/// Returns the failure of a target that is evaluated once, in kubectl's words.
#[must_use]
pub fn failed_line(tracker: &TargetTracker, verdict: &Verdict, names: NameContext) -> Option<String> {
    let is_final = tracker.is_evaluated_once() && verdict.state == RolloutState::Failed;
    is_final.then(|| format!("error: {}", line(tracker.workload(), verdict, names)))
}

/// Returns one line about a cause that appeared, changed or went away.
#[must_use]
pub fn cause(
    workload: &Workload,
    observed: Option<&Observation>,
    cause: &Cause,
    change: CauseChange,
    names: NameContext,
) -> String {
    match change {
        CauseChange::Appeared | CauseChange::Changed => cause_line(cause, workload, names),
        CauseChange::Gone => {
            let what = match &cause.container {
                Some(container) if is_ready(observed, cause, container) => format!("{container} is ready"),
                Some(container) => format!("{container}: {}", cause.summary),
                None => cause.summary.clone(),
            };
            let summary = format!("resolved: {what}");
            let gone = Cause { summary, container: None, evidence: None, restarts: 0, ..cause.clone() };
            cause_line(&gone, workload, names)
        }
    }
}

/// Whether a container is ready on every pod of a cause that still exists, and one does.
fn is_ready(observed: Option<&Observation>, cause: &Cause, container: &str) -> bool {
    let pods = observed.into_iter().flat_map(Observation::own_pods);
    let mut containers = pods
        .filter(|pod| cause.pods.contains(&pod.name))
        .flat_map(|pod| pod.containers.iter().filter(|of_pod| of_pod.name == container))
        .peekable();
    containers.peek().is_some() && containers.all(|container| container.ready)
}

/// Returns the last lines of a container's log, indented below their cause.
#[must_use]
pub fn log(log: &LogLines) -> Vec<String> {
    let container = format!("    {} {}| ", log.pod, log.container);
    log.lines.iter().map(|line| format!("{container}{line}")).collect()
}

/// Returns a cause and the last lines of the log that it is about.
pub fn cause_with_log(
    tracker: &TargetTracker,
    of: &Cause,
    names: NameContext,
) -> impl Iterator<Item = String> + use<> {
    let cause = cause(tracker.workload(), tracker.observation(), of, CauseChange::Appeared, names);
    std::iter::once(cause).chain(tracker.log_for(of).map(log).unwrap_or_default())
}

/// Returns what a target waits for, if its counters do not show it.
#[must_use]
pub fn waiting(tracker: &TargetTracker, reason: &str) -> String {
    format!("note: {}: waiting for {reason}", tracker.workload().target())
}

/// Returns what a failure of a target would be rolled back to.
#[must_use]
pub fn rollback_target(tracker: &TargetTracker, target: &RollbackTarget, names: NameContext) -> String {
    let name = names.name(tracker.workload());
    match target {
        RollbackTarget::Revision { label, images } => {
            let image = if images.len() == 1 { "image" } else { "images" };
            format!("note: {name}: would roll back to revision {label} ({image} {})", images.join(", "))
        }
        RollbackTarget::Nothing(why) => format!("note: {name}: nothing to roll back to: {why}"),
    }
}

/// Returns the least time that a rollout needs, and a warning if the command ends before.
#[must_use]
pub fn least_time(
    tracker: &TargetTracker,
    least: LeastTime,
    timeout: Option<ShortTimeout>,
    names: NameContext,
) -> Vec<String> {
    let name = names.name(tracker.workload());
    let warning = timeout.map(|ShortTimeout { given, fitting }| {
        let [given, fitting] = [given, fitting].map(go_duration::short);
        format!("warning: --timeout {given} ends before the rollout of {name} can; --timeout {fitting} fits")
    });
    std::iter::once(format!("note: {name}: {least}")).chain(warning).collect()
}

/// Returns that the command stops following a target because the reader of its output exited.
#[must_use]
pub fn without_reader(tracker: &TargetTracker) -> String {
    format!(
        "note: stdout was closed; the rollout of {} continues in the cluster",
        tracker.workload().target()
    )
}

/// Returns kubectl's line for the status of a rollback. It goes to stderr, because a script that waits for
/// `successfully rolled out` on stdout waits for the rollout that failed.
#[must_use]
pub fn rollback_line(tracker: &TargetTracker, verdict: &Verdict, names: NameContext) -> Option<String> {
    status_line(tracker, verdict, names).map(|line| format!("rolling back: {line}"))
}

/// Returns that a target failed, and that its rollback started.
#[must_use]
pub fn rollback_started(
    tracker: &TargetTracker,
    result: &TargetResult,
    revision: &str,
    names: NameContext,
) -> Vec<String> {
    let name = names.name(tracker.workload());
    let why = match &result.outcome {
        Outcome::OtherTargetFailed(other) => format!(", because {other} failed"),
        _ => String::new(),
    };
    let back = format!("{name}: rolling back to revision {revision}, the stable revision{why}");
    ended(tracker, result, names).into_iter().chain([back]).collect()
}

/// Returns how the rollback of a failed target ended.
fn undone(tracker: &TargetTracker, failure: &Outcome, undone: &RollbackResult, names: NameContext) -> String {
    let name = names.name(tracker.workload());
    let (revision, outcome) = match undone {
        RollbackResult::NotStarted(why) => {
            return format!("note: {name}: not rolled back: {why}");
        }
        RollbackResult::RolledBack { revision, outcome } => (revision, outcome),
    };
    let rollback = format!("the rollback to revision {revision}");
    let ended = match outcome {
        Outcome::Reached => format!("rolled back to revision {revision}{}", renumbered(tracker, revision)),
        Outcome::Held => format!("{rollback} is held"),
        Outcome::Failed(RolloutFailure::Superseded(_)) => format!("another revision replaced {rollback}"),
        Outcome::Failed(failure) => format!("{rollback} failed too: {}", failure.word()),
        Outcome::Deleted | Outcome::Recreated => format!("it was deleted during {rollback}"),
        Outcome::TimedOut(limit) => {
            format!("{rollback} is not complete after {} (--timeout)", go_duration::write(*limit))
        }
        Outcome::Unreadable(error) => format!("{rollback} cannot be followed: {}", error.sentence()),
        Outcome::Unfinished | Outcome::Interrupted(_) | Outcome::OtherTargetFailed(_) => {
            format!("{rollback} continues in the cluster")
        }
    };
    match failure {
        Outcome::OtherTargetFailed(other) => format!("error: {other} failed; {name}: {ended}"),
        _ => format!("error: {name} failed; {ended}"),
    }
}

/// Returns the result of a target and of its rollback, what still serves, and what helps. `failure_printed` leaves out the
/// failure itself, which was printed when the rollback started.
#[must_use]
pub fn result(
    tracker: &TargetTracker,
    result: &TargetResult,
    failure_printed: bool,
    names: NameContext,
    now: Timestamp,
) -> EndLines {
    let view = tracker.view(now);
    let ended = ended(tracker, result, names).filter(|_| !failure_printed);
    let undone = result.rollback.iter().map(|what| undone(tracker, &result.outcome, what, names));
    let hints = view.iter().flat_map(|view| way_back(view, result).into_iter().chain(way_on(view, result)));
    let stuck = result.rollback.iter().filter_map(|what| stuck_pod_hint(tracker, what));
    EndLines {
        result: ended.into_iter().chain(undone).collect(),
        serving: view
            .as_ref()
            .filter(|view| shows_what_serves(view, result))
            .map(|view| what_serves(view, result)),
        hints: hints.chain(stuck).chain(view.as_ref().and_then(next_change_note)).collect(),
    }
}

/// The last lines about a target, in their order.
#[derive(Debug)]
pub struct EndLines {
    /// Its result, and that of its rollback.
    pub result: Vec<String>,
    /// What still serves.
    pub serving: Option<String>,
    /// What helps, and what will be held.
    pub hints: Vec<String>,
}

impl EndLines {
    /// Returns all of them.
    pub fn all(self) -> impl Iterator<Item = String> {
        self.result.into_iter().chain(self.serving).chain(self.hints)
    }
}

/// Returns what still serves.
fn what_serves(view: &RolloutView, result: &TargetResult) -> String {
    let ago = result.unanswered.map(|ago| format!("{} ago: ", lasting(ago))).unwrap_or_default();
    format!("{ago}{}", serving_line(view))
}

/// Whether the end of a failed, unfinished or held rollout says what still serves.
fn shows_what_serves(view: &RolloutView, result: &TargetResult) -> bool {
    match &result.outcome {
        Outcome::Failed(RolloutFailure::Superseded(_)) => false,
        Outcome::Unfinished | Outcome::Held => view.needs_a_fix || view.is_outage,
        Outcome::Failed(_) | Outcome::OtherTargetFailed(_) => !is_rolled_back(result),
        Outcome::TimedOut(_) => true,
        _ => false,
    }
}

/// Returns the commands that end a deadlock of the surge pods, where the rollout is not over.
fn way_on(view: &RolloutView, result: &TargetResult) -> Vec<String> {
    let is_open = result.outcome == Outcome::Unfinished || shows_what_serves(view, result);
    if is_open { deadlock_hints(view) } else { Vec::new() }
}

/// Returns the hint with the command that rolls a target back at its end, unless a rollback was tried already.
pub(in crate::render) fn way_back(view: &RolloutView, result: &TargetResult) -> Option<String> {
    let helps = match &result.outcome {
        Outcome::Failed(RolloutFailure::Superseded(_)) => false,
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
fn stuck_pod_hint(tracker: &TargetTracker, undone: &RollbackResult) -> Option<String> {
    let blocked = tracker.causes().find(|cause| cause.id == CauseId::BlockedByPod)?;
    let stands = matches!(undone, RollbackResult::RolledBack { outcome, .. } if *outcome != Outcome::Reached);
    stands.then(|| delete_hint(tracker, blocked)).flatten()
}

/// Returns the same hint as soon as the cause is seen: the controller would wait until the deadline.
#[must_use]
pub fn blocked_rollback(tracker: &TargetTracker, cause: &Cause) -> Option<String> {
    let is_blocked = cause.id == CauseId::BlockedByPod && tracker.rollback().is_some();
    is_blocked.then(|| delete_hint(tracker, cause)).flatten()
}

fn delete_hint(tracker: &TargetTracker, blocked: &Cause) -> Option<String> {
    if tracker.rollback()?.replaces_stuck_pods {
        return None;
    }
    let words = [Word::name(blocked.pods.first()?, "POD"), tracker.workload().in_namespace()];
    Some(command("hint: --replace-stuck-pods deletes stuck pods; by hand: kubectl delete pod {}{}", words))
}

/// Returns the result of a target. None for a complete rollout: kubectl's last line says so.
fn ended(tracker: &TargetTracker, result: &TargetResult, names: NameContext) -> Option<String> {
    let name = names.name(tracker.workload());
    let last = if result.line.is_empty() { String::new() } else { format!(": {}", result.line) };
    Some(match &result.outcome {
        Outcome::Reached
            if tracker.verdict().is_none_or(|verdict| verdict.state == RolloutState::Complete) =>
        {
            return None;
        }
        // Its status says so, or the lines of the rollback.
        Outcome::Unfinished | Outcome::OtherTargetFailed(_) => return None,
        // Its causes say so, below its line.
        Outcome::Held | Outcome::Failed(RolloutFailure::ProgressDeadline(_))
            if tracker.is_evaluated_once() =>
        {
            return None;
        }
        Outcome::Failed(RolloutFailure::Superseded(message)) if tracker.is_evaluated_once() => {
            format!("error: {}", named_line(tracker.workload(), message, names))
        }
        Outcome::Reached => reached(tracker.workload(), names),
        Outcome::Held => format!("note: {name} is held: outdated pods remain"),
        Outcome::Failed(failure) => format!("error: {}", failed(&name, result, failure, &last)),
        Outcome::Deleted => format!("error: object has been deleted: {name}"),
        Outcome::Recreated => format!("error: object has been deleted, and created again: {name}"),
        Outcome::TimedOut(limit) => {
            let last = match result.unanswered {
                Some(ago) => format!("; the server does not answer; known {} ago{last}", lasting(ago)),
                None => last,
            };
            let limit = go_duration::write(*limit);
            format!("error: timed out waiting for the condition: {name} after {limit} (--timeout){last}")
        }
        Outcome::Unreadable(error) => format!("error: {name}: {}", error.sentence()),
        Outcome::Interrupted(stop) => {
            format!("{}; the rollout of {name} continues in the cluster{last}", stop.words())
        }
    })
}

/// Returns why a target failed, in kubectl's words where it has any, and which limit was exceeded.
fn failed(name: &str, result: &TargetResult, failure: &RolloutFailure, last: &str) -> String {
    match failure {
        RolloutFailure::ProgressDeadline(None) => result.line.clone(),
        RolloutFailure::ProgressDeadline(Some(seconds)) => {
            format!("{} (progressDeadlineSeconds: {seconds})", result.line)
        }
        RolloutFailure::Deadline(deadline) => {
            format!("{name} made no progress for {} (--deadline){last}", go_duration::write(*deadline))
        }
        RolloutFailure::Cause { id, grace } => {
            format!("{name} failed: {} for {}{last}", id.name(), go_duration::write(*grace))
        }
        RolloutFailure::Superseded(line) => format!("{name}: {line}"),
    }
}
