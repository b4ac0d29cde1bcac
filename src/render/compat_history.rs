//! A history exactly as kubectl prints it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::tab_writer::aligned;
use super::template_text::{pod_template_text, with_change_cause};
use crate::model::observed::Observed;
use crate::model::revision::{Number, Revision, Revisions};
use crate::model::workload::Workload;

/// kubectl's list: number and cause. The line that names the workload ends with a blank, because
/// there the operation that kubectl prints is the table itself.
#[must_use]
pub fn table(observed: &Observed) -> String {
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

/// What kubectl describes as a revision: its template, with the change-cause among a Deployment's.
#[must_use]
pub fn described(workload: &Workload, revision: &Revision) -> Value {
    match (workload, &revision.cause) {
        (Workload::Deployment(_), Some(cause)) => with_change_cause(revision.template().json(), cause),
        _ => revision.template().json().clone(),
    }
}

/// One revision in kubectl's words: the description of a template.
#[must_use]
pub fn one(workload: &Workload, revision: &Revision, template: &Value) -> String {
    let text = pod_template_text(template);
    format!("{} with revision #{}\n{text}\n", workload.reference(), revision.label())
}

/// The revisions as kubectl keeps them, in a map by number: one without a number counts as 0, one
/// with an unreadable number is left out, and of several with one number the running one stays, or
/// else the last.
#[must_use]
pub fn by_number(revisions: &Revisions) -> BTreeMap<i64, &Revision> {
    let mut numbered = BTreeMap::new();
    let running_last =
        revisions.iter().filter(|revision| !revisions.is_running(revision)).chain(revisions.running());
    for revision in running_last {
        match revision.number {
            Number::Is(number) => numbered.insert(number, revision),
            Number::Missing => numbered.insert(0, revision),
            Number::Unreadable(_) => None,
        };
    }
    numbered
}
