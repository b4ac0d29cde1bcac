//! Warning events, and those in which an autoscaler of nodes says what it does for a pod.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use super::object::Object;

/// The event of the cluster autoscaler that it adds a node for a pod.
pub(crate) const TRIGGERED_SCALE_UP: &str = "TriggeredScaleUp";

/// The event of the cluster autoscaler that it adds no node for a pod.
pub(crate) const NOT_TRIGGERED_SCALE_UP: &str = "NotTriggerScaleUp";

/// The event of Karpenter that it adds a node for a pod, or expects one.
pub(crate) const NOMINATED: &str = "Nominated";

/// The reasons of the events of type `Normal` that are kept.
const KEPT: [&str; 3] = [TRIGGERED_SCALE_UP, NOT_TRIGGERED_SCALE_UP, NOMINATED];

/// The field selector of a request for events. It leaves out those that every pod, Deployment or Job has; a selector cannot say
/// "warnings, and these others".
pub const FIELDS: &str = "reason!=Scheduled,reason!=Pulling,reason!=Pulled,reason!=Created,reason!=Started,reason!=Killing,\
                          reason!=SuccessfulCreate,reason!=SuccessfulDelete,reason!=ScalingReplicaSet,\
                          reason!=SawCompletedJob,reason!=Completed";

/// One warning event about one object, or one of an autoscaler of nodes. The API server deletes events after an hour, so their
/// absence proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `metadata.uid`.
    pub uid: String,
    /// The uid of the involved object.
    pub about: String,
    /// The reason, such as `FailedMount`.
    pub reason: String,
    /// The message.
    pub message: String,
    /// The container it is about; empty if it is about the whole object.
    pub container: String,
    /// When it occurred first. Repetitions count up on one object.
    pub first: Option<Timestamp>,
    /// When it occurred last.
    pub last: Option<Timestamp>,
}

/// Events by object, newest first. Clones share their content.
#[derive(Clone, Debug, Default)]
pub struct Events(Arc<HashMap<String, Vec<Event>>>);

impl Events {
    /// Groups and sorts events.
    #[must_use]
    pub fn of(events: impl IntoIterator<Item = Event>) -> Self {
        let mut about: HashMap<String, Vec<Event>> = HashMap::new();
        for event in events {
            about.entry(event.about.clone()).or_default().push(event);
        }
        for events in about.values_mut() {
            events.sort_by_key(|event| Reverse(event.last));
        }
        Self(Arc::new(about))
    }

    /// Returns the events about the object with this uid, newest first.
    #[must_use]
    pub fn about(&self, uid: &str) -> &[Event] {
        self.0.get(uid).filter(|_| !uid.is_empty()).map_or(&[], Vec::as_slice)
    }
}

impl Event {
    /// Reads an event in both forms of the API: with a count, or as a series. Returns none for events of type `Normal` other
    /// than those of autoscalers.
    #[must_use]
    pub fn read(object: &Object) -> Option<Self> {
        let is_kept = object.text("/reason").is_some_and(|reason| KEPT.contains(&reason));
        if object.text("/type") != Some("Warning") && !is_kept {
            return None;
        }
        let text = |pointer| object.text(pointer).unwrap_or_default().to_owned();
        let first = ["/firstTimestamp", "/eventTime", "/metadata/creationTimestamp"];
        let last =
            ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"];
        Some(Self {
            uid: object.uid().to_owned(),
            about: text("/involvedObject/uid"),
            reason: text("/reason"),
            message: text("/message"),
            container: container(&text("/involvedObject/fieldPath")),
            first: first.into_iter().find_map(|stamp| object.time(stamp)),
            last: last.into_iter().find_map(|stamp| object.time(stamp)),
        })
    }
}

/// Returns the container of a field path: `app` of `spec.containers{app}`.
fn container(field_path: &str) -> String {
    let named = field_path.split_once('{').and_then(|(_, rest)| rest.strip_suffix('}'));
    named.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_warnings_are_kept_newest_first() {
        let event = |type_: &str, message: &str, time: &str| {
            let event = json!({
                "kind": "Event", "metadata": {"name": "x"}, "type": type_, "reason": "Unhealthy",
                "message": message, "lastTimestamp": time,
                "involvedObject": {"uid": "pod-1", "fieldPath": "spec.containers{app}"},
            });
            Event::read(&Object::read(event).unwrap())
        };
        let events = [
            event("Warning", "old", "2026-11-20T13:00:00Z"),
            event("Normal", "told", "2026-11-20T13:02:00Z"),
            event("Warning", "new", "2026-11-20T13:01:00Z"),
        ];
        let events = Events::of(events.into_iter().flatten());
        let messages: Vec<_> = events.about("pod-1").iter().map(|event| event.message.as_str()).collect();
        assert_eq!(messages, ["new", "old"]);
        assert_eq!(events.about("pod-1")[0].container, "app");
        assert_eq!(events.about(""), []);
    }
}
