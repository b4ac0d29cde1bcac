//! DaemonSets: a rolling update, OnDelete, and a rollback.

use tokio::time::sleep;

use crate::scenarios::history_output::history;
use crate::scenarios::objects::{Workload, count};
use harness::prelude::*;

#[tokio::test(start_paused = true)]
async fn a_daemon_set_is_updated_and_rolled_back() {
    let cluster = Cluster::real("node-by-node").await;
    let agent = Workload::agent(&cluster, &json!({})).await;
    agent.wait_until_complete().await;
    sleep(Duration::from_secs(1)).await; // which revision is older shows in whole seconds
    agent.set_image("app:2.0-bad", "a slip").await;
    let stuck =
        |agent: &Value| count(agent, "updatedNumberScheduled") == 1 && count(agent, "numberAvailable") == 2;
    agent.wait_until("stuck on one node", stuck).await;
    assert_eq!(agent.status().await.0, 3);
    agent.set_image("app:1.0", "back again").await;
    agent.wait_until_complete().await;
    assert_eq!(agent.status().await, (0, "daemon set \"agent\" successfully rolled out\n".to_owned()));
    let printed = ["2 - 0/0 image app:2.0-bad", "3 current 3/3 image app:1.0"];
    assert_eq!(history(&cluster, agent.name).await, printed);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_with_on_delete_is_held() {
    let cluster = Cluster::real("ds-on-delete").await;
    let agent = Workload::agent(&cluster, &json!({ "updateStrategy": { "type": "OnDelete" } })).await;
    agent.wait_until_complete().await;
    agent.set_image("app:2.0", "when they die").await;
    agent.wait_until("observed", |agent| count(agent, "updatedNumberScheduled") == 0).await;
    assert_eq!(agent.status().await.0, 5);
    for pod in cluster.pods().await {
        cluster.delete_pod(pod["metadata"]["name"].as_str().unwrap()).await;
    }
    agent.wait_until_complete().await;
    assert_eq!(agent.status().await.0, 0);
    assert_eq!(history(&cluster, agent.name).await[1], "2 current 3/3 image app:2.0");
    cluster.delete_namespace().await;
}
