//! The one revision whose rollout counts, when one was named.

use super::options::Options;
use crate::error::Result;
use crate::model::authorship::last_template_author;
use crate::model::digest::Digest;
use crate::model::observed::Observed;
use crate::model::revision::RevisionWord;
use crate::model::verdict::taken_over_line;
use crate::model::workload::Workload;

/// The revision that was named.
#[derive(Debug)]
pub(super) enum Pin {
    /// Nothing was looked at yet.
    Named(RevisionWord),
    /// It has this template, and this number if it was named by one.
    Found { template: Digest, label: String, number: Option<i64> },
    /// It is what this workload was written with.
    Written(Box<Workload>),
}

/// What a workload is to a pin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// It rolls out the revision.
    Ours,
    /// The controller has yet to number it.
    NotYet(String),
    /// It rolls out another one, in kubectl's words.
    TakenOver(String),
}

impl Pin {
    /// The pin that was asked for, if one was.
    pub(super) fn asked_for(options: &Options, found: &Workload) -> Option<Self> {
        let written = || options.as_found.then(|| Self::Written(Box::new(found.clone())));
        options.revision.clone().map(Self::Named).or_else(written)
    }

    /// Holds what was seen against the pin.
    ///
    /// The live template is part of the workload, so that it is another one is certain at once. Which
    /// number it has is told by another object, which may have been seen too early; but numbers only
    /// grow, so one that is too small says nothing, and is waited for, and one that is too large does.
    ///
    /// # Errors
    /// When the word names no revision.
    pub(super) fn hold_against(&mut self, observed: &Observed) -> Result<Match> {
        if let Self::Named(word) = self {
            match find(word, observed)? {
                Found::Pin(pin) => *self = pin,
                Found::Not(verdict) => return Ok(verdict),
            }
        }
        let (template, label, number) = match self {
            Self::Found { template, label, number } => (template, label, number),
            Self::Written(written) => return Ok(still(written, &observed.workload)),
            Self::Named(_) => return Ok(Match::Ours),
        };
        let running = running_number(observed);
        let grown = number.zip(running).is_some_and(|(wanted, running)| running > wanted);
        if grown || observed.workload.template().digest() != *template {
            let running = running.map_or_else(|| "another".to_owned(), |number| number.to_string());
            return Ok(Match::TakenOver(taken_over_line(label, &running)));
        }
        Ok(Match::Ours)
    }
}

/// Whether a workload still has the template that it was written with. What is older than the write
/// says nothing.
fn still(written: &Workload, now: &Workload) -> Match {
    if now.object().generation() < written.object().generation() {
        return Match::NotYet("the change to be seen".to_owned());
    }
    if now.template().digest() == written.template().digest() {
        return Match::Ours;
    }
    let author = last_template_author(now.object());
    let by = author.filter(|author| last_template_author(written.object()).as_ref() != Some(author));
    let by = by.map(|author| format!(" by {}", author.manager)).unwrap_or_default();
    Match::TakenOver(format!("another revision took over: the template was changed{by} meanwhile"))
}

enum Found {
    Pin(Pin),
    Not(Match),
}

/// Finds the revision. A number is given out once the controller has seen the workload as it is.
fn find(word: &RevisionWord, observed: &Observed) -> Result<Found> {
    let RevisionWord::Number(wanted) = word else {
        let named = word.find(&observed.revisions)?;
        return Ok(Found::Pin(Pin::Found { template: named.digest, label: named.label(), number: None }));
    };
    let numbered = running_number(observed).filter(|_| observed.workload.is_observed());
    Ok(match numbered {
        Some(running) if running == *wanted => Found::Pin(Pin::Found {
            template: observed.workload.template().digest(),
            label: wanted.to_string(),
            number: Some(*wanted),
        }),
        Some(running) if running > *wanted => Found::Not(Match::TakenOver(taken_over_line(wanted, &running))),
        _ => Found::Not(Match::NotYet(format!("the controller to number revision {wanted}"))),
    })
}

/// The number of the revision that runs. A Deployment has it on itself, in the same write that says that
/// the change was observed; for the other kinds it is on the revision.
fn running_number(observed: &Observed) -> Option<i64> {
    match &observed.workload {
        workload @ Workload::Deployment(_) => workload.recorded_revision().ok(),
        Workload::DaemonSet(_) | Workload::StatefulSet(_) => observed.revisions.running()?.number.known(),
    }
}
