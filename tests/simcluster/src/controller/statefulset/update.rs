//! Replacing outdated pods: highest ordinal first, one at a time, down to the partition.

use serde_json::Value;

use super::Sync;
use crate::controller::{count, pod};
use crate::object;

impl Sync<'_> {
    /// One step of a rolling update. The gate `MaxUnavailableStatefulSet` is off, as in 1.36.
    pub(super) fn replace_outdated(&mut self, status: &mut Value) {
        let strategy = &self.set["spec"]["updateStrategy"];
        if strategy["type"] == "OnDelete" {
            return;
        }
        let partition = count::at(strategy, &["rollingUpdate", "partition"]);
        let ordinals = self.ordinals();
        for ordinal in (ordinals.start.saturating_add(partition)..ordinals.end).rev() {
            let Some(pod) = self.pod_at(ordinal).cloned() else { return };
            let outdated = pod::revision(&pod) != object::name(&self.update);
            if outdated && !object::is_terminating(&pod) {
                self.remove(&pod);
                // The count is of pods that stay; it is lowered whatever revision this one was on.
                let current = (count::at(status, &["currentReplicas"]) - 1).max(0);
                super::status::set_count(status, "currentReplicas", current);
                return;
            }
            if self.is_unavailable(&pod) {
                return;
            }
        }
    }
}
