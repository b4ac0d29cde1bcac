//! The kind's own field `paused`, and its value before a pause.
//!
//! A resource of another API group keeps an explicit `paused: false`, so that `resume` has to tell it from an absent
//! field. The API server drops a false `spec.paused` of a Deployment.

use serde_json::Value;

use crate::model::api::field_path::FieldPath;
use crate::model::api::patch::Patch;
use crate::model::kind::Workload;
use crate::model::kind::strategy;

/// The name of the annotation that exists during the pause of a workload whose field was an explicit `false`.
const PAUSED_BEFORE: &str = "kubectl-rollout2/paused-before";

/// Adds to a patch what pauses a workload by its own field.
pub(super) fn begin_pause(workload: &Workload, patch: &mut Patch) {
    let field = strategy::hold_path(workload);
    let was_false = field.value_in(workload.object().json()) == Some(&Value::Bool(false));
    if was_false && !workload.kind().is_built_in() {
        patch.set(FieldPath::annotation(PAUSED_BEFORE), "false".into());
    } else {
        forget(workload, patch);
    }
    patch.set(field, Value::Bool(true));
}

/// Adds to a patch what ends the pause: the field is absent or `false`, as before the pause.
pub(in crate::model) fn end_pause(workload: &Workload, patch: &mut Patch) {
    let field = strategy::hold_path(workload);
    let was_false = workload.object().annotation(PAUSED_BEFORE) == Some("false")
        || field.value_in(patch.after()) == Some(&Value::Bool(false));
    patch.set_or_remove(field, was_false.then_some(Value::Bool(false)));
    forget(workload, patch);
}

fn forget(workload: &Workload, patch: &mut Patch) {
    if workload.object().annotation(PAUSED_BEFORE).is_some() {
        patch.remove(FieldPath::annotation(PAUSED_BEFORE));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Pauses a workload and ends the pause. Returns it before, during and after.
    fn pause_and_resume(version: &str, kind: &str, strategy: &Value) -> [Value; 3] {
        let metadata = json!({"name": "w", "annotations": {"mine": "1"}});
        let api_version = format!("apps.kruise.io/{version}");
        let before = json!({
            "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {"updateStrategy": strategy},
        });
        let change = |object: &Value, change: fn(&Workload, &mut Patch)| {
            let workload = Workload::of_json(object).unwrap();
            let mut patch = Patch::of(workload.object());
            change(&workload, &mut patch);
            patch.after().clone()
        };
        let paused = change(&before, begin_pause);
        let after = change(&paused, end_pause);
        [before, paused, after]
    }

    #[test]
    fn the_field_is_restored_exactly() {
        for (version, kind, strategy) in [
            ("v1beta1", "CloneSet", json!({"rollingUpdate": {"paused": false, "partition": 2}})),
            ("v1beta1", "CloneSet", json!({"rollingUpdate": {"partition": 2}})),
            ("v1alpha1", "CloneSet", json!({"type": "ReCreate", "paused": false})),
            ("v1alpha1", "CloneSet", json!({"type": "ReCreate"})),
            ("v1beta1", "StatefulSet", json!({"rollingUpdate": {"paused": false}})),
            ("v1alpha1", "DaemonSet", json!({"rollingUpdate": {"paused": false}})),
            ("v1alpha1", "DaemonSet", json!({"rollingUpdate": {}})),
        ] {
            let [before, paused, after] = pause_and_resume(version, kind, &strategy);
            assert!(Workload::of_json(&paused).unwrap().is_paused(), "{paused}");
            assert_eq!(after, before);
        }
    }

    #[test]
    fn only_an_explicit_false_is_remembered() {
        for (strategy, expected) in [
            (json!({"rollingUpdate": {"paused": false}}), json!({"mine": "1", PAUSED_BEFORE: "false"})),
            (json!({"rollingUpdate": {}}), json!({"mine": "1"})),
        ] {
            let [_, paused, _] = pause_and_resume("v1beta1", "CloneSet", &strategy);
            assert_eq!(paused["metadata"]["annotations"], expected);
        }
    }
}
