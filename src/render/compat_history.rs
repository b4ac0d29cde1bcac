//! `history` exactly as kubectl prints it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::tab_writer::aligned;
use super::template_text::{pod_template_text, with_change_cause};
use crate::model::revision::{Revision, RevisionNumber, Revisions};
use crate::model::status::observation::Observation;
use crate::model::workload::Workload;
use crate::model::workload::kind::RevisionStore;

/// Returns kubectl's table of numbers and change-causes. The first line ends with a space, because kubectl prints
/// `RESOURCE OPERATION`, and here the operation is the table.
#[must_use]
pub fn table(observed: &Observation) -> String {
    let reference = observed.workload.reference();
    if observed.revisions.is_empty() {
        return format!("{reference} \nNo rollout history found.\n");
    }
    let mut rows = vec!["REVISION\tCHANGE-CAUSE".to_owned()];
    for (number, revision) in by_number(&observed.revisions) {
        rows.push(format!("{number}\t{}", revision.cause.as_deref().unwrap_or("<none>")));
    }
    format!("{reference} \n{}\n", aligned(&rows.join("\n")))
}

/// Returns the template that kubectl describes for a revision. For a Deployment it has the change-cause as an
/// annotation.
#[must_use]
pub fn described(workload: &Workload, revision: &Revision) -> Value {
    match (workload.kind().revisions, &revision.cause) {
        (RevisionStore::ReplicaSets, Some(cause)) => with_change_cause(revision.template().json(), cause),
        (RevisionStore::ReplicaSets | RevisionStore::ControllerRevisions { .. }, _) => {
            revision.template().json().clone()
        }
    }
}

/// Returns kubectl's description of one revision.
#[must_use]
pub fn one(workload: &Workload, revision: &Revision, template: &Value) -> String {
    let text = pod_template_text(template);
    format!("{} with revision #{}\n{text}\n", workload.reference(), revision.label())
}

/// Returns the revisions by number, as kubectl does. A missing number counts as 0, and a revision with an
/// unreadable number is left out. Of several revisions with one number the current one wins, else the last.
#[must_use]
pub fn by_number(revisions: &Revisions) -> BTreeMap<i64, &Revision> {
    let mut numbered = BTreeMap::new();
    let running_last =
        revisions.iter().filter(|revision| !revisions.is_current(revision)).chain(revisions.current());
    for revision in running_last {
        match revision.number {
            RevisionNumber::Known(number) => numbered.insert(number, revision),
            RevisionNumber::Missing => numbered.insert(0, revision),
            RevisionNumber::Unreadable(_) => None,
        };
    }
    numbered
}
