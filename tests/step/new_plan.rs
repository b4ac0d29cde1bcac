//! Plans that begin in the place of another one.

use std::time::Duration;

use harness::lab::Lab;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::STATEFULSETS;
use simcluster::{Key, Verb};

use crate::setup::{changed, object};

fn plan(lab: &Lab, key: &Key) -> Value {
    let held = object(lab, key)["metadata"]["annotations"]["kubectl-rollout2/held"].clone();
    serde_json::from_str::<Value>(held.as_str().unwrap()).unwrap()["plan"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_new_plan_reports_the_pods_released_before_it() {
    let (lab, db) = changed(5, &json!({})).await;
    let ended = lab.run("step statefulset/db --no-canary --by 2 --ignore-unready-nodes --soak 5s").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert_eq!(
        (&plan(&lab, &db)["pace"]["canary"], &plan(&lab, &db)["pace"]["soak"]),
        (&json!(false), &json!("5s"))
    );
    let ended = lab.run("step statefulset/db --new-plan").await;
    let said = "note: a new plan replaces the existing one; already updated before it: db-4 db-3\n";
    assert_eq!((ended.exit, ended.stderr.contains(said)), (0, true), "{}", ended.transcript);
    assert!(ended.stdout.contains("batch 1: db-2 released\n"), "{}", ended.transcript);
    let plan = plan(&lab, &db)["pace"].clone();
    assert_eq!((&plan["canary"], &plan["soak"]), (&json!(true), &json!("10s")), "{plan}");
    assert_eq!((&plan["by"], &plan["ignoreUnreadyNodes"]), (&json!("1"), &Value::Null), "{plan}");
}

#[tokio::test(start_paused = true)]
async fn a_new_plan_for_another_template_reports_the_pods_that_have_it() {
    let (lab, db) = changed(5, &json!({})).await;
    assert_eq!(lab.run("step statefulset/db --to 2").await.exit, 0);
    lab.hands().image(&db, "app:3.0");
    lab.pass(60).await;
    let ended = lab.run("step statefulset/db --new-plan").await;
    let said = "note: a new plan replaces the existing one; already updated before it: db-4 db-3\n";
    assert_eq!((ended.exit, ended.stderr.contains(said)), (0, true), "{}", ended.transcript);
}

/// The plan was written, and its author lost before the first batch.
#[tokio::test(start_paused = true)]
async fn a_new_plan_without_released_pods_is_reported_too() {
    let (lab, _) = changed(3, &json!({})).await;
    let patches = Requests::of(Verb::Patch, &STATEFULSETS);
    lab.cluster.fault(Fault::on(patches, FaultAction::Stall).after(1).once());
    let killed = tokio::time::timeout(Duration::from_secs(15), lab.run("step statefulset/db")).await;
    assert!(killed.is_err(), "the batch is never written");
    let ended = lab.run("step statefulset/db --new-plan").await;
    let said = "note: a new plan replaces the existing one\n";
    assert_eq!((ended.exit, ended.stderr.contains(said)), (0, true), "{}", ended.transcript);
    assert!(ended.stdout.contains("batch 1 (canary): db-2\n"), "{}", ended.transcript);
}

/// The plan that is forgotten had yet to end.
#[tokio::test(start_paused = true)]
async fn a_new_plan_after_all_pods_were_released_ends_the_plan() {
    let (lab, db) = changed(2, &json!({})).await;
    let ended = lab.run("step statefulset/db --all --final-soak 1h --timeout 2m").await;
    assert_eq!(ended.exit, 3, "{}", ended.transcript);
    let plan = lab.run("step statefulset/db --new-plan --dry-run").await;
    assert!(plan.exit == 0 && !plan.stdout.contains("nothing to step"), "{}", plan.transcript);
    let ended = lab.run("step statefulset/db --new-plan").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert!(ended.stdout.contains("stepped: every pod is updated"), "{}", ended.transcript);
    assert_eq!(object(&lab, &db)["metadata"]["annotations"]["kubectl-rollout2/held"], Value::Null);
}
