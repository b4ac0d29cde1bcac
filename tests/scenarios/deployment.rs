//! Deployments: rollouts that succeed, fail, are paused or scaled, and `--undo-on-failure`.

use crate::scenarios::history_output::{change_causes, history};
use crate::scenarios::objects::{Workload, count, is_past_deadline};
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

#[tokio::test(start_paused = true)]
async fn a_change_of_a_paused_deployment_is_rolled_out_after_resume() {
    let cluster = Cluster::real("pause").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 3 })).await;
    web.wait_until_complete().await;
    web.patch(&json!({ "paused": true })).await;
    web.set_image("app:2.0", "while paused").await;
    let unchanged = |web: &Value| web["status"].get("updatedReplicas").is_none();
    web.wait_until("observed", unchanged).await;
    let (exit, line) = web.status().await;
    let waiting =
        "Waiting for deployment \"web\" rollout to finish: 0 out of 3 new replicas have been updated...\n";
    assert_eq!((exit, line.as_str()), (5, waiting));
    assert_eq!(history(&cluster, web.name).await.len(), 1, "a paused Deployment gets no new revision");
    web.patch(&json!({ "paused": null })).await;
    web.wait_until_complete().await;
    assert_eq!(web.status().await.0, 0);
    assert_eq!(history(&cluster, web.name).await[1], "2 current 3/3 image app:2.0");
    cluster.delete_namespace().await;
}

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
    let restarted = |pod: &Value| pod["status"]["containerStatuses"][0]["restartCount"].as_i64() >= Some(2);
    cluster.wait_until_pods("a second restart", |pods| pods.iter().any(restarted)).await;
    assert_eq!(web.status().await.0, 3, "the rollout is still progressing");
    let causes = web.causes().await;
    assert!(causes.contains("app: ") && causes.contains(", exit 1"), "{causes}");
    cluster.delete_namespace().await;
}

/// `tests/status/follow/undo_on_failure.rs` has the other cases.
#[tokio::test(start_paused = true)]
async fn a_failed_rollout_is_rolled_back() {
    let cluster = Cluster::real("undoing-bad").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 4 })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0-bad", "a slip").await;
    let output = cluster.rollout2(&["status", web.name, "--undo-on-failure", "--fail-fast=3s"]).await;
    output.ends(4);
    let last = "deployment/web failed; rolled back to revision 1 (now 3)\n";
    output.reports_last(last);
    let back = ["2 - 0/0 image app:2.0-bad", "3 current 4/4 image app:1.0; was 1"];
    assert_eq!(history(&cluster, web.name).await, back);
    cluster.delete_namespace().await;
}
