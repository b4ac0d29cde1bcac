//! Rules for pods only: the quality of service and the binding to a node.

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

/// Returns the `qosClass` that follows from requests and limits.
pub(super) fn quality_of_service(pod: &Value) -> &'static str {
    let containers = || {
        ["containers", "initContainers"]
            .into_iter()
            .flat_map(|list| object::list(pod, &["spec", list]))
            .map(|container| &container["resources"])
    };
    let says = |resources: &Value, part: &str| resources[part].as_object().is_some_and(|map| !map.is_empty());
    let guaranteed = |resources: &Value| {
        ["cpu", "memory"].into_iter().all(|what| {
            let limit = &resources["limits"][what];
            let request = resources["requests"].get(what).unwrap_or(limit);
            !limit.is_null() && limit == request
        })
    };
    if !containers().any(|resources| says(resources, "requests") || says(resources, "limits")) {
        "BestEffort"
    } else if containers().all(guaranteed) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

impl Store {
    /// Binds a pod to a node, as a POST to its `binding` does.
    pub fn bind(&mut self, namespace: &str, pod: &str, node: &str) -> Result<Arc<Value>, Refusal> {
        let key = Key::new(&PODS, namespace, pod);
        let mut bound = Value::clone(self.find(&key)?);
        let there = object::text(&bound, &["spec", "nodeName"]);
        if !there.is_empty() {
            return Err(Refusal::conflict(
                &PODS,
                pod,
                &format!("pod {pod} is already assigned to node \"{there}\""),
            ));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_qos_class_follows_from_requests_and_limits() {
        let pod = |resources: Value| json!({ "spec": { "containers": [{ "resources": resources }] } });
        assert_eq!(quality_of_service(&pod(json!({}))), "BestEffort");
        assert_eq!(quality_of_service(&pod(json!({ "requests": { "cpu": "1" } }))), "Burstable");
        assert_eq!(
            quality_of_service(&pod(json!({ "limits": { "cpu": "1", "memory": "1Gi" } }))),
            "Guaranteed"
        );
    }
}
