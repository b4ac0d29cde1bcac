//! Pods that no node was found for.

use super::CauseId;
use super::sight::{Sight, Trouble};
use super::volume;
use crate::model::pod::Pod;

/// Pods without a node, and the scheduler's words for why (the condition `PodScheduled`).
pub(super) fn unscheduled(pod: &Pod, _: &Sight<'_>) -> Option<Trouble> {
    let scheduling = &pod.scheduling;
    if !pod.node.is_empty() || scheduling.status != "False" {
        return None;
    }
    match scheduling.reason.as_str() {
        "SchedulingGated" => Some(Trouble::new(
            CauseId::SchedulingGated,
            "waits for its scheduling gates",
            scheduling.message.as_str(),
        )),
        _ if volume::is_why(&scheduling.message) => None,
        _ => Some(Trouble::new(CauseId::Unschedulable, "unschedulable", scheduling.message.as_str())),
    }
}
