//! A simulated cluster with the kinds of OpenKruise.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};
use simcluster::resource::{
    ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS, CONTROLLERREVISIONS, PODS,
};
use simcluster::rules::{Author, Part};
use simcluster::{Builder, Controllers, Finalization, Key, Resource, SimCluster};

/// The workloads in namespace `shop`.
pub const WORKLOADS: [(&Resource, &str); 3] =
    [(&CLONESETS, "web"), (&ADVANCED_STATEFULSETS, "db"), (&ADVANCED_DAEMONSETS, "agent")];

/// Returns a cluster with a CloneSet, an Advanced StatefulSet and an Advanced DaemonSet whose first rollout, to
/// `app:2.0`, is complete. Their pods are recreated.
pub fn shop() -> Builder {
    static OBJECTS: LazyLock<Value> = LazyLock::new(objects);
    SimCluster::builder().snapshot(&OBJECTS).unwrap().kruise()
}

fn objects() -> Value {
    let builder = SimCluster::builder().finalization(Finalization::ByControllers).nodes(2).kruise();
    let cluster = builder.namespace("shop").build();
    let author = Author::new("kubectl-create");
    let mut controllers = Controllers::new();
    for image in ["app:1.0", "app:2.0"] {
        for (resource, name) in WORKLOADS {
            let labels = json!({"app": name});
            let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": image}]}});
            let spec = json!({
                "replicas": 2, "selector": {"matchLabels": labels}, "template": template,
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {}},
            });
            let key = Key::new(resource, "shop", name);
            cluster.store(|store| {
                if store.get(&key).is_some() {
                    let change = |object: &mut Value| object["spec"] = spec.clone();
                    store.edit(&key, Part::Object, &author, change).map(drop).unwrap();
                } else {
                    let object = json!({"metadata": {"name": name}, "spec": spec});
                    store.create(resource, "shop", object, &author).map(drop).unwrap();
                }
            });
        }
        controllers.run_for(&cluster, Duration::from_secs(120));
    }
    cluster.store(|store| {
        let kinds = WORKLOADS.map(|(resource, _)| resource).into_iter().chain([&CONTROLLERREVISIONS, &PODS]);
        let items = kinds.flat_map(|kind| store.list(kind, Some("shop")).map(|(_, item)| Value::clone(item)));
        json!({"items": items.collect::<Vec<_>>()})
    })
}
