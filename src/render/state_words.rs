//! The words and the colours for states and results, in every output.

use super::age::lasting;
use super::line::Style;
use crate::model::follow::{FollowedTarget, Outcome, RollbackResult, RolloutFailure};
use crate::model::kind::verdict::{Counts, RolloutState};
use crate::model::revision::Revision;
use crate::model::text::go_duration;
use crate::model::text::secret::without_secrets;

/// Returns the style of a state.
pub(super) fn state_style(state: RolloutState) -> Style {
    match state {
        RolloutState::Complete => Style::Good,
        RolloutState::Paused | RolloutState::Held => Style::Warning,
        RolloutState::Stuck | RolloutState::Failed => Style::Bad,
        RolloutState::Progressing | RolloutState::Unobserved => Style::Plain,
    }
}

/// Returns the counters of a rollout: `3/3 available`, and while pods are outdated `1/3 updated, 3/3 available`. Ready pods
/// stand in for available ones that nothing counts.
pub(super) fn progress(counts: Counts, available: Option<i64>) -> String {
    let wanted = counts.wanted;
    let available = match available {
        Some(available) => format!("{available}/{wanted} available"),
        None => format!("{}/{wanted} ready", counts.ready),
    };
    if counts.updated >= wanted {
        available
    } else {
        format!("{}/{wanted} updated, {available}", counts.updated)
    }
}

/// Returns the state or the result of a target, and of its rollback: `failed: crash-loop for 30s; rolling back to revision 4:
/// progressing`.
pub(super) fn state_text(target: &FollowedTarget) -> (Style, String) {
    let state = target.verdict().map(|verdict| verdict.state);
    let Some(result) = target.result().or_else(|| target.rollback().map(|rollback| &rollback.failed)) else {
        return in_progress(state);
    };
    let Some(mut words) = outcome_words(&result.outcome) else {
        let is_short_of_complete =
            result.outcome == Outcome::Reached && state != Some(RolloutState::Complete);
        return if is_short_of_complete { (Style::Good, "reached".to_owned()) } else { in_progress(state) };
    };
    if let (None, Some(rollback)) = (target.result(), target.rollback()) {
        let state = state.map(|state| format!(": {}", state.word())).unwrap_or_default();
        words += &format!("; rolling back to revision {}{state}", rollback.revision);
    }
    if let Some(rollback) = &result.rollback {
        words += &format!("; {}", rollback_words(target, rollback));
    }
    words.extend(result.since_answer.map(|ago| format!(", known {} ago", lasting(ago))));
    (Style::Bad, words)
}

/// Returns how a rollout ended; none if its state says so.
fn outcome_words(outcome: &Outcome) -> Option<String> {
    Some(match outcome {
        Outcome::Failed(failure) => format!("failed: {}", reason(failure)),
        Outcome::OtherTargetFailed(other) => format!("{other} failed"),
        Outcome::Deleted => "deleted".to_owned(),
        Outcome::Recreated => "deleted and created again".to_owned(),
        Outcome::TimedOut(limit) => format!("timed out after {}", go_duration::short(*limit)),
        Outcome::Unreadable(error) => format!("cannot be read: {}", without_secrets(&error.to_string())),
        Outcome::Reached | Outcome::Held | Outcome::Unfinished | Outcome::Interrupted(_) => return None,
    })
}

fn in_progress(state: Option<RolloutState>) -> (Style, String) {
    let (style, word) = state.map_or((Style::Dim, "reading"), |state| (state_style(state), state.word()));
    (style, word.to_owned())
}

/// Returns how the rollback of a failed target ended, with the new number of the revision: `rolled back to revision 1 (now 3)`.
pub(super) fn rollback_words(target: &FollowedTarget, rollback: &RollbackResult) -> String {
    let (revision, outcome) = match rollback {
        RollbackResult::NotStarted(_) => return "not rolled back".to_owned(),
        RollbackResult::Unknown(_) => return "it is unknown whether it was rolled back".to_owned(),
        RollbackResult::RolledBack { revision, outcome } => (revision, outcome),
    };
    let why = match outcome {
        Outcome::Reached => {
            let now = target.observation().and_then(|observed| observed.revisions.current());
            let now = now.map(Revision::label).filter(|now| now != revision);
            let now = now.map(|now| format!(" (now {now})")).unwrap_or_default();
            return format!("rolled back to revision {revision}{now}");
        }
        Outcome::Held => "it is held".to_owned(),
        outcome => outcome_words(outcome).unwrap_or_else(|| "it continues in the cluster".to_owned()),
    };
    format!("the rollback to revision {revision} is not complete: {why}")
}

/// Returns why a rollout failed, in a few words.
pub(super) fn reason(failure: &RolloutFailure) -> String {
    match failure {
        RolloutFailure::ProgressDeadline(Some(seconds)) => format!("no progress for {seconds}s"),
        RolloutFailure::ProgressDeadline(None) => "progress deadline exceeded".to_owned(),
        RolloutFailure::Deadline(limit) => format!("no progress for {}", go_duration::short(*limit)),
        RolloutFailure::Cause { id, grace } => format!("{} for {}", id.name(), go_duration::short(*grace)),
        RolloutFailure::Replaced(_) => "replaced by another revision".to_owned(),
    }
}
