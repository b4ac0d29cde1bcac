//! A rollback exactly as kubectl tells it.

use serde_json::Value;

use super::template_text::pod_template_text;
use crate::model::revision::RevisionWord;
use crate::model::undo::Goal;
use crate::model::workload::Workload;

/// The operation of a client's dry run: the template, with the hash label of a Deployment's, and
/// without the words of the other kinds.
#[must_use]
pub fn dry_run(workload: &Workload, template: &Value) -> String {
    let text = pod_template_text(template);
    match workload {
        Workload::Deployment(_) => text,
        Workload::DaemonSet(_) | Workload::StatefulSet(_) => format!("will roll back to {text}"),
    }
}

/// The operation when there is nothing to go back to. kubectl names the number that was asked for,
/// which is 0 when none was.
#[must_use]
pub fn skipped(goal: &Goal) -> String {
    format!("skipped rollback (current template already matches revision {})", number(goal))
}

/// What stands before the server's sentence when it refuses.
#[must_use]
pub fn failing(goal: &Goal) -> String {
    format!("failed restoring revision {}", number(goal))
}

fn number(goal: &Goal) -> i64 {
    match goal {
        Goal::Named(RevisionWord::Number(number)) => *number,
        _ => 0,
    }
}
