//! Templates whose pods cannot start, and their rollback.

use crate::scenarios::history_output::history;
use crate::scenarios::objects::{Workload, is_past_deadline};
use harness::prelude::*;

#[tokio::test(start_paused = true)]
async fn a_missing_image_is_reported_and_rolled_back() {
    let cluster = Cluster::real("bad-image").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 3, "progressDeadlineSeconds": 2 })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0-bad", "a slip").await;
    web.wait_until("past its deadline", is_past_deadline).await;
    assert_eq!(web.status().await.0, 4);
    let causes = web.causes().await;
    assert!(causes.contains("ImagePullBackOff, no image app:2.0-bad"), "{causes}");
    let stuck = ["1 stable 3/3 first: app:1.0", "2 updating 0/1 image app:2.0-bad"];
    assert_eq!(history(&cluster, web.name).await, stuck);
    web.set_image("app:1.0", "back again").await;
    web.wait_until_complete().await;
    assert_eq!(web.status().await.0, 0);
    let back = ["2 - 0/0 image app:2.0-bad", "3 current 3/3 image app:1.0; was 1"];
    assert_eq!(history(&cluster, web.name).await, back);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_crash_loop_is_reported_and_rolled_back() {
    let cluster = Cluster::real("crash-loop").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 1 })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0-crash", "no DB_URL").await;
    let restarted =
        |pod: &serde_json::Value| pod["status"]["containerStatuses"][0]["restartCount"].as_i64() >= Some(2);
    cluster.wait_until_pods("a second restart", |pods| pods.iter().any(restarted)).await;
    assert_eq!(web.status().await.0, 3, "the rollout is still progressing");
    let causes = web.causes().await;
    assert!(causes.contains("app: ") && causes.contains(", exit 1"), "{causes}");
    cluster.delete_namespace().await;
}
