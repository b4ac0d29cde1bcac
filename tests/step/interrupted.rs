//! The messages of a command that ends before its goal.

use std::time::Duration;

use harness::lab::Lab;
use serde_json::json;
use simcluster::Verb;
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::STATEFULSETS;

use crate::setup::{changed, run_of};

async fn as_ada(lab: &Lab, words: &str) -> harness::Ended {
    let words: Vec<&str> = words.split(' ').collect();
    run_of(lab, &words, &[("USER", "ada"), ("HOSTNAME", "laptop")]).await
}

/// Only the released pods of a batch are updated after an interrupt; the others wait for `step`.
#[tokio::test(start_paused = true)]
async fn only_a_started_update_continues_after_an_interrupt() {
    let (lab, db) = changed(5, &json!({})).await;
    lab.hands().image(&db, "app:3.0-slow");
    lab.pass(5).await;
    for (words, going) in
        [("", "db-4 of batch 1 continues"), ("--max-unavailable 2", "db-4 db-3 of batch 1 continue")]
    {
        let ended = lab.run(&format!("step statefulset/db --no-canary --by 3 --timeout 3s {words}")).await;
        assert_eq!(ended.exit, 3, "{}", ended.transcript);
        let said = format!("timed out after 3s; it stays held; {going} in the cluster\n");
        assert!(ended.stderr.contains(&said), "{}", ended.transcript);
        assert!(!ended.stderr.contains("db-2"), "{}", ended.transcript);
    }
}

/// No other process has acquired the lease, and nothing releases it.
#[tokio::test(start_paused = true)]
async fn a_lease_that_was_not_released_is_reported_as_ours() {
    let (lab, _) = changed(3, &json!({})).await;
    let patches = Requests::of(Verb::Patch, &STATEFULSETS);
    lab.cluster.fault(Fault::on(patches, FaultAction::LoseRequest).after(2));
    let ended = as_ada(&lab, "step statefulset/db --soak 1h --timeout 15s").await;
    assert_eq!(ended.exit, 3, "{}", ended.transcript);
    assert!(!ended.stderr.contains("is stepped by"), "{}", ended.transcript);
    let said = "it stays held; no pod is being replaced; its lease was not released, so the next step waits \
                1m for it to expire (--take-over: now)";
    assert!(ended.stderr.contains(said), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn the_lease_of_a_dead_process_is_reported_with_a_hint() {
    let (lab, _) = changed(3, &json!({})).await;
    let step = as_ada(&lab, "step statefulset/db --soak 1h");
    assert!(tokio::time::timeout(Duration::from_secs(15), step).await.is_err(), "it soaks");
    let status = lab.run("status statefulset/db --watch=false").await;
    let (before, after) = status.stderr.split_once("in batch 1, stepped by ada@laptop since 20").unwrap();
    assert!(before.contains("held by a plan of step"), "{}", status.transcript);
    let way =
        "; if that process no longer runs, continue with kubectl rollout2 step statefulset/db -n default";
    assert!(after.contains(way), "{}", status.transcript);
}
