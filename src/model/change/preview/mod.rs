//! `preview`: what applying an object would do to the rollout of a workload.
//!
//! The object is as the API server would store it, so that defaults, admission and the rules of `apply` are in it.
//! The preview compares it with the workload that the API server has now.

mod outcome;
mod warning;

pub use outcome::PreviewOutcome;
pub use outcome::refusal_by_plan;
pub use warning::PreviewWarning;

use crate::model::change::effect::Effect;
use crate::model::diff::{Change, Diff, SecretValues};
use crate::model::hold::held_by;
use crate::model::hold::plan::Hold;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};

/// What applying an object would do to the rollout of a workload.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The workload as the API server would store it.
    pub after: Workload,
    /// What happens to its revisions.
    pub outcome: PreviewOutcome,
    /// The revision that the rollout begins from; none if there is none, and for a workload that is created.
    pub from: Option<Revision>,
    /// The changes of the template.
    pub changes: Diff,
    /// The changes of other fields: labels, annotations, and the spec without the template.
    pub fields: Vec<Change>,
    /// The effect on the pods; none for a workload that is created.
    pub effect: Option<Effect>,
    /// What the user may not expect.
    pub warnings: Vec<PreviewWarning>,
}

impl Preview {
    /// Returns the preview for a workload that does not exist.
    #[must_use]
    pub fn of_new(after: Workload) -> Self {
        let template = after.template();
        Self {
            outcome: PreviewOutcome::Created { name: after.name_of_next_revision() },
            from: None,
            changes: Diff::between(&template, &template, SecretValues::Masked),
            fields: Vec::new(),
            effect: None,
            warnings: Vec::new(),
            after,
        }
    }

    /// Returns the preview for a workload that exists. `field_manager` is the manager that applies.
    #[must_use]
    pub fn of(before: &Observation, after: Workload, field_manager: &str, secrets: SecretValues) -> Self {
        let mut revisions = before.revisions.clone();
        revisions.update_current(&after);
        let existing = revisions.current();
        let pending = pending_revision(before, &after);
        let base = pending.map_or_else(|| before.workload.template(), Revision::template);
        let is_same = base.digest() == after.template_digest();
        // A change made during a pause can be taken back before it has a revision.
        let compared = if is_same { before.workload.template() } else { base };
        let changes = Diff::between(&compared, &after.template(), secrets);
        let fields = outcome::changed_fields(&before.workload, &after, secrets);
        let effect = Effect::of(before, existing, after.object().json());
        let outcome = if is_same {
            match (releases(before, &effect, existing), fields.is_empty() && changes.is_empty()) {
                (true, _) => PreviewOutcome::Released,
                (false, true) => PreviewOutcome::Unchanged,
                (false, false) => PreviewOutcome::NoRollout,
            }
        } else {
            new_template(&after, &revisions)
        };
        let from = before.revisions.current().or(pending).cloned();
        let warnings = warning::warnings(before, &after, &outcome, &revisions, field_manager);
        Self { outcome, from, changes, fields, effect: Some(effect), warnings, after }
    }
}

/// Returns the revision that the pods run, if the live template was changed during a pause that ends now. The rollout
/// begins from it.
fn pending_revision<'a>(before: &'a Observation, after: &Workload) -> Option<&'a Revision> {
    let is_resumed = before.workload.is_paused() && !after.is_paused();
    let is_pending = before.revisions.current().is_none();
    before.revisions.current_or_newest().filter(|_| is_resumed && is_pending)
}

/// Whether outdated pods that were held are replaced although the template stays.
fn releases(before: &Observation, after: &Effect, existing: Option<&Revision>) -> bool {
    if held_by(&before.workload).is_none() && Hold::in_force(&before.workload).is_none() {
        return false;
    }
    let now = Effect::of(before, existing, before.workload.object().json());
    let replaced = |effect: &Effect| effect.replaced.as_ref().map_or(0, Vec::len);
    replaced(after) > replaced(&now)
}

fn new_template(after: &Workload, revisions: &Revisions) -> PreviewOutcome {
    let existing = revisions.current();
    let number = revisions.number_of_next(existing);
    match existing {
        Some(existing) => PreviewOutcome::Returns { to: Box::new(existing.clone()), number },
        None => PreviewOutcome::NewRevision {
            number,
            name: after.name_of_next_revision(),
            is_after_pause: after.is_paused() && !after.kind().revisions().stores_while_paused(),
        },
    }
}

#[cfg(test)]
mod tests;
