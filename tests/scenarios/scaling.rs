//! Scaling during a rollout.

use serde_json::{Value, json};

use crate::history_output::history;
use crate::objects::{Workload, count};
use crate::setup::Ground;

#[tokio::test]
async fn scale_during_a_rollout() {
    let ground = Ground::new("scale").await;
    let rolling = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 3, "maxUnavailable": 2 } });
    let web = Workload::web(&ground, &json!({ "replicas": 10, "strategy": rolling })).await;
    web.until_complete().await;
    web.release("app:2.0-notready", "never ready").await;
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
    web.until("stuck at 13 pods", has(13, 5, 8)).await;
    web.patch(&json!({ "replicas": 15 })).await;
    // The three surge pods stay, and the five new ones are distributed in proportion.
    web.until("scaled in proportion", has(18, 7, 11)).await;
    assert_eq!(web.status().await.0, 3);
    let printed = ["1 stable 11/11 first: app:1.0", "2 updating 0/7 image app:2.0-notready"];
    assert_eq!(history(&ground, web.name).await, printed);
    web.release("app:2.0", "ready at last").await;
    web.until_complete().await;
    assert_eq!(history(&ground, web.name).await[2], "3 current 15/15 image app:2.0");
    ground.leave().await;
}
