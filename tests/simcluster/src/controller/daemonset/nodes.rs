//! The nodes of a `DaemonSet`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use crate::controller::node_fit;
use crate::controller::owner::age_order;
use crate::object;
use crate::resource::NODES;

impl Sync<'_> {
    /// Returns the nodes on which a pod of this set can be scheduled.
    pub(super) fn suitable_nodes(&self) -> Vec<String> {
        self.nodes_that(node_fit::selects_node)
    }

    /// Returns the nodes on which a pod of this set can continue to run.
    pub(super) fn tolerated_nodes(&self) -> Vec<String> {
        self.nodes_that(node_fit::keeps_on)
    }

    fn nodes_that(&self, fits: impl Fn(&Value, &Value) -> bool) -> Vec<String> {
        let spec = &self.set["spec"]["template"]["spec"];
        let nodes = self.store.list(&NODES, None).filter(|(_, node)| fits(spec, node));
        nodes.map(|(key, _)| key.name.clone()).collect()
    }

    /// Returns the pods by their node or intended node: scheduled ones first, then oldest first.
    pub(super) fn pods_by_node(&self) -> BTreeMap<String, Vec<Arc<Value>>> {
        let mut by_node: BTreeMap<String, Vec<Arc<Value>>> = BTreeMap::new();
        for pod in &self.pods {
            by_node.entry(node_of(pod).to_owned()).or_default().push(Arc::clone(pod));
        }
        for pods in by_node.values_mut() {
            let homeless = |pod: &Value| object::text(pod, &["spec", "nodeName"]).is_empty();
            pods.sort_by(|one, other| {
                (homeless(one), age_order(one)).cmp(&(homeless(other), age_order(other)))
            });
        }
        by_node
    }
}

/// Returns the node of a pod, or the one in its affinity.
fn node_of(pod: &Value) -> &str {
    let placed = object::text(pod, &["spec", "nodeName"]);
    if placed.is_empty() { node_fit::required_node(pod).unwrap_or_default() } else { placed }
}
