//! One pod on every eligible node, at most two during a surge, none on other nodes.

use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use super::rolling::max_surge;
use crate::controller::pod;
use crate::object;

impl Sync<'_> {
    /// Creates missing pods and deletes surplus ones. Returns whether there were any.
    pub(super) fn manage(&mut self) -> bool {
        let by_node = self.pods_by_node();
        let suitable = self.suitable_nodes();
        let bare = suitable.iter().filter(|node| !by_node.contains_key(*node));
        let tolerated = self.tolerated_nodes();
        let elsewhere = by_node.iter().filter(|(node, _)| !tolerated.contains(node));
        let mut surplus: Vec<Arc<Value>> = elsewhere.flat_map(|(_, pods)| pods).cloned().collect();
        for node in &suitable {
            surplus.extend(self.surplus_on(by_node.get(node).map_or(&[], Vec::as_slice)));
        }
        surplus.retain(|pod| !object::is_terminating(pod));
        let bare: Vec<&String> = bare.collect();
        for node in &bare {
            self.make_pod(node);
        }
        for pod in &surplus {
            self.remove_pod(pod);
        }
        !bare.is_empty() || !surplus.is_empty()
    }

    /// Returns the surplus pods of a node that should have one, or during a surge one updated and one outdated.
    fn surplus_on(&self, pods: &[Arc<Value>]) -> Vec<Arc<Value>> {
        let staying = pods.iter().filter(|pod| !object::is_terminating(pod));
        let (ended, running): (Vec<_>, Vec<_>) =
            staying.cloned().partition(|pod| matches!(pod::phase(pod), "Failed" | "Succeeded"));
        let mut surplus = ended;
        if max_surge(self.set, 1) == 0 {
            surplus.extend(running.into_iter().skip(1));
            return surplus;
        }
        let (new, old): (Vec<_>, Vec<_>) = running.into_iter().partition(|pod| self.is_updated(pod));
        if let (Some(new), Some(old)) = (new.first(), old.first())
            && (!pod::is_ready(old) || self.is_available(new))
        {
            surplus.push(Arc::clone(old));
        }
        surplus.extend(new.into_iter().skip(1).chain(old.into_iter().skip(1)));
        surplus
    }
}
