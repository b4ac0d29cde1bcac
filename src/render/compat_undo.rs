//! `undo` exactly as kubectl prints it.

use serde_json::Value;

use super::template_text::pod_template_text;
use crate::model::change::undo::TargetRevision;
use crate::model::revision::RevisionWord;
use crate::model::workload::Workload;
use crate::model::workload::kind::RevisionStore;

/// Returns the operation of a client's dry run. For a Deployment it is only the template, with its hash label.
#[must_use]
pub fn dry_run(workload: &Workload, template: &Value) -> String {
    let text = pod_template_text(template);
    match workload.kind().revisions {
        RevisionStore::ReplicaSets => text,
        RevisionStore::ControllerRevisions { .. } => format!("will roll back to {text}"),
    }
}

/// Returns the operation of a skipped rollback. kubectl prints the requested number, which defaults to 0.
#[must_use]
pub fn skipped(goal: &TargetRevision) -> String {
    format!("skipped rollback (current template already matches revision {})", number(goal))
}

/// Returns what kubectl prints before the API server's message when the write fails.
#[must_use]
pub fn failing(goal: &TargetRevision) -> String {
    format!("failed restoring revision {}", number(goal))
}

fn number(goal: &TargetRevision) -> i64 {
    match goal {
        TargetRevision::Named(RevisionWord::Number(number)) => *number,
        _ => 0,
    }
}
