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
    let moved = |path: &[&str]| object::at(before, path) != object::at(after, path);
    match resource.own_kind() {
        "Deployment" | "ReplicaSet" | "DaemonSet" if moved(&["spec", "selector"]) => {
            Some(Cause::invalid("spec.selector", &after["spec"]["selector"], "field is immutable"))
        }
        "StatefulSet"
            if without(&before["spec"], &STATEFULSET_FREE) != without(&after["spec"], &STATEFULSET_FREE) =>
        {
            Some(Cause::forbidden(
                "spec",
                "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
                 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
            ))
        }
        "ControllerRevision" if moved(&["data"]) => {
            Some(Cause::invalid("data", &after["data"], "field is immutable"))
        }
        "Pod" if fixed_pod_spec(&before["spec"]) != fixed_pod_spec(&after["spec"]) => Some(Cause::forbidden(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,\
             `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
             `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        )),
        _ => None,
    }
}

fn without(spec: &Value, members: &[&str]) -> Value {
    let mut rest = spec.clone();
    object::members(&mut rest).retain(|member, _| !members.contains(&member.as_str()));
    rest
}

fn fixed_pod_spec(spec: &Value) -> Value {
    let mut fixed = without(spec, &["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"]);
    for list in ["containers", "initContainers"] {
        for container in fixed.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            object::members(container).remove("image");
        }
    }
    fixed
}
