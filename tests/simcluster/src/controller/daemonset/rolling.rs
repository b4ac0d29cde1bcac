//! Rolling updates: with maxUnavailable the outdated pod is deleted first, with maxSurge the updated pod is created
//! first.

use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use crate::controller::amount::{Rounding, resolve};
use crate::controller::count;
use crate::object;

/// The pods of a node that are not being deleted, by revision.
enum Staying {
    None,
    New(Arc<Value>),
    Old(Arc<Value>),
    Both {
        new: Arc<Value>,
        old: Arc<Value>,
    },
    /// Two updated or two outdated pods, which the update ignores.
    TooMany,
}

/// Returns the maximum number of nodes with a second pod.
pub(super) fn max_surge(set: &Value, nodes: i64) -> i64 {
    resolve(&set["spec"]["updateStrategy"]["rollingUpdate"]["maxSurge"], nodes, Rounding::Up)
}

fn max_unavailable(set: &Value, nodes: i64) -> i64 {
    resolve(&set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"], nodes, Rounding::Up)
}

impl Sync<'_> {
    /// One step of a rolling update.
    pub(super) fn roll(&mut self) {
        let nodes = count::of(self.suitable_nodes());
        let by_node: Vec<(String, Staying)> =
            self.pods_by_node().into_iter().map(|(node, pods)| (node, self.staying(&pods))).collect();
        match max_surge(self.set, nodes) {
            // If both are zero, one pod can be unavailable.
            0 => self.remove_old(&by_node, max_unavailable(self.set, nodes).max(i64::from(nodes > 0))),
            surge => self.surge(&by_node, surge),
        }
    }

    fn staying(&self, pods: &[Arc<Value>]) -> Staying {
        let staying = pods.iter().filter(|pod| !object::is_terminating(pod)).cloned();
        let (mut new, mut old): (Vec<_>, Vec<_>) = staying.partition(|pod| self.is_updated(pod));
        if new.len() > 1 || old.len() > 1 {
            return Staying::TooMany;
        }
        match (new.pop(), old.pop()) {
            (None, None) => Staying::None,
            (Some(new), None) => Staying::New(new),
            (None, Some(old)) => Staying::Old(old),
            (Some(new), Some(old)) => Staying::Both { new, old },
        }
    }

    /// Deletes unavailable outdated pods, and available ones while enough nodes keep an available pod.
    fn remove_old(&mut self, by_node: &[(String, Staying)], most: i64) {
        let mut unavailable = 0;
        let (mut broken, mut working) = (Vec::new(), Vec::new());
        for (_, staying) in by_node {
            match staying {
                Staying::New(new) if self.is_available(new) => {}
                Staying::Old(old) if self.is_available(old) => working.push(Arc::clone(old)),
                Staying::Old(old) => {
                    broken.push(Arc::clone(old));
                    unavailable += 1;
                }
                _ => unavailable += 1,
            }
        }
        working.truncate(count::as_len(most - unavailable));
        for pod in broken.into_iter().chain(working) {
            self.remove_pod(&pod);
        }
    }

    /// Creates updated pods beside outdated ones on a limited number of nodes, and deletes an outdated pod when the
    /// updated one is available.
    fn surge(&mut self, by_node: &[(String, Staying)], most: i64) {
        let mut surging = 0;
        let (mut free, mut candidates, mut done) = (Vec::new(), Vec::new(), Vec::new());
        for (node, staying) in by_node {
            match staying {
                Staying::Old(old) if self.is_available(old) => candidates.push(node),
                Staying::Old(_) => free.push(node),
                Staying::Both { new, old } if self.is_available(new) => done.push(Arc::clone(old)),
                Staying::Both { .. } | Staying::TooMany => surging += 1,
                Staying::None | Staying::New(_) => {}
            }
        }
        candidates.truncate(count::as_len(most - surging));
        for pod in done {
            self.remove_pod(&pod);
        }
        for node in free.into_iter().chain(candidates) {
            self.make_pod(node);
        }
    }
}
