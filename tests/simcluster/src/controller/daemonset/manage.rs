//! One pod on every node that should have one, two at most while surging, none elsewhere.

use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use super::rolling::max_surge;
use crate::controller::pod;
use crate::object;

impl Sync<'_> {
    /// Makes missing pods and removes surplus ones; whether there were any.
    pub(super) fn manage(&mut self) -> bool {
        let by_node = self.pods_by_node();
        let suitable = self.suitable_nodes();
        let bare = suitable.iter().filter(|node| !by_node.contains_key(*node));
        let bearable = self.bearable_nodes();
        let unbearable = by_node.iter().filter(|(node, _)| !bearable.contains(node));
        let mut surplus: Vec<Arc<Value>> = unbearable.flat_map(|(_, pods)| pods).cloned().collect();
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

    /// The pods that are too many on a node that should have one, or one of either kind while surging.
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
