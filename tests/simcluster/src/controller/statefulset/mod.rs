//! The `StatefulSet` controller.

mod history;
mod identity;
mod replicas;
mod status;
mod update;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

pub(super) use self::identity::ordinal;
use super::owner::claim;
use super::plan::Plan;
use super::{count, pod};
use crate::object;
use crate::resource::{PODS, STATEFULSETS};
use crate::store::{Key, Store};

/// The name in events.
const COMPONENT: &str = "statefulset-controller";

/// The next writes for a `StatefulSet`.
pub(super) fn plan(store: &Store, key: &Key) -> Plan {
    let Some(set) = store.get(key) else { return Plan::default() };
    let mut plan = Plan::default();
    let mut pods = claim(store, &PODS, set, &mut plan);
    pods.retain(|pod| ordinal(set, pod).is_some());
    let mut sync =
        Sync { store, now: store.now(), set, pods, plan, current: Value::Null, update: Value::Null };
    sync.run();
    sync.plan
}

/// One sync of a `StatefulSet`.
struct Sync<'s> {
    store: &'s Store,
    now: Timestamp,
    set: &'s Arc<Value>,
    pods: Vec<Arc<Value>>,
    plan: Plan,
    /// The revision of the last completed rollout.
    current: Value,
    /// The revision of the live template.
    update: Value,
}

impl Sync<'_> {
    fn run(&mut self) {
        let revisions = self.find_revisions();
        let mut status = self.counts();
        if !object::is_terminating(self.set) && self.keep_replicas() {
            self.replace_outdated(&mut status);
        }
        self.complete(&mut status);
        if status::differs(&self.set["status"], &status) {
            self.plan.update_status(&Key::of(&STATEFULSETS, self.set), self.set, status);
        }
        self.truncate_history(&revisions);
        self.plan.requeue_when_available(&self.pods, self.min_ready(), self.now);
    }

    fn min_ready(&self) -> i64 {
        count::min_ready(self.set)
    }

    /// The lowest ordinal.
    fn start(&self) -> i64 {
        count::at(self.set, &["spec", "ordinals", "start"])
    }

    /// Whether pods are created and deleted one at a time (`OrderedReady`).
    fn in_order(&self) -> bool {
        self.set["spec"]["podManagementPolicy"] != "Parallel"
    }

    /// Whether a pod runs and is available.
    fn is_available(&self, pod: &Value) -> bool {
        pod::phase(pod) == "Running" && pod::is_available(pod, self.min_ready(), self.now)
    }
}
