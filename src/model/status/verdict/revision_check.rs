//! `--revision`: whether the rollout is that of the expected revision.

use crate::error::Result;
use crate::model::kind::verdict::{RolloutState, Verdict, taken_over_line};
use crate::model::observation::Observation;
use crate::model::revision::RevisionWord;

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
    let newest = || observation.revisions.current_or_newest()?.number.known();
    let current = observation.current_number().or_else(newest).unwrap_or_default(); // 0 without a number, as in kubectl
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
