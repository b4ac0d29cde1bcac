//! The messages about stopped plans are true.

use std::time::Duration;

use harness::lab::{Hands, Lab};
use serde_json::json;
use simcluster::patch::Format;
use simcluster::resource::STATEFULSETS;
use simcluster::rules::{Author, Part};
use simcluster::{Key, Store};

use crate::setup::{changed, object, run_of};

fn ends_the_hold(hands: &Hands) {
    let patch = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}});
    let (db, author) = (Key::new(&STATEFULSETS, "default", "db"), Author::new("kubectl-patch"));
    let done = hands.cluster.store(|store| store.patch(&db, Part::Object, Format::Merge, &patch, &author));
    done.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_hold_ended_by_another_client_is_not_a_hold() {
    let (lab, _) = changed(4, &json!({})).await;
    lab.later(20_000, ends_the_hold);
    let ended = lab.run("step statefulset/db --all --soak 60s").await;
    assert_eq!(ended.exit, 5, "{}", ended.transcript);
    let said = "stopped: statefulset.apps/db was changed by kubectl-patch and is not held any more, so its rollout continues in the cluster";
    assert!(ended.stderr.contains(said), "{}", ended.transcript);
    assert!(ended.stderr.contains("hint: to hold it again: kubectl rollout2 step"), "{}", ended.transcript);
}

/// The annotation is the only place that keeps the original strategy.
#[tokio::test(start_paused = true)]
async fn a_removed_annotation_leaves_the_strategy_and_the_original_is_printed() {
    let (lab, _) = changed(4, &json!({})).await;
    lab.later(20_000, |hands| {
        let patch = json!({"metadata": {"annotations": {"kubectl-rollout2/held": null}}});
        let (db, author) = (Key::new(&STATEFULSETS, "default", "db"), Author::new("kubectl-annotate"));
        let store =
            |store: &mut Store| store.patch(&db, Part::Object, Format::Merge, &patch, &author).map(drop);
        hands.cluster.store(store).unwrap();
    });
    let ended = lab.run("step statefulset/db --all --soak 60s").await;
    assert_eq!(ended.exit, 5, "{}", ended.transcript);
    let said = "; no plan holds it any more, but its update strategy has partition 3: ";
    assert!(ended.stderr.contains(said), "{}", ended.transcript);
    let original =
        "the original update strategy was {\"rollingUpdate\":{\"partition\":0},\"type\":\"RollingUpdate\"}";
    assert!(ended.stderr.contains(original), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn force_does_not_skip_the_order_of_the_controller() {
    for (policy, is_ordered) in [("OrderedReady", true), ("Parallel", false)] {
        let lab = Lab::new();
        let db = lab.stateful_set(3, &json!({"podManagementPolicy": policy}));
        lab.hands().image(&db, "app:1.0-notready"); // before anybody has seen it
        lab.pass(60).await;
        lab.run("pause statefulset/db").await;
        lab.hands().image(&db, "app:2.0");
        lab.pass(5).await;
        let planned = lab.run("step statefulset/db --dry-run").await;
        assert_eq!(planned.exit, 0, "{}", planned.transcript);
        let ended = lab.run("step statefulset/db").await;
        assert_eq!(ended.exit, 5, "{}", ended.transcript);
        let (now, would) =
            (format!("note: at the moment no pod would be released:\n{}", ended.stderr), &planned.stderr);
        assert_eq!(*would, now, "{}", planned.transcript);
        let waits =
            "hint: its controller waits until this pod is ready: kubectl describe pod db-0 -n default";
        assert_eq!(ended.stderr.contains(waits), is_ordered, "{}", ended.transcript);
        assert_eq!(ended.stderr.contains(" --force"), !is_ordered, "{}", ended.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_longer_soak_is_awaited_and_reported() {
    let (lab, _) = changed(3, &json!({})).await;
    assert_eq!(lab.run("step statefulset/db").await.exit, 0);
    let ended = lab.run("step statefulset/db --soak 10m").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    let waits = "note: waiting for the released pods to be available for 10m0s";
    assert_eq!(ended.stderr.matches(waits).count(), 1, "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn all_is_not_suggested_for_a_list_that_ends_early() {
    let (lab, _) = changed(4, &json!({})).await;
    let ended = lab.run("step statefulset/db --batches 1,2").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    let next = "hint: the next batch: kubectl rollout2 step statefulset/db -n default\n";
    assert!(ended.stderr.ends_with(next), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn dry_run_reports_the_lease_holder() {
    let (lab, _) = changed(3, &json!({})).await;
    let (words, ada) =
        (["step", "statefulset/db", "--soak", "5m"], [("USER", "ada"), ("HOSTNAME", "laptop")]);
    let killed = tokio::time::timeout(Duration::from_secs(10), run_of(&lab, &words, &ada)).await;
    assert!(killed.is_err());
    let planned = lab.run("step statefulset/db --dry-run").await;
    let said = "note: ada@laptop steps statefulset/db since 2026-";
    assert!(planned.stderr.starts_with(said), "{}", planned.transcript);
    assert!(planned.stderr.ends_with(", and the next step waits for its lease\n"), "{}", planned.transcript);
    let planned = lab.run("step statefulset/db --dry-run -o json").await;
    let plan: serde_json::Value = serde_json::from_str(&planned.stdout).unwrap();
    assert_eq!((&plan["steppedBy"]["by"], &plan["blockedBy"]), (&json!("ada@laptop"), &json!(null)));
}

/// A process that takes everything back, and is killed right then.
async fn killed_on_the_way_back() -> Lab {
    let lab = Lab::new();
    lab.stateful_set(3, &json!({}));
    lab.pass(60).await;
    lab.run("pause statefulset/db").await;
    let db = Key::new(&STATEFULSETS, "default", "db");
    lab.hands().image(&db, "app:2.0-bad");
    lab.pass(5).await;
    let goes_back = async {
        while !object(&lab, &db)["metadata"]["annotations"]["kubectl-rollout2/held"]
            .to_string()
            .contains("rollingBack")
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        ended = lab.run("step statefulset/db --on-failure undo") => panic!("{}", ended.transcript),
        () = goes_back => {}
    }
    lab
}

#[tokio::test(start_paused = true)]
async fn the_rollback_marker_is_completed_or_removed() {
    let lab = killed_on_the_way_back().await;
    let on = lab.run("step statefulset/db").await;
    assert_eq!(on.exit, 4, "{}", on.transcript);
    let said = "error: statefulset.apps/db: the plan failed or was undone before, and was rolling back\n\
                error: rolled back to revision 3\n";
    assert!(on.stderr.ends_with(said), "{}", on.transcript);
    assert_eq!(lab.run("step statefulset/db").await.exit, 0);

    let lab = killed_on_the_way_back().await;
    let resumed = lab.run("resume statefulset/db").await;
    let said = "note: the plan of statefulset/db failed and is rolled back or being rolled back; removed its rollback marker";
    assert!(resumed.stderr.contains(said), "{}", resumed.transcript);

    let lab = killed_on_the_way_back().await;
    lab.hands().image(&Key::new(&STATEFULSETS, "default", "db"), "app:3.0");
    let anew = lab.run("step statefulset/db --all").await;
    assert!(!anew.stderr.contains("the hold of"), "{}", anew.transcript);
}

/// Another client applies the old manifest in the middle of a plan. The pods that were not released run its template.
#[tokio::test(start_paused = true)]
async fn pods_that_never_moved_are_not_called_created() {
    let (lab, db) = changed(4, &json!({})).await;
    lab.later(8_000, move |hands| hands.image(&db, "app:1.0"));
    let ended = lab.run("step statefulset/db --soak 1m").await;
    assert_eq!(ended.exit, 5, "{}", ended.transcript);
    assert!(!ended.transcript.contains("created these on the new revision"), "{}", ended.transcript);
}
