//! Events of core/v1. Equal events about the same object are one object with a count.

use serde_json::{Value, json};

use super::hash::{fnv1a, safe_encoded};
use crate::clock::stamp;
use crate::object;
use crate::refusal::Refusal;
use crate::resource::EVENTS;
use crate::rules::{Author, Part};
use crate::store::{Key, Store};

/// An event about an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    regarding: Value,
    component: &'static str,
    warning: bool,
    reason: &'static str,
    message: String,
}

impl Event {
    /// An event of type `Normal`, from a component.
    pub(super) fn normal(
        about: &Value,
        component: &'static str,
        reason: &'static str,
        message: String,
    ) -> Self {
        Self { regarding: reference(about), component, warning: false, reason, message }
    }

    /// An event of type `Warning`.
    pub(super) fn warning(
        about: &Value,
        component: &'static str,
        reason: &'static str,
        message: String,
    ) -> Self {
        Self { warning: true, ..Self::normal(about, component, reason, message) }
    }

    /// The same event, about a container of a pod.
    pub(super) fn in_container(mut self, container: &str) -> Self {
        self.regarding["fieldPath"] = format!("spec.containers{{{container}}}").into();
        self
    }

    /// Stores the event, or increments the count of an equal event.
    pub(super) fn record(self, store: &mut Store, author: &Author) -> Result<(), Refusal> {
        let namespace = object::text(&self.regarding, &["namespace"]).to_owned();
        let key = Key::new(&EVENTS, &namespace, &self.name());
        let now = stamp(store.now());
        if store.get(&key).is_some() {
            return store
                .edit(&key, Part::Object, author, |event| {
                    event["count"] = (event["count"].as_i64().unwrap_or(0) + 1).into();
                    event["lastTimestamp"] = now.into();
                })
                .map(drop);
        }
        store.create(&EVENTS, &namespace, self.object(&key.name, &now), author).map(drop)
    }

    /// Equal events have equal names, so that they are found by name.
    fn name(&self) -> String {
        let identity = format!("{}{}{}", self.regarding["uid"], self.reason, self.message);
        let hash = safe_encoded(&fnv1a(identity.as_bytes()).to_string());
        format!("{}.{}.{hash}", object::text(&self.regarding, &["name"]), self.reason.to_lowercase())
    }

    fn object(&self, name: &str, now: &str) -> Value {
        json!({
            "metadata": { "name": name },
            "involvedObject": self.regarding, "reason": self.reason, "message": self.message,
            "type": if self.warning { "Warning" } else { "Normal" },
            "source": { "component": self.component },
            "reportingComponent": self.component, "reportingInstance": "",
            "eventTime": null, "firstTimestamp": now, "lastTimestamp": now, "count": 1,
        })
    }
}

fn reference(about: &Value) -> Value {
    json!({
        "apiVersion": about["apiVersion"], "kind": about["kind"],
        "namespace": object::namespace(about), "name": object::name(about), "uid": object::uid(about),
        "resourceVersion": about["metadata"]["resourceVersion"],
    })
}
