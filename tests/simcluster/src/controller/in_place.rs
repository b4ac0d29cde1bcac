//! Updates of pods in place, as of `OpenKruise`: only images, labels and annotations.
//!
//! Resources, volume claims and kruise-daemon are not simulated, so a container whose environment reads changed
//! metadata is never restarted.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::clock::stamp;
use crate::object;

/// The readiness gate that is closed during an update.
pub(super) const GATE: &str = "InPlaceUpdateReady";

/// The annotation with the state of the update.
pub(super) const STATE: &str = "apps.kruise.io/inplace-update-state";

/// The annotation with the images to set after the grace period.
pub(super) const GRACE: &str = "apps.kruise.io/inplace-update-grace";

/// The label with the lifecycle state of a pod.
pub(super) const LIFECYCLE: &str = "lifecycle.apps.kruise.io/state";

/// Returns the names and images of the containers that change; `None` if the templates differ in more than images.
pub(super) fn images(from: &Value, to: &Value) -> Option<Vec<(String, String)>> {
    let without_images = |template: &Value| {
        let mut spec = template["spec"].clone();
        if let Some(Value::Array(containers)) = spec.get_mut("containers") {
            for container in containers {
                container["image"] = Value::Null;
            }
        }
        spec
    };
    if without_images(from) != without_images(to) {
        return None;
    }
    let containers = |template| object::list(template, &["spec", "containers"]);
    let changed =
        containers(from).iter().zip(containers(to)).filter(|(one, other)| one["image"] != other["image"]);
    let text = |value: &Value, member| object::text(value, &[member]).to_owned();
    Some(changed.map(|(_, to)| (text(to, "name"), text(to, "image"))).collect())
}

/// Changes the labels and annotations in which the templates differ.
pub(super) fn move_metadata(pod: &mut Value, from: &Value, to: &Value) {
    for map in ["labels", "annotations"] {
        let members = |template: &Value| template["metadata"][map].as_object().cloned().unwrap_or_default();
        let (before, after): (Map<_, _>, Map<_, _>) = (members(from), members(to));
        let present = object::members(object::metadata(pod).entry(map).or_insert_with(|| json!({})));
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            present.remove(name);
        }
        present.extend(after);
    }
}

/// Records the update: the containers, and the images that they ran before.
pub(super) fn record(pod: &mut Value, revision: &str, containers: &[(String, String)], now: Timestamp) {
    let named = |name: &str| containers.iter().any(|(changed, _)| changed == name);
    let last = object::list(pod, &["status", "containerStatuses"]).iter();
    let last: Map<String, Value> = last
        .filter(|status| named(object::text(status, &["name"])))
        .map(|status| (object::text(status, &["name"]).to_owned(), json!({ "imageID": status["imageID"] })))
        .collect();
    let batch: Vec<&str> = containers.iter().map(|(name, _)| name.as_str()).collect();
    let mut state = json!({
        "revision": revision, "updateTimestamp": stamp(now), "lastContainerStatuses": last,
        "containerBatchesRecord": [{ "timestamp": stamp(now), "containers": batch }],
    });
    if !containers.is_empty() {
        state["updateImages"] = true.into();
    }
    let annotations = object::metadata(pod).entry("annotations").or_insert_with(|| json!({}));
    object::members(annotations).insert(STATE.to_owned(), state.to_string().into());
}

/// Sets the images of containers.
pub(super) fn set_images(pod: &mut Value, images: &[(String, String)]) {
    let Some(Value::Array(containers)) = pod["spec"].get_mut("containers") else { return };
    for container in containers {
        if let Some((_, image)) = images.iter().find(|(name, _)| container["name"] == **name) {
            container["image"] = image.as_str().into();
        }
    }
}

/// Returns the recorded state of an update.
pub(super) fn state(pod: &Value) -> Option<Value> {
    let text = object::text(pod, &["metadata", "annotations", STATE]);
    serde_json::from_str(text).ok()
}

/// Whether every updated container runs another image than before, or the image that it is to run.
pub(super) fn is_done(pod: &Value, state: &Value) -> bool {
    let statuses = object::list(pod, &["status", "containerStatuses"]);
    let moved = |(name, last): (&String, &Value)| {
        let status = statuses.iter().find(|status| status["name"] == **name);
        status.is_some_and(|status| {
            status["imageID"] != last["imageID"] || Some(&status["image"]) == image_of(pod, name)
        })
    };
    state["lastContainerStatuses"].as_object().into_iter().flatten().all(moved)
}

fn image_of<'p>(pod: &'p Value, container: &str) -> Option<&'p Value> {
    let mut containers = object::list(pod, &["spec", "containers"]).iter();
    containers.find(|one| one["name"] == *container).map(|one| &one["image"])
}

/// Returns the status of the gate's condition; empty if there is none.
pub(super) fn gate(pod: &Value) -> &str {
    object::condition(pod, GATE).map_or("", |one| object::text(one, &["status"]))
}

/// Opens or closes the gate. Closing it makes the pod unready immediately.
pub(super) fn set_gate(pod: &mut Value, is_open: bool, now: Timestamp) {
    let status = if is_open { "True" } else { "False" };
    let conditions = object::members(&mut pod["status"]).entry("conditions").or_insert_with(|| json!([]));
    let Value::Array(conditions) = conditions else { return };
    conditions.retain(|one| one["type"] != GATE);
    conditions.push(json!({ "type": GATE, "status": status, "lastTransitionTime": stamp(now) }));
    if !is_open
        && let Some(ready) =
            conditions.iter_mut().find(|one| one["type"] == "Ready" && one["status"] == "True")
    {
        ready["status"] = "False".into();
        ready["reason"] = "ReadinessGatesNotReady".into();
        ready["lastTransitionTime"] = stamp(now).into();
    }
}
