//! StatefulSets: a canary by partition, a broken pod that blocks the update, OnDelete.

use tokio::time::sleep;

use crate::scenarios::history_output::history;
use crate::scenarios::objects::{Workload, count};
use harness::prelude::*;

fn rolling(partition: i64) -> Value {
    json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": partition } })
}

/// Whether all pods are ready and `updated` of them are updated.
fn has_updated(updated: i64) -> impl Fn(&Value) -> bool {
    move |db| count(db, "updatedReplicas") == updated && count(db, "readyReplicas") == 3
}

#[tokio::test(start_paused = true)]
async fn a_partition_updates_a_canary() {
    let cluster = Cluster::real("canary").await;
    let db = Workload::db(&cluster, &json!({ "replicas": 3, "updateStrategy": rolling(3) })).await;
    db.wait_until("ready", has_updated(3)).await;
    db.set_image("app:2.0", "canary").await;
    db.wait_until("held", has_updated(0)).await;
    assert_eq!(db.status().await.0, 5, "the partition lets no pod update");
    for (partition, updated) in [(2, 1), (1, 2)] {
        db.partition(partition).await;
        db.wait_until("as far as the partition lets it", has_updated(updated)).await;
        let line = format!("partitioned roll out complete: {updated} new pods have been updated...\n");
        assert_eq!(db.status().await, (0, line));
        let printed = [
            format!("1 stable {0}/{0} first: app:1.0", 3 - updated),
            format!("2 updating {updated}/{updated} image app:2.0"),
        ];
        assert_eq!(history(&cluster, db.name).await, printed);
    }
    db.partition(0).await;
    db.wait_until_complete().await;
    assert_eq!(history(&cluster, db.name).await[1], "2 current 3/3 image app:2.0");
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_broken_pod_blocks_the_update() {
    let cluster = Cluster::real("broken-pod").await;
    let db = Workload::db(&cluster, &json!({ "replicas": 3 })).await;
    db.wait_until_complete().await;
    sleep(Duration::from_secs(1)).await; // which revision is older shows in whole seconds
    db.set_image("app:2.0-bad", "a slip").await;
    let broken = |pod: &Value| {
        pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"
    };
    cluster.wait_until_pods("a pod without its image", |pods| pods.iter().any(broken)).await;
    db.set_image("app:1.0", "back again").await;
    let trapped = |db: &Value| {
        db["status"]["currentRevision"] == db["status"]["updateRevision"]
            && count(db, "updatedReplicas") == 2
            && count(db, "replicas") == 3
    };
    db.wait_until("trapped", trapped).await;
    assert_eq!(db.status().await, (3, "Waiting for 1 pods to be ready...\n".to_owned()));
    let causes = db.causes().await;
    assert!(causes.contains("db-2"), "{causes}");
    cluster.delete_pod("db-2").await;
    db.wait_until_complete().await;
    assert_eq!(db.status().await.0, 0);
    let printed = ["2 - 0/0 image app:2.0-bad", "3 current 3/3 image app:1.0"];
    assert_eq!(history(&cluster, db.name).await, printed);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_with_on_delete_is_held() {
    let cluster = Cluster::real("sts-on-delete").await;
    let db =
        Workload::db(&cluster, &json!({ "replicas": 3, "updateStrategy": { "type": "OnDelete" } })).await;
    db.wait_until("ready", has_updated(3)).await;
    db.set_image("app:2.0", "when they die").await;
    db.wait_until("observed", has_updated(0)).await;
    assert_eq!(db.status().await.0, 5);
    for (name, updated) in [("db-0", 1), ("db-1", 2), ("db-2", 3)] {
        cluster.delete_pod(name).await;
        db.wait_until("replaced", has_updated(updated)).await;
    }
    assert_eq!(db.status().await.0, 0);
    cluster.delete_namespace().await;
}
