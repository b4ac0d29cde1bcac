//! `--undo-on-failure`: releases that are rolled back, and those that must not be.

use std::time::Duration;

use serde_json::json;

use crate::history_output::history;
use crate::objects::{Workload, count};
use crate::setup::Ground;

/// Follows and rolls failures back.
const FOLLOW: [&str; 3] = ["status", "--undo-on-failure", "--fail-fast=3s"];

/// Returns the live image.
async fn image(ground: &Ground, workload: &Workload<'_>) -> String {
    let object = ground.get(&workload.path).await;
    object["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_bad_release_is_rolled_back() {
    let ground = Ground::new("undoing-bad").await;
    let web = Workload::web(&ground, &json!({ "replicas": 4 })).await;
    web.until_complete().await;
    web.release("app:2.0-bad", "a slip").await;
    let output = ground.rollout2(&[&FOLLOW[..], &[web.name]].concat()).await;
    assert_eq!(output.exit, 4, "{}", output.transcript);
    let last = "deployment.apps/web failed; rolled back to revision 1 (now 3)\n";
    assert!(output.stderr.ends_with(last), "{}", output.transcript);
    let back = ["2 - 0/0 first: app:2.0-bad", "3 current 4/4 image app:1.0; was 1"];
    assert_eq!(history(&ground, web.name).await, back);
    ground.leave().await;
}

#[tokio::test]
async fn a_stateful_set_is_rolled_back_and_stuck_pods_are_replaced() {
    let ground = Ground::new("undoing-stuck").await;
    let db = Workload::db(&ground, &json!({ "replicas": 3 })).await;
    db.until_complete().await;
    db.release("app:2.0-crash", "a slip").await;
    let output = ground.rollout2(&[&FOLLOW[..], &[db.name, "--replace-stuck-pods"]].concat()).await;
    assert_eq!((output.exit, image(&ground, &db).await.as_str()), (4, "app:1.0"), "{}", output.transcript);
    assert!(output.stderr.contains("deleting pod db-2: "), "{}", output.transcript);
    assert!(output.stderr.ends_with("; rolled back to revision 1 (now 3)\n"), "{}", output.transcript);
    db.until_complete().await;
    ground.leave().await;
}

#[tokio::test]
async fn a_restart_is_rolled_back() {
    let ground = Ground::new("undoing-restart").await;
    let web = Workload::web(&ground, &json!({ "replicas": 2 })).await;
    web.until_complete().await;
    web.release("app:2.0-bad", "a slip").await;
    let restart = ["restart", web.name, "--wait", "--undo-on-failure", "--fail-fast=3s"];
    let output = ground.rollout2(&restart).await;
    assert_eq!((output.exit, image(&ground, &web).await.as_str()), (4, "app:1.0"), "{}", output.transcript);
    assert!(output.stdout.starts_with("deployment.apps/web restarted\n"), "{}", output.transcript);
    web.until_complete().await;
    ground.leave().await;
}

#[tokio::test]
async fn an_external_release_is_left_alone() {
    let ground = Ground::new("undoing-colleague").await;
    let web = Workload::web(&ground, &json!({ "replicas": 4 })).await;
    web.until_complete().await;
    web.release("app:2.0-bad", "a slip").await;
    let deploy = async {
        web.until("on its way", |object| count(object, "updatedReplicas") > 0).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        web.release("app:3.0-bad", "another slip").await;
    };
    let words = [&FOLLOW[..], &[web.name]].concat();
    let (output, ()) = tokio::join!(ground.rollout2(&words), deploy);
    assert_eq!(
        (output.exit, image(&ground, &web).await.as_str()),
        (4, "app:3.0-bad"),
        "{}",
        output.transcript
    );
    let why = "not rolled back: another client rolled out another revision, which is not rolled back";
    assert!(output.stderr.contains(why), "{}", output.transcript);
    ground.leave().await;
}

#[tokio::test]
async fn only_the_failed_target_of_two_is_rolled_back() {
    let ground = Ground::new("undoing-two").await;
    let web = Workload::web(&ground, &json!({ "replicas": 3 })).await;
    let agent = Workload::agent(&ground, &json!({})).await;
    web.until_complete().await;
    agent.until_complete().await;
    web.release("app:2.0-bad", "a slip").await;
    agent.release("app:2.0", "second release").await;
    let output = ground.rollout2(&[&FOLLOW[..], &[web.name, agent.name]].concat()).await;
    assert_eq!(output.exit, 4, "{}", output.transcript);
    let live = [image(&ground, &web).await, image(&ground, &agent).await];
    assert_eq!(live, ["app:1.0", "app:2.0"], "{}", output.transcript);
    assert!(
        output.stdout.contains("daemon set \"agent\" successfully rolled out\n"),
        "{}",
        output.transcript
    );
    ground.leave().await;
}
