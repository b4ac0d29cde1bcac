//! Creation and deletion of the pods of a `DaemonSet`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{COMPONENT, Sync};
use crate::clock::stamp;
use crate::controller::event::Event;
use crate::controller::pod;
use crate::object;
use crate::resource::PODS;
use crate::store::Key;

/// The annotation with the older number of the template.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// The taints that pods of DaemonSets tolerate.
const TOLERATED: [(&str, &str); 6] = [
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
];

impl Sync<'_> {
    /// Creates a pod of the live template for a node.
    pub(super) fn make_pod(&mut self, node: &str) {
        let set = self.set;
        let generation = object::text(set, &["metadata", "annotations", TEMPLATE_GENERATION]);
        let labels = [("pod-template-generation", generation), (pod::REVISION_LABEL, self.hash.as_str())];
        self.made += 1;
        let name = pod::new_name(self.store, set, self.made);
        let mut made = pod::of_template(&set["spec"]["template"], set, &name, &labels);
        let only_here =
            json!({ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [node] }] });
        made["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!({ "nodeSelectorTerms": [only_here] });
        add_tolerations(&mut made);
        made["metadata"]["creationTimestamp"] = stamp(self.now).into();
        self.plan.create(&PODS, object::namespace(set), made.clone());
        // The real controller lists the pods again before it counts them, including the new ones.
        self.pods.push(Arc::new(made));
        let message = format!("Created pod: {name}");
        self.plan.record_event(Event::normal(set, COMPONENT, "SuccessfulCreate", message));
    }

    /// Deletes a pod.
    pub(super) fn remove_pod(&mut self, pod: &Value) {
        self.plan.delete(&Key::of(&PODS, pod), object::uid(pod));
        let message = format!("Deleted pod: {}", object::name(pod));
        self.plan.record_event(Event::normal(self.set, COMPONENT, "SuccessfulDelete", message));
    }
}

fn add_tolerations(pod: &mut Value) {
    let spec = object::members(&mut pod["spec"]);
    if let Value::Array(tolerations) = spec.entry("tolerations").or_insert_with(|| json!([])) {
        tolerations.extend(TOLERATED.iter().map(|(trouble, effect)| {
            json!({ "key": format!("node.kubernetes.io/{trouble}"), "operator": "Exists", "effect": effect })
        }));
    }
}
