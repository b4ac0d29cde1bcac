//! A simulated cluster with a workload of OpenKruise.

use harness::prelude::*;
use simcluster::resource::{ADVANCED_DAEMONSETS_V1ALPHA1, CLONESETS_V1ALPHA1};

/// Creates a workload `web` with three pods that are updated in place.
pub(crate) async fn create(cluster: &Cluster, resource: &'static Resource) -> Key {
    let policy = if resource.kind == "DaemonSet" { "rollingUpdateType" } else { "podUpdatePolicy" };
    let strategy = if resource.kind == "CloneSet" && resource.version == "v1alpha1" {
        json!({"type": "InPlaceIfPossible", "maxUnavailable": 1})
    } else {
        json!({"type": "RollingUpdate", "rollingUpdate": {policy: "InPlaceIfPossible", "maxUnavailable": 1}})
    };
    let labels = json!({"app": resource.kind});
    let spec = json!({
        "replicas": 3, "selector": {"matchLabels": labels}, "updateStrategy": strategy, "revisionHistoryLimit": 10,
        "podManagementPolicy": "Parallel",
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "web:1"}]}},
    });
    let key = cluster.editor().create_workload(resource, "web", &spec);
    cluster.advance(300).await;
    key
}

/// The kinds of the newest release, with their targets on a command line.
pub(crate) const KINDS: [(&Resource, &str); 3] =
    [(&CLONESETS, "cloneset/web"), (&ADVANCED_STATEFULSETS, "asts/web"), (&ADVANCED_DAEMONSETS, "ads/web")];

/// The kinds of OpenKruise 1.8.
pub(crate) const OLD_KINDS: [(&Resource, &str); 3] = [
    (&CLONESETS_V1ALPHA1, "cloneset/web"),
    (&ADVANCED_STATEFULSETS, "asts/web"),
    (&ADVANCED_DAEMONSETS_V1ALPHA1, "ads/web"),
];
