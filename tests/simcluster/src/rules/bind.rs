//! The binding of a pod to a node.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Author, Part};
use crate::{
    clock::stamp,
    object,
    refusal::Refusal,
    resource::PODS,
    store::{Key, Store},
};

impl Store {
    /// Binds a pod to a node, as a POST to its `binding` does.
    pub fn bind(&mut self, namespace: &str, pod: &str, node: &str) -> Result<Arc<Value>, Refusal> {
        let key = Key::new(&PODS, namespace, pod);
        let mut bound = Value::clone(self.find(&key)?);
        object::members(object::members(&mut bound).entry("spec").or_insert(Value::Null))
            .insert("nodeName".to_owned(), node.into());
        let bound = self.put(&key, bound);
        let scheduled = json!({ "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": stamp(self.now()) });
        let mut with_condition = Value::clone(&bound);
        let status =
            object::members(object::members(&mut with_condition).entry("status").or_insert(Value::Null));
        if let Value::Array(conditions) = status.entry("conditions").or_insert_with(|| json!([])) {
            conditions.retain(|condition| condition["type"] != "PodScheduled");
            conditions.push(scheduled);
        }
        self.update(&key, Part::Status, with_condition, &Author::new("kube-scheduler"))
    }
}
