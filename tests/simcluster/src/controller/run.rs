//! Runs the controllers: one task, or all tasks for some time.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::kubelet::{KubeletTiming, Kubelets};
use super::queue::{Order, Queue};
use super::quota::Quota;
use super::{
    Controller, Plan, Task, daemonset, deployment, disruption, garbage_collector, job, kruise, replicaset,
    scheduler, statefulset, triggers,
};
use crate::clock::later;
use crate::cluster::SimCluster;
use crate::store::Store;

/// The time until a controller repeats a refused write.
const RETRY: Duration = Duration::from_secs(1);

/// All controllers of a cluster, with their queue.
///
/// The cluster must be built with [`crate::Finalization::ByControllers`].
#[derive(Clone, Debug, Default)]
pub struct Controllers {
    queue: Queue,
    kubelets: Kubelets,
    quotas: BTreeMap<String, Quota>,
    /// The newest revision whose tasks are in the queue; `None` before the first task.
    seen: Option<u64>,
}

impl Controllers {
    /// Returns controllers that execute their tasks in the order of the changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns controllers that execute their tasks in this order.
    pub fn in_order(order: Order) -> Self {
        Self { queue: Queue::new(order), ..Self::default() }
    }

    /// Sets the times of the kubelets.
    pub fn kubelet_timing(mut self, timing: KubeletTiming) -> Self {
        self.kubelets.timing = timing;
        self
    }

    /// Limits the pods of a namespace.
    pub fn quota(mut self, namespace: &str, quota: Quota) -> Self {
        self.quotas.insert(namespace.to_owned(), quota);
        self
    }

    /// Returns what a controller would write next for an object.
    pub fn plan(&mut self, store: &Store, task: &Task) -> Plan {
        let key = &task.key;
        match task.controller {
            Controller::Deployment => deployment::plan(store, key),
            Controller::ReplicaSet => replicaset::plan(store, key, self.quotas.get(&key.namespace)),
            Controller::DaemonSet => daemonset::plan(store, key),
            Controller::StatefulSet => statefulset::plan(store, key),
            Controller::Job => job::plan(store, key),
            Controller::Kruise => kruise::plan(store, key),
            Controller::GarbageCollector => garbage_collector::plan(store, key),
            Controller::Scheduler => scheduler::plan(store, key),
            Controller::Kubelet => self.kubelets.plan(store, key),
            Controller::Disruption => disruption::plan(store, key),
        }
    }

    /// Executes one task now.
    pub fn step(&mut self, store: &mut Store, task: &Task) {
        let now = store.now();
        let plan = self.plan(store, task);
        let again = plan.again;
        if plan.apply(store, &task.controller.author()).is_err() {
            self.queue.add_at(task.clone(), later(now, RETRY));
        }
        match again {
            Some(at) if at <= now => self.queue.add_first(task.clone()),
            Some(at) => self.queue.add_at(task.clone(), at),
            None => {}
        }
    }

    /// Executes the next task of the queue and returns it; `None` if nothing is due.
    pub fn run_next_task(&mut self, store: &mut Store) -> Option<Task> {
        self.look(store);
        self.queue.wake(store.now());
        let task = self.queue.take()?;
        self.step(store, &task);
        Some(task)
    }

    /// Returns when the next task is due if nothing changes.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.queue.next_due()
    }

    /// Runs for some time, and advances a stepped clock from one due time to the next.
    pub fn run_for(&mut self, cluster: &SimCluster, time: Duration) {
        let end = cluster.store(|store| later(store.now(), time));
        self.run_to(cluster, end);
        advance_to(cluster, end);
    }

    /// Runs until nothing is due within `limit`. The clock stops at the last task.
    pub fn settle(&mut self, cluster: &SimCluster, limit: Duration) {
        let end = cluster.store(|store| later(store.now(), limit));
        self.run_to(cluster, end);
    }

    fn run_to(&mut self, cluster: &SimCluster, end: Timestamp) {
        loop {
            while cluster.store(|store| self.run_next_task(store)).is_some() {}
            let Some(due) = self.next_due().filter(|due| *due <= end) else { return };
            advance_to(cluster, due);
        }
    }

    /// Adds the tasks of the changes since the last call.
    fn look(&mut self, store: &Store) {
        let seen = self.seen.replace(store.revision());
        let tasks: Vec<Task> = match seen.map(|seen| store.changes_after(seen)) {
            Some(Ok(changes)) => changes.flat_map(|change| triggers::tasks_after(store, change)).collect(),
            // The first time, and when the history is too short: all objects.
            _ => store.all().flat_map(|(key, value)| triggers::tasks_for(store, key, value)).collect(),
        };
        for task in tasks {
            self.queue.add(task);
        }
    }
}

fn advance_to(cluster: &SimCluster, time: Timestamp) {
    cluster.store(|store| store.clock().advance(time.duration_since(store.now()).unsigned_abs()));
}
