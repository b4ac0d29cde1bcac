//! What is left of a plan while everything goes back under the workload's own strategy: a note for whoever
//! steps next.
//!
//! The patch that takes everything back puts the own strategy in its place too, so that the cluster goes on
//! by itself whatever becomes of us. Without the note a process that was killed right then would leave what
//! looks like a rollout that runs, and the next `step` would hold it in the middle. The note holds nothing:
//! its hold is not in force, it has no lease, and it is removed once everything is back.

use super::document::Document;
use super::event::{Beginning, Event};
use super::phase::{Move, Purpose};
use super::stepper::{Output, Stepper};
use crate::model::digest::Digest;
use crate::model::follow::Moment;
use crate::model::patch::Patch;
use crate::model::revision::Revision;
use crate::model::workload::Workload;

/// Whether a workload goes back, or went, because a step of it failed: held by its plan, or with a note.
#[must_use]
pub fn is_on_the_way_back(workload: &Workload) -> bool {
    let document = Document::of(workload).ok().flatten();
    document.is_some_and(|document| document.goes_back_to(workload))
}

impl Document {
    /// The note beside a patch that goes back to a template; none where the own strategy is the one that
    /// held, because then it would still hold.
    pub(super) fn note(&self, patch: &Patch, template: &Digest) -> Option<Self> {
        let after = Workload::of_json(patch.after())?;
        (!self.hold.is_in_force(&after)).then(|| {
            let mut note = self.clone();
            (note.plan.template, note.plan.goes_back, note.lease) = (template.hex(), true, None);
            note
        })
    }

    /// Whether it is such a note, for the template as it is.
    pub(super) fn is_note(&self, workload: &Workload) -> bool {
        self.goes_back_to(workload) && !self.hold.is_in_force(workload)
    }
}

impl Stepper {
    /// The end of a way back without a hold: the note of it goes, if it is there still.
    pub(super) fn forget_the_note(&self) -> Option<Move> {
        let (workload, document) = (&self.observed()?.workload, self.document()?);
        let forgets = || Move::write(Purpose::EndHold, document.ending(workload), Vec::new());
        document.is_note(workload).then(forgets)
    }

    /// Goes on with a way back on which another process was killed.
    pub(super) fn take_up_the_way_back(&mut self, now: Moment, out: &mut Vec<Output>) {
        let (Some(observed), Some(document)) = (self.observed(), self.document()) else { return };
        let Some(revision) = observed.revisions.running().map(Revision::label) else { return };
        let (written, limit) = (Box::new(observed.workload.clone()), document.plan.pacing.batch_timeout);
        self.went_back = Some(revision.clone());
        self.found_going_back(written, false, limit, now);
        let began = Event::Began { how: Beginning::GoesOn, went_without: Vec::new() };
        out.extend([began, Event::GoesBack { revision }].map(Output::Event));
    }
}
