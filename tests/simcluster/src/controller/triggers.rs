//! The tasks that follow from a change of an object.

use serde_json::Value;

use super::owner::{controller_of, selects};
use super::{Controller, Task, disruption, garbage_collector, scheduler};
use crate::object;
use crate::resource::{
    ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS, DAEMONSETS, DEPLOYMENTS, JOBS, NODES,
    PODDISRUPTIONBUDGETS, PODS, REPLICASETS, Resource, STATEFULSETS,
};
use crate::store::{Change, Key, Store};

/// The controllers of the kinds that own objects.
const OWNERS: [(&Resource, Controller); 8] = [
    (&DEPLOYMENTS, Controller::Deployment),
    (&REPLICASETS, Controller::ReplicaSet),
    (&DAEMONSETS, Controller::DaemonSet),
    (&STATEFULSETS, Controller::StatefulSet),
    (&JOBS, Controller::Job),
    (&CLONESETS, Controller::Kruise),
    (&ADVANCED_STATEFULSETS, Controller::Kruise),
    (&ADVANCED_DAEMONSETS, Controller::Kruise),
];

/// Returns the tasks that follow from a change, in order.
pub(super) fn tasks_after(store: &Store, change: &Change) -> Vec<Task> {
    let mut tasks = match &change.after {
        Some(after) => tasks_for(store, &change.key, after),
        None => Vec::new(),
    };
    if let Some(before) = &change.before {
        tasks.extend(tasks_of_owners(store, &change.key, before));
        tasks.extend(tasks_of_budgets(store, &change.key, before));
        if change.after.is_none() {
            tasks.extend(tasks_of_orphans(store, &change.key, before));
        }
    }
    tasks
}

/// Returns the tasks that follow from the present state of an object.
pub(super) fn tasks_for(store: &Store, key: &Key, value: &Value) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let own = OWNERS.into_iter().find(|(resource, _)| *resource == key.resource);
    tasks.extend(own.map(|(_, controller)| Task::new(controller, key.clone())));
    tasks.extend(tasks_of_owners(store, key, value));
    tasks.extend(tasks_of_budgets(store, key, value));
    if key.resource == &PODS {
        if scheduler::waits_for_node(value) {
            tasks.push(Task::new(Controller::Scheduler, key.clone()));
        }
        tasks.push(Task::new(Controller::Kubelet, key.clone()));
    }
    if key.resource == &NODES {
        tasks.extend(tasks_of_node(store));
    }
    if garbage_collector::is_left(store, value) {
        tasks.push(Task::new(Controller::GarbageCollector, key.clone()));
    }
    tasks
}

/// Returns the task of the owner; without an owner, those of the owners that could adopt the object.
fn tasks_of_owners(store: &Store, key: &Key, value: &Value) -> Vec<Task> {
    let Some(reference) = controller_of(value) else { return tasks_of_adopters(store, key, value) };
    let name = object::text(reference, &["name"]);
    let owners = OWNERS.into_iter().filter(|(resource, _)| is_of(reference, resource));
    owners
        .map(|(resource, controller)| Task::new(controller, Key::new(resource, &key.namespace, name)))
        .collect()
}

/// Whether a reference is to an object of a resource, in any version.
fn is_of(reference: &Value, resource: &Resource) -> bool {
    let version = object::text(reference, &["apiVersion"]);
    let group = version.split_once('/').map_or("", |(group, _)| group);
    group == resource.group && object::text(reference, &["kind"]) == resource.kind
}

/// Returns the tasks of the budgets that an object affects.
fn tasks_of_budgets(store: &Store, key: &Key, value: &Value) -> Vec<Task> {
    let task = |key: &Key| Task::new(Controller::Disruption, key.clone());
    if key.resource == &PODDISRUPTIONBUDGETS {
        return vec![task(key)];
    }
    let budgets = store.list(&PODDISRUPTIONBUDGETS, Some(&key.namespace));
    let concerned = budgets.filter(|(_, budget)| disruption::is_concerned_by(budget, key, value));
    concerned.map(|(key, _)| task(key)).collect()
}

fn tasks_of_adopters(store: &Store, key: &Key, value: &Value) -> Vec<Task> {
    let owned_kinds = ["Pod", "ReplicaSet", "ControllerRevision"];
    if !owned_kinds.contains(&key.resource.kind) {
        return Vec::new();
    }
    OWNERS
        .into_iter()
        .flat_map(|(resource, controller)| {
            let adopters =
                store.list(resource, Some(&key.namespace)).filter(|(_, owner)| selects(owner, value));
            adopters.map(move |(owner, _)| Task::new(controller, owner.clone()))
        })
        .collect()
}

/// Returns the tasks after the removal of an object: for a pod the Deployment that waits for it, for an owner its
/// dependents.
fn tasks_of_orphans(store: &Store, key: &Key, gone: &Value) -> Vec<Task> {
    if key.resource == &PODS {
        let mut tasks: Vec<Task> = recreating_deployment(store, key, gone).into_iter().collect();
        tasks.push(Task::new(Controller::Kubelet, key.clone()));
        return tasks;
    }
    if !OWNERS.iter().any(|(resource, _)| *resource == key.resource) {
        return Vec::new();
    }
    let left = store.owned_by(object::uid(gone)).into_iter();
    left.map(|key| Task::new(Controller::GarbageCollector, key)).collect()
}

/// Returns the task of the Deployment of a pod's set, if its strategy is `Recreate`.
fn recreating_deployment(store: &Store, key: &Key, pod: &Value) -> Option<Task> {
    let above = |object: &Value, resource: &'static Resource| {
        let name = object::text(controller_of(object)?, &["name"]);
        Some(Key::new(resource, &key.namespace, name))
    };
    let set = store.get(&above(pod, &REPLICASETS)?)?;
    let deployment = above(set, &DEPLOYMENTS)?;
    let recreates = store.get(&deployment)?["spec"]["strategy"]["type"] == "Recreate";
    recreates.then(|| Task::new(Controller::Deployment, deployment))
}

fn tasks_of_node(store: &Store) -> Vec<Task> {
    let sets = store.list(&DAEMONSETS, None).map(|(key, _)| Task::new(Controller::DaemonSet, key.clone()));
    let advanced = store.list(&ADVANCED_DAEMONSETS, None);
    let sets = sets.chain(advanced.map(|(key, _)| Task::new(Controller::Kruise, key.clone())));
    let pods = store.list(&PODS, None).flat_map(|(key, pod)| {
        let waits = scheduler::waits_for_node(pod).then(|| Task::new(Controller::Scheduler, key.clone()));
        waits.into_iter().chain([Task::new(Controller::Kubelet, key.clone())])
    });
    sets.chain(pods).collect()
}
