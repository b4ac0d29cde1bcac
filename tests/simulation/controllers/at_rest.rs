//! The recorded objects did not change any more, so a controller that reads them has nothing to write.

use harness::snapshot;
use simcluster::controller::{Controller, Quota, Task, Write};
use simcluster::{Controllers, Finalization, SimCluster, object};

/// Returns what the controllers would write to a recorded namespace.
fn wanted_writes(namespace: &str) -> Vec<String> {
    let recorded = snapshot(namespace);
    let newest = object::list(&recorded, &["items"])
        .iter()
        .filter(|item| item["kind"] == "Event")
        .filter_map(|item| object::text(item, &["lastTimestamp"]).parse().ok())
        .max();
    let builder =
        SimCluster::builder().snapshot(&recorded).unwrap().finalization(Finalization::ByControllers).nodes(3);
    let cluster = builder.clock(simcluster::Clock::stepped(newest.unwrap())).build();
    let mut controllers = Controllers::new().quota("quota", Quota { name: "q".to_owned(), pods: 2 });
    cluster.store(|store| {
        let controller_of = |kind: &str| match kind {
            "Deployment" => Some(Controller::Deployment),
            "ReplicaSet" => Some(Controller::ReplicaSet),
            "DaemonSet" => Some(Controller::DaemonSet),
            "StatefulSet" => Some(Controller::StatefulSet),
            "Pod" => Some(Controller::Scheduler),
            _ => None,
        };
        let keys: Vec<_> = store.all().map(|(key, _)| key.clone()).collect();
        let tasks =
            keys.into_iter().filter_map(|key| Some(Task::new(controller_of(key.resource.kind)?, key)));
        tasks
            .flat_map(|task| {
                let plan = controllers.plan(store, &task);
                let writes = plan.writes.into_iter().filter(|write| !matches!(write, Write::Event(_)));
                writes
                    .map(move |write| format!("{} {}: {write:?}", task.key.resource.kind, task.key.name))
                    .collect::<Vec<_>>()
            })
            .collect()
    })
}

#[test]
fn the_controllers_change_nothing_in_recorded_namespaces() {
    for namespace in ["shop", "broken", "quota", "many"] {
        let writes = wanted_writes(namespace);
        assert!(writes.is_empty(), "{namespace}:\n{}", writes.join("\n"));
    }
}
