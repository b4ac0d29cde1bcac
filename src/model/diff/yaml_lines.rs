//! The places of the lines of a template.

use std::collections::HashMap;

use serde_json::Value;

use super::list_keys;
use super::path::{PathStep, TemplatePath};
use crate::model::text::yaml::{self, Layout, Places};

/// One line of a template as YAML, and the object or list that it belongs to.
pub(super) type TemplateLine = yaml::YamlLine<NodeId>;

/// The id of an object or list in the compared templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeId(usize);

/// The ids of the nodes of both templates. Equal paths have equal ids.
#[derive(Debug, Default)]
pub(super) struct NodeIds {
    paths: Vec<TemplatePath>,
    known: HashMap<TemplatePath, NodeId>,
}

impl NodeIds {
    pub(super) fn path(&self, node: NodeId) -> &TemplatePath {
        &self.paths[node.0]
    }

    fn node(&mut self, path: &TemplatePath) -> NodeId {
        *self.known.entry(path.clone()).or_insert_with(|| {
            self.paths.push(path.clone());
            NodeId(self.paths.len() - 1)
        })
    }
}

impl Places for NodeIds {
    type Place = NodeId;

    fn member(&mut self, within: NodeId, name: &str) -> NodeId {
        let mut path = self.path(within).clone();
        path.push(PathStep::Member(name.to_owned()));
        self.node(&path)
    }

    /// An element without a key has no node of its own.
    fn elements(&mut self, within: NodeId, list: &str, elements: &[Value]) -> Vec<NodeId> {
        let Some(keys) = list_keys::keys(list, elements) else { return vec![within; elements.len()] };
        let mut path = self.path(within).clone();
        let element = |key| {
            path.push(PathStep::Element(key));
            let node = self.node(&path);
            path.pop();
            node
        };
        keys.into_iter().map(element).collect()
    }
}

/// Returns a template as YAML, never folded.
pub(super) fn lines(template: &Value, nodes: &mut NodeIds) -> Vec<TemplateLine> {
    let root = nodes.node(&TemplatePath::default());
    yaml::lines(template, Layout::Unfolded, nodes, root)
}
