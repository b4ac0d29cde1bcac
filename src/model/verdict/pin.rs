//! `--revision`: whether the revision asked for is the one being rolled out.

use std::fmt::Display;

use super::{State, Verdict};
use crate::error::Result;
use crate::model::observed::Observed;
use crate::model::revision::RevisionWord;
use crate::model::workload::Workload;

/// The verdict on a rollout that is not the one asked for; none when it is, or when the controller
/// has yet to see the spec, and so to give the revision its number.
///
/// # Errors
/// When the word names no revision. A number that is not in the history may be one to come, or one
/// of the past, so it only differs from the running one.
pub fn taken_over(observed: &Observed, word: &RevisionWord) -> Result<Option<Verdict>> {
    if !observed.workload.is_observed() {
        return Ok(None);
    }
    let running = running_number(observed);
    let line = if let RevisionWord::Number(wanted) = word {
        (*wanted != running).then(|| taken_over_line(wanted, &running))
    } else {
        let wanted = word.find(&observed.revisions)?;
        let is_running = observed.revisions.current().is_some_and(|current| current.name == wanted.name);
        (!is_running).then(|| taken_over_line(&wanted.label(), &running))
    };
    Ok(line.map(|line| Verdict::new(State::Failed, line)))
}

/// kubectl's words for it.
#[must_use]
pub fn taken_over_line(wanted: &impl Display, running: &impl Display) -> String {
    format!("desired revision ({wanted}) is different from the running revision ({running})")
}

/// The number of the revision that runs; 0 while it has none, as kubectl has it.
fn running_number(observed: &Observed) -> i64 {
    let number = observed.revisions.running().and_then(|revision| revision.number.known());
    number.unwrap_or_else(|| match &observed.workload {
        workload @ Workload::Deployment(_) => workload.recorded_revision().unwrap_or_default(),
        Workload::DaemonSet(_) | Workload::StatefulSet(_) => {
            observed.revisions.current().and_then(|revision| revision.number.known()).unwrap_or_default()
        }
    })
}
