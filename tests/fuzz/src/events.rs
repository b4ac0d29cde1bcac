//! The JSON of Events: any content gives causes of one line each.

use k8s_openapi::jiff::Timestamp;
use rollout2::model::api::event::{Event, Events};
use rollout2::model::api::object::Object;
use rollout2::model::api::pod::Pod;
use rollout2::model::kind::Workload;
use rollout2::model::observation::Observation;
use rollout2::model::revision::Revisions;
use rollout2::model::view::RolloutView;
use rollout2::render::cause::cause_in_width;
use rollout2::render::state_words::NameContext;
use rollout2::render::status;
use rollout2::world::Terminal;
use serde_json::{Value, json};

/// Reads Events, one a line, about a pod that does not start and its workload.
pub fn one(data: &[u8]) {
    let events = data.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let events: Vec<Object> = events.filter_map(|event| Object::read(about_the_pod(event)?).ok()).collect();
    let Some(observed) = observation(&events) else { return };
    let now = Timestamp::constant(1_795_183_200, 0);
    let view = RolloutView::of(&observed, now);
    let names = NameContext::default();
    let size = Terminal::default();
    for line in view.causes.iter().flat_map(|cause| {
        cause_in_width(cause, cause.evidence.as_deref(), &observed.workload, names, size.width.into())
    }) {
        assert!(!line.text().contains(['\n', '\r', '\u{1b}', '\u{202e}']), "{line:?}");
    }
    let line = status::json::document(&view, |_| None, &[]).to_string();
    assert!(serde_json::from_str::<Value>(&line).is_ok(), "{line}");
}

/// Returns the Event with the fields that it lacks, so that it is about the pod.
fn about_the_pod(mut event: Value) -> Option<Value> {
    let members = event.as_object_mut()?;
    for (name, value) in [
        ("kind", json!("Event")),
        ("type", json!("Warning")),
        ("metadata", json!({"name": "e", "namespace": "n"})),
        ("involvedObject", json!({"uid": "p", "fieldPath": "spec.containers{app}"})),
    ] {
        members.entry(name).or_insert(value);
    }
    Some(event)
}

fn observation(events: &[Object]) -> Option<Observation> {
    let owner = |kind: &str, name: &str, uid: &str| json!([{"kind": kind, "name": name, "uid": uid, "controller": true}]);
    let template = json!({"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "app", "image": "i"}]}});
    let workload = json!({
        "kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "w", "namespace": "n", "uid": "w", "generation": 1},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "w"}}, "template": template},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1},
    });
    let set = json!({
        "kind": "ReplicaSet", "apiVersion": "apps/v1",
        "metadata": {"name": "w-1", "namespace": "n", "uid": "s", "ownerReferences": owner("Deployment", "w", "w"),
            "annotations": {"deployment.kubernetes.io/revision": "1"}, "labels": {"pod-template-hash": "1"}},
        "spec": {"replicas": 1, "template": template},
    });
    let pod = json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": "w-1-a", "namespace": "n", "uid": "p", "ownerReferences": owner("ReplicaSet", "w-1", "s"),
            "labels": {"app": "w", "pod-template-hash": "1"}},
        "spec": {"containers": [{"name": "app"}]}, "status": {"phase": "Pending"},
    });
    let [workload, set, pod] = [workload, set, pod].map(|object| Object::read(object).ok());
    let workload = Workload::of(workload?)?;
    Some(Observation {
        revisions: Revisions::of(&workload, set),
        workload,
        pods: Some(pod.iter().map(Pod::read).map(Into::into).collect()),
        events: Some(Events::of(events.iter().filter_map(Event::read))),
    })
}
