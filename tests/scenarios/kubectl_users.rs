//! Sequences of `kubectl rollout` commands with `rollout2`. Every line and exit code equals the output of kubectl for the
//! same sequence on a real control plane.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::scenarios::objects::Workload;
use crate::scenarios::setup::ScenarioCluster;

/// Runs a command and compares its output on both streams and its exit code with those of kubectl.
async fn assert_output(cluster: &ScenarioCluster, args: &[&str], printed: &str, exit: u8) {
    let output = cluster.rollout2(&[args, &["--compat"]].concat()).await;
    assert_eq!((output.transcript.as_str(), output.exit), (printed, exit), "{args:?}");
}

/// Writes a manifest of a Deployment.
fn manifest(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("users-{}-{name}.yaml", std::process::id()));
    let text = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\n");
    std::fs::write(&path, text).unwrap();
    path
}

/// Creates a Deployment with two revisions. The second one is current.
async fn two_revisions(cluster: &ScenarioCluster) -> Workload<'_> {
    let web = Workload::web(cluster, &json!({ "replicas": 2 })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0", "second release").await;
    web.wait_until_complete().await;
    web
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_inspected_and_undone() {
    let cluster = ScenarioCluster::new("users-undo").await;
    let web = two_revisions(&cluster).await;
    let head = "deployment.apps/web \nREVISION  CHANGE-CAUSE\n";
    let history = format!("{head}1         first release\n2         second release\n\n");
    assert_output(&cluster, &["history", "deployment/web"], &history, 0).await;
    let shown = cluster.rollout2(&["undo", "deployment/web", "--dry-run=client", "--compat"]).await;
    assert!(shown.stdout.starts_with("deployment.apps/web Pod Template:\n  Labels:\tapp=web\n"), "{shown:?}");
    assert!(shown.stdout.contains("    Image:\tapp:1.0\n"), "{shown:?}");
    assert!(shown.stdout.ends_with(" (dry run)\n"), "{shown:?}");
    let judged = "deployment.apps/web rolled back (server dry run)\n";
    assert_output(&cluster, &["undo", "deployment/web", "--dry-run=server"], judged, 0).await;
    let live = "deployment.apps/web skipped rollback (current template already matches revision 2)\n";
    assert_output(&cluster, &["undo", "deployment/web", "--to-revision=2"], live, 0).await;
    let missing = "error: unable to find specified revision 9 in history\n";
    assert_output(&cluster, &["undo", "deployment/web", "--to-revision=9"], missing, 1).await;
    let undone = "deployment.apps/web rolled back\n";
    assert_output(&cluster, &["undo", "deployment/web", "--to-revision=1"], undone, 0).await;
    web.wait_until_complete().await;
    let done = "deployment \"web\" successfully rolled out\n";
    assert_output(&cluster, &["status", "deployment/web"], done, 0).await;
    let history = format!("{head}2         second release\n3         first release\n\n");
    assert_output(&cluster, &["history", "deployment/web"], &history, 0).await;
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_deployment_is_paused_and_resumed() {
    let cluster = ScenarioCluster::new("users-pause").await;
    let web = two_revisions(&cluster).await;
    for (verb, printed, exit) in [
        ("pause", "deployment.apps/web paused\n", 0),
        ("pause", "error: deployments.apps \"web\" is already paused\n", 1),
        (
            "undo",
            "error: you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again\n",
            1,
        ),
        (
            "restart",
            "error: deployments.apps \"web\" can't restart paused deployment (run rollout resume first)\n",
            1,
        ),
        ("resume", "deployment.apps/web resumed\n", 0),
        ("resume", "error: deployments.apps \"web\" is not paused\n", 1),
        ("restart", "deployment.apps/web restarted\n", 0),
    ] {
        assert_output(&cluster, &[verb, "deployment/web"], printed, exit).await;
    }
    web.wait_until_complete().await;
    assert_output(&cluster, &["status", "deployment/web"], "deployment \"web\" successfully rolled out\n", 0)
        .await;
    assert_output(&cluster, &["undo", "deployment/web", "-o", "name"], "deployment.apps/web\n", 0).await;
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn one_of_several_files_has_no_workload() {
    let cluster = ScenarioCluster::new("users-files").await;
    two_revisions(&cluster).await;
    let files = [manifest("web"), manifest("none")];
    let [web, none] = files.each_ref().map(|file| file.to_str().unwrap());
    let printed = "deployment.apps/web rolled back\nError from server (NotFound): deployments.apps \"none\" not found\n";
    assert_output(&cluster, &["undo", "-f", web, "-f", none], printed, 1).await;
    cluster.delete_namespace().await;
}
