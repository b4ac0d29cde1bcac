//! The messages about stopped plans.

use harness::prelude::*;

use crate::step::setup::{changed, run_of};

fn patch_db(editor: &Editor, patch: &Value) {
    editor.patch(&Key::new(&STATEFULSETS, "default", "db"), patch);
}

fn end_hold(editor: &Editor) {
    patch_db(editor, &json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}}));
}

/// Overwrites the annotation of the plan, or removes it.
fn set_annotation(editor: &Editor, held: &Value) {
    patch_db(editor, &json!({"metadata": {"annotations": {"kubectl-rollout2/held": held}}}));
}

#[tokio::test(start_paused = true)]
async fn a_hold_ended_by_another_client_is_reported_as_ended() {
    let (cluster, _) = changed(4, &json!({})).await;
    cluster.later(20_000, end_hold);
    let output = cluster.run("step statefulset/db --all --soak 60s").await;
    output.ends(5);
    let message = "stopped: statefulset/db was changed by kubectl-patch and is not held any more, so its rollout continues in the cluster";
    output.reports(message).reports("hint: to hold it again: kubectl rollout2 step");
}

/// Only the annotation stores the original strategy.
#[tokio::test(start_paused = true)]
async fn a_removed_annotation_leaves_the_strategy_and_the_original_is_printed() {
    let (cluster, _) = changed(4, &json!({})).await;
    cluster.later(20_000, |editor| set_annotation(editor, &Value::Null));
    let output = cluster.run("step statefulset/db --all --soak 60s").await;
    output.ends(5);
    let message = "; no plan holds it any more, but its update strategy has partition 3: ";
    output.reports(message);
    let original =
        "the original update strategy was {\"rollingUpdate\":{\"partition\":0},\"type\":\"RollingUpdate\"}";
    output.reports(original);
    let hint = "hint: to put its update strategy back: kubectl patch statefulset/db -n default --type=merge \
                -p '{\"spec\":{\"updateStrategy\":{\"rollingUpdate\":{\"partition\":0},\"type\":\"RollingUpdate\"}}}'";
    output.reports(hint);
}

/// `step` refuses an annotation that is not readable, so the hint is the way to remove it.
#[tokio::test(start_paused = true)]
async fn an_unreadable_annotation_is_removed_by_hand_and_the_original_is_printed() {
    let (cluster, _) = changed(4, &json!({})).await;
    cluster.later(20_000, |editor| set_annotation(editor, &"{}".into()));
    let output = cluster.run("step statefulset/db --all --soak 60s").await;
    output.ends(5);
    let original =
        "the original update strategy was {\"rollingUpdate\":{\"partition\":0},\"type\":\"RollingUpdate\"}";
    output.reports(original);
    let hint = "hint: correct its update strategy, then: kubectl annotate statefulset/db -n default \
                kubectl-rollout2/held-\n";
    output.reports(hint);
    assert!(!output.stderr.contains("kubectl rollout2 step"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn force_does_not_skip_the_ordered_update() {
    for (policy, is_ordered) in [("OrderedReady", true), ("Parallel", false)] {
        let cluster = Cluster::simulated().start();
        let db = cluster.stateful_set(3, &json!({"podManagementPolicy": policy}));
        cluster.editor().set_image(&db, "app:1.0-notready"); // before the controller observes the change
        cluster.advance(60).await;
        cluster.run("pause statefulset/db").await;
        cluster.editor().set_image(&db, "app:2.0");
        cluster.advance(5).await;
        let planned = cluster.run("step statefulset/db --dry-run").await;
        planned.ends(0);
        let output = cluster.run("step statefulset/db").await;
        output.ends(5);
        let (now, would) =
            (format!("note: at the moment no pod would be released:\n{}", output.stderr), &planned.stderr);
        assert_eq!(*would, now, "{}", planned.transcript);
        let waits =
            "hint: its controller waits until this pod is ready: kubectl describe pod db-0 -n default";
        assert_eq!(output.stderr.contains(waits), is_ordered, "{}", output.transcript);
        assert_eq!(output.stderr.contains(" --force"), !is_ordered, "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_longer_soak_is_awaited_and_reported() {
    let (cluster, _) = changed(3, &json!({})).await;
    cluster.run("step statefulset/db").await.ends(0);
    let output = cluster.run("step statefulset/db --soak 10m").await;
    output.ends(0);
    let waits = "note: waiting for the released pods to be available for 10m0s";
    assert_eq!(output.stderr.matches(waits).count(), 1, "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn the_hint_does_not_suggest_all_for_batches_that_end_below_100_percent() {
    let (cluster, _) = changed(4, &json!({})).await;
    let output = cluster.run("step statefulset/db --batches 1,2").await;
    output.ends(0);
    let next = "hint: the next batch: kubectl rollout2 step statefulset/db -n default\n";
    output.reports_last(next);
}

#[tokio::test(start_paused = true)]
async fn dry_run_reports_the_holder_of_the_lock() {
    let (cluster, _) = changed(3, &json!({})).await;
    let (args, ada) = (["step", "statefulset/db", "--soak", "5m"], [("USER", "ada"), ("HOSTNAME", "laptop")]);
    let killed = tokio::time::timeout(Duration::from_secs(10), run_of(&cluster, &args, &ada)).await;
    assert!(killed.is_err());
    let planned = cluster.run("step statefulset/db --dry-run").await;
    let message = "note: at the moment no pod would be released:\n\
                   held: statefulset/db: ada@laptop steps it, last write 10s ago; if that process has ended, \
                   use --take-over\n\
                   hint: to take it over: kubectl rollout2 step statefulset/db -n default --take-over\n";
    assert_eq!(planned.stderr, message, "{}", planned.transcript);
    let planned = cluster.run("step statefulset/db --dry-run -o json").await;
    let plan: serde_json::Value = serde_json::from_str(&planned.stdout).unwrap();
    let written = &plan["blockedBy"]["lastWrite"];
    let facts = json!({
        "outcome": "stopped", "severity": "held", "reason": "locked", "by": "ada@laptop", "lastWrite": written,
        "message": "ada@laptop steps it, last write 10s ago; if that process has ended, use --take-over",
        "hint": "to take it over: kubectl rollout2 step statefulset/db -n default --take-over",
    });
    assert_eq!((&plan["blockedBy"], written.is_string()), (&facts, true));
}

/// Returns a cluster whose rollback was started by a process that was killed before it completed.
async fn killed_during_rollback() -> Cluster {
    let (cluster, _) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.run("pause statefulset/db").await;
    let db = Key::new(&STATEFULSETS, "default", "db");
    cluster.editor().set_image(&db, "app:2.0-bad");
    cluster.advance(5).await;
    let goes_back = async {
        while !cluster.object(&db)["metadata"]["annotations"]["kubectl-rollout2/held"]
            .to_string()
            .contains("rollingBack")
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        output = cluster.run("step statefulset/db --on-failure undo") => panic!("{}", output.transcript),
        () = goes_back => {}
    }
    cluster
}

#[tokio::test(start_paused = true)]
async fn the_rollback_marker_is_completed_or_removed() {
    let cluster = killed_during_rollback().await;
    let on = cluster.run("step statefulset/db --take-over").await;
    on.ends(4);
    let message = "error: statefulset/db: batch 1 failed: image-not-found: db-2\n\
                error: rolled back to revision 3; it is neither held nor paused\n";
    on.reports_last(message);
    cluster.run("step statefulset/db").await.ends(0);

    let cluster = killed_during_rollback().await;
    let resumed = cluster.run("resume statefulset/db").await;
    let message = "note: the plan of statefulset/db failed and is rolled back or being rolled back; removed its rollback marker";
    resumed.reports(message);

    let cluster = killed_during_rollback().await;
    cluster.editor().set_image(&Key::new(&STATEFULSETS, "default", "db"), "app:3.0");
    let continued = cluster.run("step statefulset/db --all").await;
    assert!(!continued.stderr.contains("the hold of"), "{}", continued.transcript);
}

/// Another client applies the old manifest during a plan. The pods that were not released run its template.
#[tokio::test(start_paused = true)]
async fn pods_that_were_never_released_are_not_reported_as_created() {
    let (cluster, db) = changed(4, &json!({})).await;
    cluster.later(8_000, move |editor| editor.set_image(&db, "app:1.0"));
    let output = cluster.run("step statefulset/db --soak 1m").await;
    output.ends(5);
    assert!(!output.transcript.contains("created these on the new revision"), "{}", output.transcript);
}
