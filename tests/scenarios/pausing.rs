//! Pause, change, resume.

use serde_json::json;

use crate::history_output::history;
use crate::objects::Workload;
use crate::setup::Ground;

#[tokio::test]
async fn pause_change_resume() {
    let ground = Ground::new("pause").await;
    let web = Workload::web(&ground, &json!({ "replicas": 3 })).await;
    web.until_complete().await;
    web.patch(&json!({ "paused": true })).await;
    web.release("app:2.0", "while paused").await;
    let unchanged = |web: &serde_json::Value| web["status"].get("updatedReplicas").is_none();
    web.until("observed", unchanged).await;
    let (exit, line) = web.status().await;
    let waiting =
        "Waiting for deployment \"web\" rollout to finish: 0 out of 3 new replicas have been updated...\n";
    assert_eq!((exit, line.as_str()), (5, waiting));
    assert_eq!(history(&ground, web.name).await.len(), 1, "no revision while paused");
    web.patch(&json!({ "paused": null })).await;
    web.until_complete().await;
    assert_eq!(web.status().await.0, 0);
    assert_eq!(history(&ground, web.name).await[1], "2 current 3/3 image app:2.0");
    ground.leave().await;
}
