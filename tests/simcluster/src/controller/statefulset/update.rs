//! Rolling updates: outdated pods are deleted from the highest ordinal down to the partition, one at a time or up to
//! `maxUnavailable`.

use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use crate::controller::amount::{Rounding, resolve};
use crate::controller::{count, pod};
use crate::object;

impl Sync<'_> {
    /// One step of a rolling update.
    pub(super) fn replace_outdated(&mut self, status: &mut Value) {
        let strategy = &self.set["spec"]["updateStrategy"];
        if strategy["type"] == "OnDelete" {
            return;
        }
        if self.store.allows_max_unavailable_stateful_set() {
            self.replace_several(status);
        } else {
            self.replace_one(status);
        }
    }

    /// Without the feature gate `MaxUnavailableStatefulSet`, as in 1.36: the update waits for the first unavailable
    /// pod.
    fn replace_one(&mut self, status: &mut Value) {
        for ordinal in self.released().rev() {
            let Some(pod) = self.pod_at(ordinal).cloned() else { return };
            if self.is_outdated(&pod) {
                self.replace(&pod, status);
                return;
            }
            if self.is_unavailable(&pod) {
                return;
            }
        }
    }

    /// With the feature gate: `maxUnavailable` minus all unavailable pods.
    fn replace_several(&mut self, status: &mut Value) {
        let allowed = &self.set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"];
        let allowed = resolve(allowed, count::wanted(self.set), Rounding::Down).max(1);
        let is_missing = |ordinal| self.pod_at(ordinal).is_none_or(|pod| self.is_unavailable(pod));
        let missing = count::of(self.ordinals().filter(|ordinal| is_missing(*ordinal)));
        let outdated: Vec<Arc<Value>> = (self.released().rev())
            .filter_map(|ordinal| self.pod_at(ordinal).filter(|pod| self.is_outdated(pod)).cloned())
            .collect();
        for pod in outdated.iter().take(count::as_len(allowed - missing)) {
            self.replace(pod, status);
        }
    }

    /// Returns the ordinals that the partition releases.
    fn released(&self) -> std::ops::Range<i64> {
        let partition = count::at(&self.set["spec"]["updateStrategy"], &["rollingUpdate", "partition"]);
        let ordinals = self.ordinals();
        ordinals.start.saturating_add(partition)..ordinals.end
    }

    fn is_outdated(&self, pod: &Value) -> bool {
        pod::revision(pod) != object::name(&self.update) && !object::is_terminating(pod)
    }

    fn replace(&mut self, pod: &Value, status: &mut Value) {
        self.remove(pod);
        // The count is decremented for either revision, as in the real controller.
        let current = (count::at(status, &["currentReplicas"]) - 1).max(0);
        super::status::set_count(status, "currentReplicas", current);
    }
}
