//! The pods of an Advanced `DaemonSet`: one on each node that its selector matches.

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use crate::controller::amount::{Rounding, resolve};
use crate::controller::{count, node_fit, pod};
use crate::object;
use crate::resource::{NODES, PODS};
use crate::selector::matches_labels;

impl Sync<'_> {
    /// Returns the names of the nodes that should have a pod.
    pub(super) fn nodes(&self) -> Vec<String> {
        let spec = &self.set["spec"]["template"]["spec"];
        let nodes = self.store.list(&NODES, None).filter(|(_, node)| node_fit::has_labels(spec, node));
        nodes.map(|(key, _)| key.name.clone()).collect()
    }

    fn node_of(pod: &Value) -> &str {
        object::text(pod, &["spec", "nodeName"])
    }

    pub(super) fn kept_nodes(&self) -> i64 {
        let nodes = count::of(self.nodes());
        resolve(self.rolling("partition"), nodes, Rounding::Down).clamp(0, nodes)
    }

    /// Creates and deletes pods. Returns whether it did.
    pub(super) fn scale_nodes(&mut self) -> bool {
        let nodes = self.nodes();
        let mut has_scaled = false;
        for (nth, node) in nodes.iter().enumerate() {
            if self.pods.iter().any(|pod| Self::node_of(pod) == node) {
                continue;
            }
            let name = pod::new_name(self.store, self.set, i64::try_from(nth).unwrap_or_default());
            let revision = self.update.clone();
            let mut made = self.new_pod(&name, &revision, &[]);
            made["spec"]["nodeName"] = node.as_str().into();
            self.plan.create(&PODS, object::namespace(self.set), made);
            has_scaled = true;
        }
        for pod in self.pods.clone() {
            if !object::is_terminating(&pod) && !nodes.iter().any(|node| node == Self::node_of(&pod)) {
                self.delete(&pod);
                has_scaled = true;
            }
        }
        has_scaled
    }

    /// Returns the pods that can be updated, on as many nodes as the partition releases: first the nodes whose pod is
    /// updated or is being replaced, then the selected ones by name in descending order. Also returns how many of
    /// these nodes are unavailable: an outdated pod that is unavailable does not count, and neither do other nodes.
    pub(super) fn nodes_to_update(&self) -> (Vec<Value>, i64) {
        let pod_on = |node: &str| self.staying().find(|pod| Self::node_of(pod) == node);
        let selector = self.rolling("selector");
        let waits = |name: &str| pod_on(name).is_some_and(|pod| !self.is_updated(pod));
        let is_selected = |name: &str| {
            let node = self.store.list(&NODES, None).find(|(key, _)| key.name == *name);
            selector.is_null()
                || node.is_some_and(|(_, node)| matches_labels(selector, &node["metadata"]["labels"]))
        };
        let mut nodes = self.nodes();
        let released = count::as_len(count::of(&nodes) - self.kept_nodes());
        nodes.retain(|name| !waits(name) || is_selected(name));
        nodes.sort_by_key(|name| (waits(name), Reverse(name.clone())));
        nodes.truncate(released);
        let pods: Vec<&Arc<Value>> = nodes.iter().filter_map(|name| pod_on(name)).collect();
        let unready = pods.iter().filter(|pod| self.is_updated(pod) && !self.is_available(pod)).count();
        let unavailable = nodes.len() - pods.len() + unready;
        let pods = pods.into_iter().map(|pod| Value::clone(pod)).collect();
        (pods, i64::try_from(unavailable).unwrap_or(i64::MAX))
    }
}
