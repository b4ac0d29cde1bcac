//! The annotation of a hold or a plan: any content gives a patch of the update strategy and the annotation only, or an
//! error of one line.

use rollout2::model::api::object::Object;
use rollout2::model::api::patch::Patch;
use rollout2::model::hold::{Pause, Resume, hold_json, hold_words, pause, resume};
use rollout2::model::kind::Workload;
use rollout2::model::observation::Observation;
use rollout2::model::revision::Revisions;
use serde_json::{Value, json};

/// Reads one annotation of a StatefulSet and of a DaemonSet.
pub fn one(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for (kind, strategy) in [
        ("StatefulSet", json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}})),
        ("DaemonSet", json!({"type": "OnDelete"})),
    ] {
        let object = json!({
            "kind": kind, "apiVersion": "apps/v1",
            "metadata": {"name": "w", "namespace": "n", "uid": "u", "annotations": {"kubectl-rollout2/held": text, "a": "b"}},
            "spec": {"replicas": 3, "updateStrategy": strategy, "template": {"spec": {"containers": [{"name": "a"}]}}},
        });
        let Some(workload) = Object::read(object).ok().and_then(Workload::of) else { return };
        try_workload(workload);
    }
}

fn try_workload(workload: Workload) {
    if let Err(error) = workload.held().readable() {
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
        assert!(error.to_string().len() < 1000, "{error}");
    }
    if let Some(json) = hold_json(&workload) {
        assert!(json.is_object() && hold_words(&workload).is_some());
    }
    for release_all in [false, true] {
        match resume(&workload, release_all) {
            Ok(Resume::End(patch) | Resume::Forget(patch) | Resume::Continue(patch)) => {
                assert_changes_only_the_hold(&workload, &patch);
            }
            Ok(Resume::NotPaused | Resume::Stepping) | Err(_) => {}
        }
    }
    let observation = Observation {
        revisions: Revisions::of(&workload, []),
        workload,
        pods: Some(Vec::new()),
        events: None,
    };
    if let Ok(Pause::Change { patch, .. }) = pause(&observation, Some("me"), "2026-11-20T13:00:00Z") {
        assert_changes_only_the_hold(&observation.workload, &patch);
    }
}

/// Asserts that a patch changes only the update strategy and the annotation. The API server validates the strategy.
fn assert_changes_only_the_hold(workload: &Workload, patch: &Patch) {
    let without_hold = |value: &Value| {
        let mut value = value.clone();
        let strategy = value["spec"].as_object_mut().and_then(|spec| spec.remove("updateStrategy"));
        if let Some(annotations) = value.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
            annotations.remove("kubectl-rollout2/held");
        }
        (value, strategy.unwrap_or_default())
    };
    let (before, _) = without_hold(workload.object().json());
    let (after, strategy) = without_hold(patch.after());
    assert_eq!(before, after);
    assert!(strategy.is_null() || strategy.is_object(), "{strategy}");
}
