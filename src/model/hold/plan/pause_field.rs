//! The pause of a kind that has a field for it, and what that field was before.

use serde_json::Value;

use crate::model::api::patch::{FieldPath, Patch};
use crate::model::kind::Workload;

/// The name of the annotation that exists during the pause of a workload of another API group. The value is `false` for a
/// field that was an explicit `false`, and `no rollingUpdate` or `no updateStrategy` for an object that the pause created.
const PAUSED_BEFORE: &str = "kubectl-rollout2/paused-before";

/// Adds to a patch what pauses a workload by its own field. A resource of another API group keeps an explicit `paused:
/// false` and empty objects, so that `resume` has to tell them from absent ones. The API server drops a false `spec.paused`
/// of a Deployment.
pub(in crate::model) fn begin_pause(workload: &Workload, field: FieldPath, patch: &mut Patch) {
    match before_pause(workload, &field) {
        Some(before) => patch.set(FieldPath::annotation(PAUSED_BEFORE), before.into()),
        None => forget_pause(workload, patch),
    }
    patch.set(field, Value::Bool(true));
}

fn before_pause(workload: &Workload, field: &FieldPath) -> Option<String> {
    if workload.kind().is_built_in() {
        return None;
    }
    let object = workload.object().json();
    if field.value_in(object) == Some(&Value::Bool(false)) {
        return Some("false".to_owned());
    }
    let created = field.first_absent(object);
    (created != *field).then(|| without(&created))
}

/// Adds to a patch what ends a pause by the kind's own field, if it has one: the field is absent or `false`, as before the
/// pause.
pub(in crate::model) fn end_pause(workload: &Workload, patch: &mut Patch) {
    let Some(field) = workload.pause_field() else { return };
    let before = workload.object().annotation(PAUSED_BEFORE);
    let was_false = before == Some("false") || field.value_in(patch.after()) == Some(&Value::Bool(false));
    patch.set_or_remove(field.clone(), was_false.then_some(Value::Bool(false)));
    let mut above = (1..field.members().len()).map(|length| FieldPath::of(&field.members()[..length]));
    if let Some(created) = above.find(|path| before == Some(&without(path)))
        && created.value_in(patch.after()).is_some_and(is_empty)
    {
        patch.remove(created);
    }
    forget_pause(workload, patch);
}

/// Adds to a patch that nothing is remembered of a pause that is over.
pub(super) fn forget_pause(workload: &Workload, patch: &mut Patch) {
    if workload.object().annotation(PAUSED_BEFORE).is_some() {
        patch.remove(FieldPath::annotation(PAUSED_BEFORE));
    }
}

fn without(path: &FieldPath) -> String {
    format!("no {}", path.members().last().map_or("", String::as_str))
}

/// Whether an object has no value, at any depth.
fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(|members| members.values().all(is_empty))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
        let paused = change(&before, |workload, patch| {
            begin_pause(workload, workload.pause_field().unwrap(), patch);
        });
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
            ("v1alpha1", "DaemonSet", json!({})),
        ] {
            let [before, paused, after] = pause_and_resume(version, kind, &strategy);
            assert!(Workload::of_json(&paused).unwrap().is_paused(), "{paused}");
            assert_eq!(after, before);
        }
    }

    #[test]
    fn only_what_the_pause_replaces_is_remembered() {
        for (strategy, expected) in [
            (json!({"rollingUpdate": {"paused": false}}), json!({"mine": "1", PAUSED_BEFORE: "false"})),
            (json!({"rollingUpdate": {}}), json!({"mine": "1"})),
            (json!({}), json!({"mine": "1", PAUSED_BEFORE: "no rollingUpdate"})),
        ] {
            let [_, paused, _] = pause_and_resume("v1beta1", "CloneSet", &strategy);
            assert_eq!(paused["metadata"]["annotations"], expected);
        }
    }
}
