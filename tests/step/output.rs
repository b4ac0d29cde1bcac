//! The output of `step`, line by line.

use harness::lab::Lab;
use serde_json::json;

use crate::setup::{changed, replicas_on, run_of};

#[tokio::test(start_paused = true)]
async fn an_update_is_stepped_to_its_end() {
    let (lab, db) = changed(5, &json!({})).await;
    let ended = lab.run("step statefulset/db --by 2 --all --soak 5m").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert_eq!(replicas_on(&lab, &db, "app:2.0"), 5);
    insta::assert_snapshot!(ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn one_command_releases_one_batch_and_the_next_continues() {
    let (lab, db) = changed(3, &json!({})).await;
    let mut transcripts = String::new();
    for expected in [1, 2, 3] {
        let ended = lab.run("step statefulset/db").await;
        transcripts += &format!("$ step statefulset/db\n{}exit {}\n\n", ended.transcript, ended.exit);
        assert_eq!((ended.exit, replicas_on(&lab, &db, "app:2.0")), (0, expected), "{transcripts}");
    }
    let ended = lab.run("step statefulset/db").await;
    transcripts += &format!("$ step statefulset/db\n{}exit {}\n", ended.transcript, ended.exit);
    assert_eq!(ended.exit, 0);
    insta::assert_snapshot!(transcripts);
}

#[tokio::test(start_paused = true)]
async fn a_running_rollout_is_held_and_updated_pods_are_listed() {
    let lab = Lab::new();
    let db = lab.stateful_set(5, &json!({"minReadySeconds": 10}));
    lab.pass(120).await;
    lab.hands().image(&db, "app:2.0");
    lab.pass(15).await;
    let ended = lab.run("step statefulset/db").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert!(ended.stderr.contains("already updated before this plan: db-4 db-3"), "{}", ended.transcript);
    insta::assert_snapshot!(ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn dry_run_prints_the_whole_plan() {
    let (lab, _) = changed(5, &json!({})).await;
    let before = lab.revision();
    let ended =
        lab.run("step statefulset/db --by 2 --soak 5m --final-soak 1h --on-failure undo --dry-run").await;
    assert_eq!((ended.exit, lab.revision()), (0, before), "{}", ended.transcript);
    insta::assert_snapshot!(ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn every_event_is_a_line_of_json() {
    let (lab, _) = changed(2, &json!({})).await;
    let ended = lab.run("step statefulset/db --all --soak 1m -o json").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    let lines: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        assert_eq!((&line["apiVersion"], &line["kind"]), (&json!("rollout2/v1"), &json!("StepEvent")));
        assert_eq!(line["workload"]["name"], "db");
    }
    assert_eq!(lines.last().unwrap()["outcome"], "complete");
    let uid = lines[0]["workload"]["uid"].as_str().unwrap();
    insta::assert_snapshot!(ended.stdout.replace(uid, "UID"));
}

#[tokio::test(start_paused = true)]
async fn a_failed_batch_holds_everything_and_prints_hints() {
    let (lab, db) = changed(3, &json!({})).await;
    lab.hands().image(&db, "app:3.0-crash");
    lab.pass(5).await;
    let ended = lab.run("step statefulset/db --all").await;
    assert_eq!((ended.exit, replicas_on(&lab, &db, "app:3.0-crash")), (4, 1), "{}", ended.transcript);
    insta::assert_snapshot!(ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_failed_batch_is_rolled_back_with_on_failure_undo() {
    let (lab, db) = changed(3, &json!({})).await;
    lab.hands().image(&db, "app:3.0-crash");
    lab.pass(5).await;
    let ended = lab.run("step statefulset/db --all --on-failure undo").await;
    assert_eq!((ended.exit, replicas_on(&lab, &db, "app:1.0")), (4, 3), "{}", ended.transcript);
    insta::assert_snapshot!(ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn nothing_outdated_is_reported() {
    let lab = Lab::new();
    lab.stateful_set(2, &json!({}));
    lab.pass(60).await;
    let before = lab.revision();
    let ended = lab.run("step statefulset/db").await;
    assert_eq!(ended.stdout, "statefulset.apps/db: no pod is outdated, so there is nothing to step\n");
    assert_eq!((ended.exit, lab.revision()), (0, before), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn too_many_unavailable_pods_are_listed_and_nothing_is_released() {
    let lab = Lab::new();
    let db = lab.stateful_set(3, &json!({"podManagementPolicy": "Parallel"}));
    lab.hands().image(&db, "app:1.0-notready"); // before anybody has seen it
    lab.pass(60).await;
    lab.run("pause statefulset/db").await;
    lab.hands().image(&db, "app:2.0");
    lab.pass(5).await;
    let ended = lab.run("step statefulset/db").await;
    assert_eq!(ended.exit, 5, "{}", ended.transcript);
    insta::assert_snapshot!(ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn plan_and_outcome_documents_have_the_documented_fields() {
    let (lab, _) = changed(3, &json!({})).await;
    let plan = lab.run("step statefulset/db --to 50% --soak 1m --dry-run -o json").await;
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
    assert_eq!((&plan["kind"], &plan["reach"]), (&json!("StepPlan"), &json!("50%")));
    assert_eq!(plan["pace"]["soakSeconds"], 60.0);
    assert_eq!(plan["pods"], json!({"wanted": 3, "updated": 0}));
    assert_eq!(plan["batches"][0]["slots"], json!([{"name": "db-2", "state": "outdated"}]));
    for (words, exit, outcome, reason) in [
        ("--timeout 1s --soak 1m", 3, "timed-out", json!(null)),
        ("--complete --check false", 4, "failed", json!("check")),
        ("--no-check", 5, "stopped", json!("paused")),
    ] {
        if exit == 5 {
            lab.run("pause statefulset/db").await;
        }
        let words = format!("step statefulset/db -o json {words}");
        let words: Vec<&str> = words.split(' ').collect();
        let path = std::env::var("PATH").unwrap_or_default();
        let ended = run_of(&lab, &words, &[("PATH", &path)]).await;
        let last: serde_json::Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((ended.exit, &last["exitCode"]), (exit, &json!(exit)), "{}", ended.transcript);
        assert_eq!((&last["event"], &last["outcome"]), (&json!("ended"), &json!(outcome)));
        assert_eq!(last["reason"], reason, "{last}");
    }
}
