//! `--new-plan` replaces an existing plan.

use harness::prelude::*;

use crate::step::setup::changed;

fn plan(cluster: &Cluster, key: &Key) -> Value {
    let held = cluster.object(key)["metadata"]["annotations"]["kubectl-rollout2/held"].clone();
    serde_json::from_str::<Value>(held.as_str().unwrap()).unwrap()["plan"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_new_plan_reports_the_pods_released_before_it() {
    let (cluster, db) = changed(5, &json!({})).await;
    cluster.run("step statefulset/db --no-canary --by 2 --force --soak 5s").await.ends(0);
    assert_eq!(
        (&plan(&cluster, &db)["pace"]["canary"], &plan(&cluster, &db)["pace"]["soak"]),
        (&json!(false), &json!("5s"))
    );
    let output = cluster.run("step statefulset/db --new-plan").await;
    let message = "note: a new plan replaces the existing one; already updated before it: db-4 db-3\n";
    assert_eq!((output.exit, output.stderr.contains(message)), (0, true), "{}", output.transcript);
    output.prints("batch 1: db-2 released\n");
    let plan = plan(&cluster, &db)["pace"].clone();
    assert_eq!((&plan["canary"], &plan["soak"]), (&json!(true), &json!("10s")), "{plan}");
    assert_eq!((&plan["by"], &plan["ignoreUnreadyNodes"]), (&json!("1"), &Value::Null), "{plan}");
}

#[tokio::test(start_paused = true)]
async fn a_new_plan_for_another_template_reports_the_pods_that_have_it() {
    let (cluster, db) = changed(5, &json!({})).await;
    cluster.run("step statefulset/db --to 2").await.ends(0);
    cluster.editor().set_image(&db, "app:3.0");
    cluster.advance(60).await;
    let output = cluster.run("step statefulset/db --new-plan").await;
    let message = "note: a new plan replaces the existing one; already updated before it: db-4 db-3\n";
    assert_eq!((output.exit, output.stderr.contains(message)), (0, true), "{}", output.transcript);
}

/// The process died after it wrote the plan and before the first batch.
#[tokio::test(start_paused = true)]
async fn a_new_plan_without_released_pods_is_reported_too() {
    let (cluster, _) = changed(3, &json!({})).await;
    let patches = Requests::of(Verb::Patch, &STATEFULSETS);
    cluster.sim.fault(Fault::on(patches, FaultAction::Stall).after(1).once());
    let killed = tokio::time::timeout(Duration::from_secs(15), cluster.run("step statefulset/db")).await;
    assert!(killed.is_err(), "the write of the batch gets no answer");
    let output = cluster.run("step statefulset/db --new-plan --take-over").await;
    let message = "note: a new plan replaces the existing one\n";
    assert_eq!((output.exit, output.stderr.contains(message)), (0, true), "{}", output.transcript);
    output.prints("batch 1 (canary): db-2\n");
}

/// The replaced plan had released every pod but was not completed.
#[tokio::test(start_paused = true)]
async fn a_new_plan_after_all_pods_were_released_ends_the_plan() {
    let (cluster, db) = changed(2, &json!({})).await;
    cluster.run("step statefulset/db --all --final-soak 1h --timeout 2m").await.ends(3);
    let plan = cluster.run("step statefulset/db --new-plan --dry-run").await;
    assert!(plan.exit == 0 && !plan.stdout.contains("nothing to step"), "{}", plan.transcript);
    let output = cluster.run("step statefulset/db --new-plan").await;
    output.ends(0).prints("stepped: every pod is updated");
    assert_eq!(cluster.object(&db)["metadata"]["annotations"]["kubectl-rollout2/held"], Value::Null);
}

/// An earlier plan released the canary, and a later change makes it crash.
#[tokio::test(start_paused = true)]
async fn a_crash_outside_a_batch_is_a_failure_for_a_plan_that_rolls_back() {
    for (on_failure, exit) in [("undo", 4), ("hold", 5)] {
        let (cluster, db) = changed(5, &json!({"podManagementPolicy": "Parallel"})).await;
        cluster.run("step statefulset/db").await.ends(0);
        cluster.editor().set_image(&db, "app:3.0-crash");
        cluster.advance(60).await;
        let output =
            cluster.run(&format!("step statefulset/db --new-plan --all --on-failure {on_failure}")).await;
        let failed = "error: statefulset/db: updated pods failed outside a batch: crash-loop: db-4\n";
        let facts = (output.exit, output.stderr.contains(failed), cluster.ready_pods());
        let pods = if exit == 4 { "1.0 5/5" } else { "1.0 4/4, 3.0-crash 0/1" };
        assert_eq!(facts, (exit, exit == 4, pods.to_owned()), "{}", output.transcript);
    }
}
