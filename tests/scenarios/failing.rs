//! A release that cannot work, and its rollback.

use serde_json::json;

use crate::history_output::history;
use crate::objects::{Workload, is_past_deadline};
use crate::setup::Ground;

#[tokio::test]
async fn bad_image() {
    let ground = Ground::new("bad-image").await;
    let web = Workload::web(&ground, &json!({ "replicas": 3, "progressDeadlineSeconds": 2 })).await;
    web.until_complete().await;
    web.release("app:2.0-bad", "a slip").await;
    web.until("past its deadline", is_past_deadline).await;
    assert_eq!(web.status().await.0, 4);
    let causes = web.causes().await;
    assert!(causes.contains("ImagePullBackOff, no image app:2.0-bad"), "{causes}");
    let stuck = ["1 stable 3/3 first: app:1.0", "2 updating 0/1 image app:2.0-bad"];
    assert_eq!(history(&ground, web.name).await, stuck);
    web.release("app:1.0", "back again").await;
    web.until_complete().await;
    assert_eq!(web.status().await.0, 0);
    let back = ["2 - 0/0 first: app:2.0-bad", "3 current 3/3 image app:1.0; was 1"];
    assert_eq!(history(&ground, web.name).await, back);
    ground.leave().await;
}

#[tokio::test]
async fn crash_loop() {
    let ground = Ground::new("crash-loop").await;
    let web = Workload::web(&ground, &json!({ "replicas": 1 })).await;
    web.until_complete().await;
    web.release("app:2.0-crash", "no DB_URL").await;
    let restarted =
        |pod: &serde_json::Value| pod["status"]["containerStatuses"][0]["restartCount"].as_i64() >= Some(2);
    ground.until_pods("a second restart", |pods| pods.iter().any(restarted)).await;
    assert_eq!(web.status().await.0, 3, "nothing has decided it yet");
    let causes = web.causes().await;
    assert!(causes.contains("app: ") && causes.contains(", exit 1"), "{causes}");
    ground.leave().await;
}
