//! The fields of a node that `step` depends on.

use std::collections::BTreeMap;

use super::object::{Condition, Object};

/// The fields of a node that `step` depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The name.
    pub name: String,
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// Whether the condition `Ready` is true, as the kubelet and the node controller report it.
    pub ready: bool,
}

impl Node {
    /// Reads a node.
    #[must_use]
    pub fn read(object: &Object) -> Self {
        let labels = object.at("/metadata/labels").and_then(serde_json::Value::as_object);
        let labels = labels.into_iter().flatten();
        Self {
            name: object.name().to_owned(),
            labels: labels
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            ready: Condition::read(object, "Ready").is_some_and(|condition| condition.is_true()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_node_is_ready_by_its_ready_condition() {
        let node = |status: &str| {
            let node = json!({"kind": "Node", "metadata": {"name": "n1", "labels": {"zone": "a"}},
                "status": {"conditions": [{"type": "Ready", "status": status}]}});
            Node::read(&Object::read(node).unwrap())
        };
        assert!(node("True").ready && !node("Unknown").ready && !node("False").ready);
        assert_eq!(node("True").labels["zone"], "a");
    }
}
