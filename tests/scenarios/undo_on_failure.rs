//! `--undo-on-failure`: rollouts that are rolled back, and rollouts that must not be.

use crate::scenarios::history_output::history;
use crate::scenarios::objects::{Workload, count};
use harness::prelude::*;
use harness::real::RealCluster;

/// Follows a rollout and rolls it back if it fails.
const FOLLOW: [&str; 3] = ["status", "--undo-on-failure", "--fail-fast=3s"];

/// Returns the live image.
async fn image(cluster: &RealCluster, workload: &Workload<'_>) -> String {
    let object = cluster.get(&workload.path).await;
    object["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_failed_rollout_is_rolled_back() {
    let cluster = Cluster::real("undoing-bad").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 4 })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0-bad", "a slip").await;
    let output = cluster.rollout2(&[&FOLLOW[..], &[web.name]].concat()).await;
    output.ends(4);
    let last = "deployment/web failed; rolled back to revision 1 (now 3)\n";
    assert!(output.stderr.ends_with(last), "{}", output.transcript);
    let back = ["2 - 0/0 image app:2.0-bad", "3 current 4/4 image app:1.0; was 1"];
    assert_eq!(history(&cluster, web.name).await, back);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_is_rolled_back_and_stuck_pods_are_replaced() {
    let cluster = Cluster::real("undoing-stuck").await;
    let db = Workload::db(&cluster, &json!({ "replicas": 3 })).await;
    db.wait_until_complete().await;
    db.set_image("app:2.0-crash", "a slip").await;
    let output = cluster.rollout2(&[&FOLLOW[..], &[db.name, "--replace-stuck-pods"]].concat()).await;
    assert_eq!((output.exit, image(&cluster, &db).await.as_str()), (4, "app:1.0"), "{}", output.transcript);
    assert!(output.stderr.contains("deleting pod db-2: "), "{}", output.transcript);
    assert!(output.stderr.ends_with("; rolled back to revision 1 (now 3)\n"), "{}", output.transcript);
    db.wait_until_complete().await;
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_is_rolled_back() {
    let cluster = Cluster::real("undoing-restart").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 2 })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0-bad", "a slip").await;
    let restart = ["restart", web.name, "--wait", "--undo-on-failure", "--fail-fast=3s"];
    let output = cluster.rollout2(&restart).await;
    assert_eq!((output.exit, image(&cluster, &web).await.as_str()), (4, "app:1.0"), "{}", output.transcript);
    assert!(output.stdout.starts_with("deployment.apps/web restarted\n"), "{}", output.transcript);
    web.wait_until_complete().await;
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_rollout_of_another_client_is_not_rolled_back() {
    let cluster = Cluster::real("undoing-colleague").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 4 })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0-bad", "a slip").await;
    let deploy = async {
        web.wait_until("on its way", |object| count(object, "updatedReplicas") > 0).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        web.set_image("app:3.0-bad", "another slip").await;
    };
    let words = [&FOLLOW[..], &[web.name]].concat();
    let (output, ()) = tokio::join!(cluster.rollout2(&words), deploy);
    assert_eq!(
        (output.exit, image(&cluster, &web).await.as_str()),
        (4, "app:3.0-bad"),
        "{}",
        output.transcript
    );
    let why = "not rolled back: another client rolled out another revision\n";
    assert!(output.stderr.contains(why), "{}", output.transcript);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn only_the_failed_target_of_two_is_rolled_back() {
    let cluster = Cluster::real("undoing-two").await;
    let web = Workload::web(&cluster, &json!({ "replicas": 3 })).await;
    let agent = Workload::agent(&cluster, &json!({})).await;
    web.wait_until_complete().await;
    agent.wait_until_complete().await;
    web.set_image("app:2.0-bad", "a slip").await;
    agent.set_image("app:2.0", "second release").await;
    let output = cluster.rollout2(&[&FOLLOW[..], &[web.name, agent.name]].concat()).await;
    output.ends(4);
    let live = [image(&cluster, &web).await, image(&cluster, &agent).await];
    assert_eq!(live, ["app:1.0", "app:2.0"], "{}", output.transcript);
    assert!(
        output.stdout.contains("daemon set \"agent\" successfully rolled out\n"),
        "{}",
        output.transcript
    );
    cluster.delete_namespace().await;
}
