//! Rolling updates with maxUnavailable: the outdated pod of a node is deleted first. Those with maxSurge are not simulated.

use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use crate::controller::amount::{Rounding, resolve};
use crate::controller::count;
use crate::object;

/// Returns the maximum number of nodes with a second pod.
pub(super) fn max_surge(set: &Value, nodes: i64) -> i64 {
    resolve(&set["spec"]["updateStrategy"]["rollingUpdate"]["maxSurge"], nodes, Rounding::Up)
}

fn max_unavailable(set: &Value, nodes: i64) -> i64 {
    resolve(&set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"], nodes, Rounding::Up)
}

impl Sync<'_> {
    /// One step of a rolling update: deletes unavailable outdated pods, and available ones while enough nodes keep an
    /// available pod.
    pub(super) fn roll(&mut self) {
        let nodes = count::of(self.suitable_nodes());
        if max_surge(self.set, nodes) > 0 {
            return;
        }
        let mut unavailable = 0;
        let (mut broken, mut working) = (Vec::new(), Vec::new());
        for pods in self.pods_by_node().into_values() {
            let staying: Vec<_> = pods.into_iter().filter(|pod| !object::is_terminating(pod)).collect();
            match staying.as_slice() {
                [new] if self.is_updated(new) => unavailable += i64::from(!self.is_available(new)),
                [old] if self.is_available(old) => working.push(Arc::clone(old)),
                [old] => {
                    broken.push(Arc::clone(old));
                    unavailable += 1;
                }
                // The update ignores several pods.
                _ => unavailable += 1,
            }
        }
        // If both limits are zero, one pod can be unavailable.
        let most = max_unavailable(self.set, nodes).max(i64::from(nodes > 0));
        working.truncate(count::as_len(most - unavailable));
        for pod in broken.into_iter().chain(working) {
            self.remove_pod(&pod);
        }
    }
}
