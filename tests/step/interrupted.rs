//! The messages of a command that is interrupted or times out.

use harness::prelude::*;

use crate::step::setup::{changed, run_of};

async fn run_as_ada(cluster: &Cluster, args: &str) -> harness::Output {
    let args: Vec<&str> = args.split(' ').collect();
    run_of(cluster, &args, &[("USER", "ada"), ("HOSTNAME", "laptop")]).await
}

/// Only the released pods of a batch are updated after an interrupt; the others wait for `step`.
#[tokio::test(start_paused = true)]
async fn only_a_started_update_continues_after_an_interrupt() {
    let (cluster, db) = changed(5, &json!({})).await;
    cluster.editor().set_image(&db, "app:3.0-slow");
    cluster.advance(5).await;
    for (args, continuation) in
        [("", "db-4 of batch 1 continues"), ("--max-unavailable 2", "db-4 db-3 of batch 1 continue")]
    {
        let output =
            cluster.run(&format!("step statefulset/db --no-canary --by 3 --timeout 3s {args}")).await;
        output.ends(3);
        let message = format!("timed out after 3s; it stays held; {continuation} in the cluster\n");
        output.reports(&message);
        assert!(!output.stderr.contains("db-2"), "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_first_write_without_an_answer_is_reported_as_unknown() {
    let (cluster, _) = changed(3, &json!({})).await;
    let patches = Requests::of(Verb::Patch, &STATEFULSETS);
    cluster.sim.fault(Fault::on(patches, FaultAction::Stall));
    let output = run_as_ada(&cluster, "step statefulset/db --timeout 15s").await;
    output.ends(3);
    let unknown = "it is unknown whether step could acquire the lock, because the server did not answer";
    output.reports(&format!("timed out after 15s; {unknown}"));
}

/// No other process acquired the lock, and the release of the lock fails.
#[tokio::test(start_paused = true)]
async fn a_lock_whose_release_failed_is_reported_as_our_own() {
    let (cluster, _) = changed(3, &json!({})).await;
    let patches = Requests::of(Verb::Patch, &STATEFULSETS);
    cluster.sim.fault(Fault::on(patches, FaultAction::LoseRequest).after(2));
    let output = run_as_ada(&cluster, "step statefulset/db --soak 1h --timeout 15s").await;
    output.ends(3);
    assert!(!output.stderr.contains("is stepped by"), "{}", output.transcript);
    let message = "it stays held; no pod is being replaced; its lock was not released, so a step on \
                   another host needs --take-over";
    output.reports(message);
}

#[tokio::test(start_paused = true)]
async fn the_lock_of_a_dead_process_is_reported_with_a_hint() {
    let (cluster, _) = changed(3, &json!({})).await;
    let step = run_as_ada(&cluster, "step statefulset/db --soak 1h");
    assert!(tokio::time::timeout(Duration::from_secs(15), step).await.is_err(), "it soaks");
    let status = cluster.run("status statefulset/db --watch=false").await;
    let (before, after) =
        status.stderr.split_once("in batch 1, stepped by ada@laptop, last write 20").unwrap();
    assert!(before.contains("held by a plan of step"), "{}", status.transcript);
    let way = "; if that process has ended: kubectl rollout2 step statefulset/db -n default --take-over";
    assert!(after.contains(way), "{}", status.transcript);
}
