//! A release that succeeds.

use serde_json::json;

use crate::history_output::{history, kubectl_history};
use crate::objects::Workload;
use crate::setup::Ground;

#[tokio::test]
async fn roll_forward() {
    let ground = Ground::new("roll-forward").await;
    let web = Workload::web(&ground, &json!({ "replicas": 3 })).await;
    web.until_complete().await;
    web.release("app:2.0", "second release").await;
    web.until_complete().await;
    let done = "deployment \"web\" successfully rolled out\n".to_owned();
    assert_eq!(web.status().await, (0, done));
    assert_eq!(history(&ground, web.name).await, ["1 - 0/0 first: app:1.0", "2 current 3/3 image app:2.0"]);
    assert_eq!(
        kubectl_history(&ground, web.name).await,
        "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         first release\n2         second release\n\n"
    );
    ground.leave().await;
}

#[tokio::test]
async fn recreate() {
    let ground = Ground::new("recreate").await;
    let web = Workload::web(&ground, &json!({ "replicas": 2, "strategy": { "type": "Recreate" } })).await;
    web.until_complete().await;
    web.release("app:2.0", "second release").await;
    web.until_complete().await;
    assert_eq!(web.status().await.0, 0);
    assert_eq!(history(&ground, web.name).await[1], "2 current 2/2 image app:2.0");
    ground.leave().await;
}
