//! The pods of an Advanced `StatefulSet`: ordinals without the reserved ones.

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use crate::controller::statefulset::ordinal;
use crate::controller::{count, pod};
use crate::object;
use crate::resource::PODS;
use crate::selector::matches_labels;

impl Sync<'_> {
    /// Returns the ordinals that should have a pod, lowest first.
    pub(super) fn ordinals(&self) -> Vec<i64> {
        let start = count::at(self.set, &["spec", "ordinals", "start"]);
        let reserved = object::list(self.set, &["spec", "reserveOrdinals"]);
        let free = (start..).filter(|ordinal| !reserved.iter().any(|one| has_ordinal(one, *ordinal)));
        free.take(count::as_len(count::wanted(self.set))).collect()
    }

    fn ordinal(&self, pod: &Value) -> Option<i64> {
        ordinal(self.set, pod)
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
        let (mut waits, mut kept_now) = (false, 0);
        for (index, ordinal) in ordinals.iter().enumerate() {
            match self.pod_at(*ordinal) {
                None => {
                    let is_kept = self.keeps_new_pod(index, &ordinals, kept_now);
                    kept_now += usize::from(is_kept);
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
        condemned.sort_by_key(|pod| Reverse(self.ordinal(pod)));
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

    /// Whether a missing pod is created on the current revision. With `unorderedUpdate` the partition is a number of
    /// outdated pods; `more` of them are created with this one.
    fn keeps_new_pod(&self, index: usize, ordinals: &[i64], more: usize) -> bool {
        if self.rolling("unorderedUpdate").is_null() {
            return index < self.kept_ordinals();
        }
        let is_old = |pod: &&Arc<Value>| {
            !self.is_updated(pod) && self.ordinal(pod).is_some_and(|ordinal| ordinals.contains(&ordinal))
        };
        self.pods.iter().filter(is_old).count() + more < self.kept_ordinals()
    }

    /// Returns the pods that the partition releases: highest ordinal first, or with `unorderedUpdate` those that are
    /// updated or being replaced first, and then by priority.
    pub(super) fn ordinals_to_update(&self) -> Vec<Value> {
        let mut pods: Vec<_> = self.ordinals().into_iter().map(|ordinal| self.pod_at(ordinal)).collect();
        let unordered = self.rolling("unorderedUpdate");
        if unordered.is_null() {
            pods.drain(..self.kept_ordinals().min(pods.len()));
            pods.reverse();
        } else {
            let released = pods.len().saturating_sub(self.kept_ordinals());
            pods.retain(Option::is_some);
            pods.reverse();
            pods.sort_by_key(|pod| {
                let waits = pod.iter().any(|pod| pod::is_active(pod) && !self.is_updated(pod));
                let weight = pod.iter().map(|pod| weight(unordered, pod)).sum();
                (waits, Reverse(if waits { weight } else { 0 }))
            });
            pods.truncate(released);
        }
        pods.into_iter().flatten().map(|pod| Value::clone(&pod)).filter(pod::is_active).collect()
    }
}

/// Whether a reserved number or range, such as `"3-5"`, has an ordinal.
fn has_ordinal(reserved: &Value, ordinal: i64) -> bool {
    let Some((first, last)) = reserved.as_str().and_then(|range| range.split_once('-')) else {
        return *reserved == ordinal;
    };
    first.parse().is_ok_and(|first: i64| first <= ordinal)
        && last.parse().is_ok_and(|last: i64| ordinal <= last)
}

/// Returns the sum of the weights that match a pod.
fn weight(unordered: &Value, pod: &Value) -> i64 {
    let terms = object::list(unordered, &["priorityStrategy", "weightPriority"]);
    let matching =
        terms.iter().filter(|term| matches_labels(&term["matchSelector"], &pod["metadata"]["labels"]));
    matching.filter_map(|term| term["weight"].as_i64()).sum()
}
