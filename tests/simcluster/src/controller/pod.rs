//! Fields of pods that controllers read, and the creation of pods.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::hash::{fnv1a, safe_encoded};
use super::owner::reference;
use crate::object;
use crate::resource::PODS;
use crate::store::{Key, Store};

/// The label with the revision of a pod of a DaemonSet or StatefulSet.
pub(super) const REVISION_LABEL: &str = "controller-revision-hash";

/// Returns the value of a label; empty if there is none.
pub(super) fn label<'p>(pod: &'p Value, name: &str) -> &'p str {
    object::text(pod, &["metadata", "labels", name])
}

/// Returns the revision of a pod of a DaemonSet or StatefulSet.
pub(super) fn revision(pod: &Value) -> &str {
    label(pod, REVISION_LABEL)
}

/// `status.phase`.
pub(super) fn phase(pod: &Value) -> &str {
    object::text(pod, &["status", "phase"])
}

/// Whether the pod has neither ended nor a deletion timestamp.
pub(super) fn is_active(pod: &Value) -> bool {
    !matches!(phase(pod), "Succeeded" | "Failed") && !object::is_terminating(pod)
}

/// Whether the pod has a deletion timestamp and has not ended.
pub(super) fn is_leaving(pod: &Value) -> bool {
    !matches!(phase(pod), "Succeeded" | "Failed") && object::is_terminating(pod)
}

/// Whether the condition `Ready` holds.
pub(super) fn is_ready(pod: &Value) -> bool {
    object::has_condition(pod, "Ready")
}

/// Whether the pod runs and is ready.
pub(super) fn runs_ready(pod: &Value) -> bool {
    phase(pod) == "Running" && is_ready(pod)
}

/// Returns when a pod is ready for `min_ready` seconds; `None` while it is not ready.
pub(super) fn available_at(pod: &Value, min_ready: i64) -> Option<Timestamp> {
    let condition = object::condition(pod, "Ready").filter(|condition| condition["status"] == "True")?;
    let since: Timestamp = object::text(condition, &["lastTransitionTime"]).parse().ok()?;
    since.checked_add(SignedDuration::from_secs(min_ready)).ok()
}

/// Whether a pod has been ready for `min_ready` seconds.
pub(super) fn is_available(pod: &Value, min_ready: i64, now: Timestamp) -> bool {
    is_ready(pod) && (min_ready == 0 || available_at(pod, min_ready).is_some_and(|then| then <= now))
}

/// Returns a pod of a template, with additional labels.
pub(super) fn of_template(template: &Value, owner: &Value, name: &str, labels: &[(&str, &str)]) -> Value {
    let mut metadata = Map::new();
    for part in ["labels", "annotations", "finalizers"] {
        if let Some(value) = object::at(template, &["metadata", part]) {
            metadata.insert(part.to_owned(), value.clone());
        }
    }
    let all = object::members(metadata.entry("labels").or_insert(Value::Null));
    all.extend(labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));
    metadata.insert("name".to_owned(), name.into());
    metadata.insert("generateName".to_owned(), format!("{}-", object::name(owner)).into());
    metadata.insert("ownerReferences".to_owned(), json!([reference(owner)]));
    json!({ "metadata": metadata, "spec": template["spec"] })
}

/// Returns a name for the `nth` pod that an owner creates in a sync, in the form of the server's generated names.
///
/// The controller chooses it instead of the server, because the event about the creation contains it. As the server does,
/// it chooses another one if a pod has the name: the name follows from the revision of the store, so that a refused
/// creation would be refused again until the next write of any client.
pub(super) fn new_name(store: &Store, owner: &Value, nth: i64) -> String {
    let mut seed = format!("{} {} {nth}", object::uid(owner), store.revision());
    loop {
        let letters = safe_encoded(&format!("{:010}", fnv1a(seed.as_bytes())));
        let name = format!("{}-{}", object::name(owner), &letters[5..]);
        if store.get(&Key::new(&PODS, object::namespace(owner), &name)).is_none() {
            return name;
        }
        seed.push('+');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::store::Finalization;

    #[test]
    fn the_name_of_a_new_pod_is_free() {
        let mut store = Store::new(Clock::System, Finalization::ByControllers, 0, 0);
        let owner = json!({ "metadata": { "namespace": "shop", "name": "agent", "uid": "u" } });
        let first = new_name(&store, &owner, 0);
        let pod = json!({ "metadata": { "namespace": "shop", "name": first } });
        store.restore(&PODS, pod);
        assert_ne!(new_name(&store, &owner, 0), first);
    }
}
