//! The state of a target when the follower started: its template, and its stable revision.

use crate::model::revision::Revision;
use crate::model::status::observation::Observation;
use crate::model::text::digest::Digest;
use crate::model::workload::Workload;

/// The state of a target when the follower started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartState {
    /// The uid of the workload.
    uid: String,
    /// The template that was being rolled out.
    template: Digest,
    /// The name and the template of the stable revision; none if no other revision had ready pods.
    stable: Option<(String, Digest)>,
}

impl StartState {
    /// Records the state of a workload as it was found, with its first complete observation.
    pub(super) fn of(found: &Workload, observation: &Observation) -> Self {
        let stable = observation.stable_at_start().map(|revision| (revision.name.clone(), revision.digest));
        Self { uid: found.object().uid().to_owned(), template: found.template_digest(), stable }
    }

    /// Whether the workload is still the same object with the same template.
    #[must_use]
    pub fn matches(&self, workload: &Workload) -> bool {
        workload.object().uid() == self.uid && workload.template_digest() == self.template
    }

    /// Returns the stable revision at the start, if it still exists with the same template.
    #[must_use]
    pub fn stable_revision<'a>(&self, observation: &'a Observation) -> Option<&'a Revision> {
        let (name, template) = self.stable.as_ref()?;
        observation.revisions.iter().find(|revision| revision.name == *name && revision.digest == *template)
    }
}
