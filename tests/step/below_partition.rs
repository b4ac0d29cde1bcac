//! Back from below the partition that a set has itself: by `--on-failure undo`, and by hand.

use harness::lab::Lab;
use serde_json::{Value, json};
use simcluster::Key;

use crate::setup::{changed, object, replicas_on, run_of};

/// Five pods, of which the set's own partition keeps three; the third batch is below it, and a check says
/// no of it.
async fn refused(on_failure: &str) -> (Lab, Key, harness::Ended) {
    let (lab, db) = changed(5, &own()).await;
    let words = ["step", "statefulset/db", "--to", "100%", "--on-failure", on_failure, "--check", CHECK];
    let path = std::env::var("PATH").unwrap_or_default();
    let ended = run_of(&lab, &words, &[("PATH", &path)]).await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    (lab, db, ended)
}

const CHECK: &str = "test $ROLLOUT2_BATCH -lt 3";

fn own() -> Value {
    json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}})
}

#[track_caller]
fn is_as_it_was(lab: &Lab, db: &Key, transcript: &str) {
    let set = object(lab, db);
    assert_eq!(set["spec"]["updateStrategy"], own()["updateStrategy"], "{transcript}");
    assert_eq!(set["metadata"]["annotations"]["kubectl-rollout2/held"], Value::Null, "{transcript}");
    assert_eq!(replicas_on(lab, db, "app:2.0"), 0, "{transcript}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_below_the_partition_is_rolled_back_before_it_is_reported() {
    let (lab, db, ended) = Box::pin(refused("undo")).await;
    let said = "error: rolled back to revision 1";
    assert!(ended.stderr.contains(said), "{}", ended.transcript);
    is_as_it_was(&lab, &db, &ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn undo_below_the_partition_reports_how_its_hold_ends() {
    let (lab, db, _) = Box::pin(refused("hold")).await;
    let undone = lab.run("undo statefulset/db --wait").await;
    assert_eq!((undone.exit, replicas_on(&lab, &db, "app:2.0")), (0, 0), "{}", undone.transcript);
    for line in [
        "note: the plan released db-2 below the StatefulSet's partition 3: it is rolled back too, \
         and the StatefulSet is held until then",
        "hint: to finish the rollback and restore the strategy: \
         kubectl rollout2 step statefulset/db -n default",
    ] {
        assert!(undone.stderr.lines().any(|said| said == line), "{line}: {}", undone.transcript);
    }
    let history = lab.run("history statefulset/db").await;
    let held = "rolling back, until kubectl rollout2 step statefulset/db";
    assert!(history.stderr.contains(held), "{}", history.transcript);
    let again = lab.run("undo statefulset/db").await;
    assert!(again.stdout.contains("skipped rollback"), "it is not turned round: {}", again.transcript);
    assert!(again.stderr.contains("hint: to finish the rollback"), "{}", again.transcript);
    let foreseen = lab.run("step statefulset/db --dry-run").await;
    assert_eq!(foreseen.exit, 4, "{}", foreseen.transcript);
    assert!(foreseen.stderr.contains("the plan failed or was undone before"), "{}", foreseen.transcript);
    let ended = lab.run("step statefulset/db").await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    // The controller gave the old revision a new number.
    assert!(ended.stderr.contains("rolled back to revision 3"), "{}", ended.transcript);
    is_as_it_was(&lab, &db, &ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn resume_ends_the_hold_of_a_completed_rollback() {
    let (lab, db, _) = Box::pin(refused("hold")).await;
    lab.run("undo statefulset/db").await;
    lab.pass(120).await;
    let resumed = lab.run("resume statefulset/db --release-all").await;
    assert_eq!(resumed.exit, 0, "{}", resumed.transcript);
    is_as_it_was(&lab, &db, &resumed.transcript);
}
