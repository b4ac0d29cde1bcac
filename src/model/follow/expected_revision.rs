//! The expected revision: `--revision`, or the template that this process wrote.

use super::options::FollowOptions;
use crate::error::Result;
use crate::model::api::managed_fields::last_template_author;
use crate::model::kind::Workload;
use crate::model::kind::verdict::replaced_line;
use crate::model::observation::Observation;
use crate::model::revision::{Revision, RevisionWord};
use crate::model::text::json::Digest;

/// The expected revision.
#[derive(Debug)]
pub(super) enum ExpectedRevision {
    /// As the user wrote it. It is resolved with the first complete observation.
    Named(RevisionWord),
    /// A revision with this template, and with this number if the user gave a number.
    Found { template: Digest, label: String, number: Option<i64> },
    /// The template of this workload, as it was written.
    Written(Box<Workload>),
}

/// How a workload compares with the expected revision.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RevisionMatch {
    /// The workload rolls out the expected revision.
    Expected,
    /// Not known yet; what the follower waits for.
    NotYet(String),
    /// The workload rolls out another revision; kubectl's message for it, or ours after a write.
    Replaced(String),
}

impl ExpectedRevision {
    /// Returns the expected revision that the options ask for, if any.
    pub(super) fn from_options(options: &FollowOptions, found: &Workload) -> Option<Self> {
        let written = || options.expect_found_template.then(|| Self::Written(Box::new(found.clone())));
        options.revision.clone().map(Self::Named).or_else(written)
    }

    /// Compares an observation with the expected revision.
    ///
    /// The live template is part of the workload, so a different template is certain at once. The
    /// revision number is stored in another object, which may be older than the workload. Numbers
    /// only grow: a smaller one may be outdated and is waited for, unless the target is evaluated `once`. A larger one is
    /// certain.
    ///
    /// # Errors
    /// If no revision matches the word, and the next one cannot match it either.
    pub(super) fn compare(&mut self, observation: &Observation, once: bool) -> Result<RevisionMatch> {
        if let Some(answer) = self.resolve(observation, once)? {
            return Ok(answer);
        }
        let (template, label, number) = match self {
            Self::Found { template, label, number } => (template, label, number),
            Self::Written(written) => return Ok(compare_template(written, &observation.workload)),
            Self::Named(_) => return Ok(RevisionMatch::Expected),
        };
        let current = observation.current_number();
        let grown = number.zip(current).is_some_and(|(wanted, current)| current > wanted);
        if grown || observation.workload.template_digest() != *template {
            // The controller numbers a new template later, and its old number is no answer.
            let current = current.map(|number| number.to_string()).filter(|current| current != label);
            let current = current.unwrap_or_else(|| "another".to_owned());
            return Ok(RevisionMatch::Replaced(replaced_line(label, &current)));
        }
        Ok(RevisionMatch::Expected)
    }

    /// Resolves the word of the user. Returns the answer if that is not possible yet, or no longer. A number is only
    /// reliable once the controller has observed the workload.
    fn resolve(&mut self, observation: &Observation, once: bool) -> Result<Option<RevisionMatch>> {
        let Self::Named(word) = self else { return Ok(None) };
        let wanted = match word {
            RevisionWord::Number(wanted) => *wanted,
            // The revision of the live template, which the controller may store later.
            RevisionWord::Current => {
                let template = observation.workload.template_digest();
                let current = observation.revisions.current().filter(|current| current.digest == template);
                let label = current.map_or_else(|| "current".to_owned(), Revision::label);
                *self = Self::Found { template, label, number: None };
                return Ok(None);
            }
            // Counted from the newest revision, which the controller may store later.
            RevisionWord::Back(_) if !observation.workload.is_observed() && !once => {
                return Ok(Some(RevisionMatch::NotYet("the controller to observe the change".to_owned())));
            }
            word => {
                let named = word.find(&observation.revisions)?;
                *self = Self::Found { template: named.digest, label: named.label(), number: None };
                return Ok(None);
            }
        };
        let numbered = observation.current_number().filter(|_| observation.workload.is_observed());
        if let Some(current) = numbered {
            if current == wanted {
                let (template, label) = (observation.workload.template_digest(), wanted.to_string());
                *self = Self::Found { template, label, number: Some(wanted) };
                return Ok(None);
            }
            if current < wanted {
                word.check_number(current, &observation.revisions)?;
            }
            if current > wanted || once {
                return Ok(Some(RevisionMatch::Replaced(replaced_line(&wanted, &current))));
            }
        }
        Ok(Some(RevisionMatch::NotYet(format!("the controller to number revision {wanted}"))))
    }
}

/// Compares the live template with the one that was written. A workload that is older than the
/// write decides nothing.
fn compare_template(written: &Workload, now: &Workload) -> RevisionMatch {
    if now.object().generation() < written.object().generation() {
        return RevisionMatch::NotYet("the change to be observed".to_owned());
    }
    if now.template_digest() == written.template_digest() {
        return RevisionMatch::Expected;
    }
    let author = last_template_author(now.object());
    let by = author.filter(|author| last_template_author(written.object()).as_ref() != Some(author));
    let by = by.map(|author| format!(" by {}", author.manager)).unwrap_or_default();
    RevisionMatch::Replaced(format!("another revision replaced it: the template was changed{by}"))
}
