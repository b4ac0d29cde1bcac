//! Scaling during a rollout.

use crate::scenarios::history_output::history;
use crate::scenarios::objects::{Workload, count};
use harness::prelude::*;

#[tokio::test(start_paused = true)]
async fn scaling_during_a_rollout_keeps_the_proportion() {
    let cluster = Cluster::real("scale").await;
    let rolling = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 3, "maxUnavailable": 2 } });
    let web = Workload::web(&cluster, &json!({ "replicas": 10, "strategy": rolling })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0-notready", "never ready").await;
    let has = |replicas: i64, updated: i64, ready: i64| {
        move |web: &Value| {
            [
                count(web, "replicas"),
                count(web, "updatedReplicas"),
                count(web, "readyReplicas"),
                count(web, "terminatingReplicas"),
            ] == [replicas, updated, ready, 0]
        }
    };
    web.wait_until("stuck at 13 pods", has(13, 5, 8)).await;
    web.patch(&json!({ "replicas": 15 })).await;
    // The three surge pods stay, and the five new ones are distributed in proportion.
    web.wait_until("scaled in proportion", has(18, 7, 11)).await;
    assert_eq!(web.status().await.0, 3);
    let printed = ["1 stable 11/11 first: app:1.0", "2 updating 0/7 image app:2.0-notready"];
    assert_eq!(history(&cluster, web.name).await, printed);
    web.set_image("app:2.0", "ready at last").await;
    web.wait_until_complete().await;
    assert_eq!(history(&cluster, web.name).await[2], "3 current 15/15 image app:2.0");
    cluster.delete_namespace().await;
}
