//! The words and the colours for states and results, in every output.

use super::age::lasting;
use super::line::Style;
use crate::model::follow::{FollowedTarget, Outcome, Rollback, RollbackResult, RolloutFailure, TargetResult};
use crate::model::kind::verdict::RolloutState;
use crate::model::revision::Revision;

/// Returns the style of a state.
pub(super) fn state_style(state: RolloutState) -> Style {
    match state {
        RolloutState::Complete => Style::Good,
        RolloutState::Paused | RolloutState::Held => Style::Warning,
        RolloutState::Stuck | RolloutState::Failed => Style::Bad,
        RolloutState::Progressing | RolloutState::Unobserved => Style::Plain,
    }
}

/// Returns the state or the result of a target.
pub(super) fn state_text(target: &FollowedTarget) -> (Style, String) {
    let state = target.verdict().map(|verdict| verdict.state);
    let Some(result) = target.result() else {
        return match target.rollback() {
            Some(back) => rolling_back(back, state),
            None => in_progress(state),
        };
    };
    match &result.outcome {
        Outcome::Reached if state == Some(RolloutState::Complete) => in_progress(state),
        Outcome::Reached => (Style::Good, "reached".to_owned()),
        Outcome::Failed(failure) => {
            (Style::Bad, format!("failed: {}{}", reason(failure), rollback_result(target, result)))
        }
        Outcome::Deleted => (Style::Bad, "deleted".to_owned()),
        Outcome::Recreated => (Style::Bad, "deleted and created again".to_owned()),
        Outcome::TimedOut(limit) => {
            let known =
                result.since_answer.map(|ago| format!(", known {} ago", lasting(ago))).unwrap_or_default();
            (Style::Bad, format!("timed out after {}{known}", lasting(*limit)))
        }
        Outcome::Unreadable(error) => (Style::Bad, format!("cannot be read: {}", error.sentence())),
        Outcome::OtherTargetFailed(other) => {
            (Style::Bad, format!("{other} failed{}", rollback_result(target, result)))
        }
        Outcome::Held | Outcome::Unfinished | Outcome::Interrupted(_) => in_progress(state),
    }
}

/// Returns the state or the result of a target for one row of many, and the reason of a failure.
pub(super) fn state_in_row(target: &FollowedTarget) -> (Style, String, Option<String>) {
    let failed = target.result().or_else(|| target.rollback().map(|back| &back.failed));
    let why = match failed.map(|result| &result.outcome) {
        Some(Outcome::Failed(failure)) => reason(failure),
        Some(Outcome::OtherTargetFailed(other)) => format!("{other} failed"),
        _ => {
            let (style, words) = state_text(target);
            return (style, words, None);
        }
    };
    let word = match target.result().map(|result| &result.rollback) {
        None => "rolling back",
        Some(Some(RollbackResult::RolledBack { outcome: Outcome::Reached, .. })) => "rolled back",
        Some(_) => "failed",
    };
    (Style::Bad, word.to_owned(), Some(why))
}

fn in_progress(state: Option<RolloutState>) -> (Style, String) {
    let (style, word) = state.map_or((Style::Dim, "reading"), |state| (state_style(state), state.word()));
    (style, word.to_owned())
}

/// Returns the state of a rollback: `failed: crash-loop for 30s; rolling back to 4: progressing`.
fn rolling_back(back: &Rollback, state: Option<RolloutState>) -> (Style, String) {
    let failed = match &back.failed.outcome {
        Outcome::Failed(failure) => format!("failed: {}", reason(failure)),
        Outcome::OtherTargetFailed(other) => format!("{other} failed"),
        other => other.word().to_owned(),
    };
    let state = state.map(|state| format!(": {}", state.word())).unwrap_or_default();
    (Style::Bad, format!("{failed}; rolling back to {}{state}", back.revision))
}

/// Returns the result of a rollback, to append to the failure.
fn rollback_result(target: &FollowedTarget, result: &TargetResult) -> String {
    match &result.rollback {
        None => String::new(),
        Some(RollbackResult::NotStarted(_)) => "; not rolled back".to_owned(),
        Some(RollbackResult::RolledBack { revision, outcome: Outcome::Reached }) => {
            format!("; rolled back to {revision}{}", renumbered(target, revision))
        }
        Some(RollbackResult::RolledBack { revision, outcome }) => {
            format!("; rolled back to {revision}: {}", outcome.word())
        }
    }
}

/// Returns the new number of a revision, because a rollback renumbers it.
pub(super) fn renumbered(target: &FollowedTarget, revision: &str) -> String {
    let now = target.observation().and_then(|observed| observed.revisions.current()).map(Revision::label);
    now.filter(|now| now != revision).map(|now| format!(" (now {now})")).unwrap_or_default()
}

/// Returns why a rollout failed, in a few words.
fn reason(failure: &RolloutFailure) -> String {
    match failure {
        RolloutFailure::ProgressDeadline(Some(seconds)) => format!("no progress for {seconds}s"),
        RolloutFailure::ProgressDeadline(None) => "progress deadline exceeded".to_owned(),
        RolloutFailure::Deadline(limit) => format!("no progress for {}", lasting(*limit)),
        RolloutFailure::Cause { id, grace } => format!("{} for {}", id.name(), lasting(*grace)),
        RolloutFailure::Superseded(_) => "replaced by another revision".to_owned(),
    }
}
