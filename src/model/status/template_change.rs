//! The last change of the template of a workload: when it was, and who made it.

use k8s_openapi::jiff::Timestamp;

use crate::model::api::managed_fields::{Authorship, last_template_author};
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::status::use_author::use_author;
use crate::model::status::uses::{RevisionUse, UseStart, uses};

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
    let uses = uses(observed);
    let last = uses.last()?;
    let author = use_author(observed, last);
    let start = start_of(last, author.as_ref());
    Some(TemplateChange { start, by: author.map(|author| author.manager) })
}

/// Whether the template can have changed at or after a time. False if no stamp shows when it changed.
#[must_use]
pub fn may_have_changed_since(observed: &Observation, since: Timestamp) -> bool {
    last_change(observed).is_some_and(|change| change.start.may_be_since(since))
}

/// Returns when a use began: a return at the write of its author.
#[must_use]
pub fn start_of(one: &RevisionUse<'_>, author: Option<&Authorship>) -> UseStart {
    match (one.start, author) {
        (UseStart::Between { .. }, Some(author)) => UseStart::At(author.time),
        (start, _) => start,
    }
}

/// Returns when the last use of a revision began; none if no stamp shows it.
#[must_use]
pub fn start_of_last_use(observed: &Observation, revision: &Revision) -> Option<UseStart> {
    let uses = uses(observed);
    let last = uses.iter().rev().find(|one| one.revision.name == revision.name)?;
    Some(start_of(last, use_author(observed, last).as_ref()))
}
