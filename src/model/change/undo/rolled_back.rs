//! Whether the current revision is an earlier one that replaced another, as after a rollback.

use crate::model::api::managed_fields::{FIELD_MANAGER, appliers, owner_of_change};
use crate::model::api::patch::FieldPath;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::text::shell_command::Word;

/// Whether the current revision is an earlier one that replaced `revision`.
pub(super) fn is_replaced_by_current(observation: &Observation, revision: &Revision) -> bool {
    observation.revisions.current().is_some_and(|current| is_replaced_by_earlier(revision, current))
}

/// Whether the rollout is a rollback from `revision`. If `revision` does not serve, any return to an earlier revision counts;
/// if it does, only an `undo`, because other clients return to earlier templates for other reasons.
pub(super) fn is_rollback_from(observation: &Observation, revision: &Revision) -> bool {
    let is_stable = || observation.stable().is_some_and(|stable| stable.name == revision.name);
    is_replaced_by_current(observation, revision)
        && (is_undo(&observation.workload, revision) == Some(true) || !is_stable())
}

/// Whether `undo` replaced the template of `revision` by the live one; none if another kubectl command did.
///
/// Each command of kubectl has its own field manager (`kubectl-set`), but `kubectl rollout undo` has only `kubectl`, as has
/// server-side apply. Other clients, such as Helm, can roll back or release an earlier template again. Where fields were only
/// removed, no manager owns the difference.
pub(super) fn is_undo(workload: &Workload, revision: &Revision) -> Option<bool> {
    let (object, path) = (workload.object(), FieldPath::template());
    let owner = owner_of_change(object, &path, Some(&revision.template().without_hash_labels()));
    match owner.as_ref().map(|owner| owner.manager.as_str()) {
        Some(FIELD_MANAGER) => Some(true),
        Some("kubectl") => Some(appliers(object, &path).all(|applier| applier != "kubectl")),
        Some(manager) if manager.starts_with("kubectl-") => None,
        _ => Some(false),
    }
}

/// Whether the rollout of `current` was a rollback from `revision`: `current` had a lower number before, or is older.
/// The controller of a Deployment records past numbers; the other controllers only renumber.
pub(super) fn is_replaced_by_earlier(revision: &Revision, current: &Revision) -> bool {
    let numbers = current.past_numbers.last().zip(revision.number.known());
    let was_lower = numbers.is_some_and(|(was, number)| *was < number);
    let is_older = current.created.zip(revision.created).is_some_and(|(current, other)| current < other);
    was_lower || is_older
}

/// Returns the word that names a revision: its number, or else its name.
pub(super) fn revision_word(revision: &Revision) -> Word {
    let label = revision.number.known().map_or_else(|| revision.name.clone(), |number| number.to_string());
    Word::text(&label, "REVISION")
}
