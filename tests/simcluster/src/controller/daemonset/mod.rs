//! The `DaemonSet` controller.

mod history;
mod manage;
mod nodes;
mod pods;
mod rolling;
mod status;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::owner::claim;
use super::plan::Plan;
use super::{count, pod};
use crate::object;
use crate::resource::{DAEMONSETS, PODS};
use crate::store::{Key, Store};

/// The name in events.
const COMPONENT: &str = "daemonset-controller";

/// The next writes for a `DaemonSet`.
pub(super) fn plan(store: &Store, key: &Key) -> Plan {
    let Some(set) = store.get(key) else { return Plan::default() };
    if object::is_terminating(set) {
        return Plan::default();
    }
    let mut sync = Sync {
        store,
        now: store.now(),
        set,
        pods: Vec::new(),
        plan: Plan::default(),
        hash: String::new(),
        made: 0,
    };
    sync.run();
    sync.plan
}

/// One sync of a `DaemonSet`.
struct Sync<'s> {
    store: &'s Store,
    now: Timestamp,
    set: &'s Arc<Value>,
    pods: Vec<Arc<Value>>,
    plan: Plan,
    /// The hash of the live template's revision.
    hash: String,
    /// How many pods this sync has created.
    made: i64,
}

impl Sync<'_> {
    fn run(&mut self) {
        self.pods = claim(self.store, &PODS, self.set, &mut self.plan);
        let (current, old) = self.history();
        self.hash = current;
        // An update waits until the controller has observed the pods that it created or deleted.
        if !self.manage() && self.set["spec"]["updateStrategy"]["type"] == "RollingUpdate" {
            self.roll();
        }
        self.clean_up(&old);
        let status = self.status();
        self.plan.update_status(&Key::of(&DAEMONSETS, self.set), self.set, status);
        self.plan.requeue_when_available(&self.pods, self.min_ready(), self.now);
    }

    fn min_ready(&self) -> i64 {
        count::min_ready(self.set)
    }

    fn is_available(&self, pod: &Value) -> bool {
        pod::is_available(pod, self.min_ready(), self.now)
    }

    fn is_updated(&self, pod: &Value) -> bool {
        pod::revision(pod) == self.hash
    }
}
