//! The Deployment controller.

mod annotations;
mod condition;
mod history;
mod recreate;
mod revision;
mod rolling;
mod scale;
mod share;
mod size;
mod status;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::owner::{age_order, claim};
use super::plan::Plan;
use super::{count, pod};
use crate::object;
use crate::resource::{DEPLOYMENTS, PODS, REPLICASETS};
use crate::rules::Part;
use crate::store::{Key, Store};

/// The name in events.
const COMPONENT: &str = "deployment-controller";

/// The next writes for a Deployment.
pub(super) fn plan(store: &Store, key: &Key) -> Plan {
    let Some(live) = store.get(key) else { return Plan::default() };
    let mut sync = Sync::begin(store, live);
    if sync.run() == Err(Outdated) {
        sync.plan.requeue_at(store.now());
    }
    sync.plan
}

/// A write is based on a state that the same sync has already changed. The real controller meets a conflict and
/// starts the sync again. Clients can see the states in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outdated;

/// One sync of a Deployment: the objects as read and changed, and the writes so far.
struct Sync<'s> {
    store: &'s Store,
    now: Timestamp,
    deployment: Value,
    /// Every owned `ReplicaSet`, oldest first.
    sets: Vec<Value>,
    plan: Plan,
    /// Whether this sync has written the Deployment, so that another write meets a conflict.
    written: bool,
    /// Whether this sync has written the annotations of the live template's set.
    annotated: bool,
}

impl<'s> Sync<'s> {
    fn begin(store: &'s Store, live: &Arc<Value>) -> Self {
        let mut plan = Plan::default();
        let claimed = claim(store, &REPLICASETS, live, &mut plan);
        Self {
            store,
            now: store.now(),
            deployment: Value::clone(live),
            sets: claimed.iter().map(|set| Value::clone(set)).collect(),
            plan,
            written: false,
            annotated: false,
        }
    }

    fn run(&mut self) -> Result<(), Outdated> {
        if object::is_terminating(&self.deployment) {
            let new = self.new_set(false)?;
            return self.write_counts(new);
        }
        self.note_pause()?;
        if self.is_paused() || self.is_to_be_scaled()? {
            return self.keep_size();
        }
        if self.rolls() { self.roll() } else { self.recreate() }
    }

    fn is_paused(&self) -> bool {
        self.deployment["spec"]["paused"] == true
    }

    /// Whether the strategy is `RollingUpdate`.
    fn rolls(&self) -> bool {
        self.deployment["spec"]["strategy"]["type"] == "RollingUpdate"
    }

    /// Returns all sets except the one at `new`, oldest first.
    fn old_sets(&self, new: Option<usize>) -> Vec<usize> {
        (0..self.sets.len()).filter(|index| Some(*index) != new).collect()
    }

    /// Returns the sum of the sizes of all sets.
    fn total_wanted(&self) -> i64 {
        self.sets.iter().map(count::wanted).sum()
    }

    /// Returns the sum of a count in the status of all sets.
    fn total_of(&self, member: &str) -> i64 {
        self.sets.iter().map(|set| count::status(set, member)).sum()
    }

    /// Whether a pod of a set other than `new` has not ended.
    fn old_pods_run(&self, new: Option<usize>) -> bool {
        let old = self.old_sets(new);
        if old.iter().any(|index| count::status(&self.sets[*index], "replicas") > 0) {
            return true;
        }
        let runs = |pod: &Value| !matches!(pod::phase(pod), "Succeeded" | "Failed");
        self.store
            .list(&PODS, Some(object::namespace(&self.deployment)))
            .any(|(_, pod)| runs(pod) && old.iter().any(|set| super::owner::controls(&self.sets[*set], pod)))
    }

    /// Adds or replaces a set.
    fn keep_in_order(&mut self) {
        self.sets.sort_by(|one, other| age_order(one).cmp(&age_order(other)));
    }

    /// Adds the write of the Deployment, once in a sync.
    fn write_deployment(&mut self) -> Result<(), Outdated> {
        if std::mem::replace(&mut self.written, true) {
            return Err(Outdated);
        }
        let key = Key::of(&DEPLOYMENTS, &self.deployment);
        self.plan.update(&key, Part::Status, self.deployment.clone());
        Ok(())
    }

    /// Adds the write of a set.
    fn write_set(&mut self, index: usize) {
        let set = self.sets[index].clone();
        self.plan.update(&Key::of(&REPLICASETS, &set), Part::Object, set);
    }
}
