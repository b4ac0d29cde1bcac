//! Durations and states in words.

use std::time::Duration;

use crate::model::age;
use crate::model::follow::{End, Failure, Outcome, Track, Undone, WayBack};
use crate::model::verdict::State;
use crate::render::style::Style;

/// How long something went on: `14s`, `3m10s`, as ages are written.
pub(super) fn lasting(duration: Duration) -> String {
    age::lasting(duration)
}

/// An estimate, no more exact than it is: to five seconds below a minute, to half a minute below ten.
pub(super) fn about(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let grain = match seconds {
        ..60 => 5,
        60..600 => 30,
        _ => 60,
    };
    lasting(Duration::from_secs(seconds.div_ceil(grain).max(1) * grain))
}

/// How a rollout stands, or how it ended, in a word or two.
pub(super) fn standing(track: &Track) -> (Style, String) {
    let state = track.verdict().map(|verdict| verdict.state);
    let Some(end) = track.end() else {
        return match track.way_back() {
            Some(back) => on_the_way_back(back, state),
            None => under_way(state),
        };
    };
    match &end.outcome {
        Outcome::Reached if state == Some(State::Complete) => (Style::Good, "complete".to_owned()),
        Outcome::Reached => (Style::Good, "reached".to_owned()),
        Outcome::Failed(failure) => (Style::Bad, format!("failed: {}{}", reason(failure), went_back(end))),
        Outcome::Deleted => (Style::Bad, "deleted".to_owned()),
        Outcome::Recreated => (Style::Bad, "deleted and created again".to_owned()),
        Outcome::TimedOut(limit) => (Style::Bad, format!("not done after {}", lasting(*limit))),
        Outcome::Unreadable(error) => (Style::Bad, format!("cannot be read: {}", error.sentence())),
        Outcome::Held | Outcome::Interrupted | Outcome::Terminated => under_way(state),
    }
}

/// The same in a row of many, as short as a column is, and why, where that is a sentence.
pub(super) fn standing_in_row(track: &Track) -> (Style, String, Option<String>) {
    let failed = track.end().or_else(|| track.way_back().map(|back| &back.failed));
    let Some(Outcome::Failed(failure)) = failed.map(|end| &end.outcome) else {
        let (style, words) = standing(track);
        return (style, words, None);
    };
    let word = match track.end().map(|end| &end.undone) {
        None => "going back",
        Some(Some(Undone::To { outcome: Outcome::Reached, .. })) => "went back",
        Some(_) => "failed",
    };
    (Style::Bad, word.to_owned(), Some(reason(failure)))
}

fn under_way(state: Option<State>) -> (Style, String) {
    let (style, words) = match state {
        None => (Style::Dim, "looking"),
        Some(State::Complete) => (Style::Good, "complete"),
        Some(State::Progressing) => (Style::Plain, "progressing"),
        Some(State::Paused) => (Style::Warning, "paused"),
        Some(State::Held) => (Style::Warning, "held"),
        Some(State::Unobserved) => (Style::Plain, "waiting for the controller"),
        Some(State::Failed) => (Style::Bad, "failed"),
    };
    (style, words.to_owned())
}

/// `failed: crash-loop for 30s, going back to 4: progressing`.
fn on_the_way_back(back: &WayBack, state: Option<State>) -> (Style, String) {
    let failed = match &back.failed.outcome {
        Outcome::Failed(failure) => reason(failure),
        other => other.word().to_owned(),
    };
    let stands = state.map(|state| format!(": {}", under_way(Some(state)).1)).unwrap_or_default();
    (Style::Bad, format!("failed: {failed}, going back to {}{stands}", back.revision))
}

fn went_back(end: &End) -> String {
    match &end.undone {
        None => String::new(),
        Some(Undone::Not(_)) => ", left as it is".to_owned(),
        Some(Undone::To { revision, outcome: Outcome::Reached }) => format!(", went back to {revision}"),
        Some(Undone::To { revision, outcome }) => format!(", went back to {revision}: {}", outcome.word()),
    }
}

/// Why a rollout counts as failed, as short as it can be said.
fn reason(failure: &Failure) -> String {
    match failure {
        Failure::ProgressDeadline(Some(seconds)) => format!("nothing moved for {seconds}s"),
        Failure::ProgressDeadline(None) => "nothing moved until its deadline".to_owned(),
        Failure::Deadline(limit) => format!("nothing moved for {}", lasting(*limit)),
        Failure::Cause { id, grace } => format!("{} for {}", id.name(), lasting(*grace)),
        Failure::TakenOver(_) => "another revision took over".to_owned(),
        Failure::Kubectl(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_not_more_exact_than_they_are() {
        for (seconds, words) in
            [(1, "5s"), (17, "20s"), (60, "60s"), (61, "90s"), (200, "3m30s"), (601, "11m"), (4000, "67m")]
        {
            assert_eq!(about(Duration::from_secs(seconds)), words);
        }
    }
}
