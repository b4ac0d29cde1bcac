//! The remarks of `status`, which change no verdict: pods that have earlier values of a ConfigMap or Secret.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::age::age;
use crate::model::kind::Workload;
use crate::model::status::stale_configuration::{PodsReadingAtStart, STALE_CONFIG, StaleConfiguration};
use crate::model::text::shell_command::command;

/// Returns `3 of 3 pods started before`.
pub(super) fn started_before(pods: PodsReadingAtStart) -> String {
    format!("{} of {} pods started before", pods.started_before, pods.total)
}

/// Returns the note about each ConfigMap and Secret of which pods have earlier values, with the command that replaces them.
pub fn stale_configuration(
    workload: &Workload,
    stale: &[StaleConfiguration],
    now: Timestamp,
) -> impl Iterator<Item = String> {
    stale.iter().map(move |one| {
        let (object, ago) = (one.object.target(), age(one.change.time, now));
        let pods = started_before(one.pods);
        format!("note: {object} changed {ago} ago; {pods}: {}", restart(workload))
    })
}

fn restart(workload: &Workload) -> String {
    command("kubectl rollout2 restart {}", [workload.command_target()])
}

/// Returns the remarks about a workload as JSON.
pub(super) fn json(workload: &Workload, stale: &[StaleConfiguration]) -> Value {
    let remark = |one: &StaleConfiguration| {
        json!({
            "id": STALE_CONFIG,
            "object": one.object.target(),
            "changedAt": one.change.time.to_string(),
            "changedBy": one.change.manager,
            "pods": pods_json(one.pods),
            "command": restart(workload),
        })
    };
    stale.iter().map(remark).collect()
}

/// Returns a count of pods as JSON.
pub(super) fn pods_json(pods: PodsReadingAtStart) -> Value {
    json!({"startedBefore": pods.started_before, "total": pods.total})
}
