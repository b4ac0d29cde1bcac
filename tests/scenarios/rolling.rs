//! Rollouts that succeed.

use crate::scenarios::history_output::{change_causes, history};
use crate::scenarios::objects::Workload;
use harness::prelude::*;

#[tokio::test(start_paused = true)]
async fn a_rolling_update_completes() {
    let cluster = Cluster::real("roll-forward").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 3 })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0", "second release").await;
    web.wait_until_complete().await;
    let done = "deployment \"web\" successfully rolled out\n".to_owned();
    assert_eq!(web.status().await, (0, done));
    assert_eq!(history(&cluster, web.name).await, ["1 - 0/0 first: app:1.0", "2 current 3/3 image app:2.0"]);
    assert_eq!(change_causes(&cluster, web.name).await, ["1 first release", "2 second release"]);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_recreate_update_completes() {
    let cluster = Cluster::real("recreate").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 2, "strategy": { "type": "Recreate" } })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0", "second release").await;
    web.wait_until_complete().await;
    assert_eq!(web.status().await.0, 0);
    assert_eq!(history(&cluster, web.name).await[1], "2 current 2/2 image app:2.0");
    cluster.delete_namespace().await;
}
