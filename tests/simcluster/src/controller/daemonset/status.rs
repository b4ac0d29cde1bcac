//! The counts of a `DaemonSet`, which consider the oldest pod of each node.

use serde_json::Value;

use super::Sync;
use crate::controller::{count, pod};
use crate::object;

impl Sync<'_> {
    /// Returns the status that follows from the pods as read.
    pub(super) fn status(&self) -> Value {
        let suitable = self.suitable_nodes();
        let by_node = self.pods_by_node();
        let oldest: Vec<&Value> =
            suitable.iter().filter_map(|node| Some(&**by_node.get(node)?.first()?)).collect();
        let desired = count::of(&suitable);
        let available = count::of(oldest.iter().filter(|pod| self.is_available(pod)));
        let mut status = count::without_zeros(&[
            ("observedGeneration", object::generation(self.set)),
            ("updatedNumberScheduled", count::of(oldest.iter().filter(|pod| self.is_updated(pod)))),
            ("numberAvailable", available),
            ("numberUnavailable", desired - available),
        ]);
        let always = [
            ("desiredNumberScheduled", desired),
            ("currentNumberScheduled", count::of(&oldest)),
            ("numberMisscheduled", count::of(by_node.keys().filter(|node| !suitable.contains(node)))),
            ("numberReady", count::of(oldest.iter().filter(|pod| pod::is_ready(pod)))),
        ];
        status.extend(always.map(|(name, count)| (name.to_owned(), count.into())));
        if let Some(collisions) = self.set["status"].get("collisionCount") {
            status.insert("collisionCount".to_owned(), collisions.clone());
        }
        Value::Object(status)
    }
}
