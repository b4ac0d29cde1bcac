//! DaemonSets: node by node, OnDelete, and a rollback.

use serde_json::{Value, json};

use crate::history_output::history;
use crate::objects::{Workload, count};
use crate::setup::Ground;

#[tokio::test]
async fn node_by_node_and_back() {
    let ground = Ground::new("node-by-node").await;
    let agent = Workload::agent(&ground, &json!({})).await;
    agent.until_complete().await;
    agent.release("app:2.0-bad", "a slip").await;
    let stuck =
        |agent: &Value| count(agent, "updatedNumberScheduled") == 1 && count(agent, "numberAvailable") == 2;
    agent.until("stuck on one node", stuck).await;
    assert_eq!(agent.status().await.0, 3);
    agent.release("app:1.0", "back again").await;
    agent.until_complete().await;
    assert_eq!(agent.status().await, (0, "daemon set \"agent\" successfully rolled out\n".to_owned()));
    let printed = ["2 - 0/0 first: app:2.0-bad", "3 current 3/3 image app:1.0"];
    assert_eq!(history(&ground, agent.name).await, printed);
    ground.leave().await;
}

#[tokio::test]
async fn on_delete() {
    let ground = Ground::new("ds-on-delete").await;
    let agent = Workload::agent(&ground, &json!({ "updateStrategy": { "type": "OnDelete" } })).await;
    agent.until_complete().await;
    agent.release("app:2.0", "when they die").await;
    agent.until("observed", |agent| count(agent, "updatedNumberScheduled") == 0).await;
    assert_eq!(agent.status().await.0, 5);
    for pod in ground.pods().await {
        ground.delete_pod(pod["metadata"]["name"].as_str().unwrap()).await;
    }
    agent.until_complete().await;
    assert_eq!(agent.status().await.0, 0);
    assert_eq!(history(&ground, agent.name).await[1], "2 current 3/3 image app:2.0");
    ground.leave().await;
}
