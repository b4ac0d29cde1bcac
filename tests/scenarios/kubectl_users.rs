//! Commands of kubectl users with `rollout2` instead of `rollout`. Every line and exit code equals
//! what kubectl gave for the same sequence on a real control plane.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::objects::Workload;
use crate::setup::Ground;

/// Runs a command and compares its output, both streams together, and its exit code with kubectl's.
async fn typed(ground: &Ground, words: &[&str], printed: &str, exit: u8) {
    let output = ground.rollout2(&[words, &["--compat"]].concat()).await;
    assert_eq!((output.transcript.as_str(), output.exit), (printed, exit), "{words:?}");
}

/// A manifest with a Deployment.
fn manifest(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("users-{}-{name}.yaml", std::process::id()));
    let text = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\n");
    std::fs::write(&path, text).unwrap();
    path
}

/// A Deployment with two revisions, the second of which is current.
async fn two_revisions(ground: &Ground) -> Workload<'_> {
    let web = Workload::web(ground, &json!({ "replicas": 2 })).await;
    web.until_complete().await;
    web.release("app:2.0", "second release").await;
    web.until_complete().await;
    web
}

#[tokio::test]
async fn a_release_is_inspected_and_undone() {
    let ground = Ground::new("users-undo").await;
    let web = two_revisions(&ground).await;
    let head = "deployment.apps/web \nREVISION  CHANGE-CAUSE\n";
    let history = format!("{head}1         first release\n2         second release\n\n");
    typed(&ground, &["history", "deployment/web"], &history, 0).await;
    let shown = ground.rollout2(&["undo", "deployment/web", "--dry-run=client", "--compat"]).await;
    assert!(shown.stdout.starts_with("deployment.apps/web Pod Template:\n  Labels:\tapp=web\n"), "{shown:?}");
    assert!(shown.stdout.contains("    Image:\tapp:1.0\n"), "{shown:?}");
    assert!(shown.stdout.ends_with(" (dry run)\n"), "{shown:?}");
    let judged = "deployment.apps/web rolled back (server dry run)\n";
    typed(&ground, &["undo", "deployment/web", "--dry-run=server"], judged, 0).await;
    let live = "deployment.apps/web skipped rollback (current template already matches revision 2)\n";
    typed(&ground, &["undo", "deployment/web", "--to-revision=2"], live, 0).await;
    let missing = "error: unable to find specified revision 9 in history\n";
    typed(&ground, &["undo", "deployment/web", "--to-revision=9"], missing, 1).await;
    let undone = "deployment.apps/web rolled back\n";
    typed(&ground, &["undo", "deployment/web", "--to-revision=1"], undone, 0).await;
    web.until_complete().await;
    let done = "deployment \"web\" successfully rolled out\n";
    typed(&ground, &["status", "deployment/web"], done, 0).await;
    let history = format!("{head}2         second release\n3         first release\n\n");
    typed(&ground, &["history", "deployment/web"], &history, 0).await;
    ground.leave().await;
}

#[tokio::test]
async fn a_deployment_is_paused_and_resumed() {
    let ground = Ground::new("users-pause").await;
    let web = two_revisions(&ground).await;
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
        typed(&ground, &[verb, "deployment/web"], printed, exit).await;
    }
    web.until_complete().await;
    typed(&ground, &["status", "deployment/web"], "deployment \"web\" successfully rolled out\n", 0).await;
    typed(&ground, &["undo", "deployment/web", "-o", "name"], "deployment.apps/web\n", 0).await;
    ground.leave().await;
}

#[tokio::test]
async fn one_of_several_files_has_no_workload() {
    let ground = Ground::new("users-files").await;
    two_revisions(&ground).await;
    let files = [manifest("web"), manifest("none")];
    let [web, none] = files.each_ref().map(|file| file.to_str().unwrap());
    let printed = "deployment.apps/web rolled back\nError from server (NotFound): deployments.apps \"none\" not found\n";
    typed(&ground, &["undo", "-f", web, "-f", none], printed, 1).await;
    ground.leave().await;
}
