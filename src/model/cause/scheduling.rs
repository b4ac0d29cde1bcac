//! Pods that cannot be scheduled.

use super::CauseId;
use super::context::{CauseContext, Problem};
use super::volume;
use crate::model::api::pod::Pod;

/// Returns the problem of an unscheduled pod, with the message of the condition `PodScheduled`.
pub(super) fn unscheduled(pod: &Pod, _: &CauseContext<'_>) -> Option<Problem> {
    let scheduling = &pod.scheduling;
    if !pod.node.is_empty() || scheduling.status != "False" {
        return None;
    }
    match scheduling.reason.as_str() {
        "SchedulingGated" => Some(Problem::new(
            CauseId::SchedulingGated,
            "waits for its scheduling gates",
            scheduling.message.as_str(),
        )),
        _ if volume::is_about_volumes(&scheduling.message) => None,
        _ => Some(Problem::new(CauseId::Unschedulable, "unschedulable", scheduling.message.as_str())),
    }
}
