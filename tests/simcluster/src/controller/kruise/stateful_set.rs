//! The pods of an Advanced `StatefulSet`: ordinals without the reserved ones.

use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use crate::controller::{count, pod};
use crate::object;
use crate::resource::PODS;

impl Sync<'_> {
    /// Returns the ordinals that should have a pod, lowest first.
    pub(super) fn ordinals(&self) -> Vec<i64> {
        let start = count::at(self.set, &["spec", "ordinals", "start"]);
        let reserved = object::list(self.set, &["spec", "reserveOrdinals"]);
        let free = (start..).filter(|ordinal| !reserved.iter().any(|one| one.as_i64() == Some(*ordinal)));
        free.take(count::as_len(count::wanted(self.set))).collect()
    }

    pub(super) fn ordinal(&self, pod: &Value) -> Option<i64> {
        let (parent, ordinal) = object::name(pod).rsplit_once('-')?;
        (parent == object::name(self.set)).then(|| ordinal.parse().ok())?
    }

    fn pod_at(&self, ordinal: i64) -> Option<Arc<Value>> {
        self.pods.iter().find(|pod| self.ordinal(pod) == Some(ordinal)).cloned()
    }

    /// Whether pods are created and deleted one at a time.
    pub(super) fn in_order(&self) -> bool {
        self.set["spec"]["podManagementPolicy"] != "Parallel"
    }

    /// Returns how many of the lowest ordinals the partition holds.
    pub(super) fn kept_ordinals(&self) -> usize {
        count::as_len(self.rolling("partition").as_i64().unwrap_or(0))
    }

    /// Creates and deletes pods. Returns whether an update has to wait.
    pub(super) fn scale_ordinals(&mut self) -> bool {
        let ordinals = self.ordinals();
        let mut waits = false;
        for (index, ordinal) in ordinals.iter().enumerate() {
            match self.pod_at(*ordinal) {
                None => {
                    let is_kept = index < self.kept_ordinals();
                    let revision = if is_kept { self.current.clone() } else { self.update.clone() };
                    let (name, number) =
                        (format!("{}-{ordinal}", object::name(self.set)), ordinal.to_string());
                    let labels = [
                        ("statefulset.kubernetes.io/pod-name", name.as_str()),
                        ("apps.kubernetes.io/pod-index", &number),
                    ];
                    let made = self.new_pod(&name, &revision, &labels);
                    self.plan.create(&PODS, object::namespace(self.set), made);
                    waits = true;
                }
                Some(pod) => {
                    waits |= self.in_order() && (object::is_terminating(&pod) || !self.is_available(&pod));
                }
            }
            if waits && self.in_order() {
                return true;
            }
        }
        let mut condemned: Vec<Arc<Value>> = self.pods.clone();
        condemned.retain(|pod| self.ordinal(pod).is_none_or(|ordinal| !ordinals.contains(&ordinal)));
        condemned.sort_by_key(|pod| std::cmp::Reverse(self.ordinal(pod)));
        for pod in &condemned {
            waits = true;
            if !object::is_terminating(pod) {
                self.delete(pod);
            }
            if self.in_order() {
                return true;
            }
        }
        waits
    }

    /// Returns the pods that the partition releases, highest ordinal first.
    pub(super) fn ordinals_to_update(&self) -> Vec<Value> {
        let released = self.ordinals().into_iter().skip(self.kept_ordinals()).rev();
        released
            .filter_map(|ordinal| self.pod_at(ordinal))
            .map(|pod| Value::clone(&pod))
            .filter(pod::is_active)
            .collect()
    }
}
