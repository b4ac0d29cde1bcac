//! The last change of the template of a workload: when it was, and who made it.

use k8s_openapi::jiff::Timestamp;

use crate::model::api::managed_fields::last_template_author;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::status::use_author::authored_uses;
use crate::model::status::uses::UseStart;

/// The last change of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateChange {
    /// When it was.
    pub start: UseStart,
    /// The field manager that made it; none if it is not known.
    pub by: Option<String>,
}

/// Returns the last change of the template of a workload; none if no stamp shows it. A template without a revision, as of a
/// paused Deployment, changed when a field manager of it wrote last.
#[must_use]
pub fn last_change(observed: &Observation) -> Option<TemplateChange> {
    if observed.revisions.current().is_none() {
        let author = last_template_author(observed.workload.object())?;
        return Some(TemplateChange { start: UseStart::At(author.time), by: Some(author.manager) });
    }
    let last = authored_uses(observed).pop()?;
    Some(TemplateChange { start: last.one.start, by: last.by })
}

/// Returns when the last use of a revision began; none if no stamp shows it.
#[must_use]
pub fn start_of_last_use(observed: &Observation, revision: &Revision) -> Option<UseStart> {
    let uses = authored_uses(observed);
    Some(uses.iter().rev().find(|used| used.one.revision.name == revision.name)?.one.start)
}

/// Whether the template can have changed at or after a time. False if no stamp shows when it changed.
#[must_use]
pub fn may_have_changed_since(observed: &Observation, since: Timestamp) -> bool {
    last_change(observed).is_some_and(|change| change.start.may_be_since(since))
}
