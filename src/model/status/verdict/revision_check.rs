//! `--revision`: whether the rollout is that of the expected revision.

use crate::error::Result;
use crate::model::revision::RevisionWord;
use crate::model::status::observation::Observation;
use crate::model::workload::verdict::{RolloutState, Verdict, taken_over_line};

/// Returns the verdict on a rollout of another revision than the expected one. Returns none if it
/// is the expected one, or if the controller has not observed the spec and so not numbered the
/// revision.
///
/// # Errors
/// If no revision matches the word. A number may be that of a past revision, or of the next one.
pub fn taken_over(observation: &Observation, word: &RevisionWord) -> Result<Option<Verdict>> {
    if !observation.workload.is_observed() {
        return Ok(None);
    }
    let current = current_number(observation);
    let line = if let RevisionWord::Number(wanted) = word {
        word.check_number(current, &observation.revisions)?;
        (*wanted != current).then(|| taken_over_line(wanted, &current))
    } else {
        let wanted = word.find(&observation.revisions)?;
        let is_current =
            observation.revisions.current_or_newest().is_some_and(|current| current.name == wanted.name);
        (!is_current).then(|| taken_over_line(&wanted.label(), &current))
    };
    Ok(line.map(|line| Verdict::new(RolloutState::Failed, line)))
}

/// Returns the number of the current revision; 0 if it has none, as in kubectl.
fn current_number(observation: &Observation) -> i64 {
    let number = observation.revisions.current().and_then(|revision| revision.number.known());
    number.unwrap_or_else(|| match observation.workload.recorded_revision() {
        Some(number) => number.unwrap_or_default(),
        None => observation
            .revisions
            .current_or_newest()
            .and_then(|revision| revision.number.known())
            .unwrap_or_default(),
    })
}
