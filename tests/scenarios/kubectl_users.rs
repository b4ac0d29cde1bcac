//! Sequences of `kubectl rollout` commands with `rollout2`. Stdout and the exit code are those of kubectl for the same
//! sequence on a real control plane, where README names no difference.

use std::path::PathBuf;

use crate::scenarios::history_output::change_causes;
use crate::scenarios::objects::Workload;
use harness::files::file;
use harness::prelude::*;
use harness::real::RealCluster;

/// Runs a command and compares its stdout and its exit code with those of kubectl. An error is one on stderr.
async fn assert_output(cluster: &RealCluster, args: &[&str], printed: &str, exit: u8) {
    let output = cluster.rollout2(args).await;
    assert_eq!((output.stdout.as_str(), output.exit), (printed, exit), "{args:?}: {}", output.transcript);
    assert_eq!(output.stderr.contains("error: "), exit != 0, "{args:?}: {}", output.transcript);
}

/// Writes a manifest of a Deployment.
fn manifest(name: &str) -> PathBuf {
    let text = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\n");
    file(&format!("{name}.yaml"), &text)
}

/// Creates a Deployment with two revisions. The second one is current.
async fn two_revisions(cluster: &RealCluster) -> Workload<'_> {
    let web = Workload::web(cluster, &json!({ "replicas": 2 })).await;
    web.wait_until_complete().await;
    web.set_image("app:2.0", "second release").await;
    web.wait_until_complete().await;
    web
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_inspected_and_undone() {
    let cluster = Cluster::real("users-undo").await;
    let web = two_revisions(&cluster).await;
    assert_eq!(change_causes(&cluster, web.name).await, ["1 first release", "2 second release"]);
    for (dry_run, line) in [("client", "rolled back (dry run)"), ("server", "rolled back (server dry run)")] {
        let shown = cluster.rollout2(&["undo", "deployment/web", &format!("--dry-run={dry_run}")]).await;
        assert!(shown.stdout.ends_with(&format!("deployment.apps/web {line}\n")), "{shown:?}");
    }
    let live = "deployment.apps/web skipped rollback (current template already matches revision 2)\n";
    assert_output(&cluster, &["undo", "deployment/web", "--to-revision=2"], live, 0).await;
    assert_output(&cluster, &["undo", "deployment/web", "--to-revision=9"], "", 1).await;
    let undone = "deployment.apps/web rolled back\n";
    assert_output(&cluster, &["undo", "deployment/web", "--to-revision=1"], undone, 0).await;
    web.wait_until_complete().await;
    let done = "deployment \"web\" successfully rolled out\n";
    assert_output(&cluster, &["status", "deployment/web"], done, 0).await;
    assert_eq!(change_causes(&cluster, web.name).await, ["2 second release", "3 first release"]);
    cluster.delete_namespace().await;
}

#[tokio::test(start_paused = true)]
async fn a_deployment_is_paused_and_resumed() {
    let cluster = Cluster::real("users-pause").await;
    let web = two_revisions(&cluster).await;
    for (verb, printed, exit) in [
        ("pause", "deployment.apps/web paused\n", 0),
        ("pause", "deployment.apps/web already paused\n", 0), // in kubectl an error
        ("undo", "", 1),
        ("restart", "", 1),
        ("resume", "deployment.apps/web resumed\n", 0),
        ("resume", "deployment.apps/web not paused\n", 0), // in kubectl an error
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
    let cluster = Cluster::real("users-files").await;
    two_revisions(&cluster).await;
    let files = [manifest("web"), manifest("none")];
    let [web, none] = files.each_ref().map(|file| file.to_str().unwrap());
    assert_output(&cluster, &["undo", "-f", web, "-f", none], "deployment.apps/web rolled back\n", 1).await;
    cluster.delete_namespace().await;
}
