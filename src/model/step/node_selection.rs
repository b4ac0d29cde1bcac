//! The nodes that a plan steps: flags that need their labels, and the selector of the plan.

use super::state::State;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::selector::Selector;

/// Refuses flags that need node labels when listing nodes is forbidden, and a selector that matches no node.
pub(super) fn check_node_flags(state: &State<'_>) -> Result<()> {
    let pace = state.pace();
    let flags = [("--order", &pace.order), ("--node-selector", &pace.node_selector)];
    let mut given =
        flags.into_iter().filter(|(_, label)| label.as_deref().is_some_and(|label| !label.is_empty()));
    let Some((flag, _)) = given.next() else { return Ok(()) };
    let Some(nodes) = state.nodes else {
        let sentence =
            format!("{flag} needs the labels of nodes, and listing nodes is forbidden; nothing was written");
        return Err(Error::new(ErrorKind::Refused, sentence)
            .hint("request permission to list nodes with a ClusterRoleBinding, or leave the flag out"));
    };
    if nodes.is_empty() {
        let sentence = format!("{flag} needs the labels of nodes, and the cluster has no nodes");
        return Err(Error::new(ErrorKind::Refused, sentence).hint("kubectl get nodes"));
    }
    let selector = plan_selector(state);
    if nodes.iter().any(|node| is_selected(state, selector.as_ref(), &node.name)) {
        return Ok(());
    }
    let selector = pace.node_selector.as_deref().unwrap_or_default();
    let sentence = format!("--node-selector {selector} matches none of the {} nodes", nodes.len());
    Err(Error::new(ErrorKind::Refused, sentence).hint("kubectl get nodes --show-labels"))
}

/// Returns the selector of the plan, which selects every node if it is empty; none if it is invalid.
pub(super) fn plan_selector(state: &State<'_>) -> Option<Selector> {
    Selector::parse(state.pace().node_selector.as_deref().unwrap_or_default()).ok()
}

/// Whether a node is to be stepped. An invalid selector selects no node.
pub(super) fn is_selected(state: &State<'_>, selector: Option<&Selector>, node: &str) -> bool {
    selector.is_some_and(|selector| selector.matches_labels(|key| label(state, node, key)))
}

/// Returns a label of a node, if nodes can be listed.
pub(super) fn label<'a>(state: &State<'a>, node: &str, key: &str) -> Option<&'a str> {
    state.node(node)?.labels.get(key).map(String::as_str)
}
