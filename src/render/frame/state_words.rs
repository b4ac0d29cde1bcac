//! The words for durations, states and results in a frame.

use std::time::Duration;

use crate::model::follow::{Outcome, Rollback, RollbackResult, RolloutFailure, TargetResult, TargetTracker};
use crate::model::workload::verdict::RolloutState;
use crate::render::age;
use crate::render::follow::lines::renumbered;
use crate::render::style::Style;

/// Formats a duration as an age: `14s`, `3m10s`.
pub(super) fn lasting(duration: Duration) -> String {
    age::lasting(duration)
}

/// Formats an estimate, rounded up to 5 s below one minute, to 30 s below ten minutes, and to 60 s above.
pub(super) fn about(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let grain = match seconds {
        ..60 => 5,
        60..600 => 30,
        _ => 60,
    };
    lasting(Duration::from_secs(seconds.div_ceil(grain).max(1) * grain))
}

/// Returns the state or the result of a target, for the header of its block.
pub(super) fn state_text(tracker: &TargetTracker) -> (Style, String) {
    let state = tracker.verdict().map(|verdict| verdict.state);
    let Some(result) = tracker.result() else {
        return match tracker.rollback() {
            Some(back) => rolling_back(back, state),
            None => in_progress(state),
        };
    };
    match &result.outcome {
        Outcome::Reached if state == Some(RolloutState::Complete) => (Style::Good, "complete".to_owned()),
        Outcome::Reached => (Style::Good, "reached".to_owned()),
        Outcome::Failed(failure) => {
            (Style::Bad, format!("failed: {}{}", reason(failure), rollback_result(tracker, result)))
        }
        Outcome::Deleted => (Style::Bad, "deleted".to_owned()),
        Outcome::Recreated => (Style::Bad, "deleted and created again".to_owned()),
        Outcome::TimedOut(limit) => (Style::Bad, format!("timed out after {}", lasting(*limit))),
        Outcome::Unreadable(error) => (Style::Bad, format!("cannot be read: {}", error.sentence())),
        Outcome::Held | Outcome::Interrupted(_) => in_progress(state),
    }
}

/// Returns the state or the result of a target for one row of many, and the reason of a failure.
pub(super) fn state_in_row(tracker: &TargetTracker) -> (Style, String, Option<String>) {
    let failed = tracker.result().or_else(|| tracker.rollback().map(|back| &back.failed));
    let Some(Outcome::Failed(failure)) = failed.map(|result| &result.outcome) else {
        let (style, words) = state_text(tracker);
        return (style, words, None);
    };
    let word = match tracker.result().map(|result| &result.rollback) {
        None => "rolling back",
        Some(Some(RollbackResult::RolledBack { outcome: Outcome::Reached, .. })) => "rolled back",
        Some(_) => "failed",
    };
    (Style::Bad, word.to_owned(), Some(reason(failure)))
}

fn in_progress(state: Option<RolloutState>) -> (Style, String) {
    let (style, words) = match state {
        None => (Style::Dim, "reading"),
        Some(RolloutState::Complete) => (Style::Good, "complete"),
        Some(RolloutState::Progressing) => (Style::Plain, "progressing"),
        Some(RolloutState::Paused) => (Style::Warning, "paused"),
        Some(RolloutState::Held) => (Style::Warning, "held"),
        Some(RolloutState::Unobserved) => (Style::Plain, "waiting for the controller"),
        Some(RolloutState::Failed) => (Style::Bad, "failed"),
    };
    (style, words.to_owned())
}

/// Returns the state of a rollback: `failed: crash-loop for 30s; rolling back to 4: progressing`.
fn rolling_back(back: &Rollback, state: Option<RolloutState>) -> (Style, String) {
    let failed = match &back.failed.outcome {
        Outcome::Failed(failure) => reason(failure),
        other => other.word().to_owned(),
    };
    let state = state.map(|state| format!(": {}", in_progress(Some(state)).1)).unwrap_or_default();
    (Style::Bad, format!("failed: {failed}; rolling back to {}{state}", back.revision))
}

/// Returns the result of a rollback, to append to the failure.
fn rollback_result(tracker: &TargetTracker, result: &TargetResult) -> String {
    match &result.rollback {
        None => String::new(),
        Some(RollbackResult::NotStarted(_)) => "; not rolled back".to_owned(),
        Some(RollbackResult::RolledBack { revision, outcome: Outcome::Reached }) => {
            format!("; rolled back to {revision}{}", renumbered(tracker, revision))
        }
        Some(RollbackResult::RolledBack { revision, outcome }) => {
            format!("; rolled back to {revision}: {}", outcome.word())
        }
    }
}

/// Returns why a rollout failed, in a few words.
fn reason(failure: &RolloutFailure) -> String {
    match failure {
        RolloutFailure::ProgressDeadline(Some(seconds)) => format!("no progress for {seconds}s"),
        RolloutFailure::ProgressDeadline(None) => "progress deadline exceeded".to_owned(),
        RolloutFailure::Deadline(limit) => format!("no progress for {}", lasting(*limit)),
        RolloutFailure::Cause { id, grace } => format!("{} for {}", id.name(), lasting(*grace)),
        RolloutFailure::TakenOver(_) => "replaced by another revision".to_owned(),
        RolloutFailure::Kubectl(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_rounded_up() {
        for (seconds, words) in
            [(1, "5s"), (17, "20s"), (60, "60s"), (61, "90s"), (200, "3m30s"), (601, "11m"), (4000, "67m")]
        {
            assert_eq!(about(Duration::from_secs(seconds)), words);
        }
    }
}
