//! `status` and `history` report which plan holds a workload, at which batch, and the holder of the lock.

use harness::prelude::*;

use crate::step::setup::{changed, run_of};

async fn cluster_after_one_batch() -> Cluster {
    let (cluster, _) = changed(4, &json!({})).await;
    let output =
        run_of(&cluster, &["step", "statefulset/db"], &[("USER", "ada"), ("HOSTNAME", "laptop")]).await;
    output.ends(0);
    cluster
}

const SUMMARY: &str =
    "held by a plan of step (ada@laptop), after batch 1, until kubectl rollout2 step statefulset/db";

#[tokio::test(start_paused = true)]
async fn a_plan_between_two_batches_is_described() {
    let cluster = cluster_after_one_batch().await;
    let status = cluster.run("status statefulset/db --watch=false").await;
    status.reports(SUMMARY);
    let history = cluster.run("history statefulset/db").await;
    history.reports(&format!("note: statefulset/db is {SUMMARY}"));
    let history = cluster.run("history statefulset/db -o json").await;
    let facts: Value = serde_json::from_str(&history.stdout).unwrap();
    let held = &facts["items"][0]["held"];
    assert_eq!(held["reason"], "plan");
    assert_eq!(held["by"], "ada@laptop");
    assert_eq!(held["batch"], json!({"number": 1, "done": true}));
    assert_eq!(held["steppedBy"], Value::Null, "the lock is released");
}

/// Every pod is updated, but their soak is not over.
#[tokio::test(start_paused = true)]
async fn a_plan_that_stopped_in_its_last_batch_is_not_complete() {
    let agent = || async {
        let (cluster, agent) = Cluster::simulated().daemon_set(&json!({})).await;
        cluster.run("pause daemonset/agent").await.ends(0);
        cluster.editor().set_image(&agent, "app:2.0");
        (cluster, "daemonset/agent")
    };
    for (cluster, target) in [(changed(2, &json!({})).await.0, "statefulset/db"), agent().await] {
        cluster
            .run(&format!("step {target} --all --soak 1h --no-canary --by 100% --timeout 2m"))
            .await
            .ends(3);
        let status = cluster.run(&format!("status {target} --watch=false")).await;
        status
            .ends(5)
            .reports(&format!("held by a plan of step, in batch 1, until kubectl rollout2 step {target}"));
        let list = cluster.run("list --state held -o name").await;
        assert!(list.stdout.contains(target.split('/').next().unwrap_or_default()), "{}", list.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_plan_and_a_pause_are_described() {
    let cluster = cluster_after_one_batch().await;
    let paused = cluster.run("pause statefulset/db").await;
    let note = "is held by a plan, which releases no more pods until it is resumed";
    paused.reports(note);
    let history = cluster.run("history statefulset/db").await;
    let summary = "after batch 1, paused, until kubectl rollout2 resume statefulset/db";
    history.reports(summary);
    let step = cluster.run("step statefulset/db").await;
    step.ends(5).reports("held: statefulset/db: the plan is paused");
    assert!(
        step.stderr
            .contains("hint: kubectl rollout2 resume statefulset/db -n default && kubectl rollout2 step")
    );
    let (cluster, _) = changed(2, &json!({})).await;
    let status = cluster.run("status statefulset/db --watch=false").await;
    let summary = "held by a pause, until kubectl rollout2 resume statefulset/db";
    status.reports(summary);
}

/// In every output, until the next `step` tries the batch again.
#[tokio::test(start_paused = true)]
async fn a_failed_batch_is_described() {
    let (cluster, _) = changed(4, &json!({})).await;
    let path = std::env::var("PATH").unwrap_or_default();
    let args = ["step", "statefulset/db", "--check", "exit 3"];
    let failed = run_of(&cluster, &args, &[("PATH", &path)]).await;
    assert_eq!(failed.exit, 4, "{}", failed.transcript);
    let summary =
        "held by a plan of step, the check of batch 1 failed, until kubectl rollout2 step statefulset/db";
    let status = cluster.run("status statefulset/db --watch=false").await;
    assert!(status.exit == 5 && status.stderr.contains(summary), "{}", status.transcript);
    let list = cluster.run("list").await;
    let cause = "step plan, the check of batch 1 failed: 1 of 4 updated\n";
    list.prints(cause);
    let history = cluster.run("history statefulset/db -o json").await;
    let facts: Value = serde_json::from_str(&history.stdout).unwrap();
    assert_eq!(facts["items"][0]["held"]["failure"], "the check of batch 1 failed");
    let again = run_of(&cluster, &["step", "statefulset/db", "--check", ""], &[]).await;
    assert_eq!(again.exit, 0, "{}", again.transcript);
    let history = cluster.run("history statefulset/db -o json").await;
    let facts: Value = serde_json::from_str(&history.stdout).unwrap();
    assert_eq!(facts["items"][0]["held"]["failure"], Value::Null);
}
