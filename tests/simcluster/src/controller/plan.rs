//! The next writes of a controller.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::event::Event;
use super::pod;
use crate::refusal::Refusal;
use crate::resource::{PODS, Resource};
use crate::rules::{Author, Deletion, Part};
use crate::store::{Key, Output, Store};

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// The creation of an object.
    Create {
        /// Its resource.
        resource: &'static Resource,
        /// Its namespace.
        namespace: String,
        /// The object.
        value: Value,
    },
    /// A change of an object or of its status.
    Update {
        /// The object.
        key: Key,
        /// The part that changes.
        part: Part,
        /// The object after the change.
        value: Value,
    },
    /// A deletion.
    Delete {
        /// Which object.
        key: Key,
        /// The options.
        deletion: Deletion,
    },
    /// The binding of a pod to a node.
    Bind {
        /// The pod.
        pod: Key,
        /// The node's name.
        node: String,
    },
    /// An event about an object.
    Event(Event),
    /// The output of a container.
    Log {
        /// The uid of its pod.
        pod: String,
        /// Its name.
        container: String,
        /// The lines.
        output: Output,
    },
}

/// The next writes of a controller for one object, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What to write.
    pub writes: Vec<Write>,
    /// When the controller syncs the object again, even if nothing has changed.
    pub again: Option<Timestamp>,
}

impl Plan {
    /// Adds the creation of an object.
    pub(super) fn create(&mut self, resource: &'static Resource, namespace: &str, value: Value) {
        self.writes.push(Write::Create { resource, namespace: namespace.to_owned(), value });
    }

    /// Adds a change of an object.
    pub(super) fn update(&mut self, key: &Key, part: Part, value: Value) {
        self.writes.push(Write::Update { key: key.clone(), part, value });
    }

    /// Adds a change of the status of an object, unless it is the same.
    pub(super) fn update_status(&mut self, key: &Key, object: &Value, status: Value) {
        if object["status"] != status {
            let mut updated = object.clone();
            updated["status"] = status;
            self.update(key, Part::Status, updated);
        }
    }

    /// Adds a deletion with the object's own uid as its precondition.
    pub(super) fn delete(&mut self, key: &Key, uid: &str) {
        let deletion = Deletion { uid: Some(uid.to_owned()), ..Deletion::default() };
        self.writes.push(Write::Delete { key: key.clone(), deletion });
    }

    /// Adds an event.
    pub(super) fn record_event(&mut self, event: Event) {
        self.writes.push(Write::Event(event));
    }

    /// Requeues the object at this time, unless an earlier time is set.
    pub(super) fn requeue_at(&mut self, at: Timestamp) {
        self.again = Some(self.again.map_or(at, |known| known.min(at)));
    }

    /// Requeues the owner of ready pods for the moment at which the next of them becomes available.
    pub(super) fn requeue_when_available(&mut self, pods: &[Arc<Value>], min_ready: i64, now: Timestamp) {
        let times = pods.iter().filter_map(|pod| pod::available_at(pod, min_ready));
        if let Some(next) = times.filter(|then| *then > now).min() {
            self.requeue_at(next);
        }
    }

    /// Executes the writes in order, up to the first error.
    pub(super) fn apply(self, store: &mut Store, author: &Author) -> Result<(), Refusal> {
        self.writes.into_iter().try_for_each(|write| write.apply(store, author))
    }
}

impl Write {
    fn apply(self, store: &mut Store, author: &Author) -> Result<(), Refusal> {
        match self {
            Self::Create { resource, namespace, value } => {
                store.create(resource, &namespace, value, author).map(drop)
            }
            Self::Update { key, part, value } => {
                store.update(&key, part, unversioned(value), author).map(drop)
            }
            Self::Delete { key, deletion } => store.delete(&key, &deletion, author).map(drop),
            Self::Bind { pod, node } => {
                debug_assert_eq!(pod.resource, &PODS, "only pods are given to nodes");
                store.bind(&pod.namespace, &pod.name, &node).map(drop)
            }
            Self::Event(event) => event.record(store, author),
            Self::Log { pod, container, output } => {
                *store.logs_mut().of_mut(&pod, &container) = output;
                Ok(())
            }
        }
    }
}

/// Removes the resourceVersion. A plan is executed under the lock under which it was computed, so only its own
/// earlier writes can have changed the object.
fn unversioned(mut value: Value) -> Value {
    crate::object::metadata(&mut value).remove("resourceVersion");
    value
}
