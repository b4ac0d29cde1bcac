//! Pausing and resuming, in words.

use k8s_openapi::jiff::Timestamp;

use crate::model::age::age;
use crate::model::authorship::last_author;
use crate::model::hold::{Holding, step_command};
use crate::model::step::is_on_the_way_back;
use crate::model::strategy;
use crate::model::workload::Workload;

/// What somebody who pauses should know before it is done.
#[must_use]
pub fn before_pausing(holding: Holding, workload: &Workload) -> Vec<String> {
    let target = workload.target();
    match holding {
        Holding::Paused => Vec::new(),
        Holding::Partition(partition) => {
            vec![if partition >= i64::from(i32::MAX) {
                format!("note: {target} is held above every pod: none is updated until it is resumed")
            } else {
                format!(
                    "note: {target} is held at partition {partition}: pods below it are not updated until it is resumed"
                )
            }]
        }
        Holding::OnDelete { surging } => {
            let mut lines = vec![format!(
                "note: {target} is held by OnDelete, which holds running pods only: a pod that dies and a new node get the new revision"
            )];
            if surging > 0 {
                let pods = if surging == 1 {
                    "1 pod that stands".to_owned()
                } else {
                    format!("{surging} pods that stand")
                };
                lines.push(format!("warning: pausing removes {pods} beside the one it was to replace"));
            }
            lines
        }
        Holding::Plan => {
            vec![format!(
                "note: {target} is held by a plan of step, which releases nothing more until it is resumed"
            )]
        }
    }
}

/// What is said where there is nothing to pause.
#[must_use]
pub fn on_delete(workload: &Workload) -> String {
    format!(
        "note: {} replaces no running pod by itself (OnDelete), so there is nothing to pause",
        workload.target()
    )
}

/// A hold that somebody else ended: who, and when.
#[must_use]
pub fn ended_by_another(workload: &Workload, now: Timestamp) -> String {
    if is_on_the_way_back(workload) {
        return format!(
            "note: a step of {} failed, and it goes back, or went; only the note of that is gone now",
            workload.target()
        );
    }
    let author = last_author(workload.object(), &strategy::place(workload));
    let who = author.map_or_else(
        || "somebody".to_owned(),
        |author| format!("{}, {} ago", author.manager, age(author.time, now)),
    );
    format!(
        "note: the pause of {} was ended by {who}, and only its memory was left; the strategy stays as it is",
        workload.target()
    )
}

/// How a plan goes on.
#[must_use]
pub fn step_on(workload: &Workload) -> String {
    format!("hint: go on with: {}", step_command(workload))
}
