//! Tables of objects before and after, and what the preview says of them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::kind::owners::ManifestOwner;
use crate::observation::fixture::{self, pod, revision};

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "c", "image": image}]}})
}

fn workload(kind: &str, image: &str, spec: &Value) -> Workload {
    let mut object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w", "uid": "u", "namespace": "n"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "w"}}, "template": template(image)},
        "status": {"desiredNumberScheduled": 3}});
    for (name, value) in spec.as_object().unwrap() {
        object["spec"][name] = value.clone();
    }
    Workload::of(Object::read(object).unwrap()).unwrap()
}

/// A workload with revisions 1 to 3 of the images `x:1` to `x:3`, and three ready pods of the last one.
fn observed(kind: &str, image: &str, spec: &Value) -> Observation {
    let workload = workload(kind, image, spec);
    let revisions = (1..=3).map(|number| {
        let mut revision = revision(&format!("w-{number}"), number, &template(&format!("x:{number}")));
        revision["metadata"]["creationTimestamp"] = format!("2026-11-20T13:00:0{number}Z").into();
        revision
    });
    let pods = (0..3).map(|index| {
        let mut pod = pod(kind, &format!("w-{index}"), "w-3", true);
        pod["spec"] = json!({"nodeName": format!("node-{index}")});
        pod
    });
    fixture::observation(workload.object().json(), revisions, pods)
}

fn preview(before: &Observation, after: Workload) -> Preview {
    Preview::of(before, after, "kubectl-client-side-apply", SecretValues::Masked)
}

/// The outcome in one word with its revision, and how many pods are replaced.
fn outcome_of(preview: &Preview) -> (String, usize) {
    let outcome = match &preview.outcome {
        PreviewOutcome::Created { .. } => "created".to_owned(),
        PreviewOutcome::Unchanged => "unchanged".to_owned(),
        PreviewOutcome::NoRollout => "no rollout".to_owned(),
        PreviewOutcome::Released => "released".to_owned(),
        PreviewOutcome::NewRevision { number, is_after_pause: false, .. } => format!("new {number}"),
        PreviewOutcome::NewRevision { number, is_after_pause: true, .. } => {
            format!("new {number} after the pause")
        }
        PreviewOutcome::Returns { to, number } => format!("returns to {} as {number}", to.label()),
    };
    let replaced = preview.effect.as_ref().and_then(|effect| effect.replaced.as_ref()).map_or(0, Vec::len);
    (outcome, replaced)
}

#[test]
fn every_kind_of_change_has_its_outcome() {
    let none = json!({});
    let paused = json!({"paused": true});
    let partition = |index: i64| json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": index}}});
    let on_delete = json!({"updateStrategy": {"type": "OnDelete"}});
    let recreate = json!({"strategy": {"type": "Recreate"}});
    for (kind, before, after, expected) in [
        ("Deployment", ("x:3", &none), ("x:3", &none), ("unchanged", 0)),
        ("Deployment", ("x:3", &none), ("x:3", &json!({"replicas": 5})), ("no rollout", 0)),
        ("Deployment", ("x:3", &none), ("x:3", &recreate), ("no rollout", 0)),
        ("Deployment", ("x:3", &none), ("x:4", &none), ("new 4", 3)),
        ("Deployment", ("x:3", &none), ("x:1", &none), ("returns to 1 as 4", 3)),
        ("Deployment", ("x:3", &none), ("x:4", &paused), ("new 4 after the pause", 0)),
        ("Deployment", ("x:3", &paused), ("x:3", &none), ("no rollout", 0)),
        // The template was changed during the pause.
        ("Deployment", ("x:4", &paused), ("x:4", &none), ("new 4", 3)),
        ("Deployment", ("x:1", &paused), ("x:1", &none), ("released", 3)),
        ("Deployment", ("x:4", &paused), ("x:4", &json!({"paused": true, "replicas": 2})), ("no rollout", 0)),
        ("Deployment", ("x:4", &paused), ("x:3", &none), ("no rollout", 0)),
        ("StatefulSet", ("x:3", &none), ("x:4", &none), ("new 4", 3)),
        // Scaling down removes a pod, which is not replaced.
        ("Deployment", ("x:3", &none), ("x:4", &json!({"replicas": 2})), ("new 4", 2)),
        ("Deployment", ("x:3", &none), ("x:4", &json!({"replicas": 5})), ("new 4", 3)),
        ("StatefulSet", ("x:3", &none), ("x:4", &json!({"replicas": 2})), ("new 4", 2)),
        ("StatefulSet", ("x:3", &none), ("x:4", &json!({"replicas": 0})), ("new 4", 0)),
        ("StatefulSet", ("x:3", &none), ("x:4", &partition(2)), ("new 4", 1)),
        ("StatefulSet", ("x:3", &none), ("x:4", &on_delete), ("new 4", 0)),
        ("StatefulSet", ("x:4", &partition(3)), ("x:4", &partition(3)), ("unchanged", 0)),
        ("StatefulSet", ("x:4", &partition(3)), ("x:4", &partition(1)), ("released", 2)),
        ("StatefulSet", ("x:4", &on_delete), ("x:4", &none), ("released", 3)),
        ("StatefulSet", ("x:3", &none), ("x:2", &none), ("returns to 2 as 4", 3)),
        ("DaemonSet", ("x:3", &none), ("x:4", &none), ("new 4", 3)),
        ("DaemonSet", ("x:3", &none), ("x:3", &json!({"minReadySeconds": 5})), ("no rollout", 0)),
        ("DaemonSet", ("x:3", &none), ("x:4", &on_delete), ("new 4", 0)),
    ] {
        let before = observed(kind, before.0, before.1);
        let preview = preview(&before, workload(kind, after.0, after.1));
        let (outcome, replaced) = outcome_of(&preview);
        assert_eq!((outcome.as_str(), replaced), expected, "{kind} {before:?}");
        let is_rollout = !["unchanged", "no rollout"].contains(&outcome.as_str());
        assert_eq!(preview.outcome.is_rollout(), is_rollout);
    }
}

#[test]
fn a_new_workload_is_created_with_a_foretold_name() {
    let preview = Preview::of_new(workload("StatefulSet", "x:1", &json!({})));
    assert!(
        matches!(&preview.outcome, PreviewOutcome::Created { name: Some(name), .. } if name.starts_with("w-"))
    );
    for paused in [false, true] {
        let preview = Preview::of_new(workload("Deployment", "x:1", &json!({"paused": paused})));
        assert!(
            matches!(preview.outcome, PreviewOutcome::Created { name: None, is_after_pause } if is_after_pause == paused)
        );
    }
}

#[test]
fn fields_outside_of_the_template_are_listed_without_generated_annotations() {
    let before = observed("Deployment", "x:3", &json!({}));
    let mut after =
        workload("Deployment", "x:3", &json!({"replicas": 5, "minReadySeconds": 7})).object().json().clone();
    after["metadata"]["annotations"] = json!({
        "kubectl.kubernetes.io/last-applied-configuration": "{}", "deployment.kubernetes.io/revision": "9",
        "note": "DB_PASSWORD=hunter2",
    });
    let preview = preview(&before, Workload::of_json(&after).unwrap());
    let fields: Vec<String> = preview
        .fields
        .iter()
        .map(|change| format!("{} {:?} {:?}", change.path, change.from, change.to))
        .collect();
    assert_eq!(
        fields,
        [
            "spec.replicas Some(Number(3)) Some(Number(5))",
            "spec.minReadySeconds None Some(Number(7))",
            "metadata.annotations.note None Some(String(\"DB_PASSWORD=***\"))",
        ]
    );
}

/// The versions of a CloneSet have the same fields in different places.
#[test]
fn specs_of_two_api_versions_are_not_compared() {
    let clone_set = |version: &str, spec: &Value| {
        let api_version = format!("apps.kruise.io/{version}");
        let object =
            json!({"apiVersion": api_version, "kind": "CloneSet", "metadata": {"name": "w"}, "spec": spec});
        Workload::of_json(&object).unwrap()
    };
    let alpha = clone_set("v1alpha1", &json!({"updateStrategy": {"paused": true}}));
    let beta = clone_set("v1beta1", &json!({"updateStrategy": {"rollingUpdate": {"paused": true}}}));
    assert!(changed_fields(&alpha, &beta, SecretValues::Masked).is_empty());
    assert!(!changed_fields(&alpha, &clone_set("v1alpha1", &json!({})), SecretValues::Masked).is_empty());
}

fn warnings(
    kind: &str,
    before: (&str, &Value),
    after: (&str, &Value),
    metadata: &Value,
) -> Vec<PreviewWarning> {
    let with = |workload: &Workload| {
        let mut object = workload.object().json().clone();
        for (name, value) in metadata.as_object().unwrap() {
            object["metadata"][name] = value.clone();
        }
        Workload::of_json(&object).unwrap()
    };
    let mut observed = observed(kind, before.0, before.1);
    observed.workload = with(&observed.workload);
    preview(&observed, with(&workload(kind, after.0, after.1))).warnings
}

#[test]
fn unexpected_consequences_are_warnings() {
    let none = json!({});
    let limit = |limit: i64| json!({"revisionHistoryLimit": limit});
    let helm = json!({"annotations": {"meta.helm.sh/release-name": "shop"}});
    let applied = json!({"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}});
    let server_side = |manager: &str| {
        json!({"managedFields": [{"manager": manager, "operation": "Apply", "apiVersion": "apps/v1",
            "time": "2026-11-20T13:00:00Z", "fieldsV1": {"f:spec": {"f:template": {"f:spec": {}}}}}]})
    };
    let owner = |owner: ManifestOwner| vec![PreviewWarning::Owner(owner)];
    let removes = |limit: i64, revisions: &[&str]| {
        let revisions = revisions.iter().map(|revision| (*revision).to_owned()).collect();
        vec![PreviewWarning::RemovesRevisions { limit, revisions }]
    };
    let wrote = |manager: &str| {
        let image = json!({"f:containers": {"k:{\"name\":\"c\"}": {"f:image": {}}}});
        json!({"managedFields": [{"manager": manager, "operation": "Update", "apiVersion": "apps/v1",
            "time": "2026-11-20T13:00:00Z", "fieldsV1": {"f:spec": {"f:template": {"f:spec": image}}}}]})
    };
    let back = PreviewWarning::BringsBack { revision: "3".to_owned(), current: "1".to_owned() };
    for (before, after, metadata, expected) in [
        (("x:3", &none), ("x:4", &none), &none, vec![]),
        (("x:1", &none), ("x:3", &none), &wrote("kubectl-rollout2"), vec![back]),
        (("x:1", &none), ("x:2", &none), &wrote("kubectl-rollout2"), vec![]), // 3 was rolled back
        (("x:1", &none), ("x:3", &none), &wrote("helm"), vec![]),
        (("x:3", &none), ("x:1", &none), &wrote("kubectl-rollout2"), vec![]),
        (("x:3", &json!({"paused": true})), ("x:3", &none), &none, vec![PreviewWarning::EndsPause]),
        (
            ("x:3", &none),
            ("x:4", &none),
            &helm,
            owner(ManifestOwner::Helm(Some("shop".to_owned()), "n".to_owned())),
        ),
        (("x:3", &none), ("x:3", &none), &helm, vec![]),
        (("x:3", &none), ("x:4", &none), &applied, vec![]),
        (("x:3", &none), ("x:4", &limit(0)), &none, vec![PreviewWarning::KeepsNoHistory]),
        (("x:3", &none), ("x:3", &limit(0)), &none, vec![PreviewWarning::KeepsNoHistory]),
        (("x:3", &none), ("x:4", &limit(-1)), &none, vec![]),
        (("x:3", &none), ("x:4", &limit(1)), &none, removes(1, &["1", "2"])),
        (("x:3", &none), ("x:3", &limit(1)), &none, removes(1, &["1"])),
        (("x:3", &limit(1)), ("x:4", &limit(1)), &none, vec![]),
        (("x:3", &limit(2)), ("x:4", &limit(1)), &none, removes(1, &["2"])), // the present limit removes the first one
        (("x:3", &limit(0)), ("x:3", &limit(0)), &none, vec![]),
        (("x:3", &none), ("x:4", &none), &server_side("kubectl-client-side-apply"), vec![]),
        (
            ("x:3", &none),
            ("x:4", &none),
            &server_side("flux"),
            owner(ManifestOwner::ServerSideApply("flux".to_owned())),
        ),
        (("x", &none), ("x", &none), &none, vec![PreviewWarning::MovingTag("x".to_owned())]),
        (
            ("x:3", &none),
            ("x:3", &none),
            &json!({"deletionTimestamp": "2026-11-20T13:00:00Z"}),
            vec![PreviewWarning::BeingDeleted(
                "deployment/w is being deleted, so its controller ignores changes".to_owned(),
            )],
        ),
    ] {
        assert_eq!(warnings("Deployment", before, after, metadata), expected, "{before:?} {after:?}");
    }
}

#[test]
fn a_broken_pod_that_blocks_a_stateful_set_is_reported() {
    let mut before = observed("StatefulSet", "x:3", &json!({}));
    let pods = before.pods.as_mut().unwrap();
    let mut broken = Pod::clone(&pods[1]);
    broken.ready = false;
    pods[1] = Arc::new(broken);
    let warnings = preview(&before, workload("StatefulSet", "x:4", &json!({}))).warnings;
    assert_eq!(warnings, [PreviewWarning::StuckPods(vec!["w-1".to_owned()])]);
}
