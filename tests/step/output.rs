//! The output of `step`, line by line.

use harness::prelude::*;

use crate::step::setup::{changed, replicas_on, run_of};

#[tokio::test(start_paused = true)]
async fn an_update_is_stepped_to_its_end() {
    let (cluster, db) = changed(5, &json!({})).await;
    let output = cluster.run("step statefulset/db --by 2 --all --soak 5m").await;
    output.ends(0);
    assert_eq!(replicas_on(&cluster, &db, "app:2.0"), 5);
    insta::assert_snapshot!(output.transcript);
}

#[tokio::test(start_paused = true)]
async fn one_command_releases_one_batch_and_the_next_continues() {
    let (cluster, db) = changed(3, &json!({})).await;
    let mut transcripts = String::new();
    for expected in [1, 2, 3] {
        let output = cluster.run("step statefulset/db").await;
        transcripts += &format!("$ step statefulset/db\n{}exit {}\n\n", output.transcript, output.exit);
        assert_eq!((output.exit, replicas_on(&cluster, &db, "app:2.0")), (0, expected), "{transcripts}");
    }
    let output = cluster.run("step statefulset/db").await;
    transcripts += &format!("$ step statefulset/db\n{}exit {}\n", output.transcript, output.exit);
    output.ends(0);
    insta::assert_snapshot!(transcripts);
}

#[tokio::test(start_paused = true)]
async fn a_running_rollout_is_held_and_updated_pods_are_listed() {
    let cluster = Cluster::simulated().start();
    let db = cluster.stateful_set(5, &json!({"minReadySeconds": 10}));
    cluster.advance(120).await;
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(15).await;
    let output = cluster.run("step statefulset/db").await;
    output.ends(0).reports("already updated before this plan: db-4 db-3");
    insta::assert_snapshot!(output.transcript);
}

#[tokio::test(start_paused = true)]
async fn dry_run_prints_the_whole_plan() {
    let (cluster, _) = changed(5, &json!({})).await;
    let before = cluster.revision();
    let output =
        cluster.run("step statefulset/db --by 2 --soak 5m --final-soak 1h --on-failure undo --dry-run").await;
    assert_eq!((output.exit, cluster.revision()), (0, before), "{}", output.transcript);
    insta::assert_snapshot!(output.transcript);
}

/// The terminal would break words, and the command to end the hold.
#[tokio::test(start_paused = true)]
async fn a_plan_is_wrapped_between_words_on_a_terminal() {
    let (cluster, web) = Cluster::simulated().deployment(4, &json!({})).await;
    cluster.run("pause deployment/web").await;
    cluster.editor().set_image(&web, "app:2.0");
    cluster.advance(5).await;
    for args in ["--dry-run", "--all"] {
        let args = format!("step deployment/web --by 1 --on-failure undo --plain {args}");
        let run = cluster.command(args.split(' ')).env("NO_COLOR", "1").terminal(50, 24);
        let output = run.run_async().await;
        output.ends(0);
        let is_short = |line: &str| line.chars().count() <= 50 || line.trim_start().starts_with("kubectl ");
        assert!(output.transcript.lines().all(is_short), "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn every_event_is_a_line_of_json() {
    let (cluster, _) = changed(2, &json!({})).await;
    let output = cluster.run("step statefulset/db --all --soak 1m -o json").await;
    output.ends(0);
    let lines: Vec<serde_json::Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        assert_eq!((&line["apiVersion"], &line["kind"]), (&json!("rollout2/v1"), &json!("StepEvent")));
        assert_eq!(line["workload"]["name"], "db");
    }
    assert_eq!(lines.last().unwrap()["outcome"], "complete");
    let uid = lines[0]["workload"]["uid"].as_str().unwrap();
    insta::assert_snapshot!(output.stdout.replace(uid, "UID"));
}

#[tokio::test(start_paused = true)]
async fn a_failed_batch_holds_everything_and_prints_hints() {
    let (cluster, db) = changed(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:3.0-crash");
    cluster.advance(5).await;
    let output = cluster.run("step statefulset/db --all").await;
    assert_eq!((output.exit, replicas_on(&cluster, &db, "app:3.0-crash")), (4, 1), "{}", output.transcript);
    insta::assert_snapshot!(output.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_failed_batch_is_rolled_back_with_on_failure_undo() {
    let (cluster, db) = changed(3, &json!({})).await;
    cluster.editor().set_image(&db, "app:3.0-crash");
    cluster.advance(5).await;
    let output = cluster.run("step statefulset/db --all --on-failure undo").await;
    assert_eq!((output.exit, replicas_on(&cluster, &db, "app:1.0")), (4, 3), "{}", output.transcript);
    insta::assert_snapshot!(output.transcript);
}

#[tokio::test(start_paused = true)]
async fn nothing_outdated_is_reported() {
    let (cluster, _) = Cluster::simulated().stateful_set(2, &json!({})).await;
    let before = cluster.revision();
    let output = cluster.run("step statefulset/db").await;
    assert_eq!(output.stdout, "statefulset/db: no pod is outdated, so there is nothing to step\n");
    assert_eq!((output.exit, cluster.revision()), (0, before), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn too_many_unavailable_pods_are_listed_and_nothing_is_released() {
    let cluster = Cluster::simulated().start();
    let db = cluster.stateful_set(3, &json!({"podManagementPolicy": "Parallel"}));
    cluster.editor().set_image(&db, "app:1.0-notready"); // before the controller observes the change
    cluster.advance(60).await;
    cluster.run("pause statefulset/db").await;
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(5).await;
    let output = cluster.run("step statefulset/db").await;
    output.ends(5);
    insta::assert_snapshot!(output.transcript);
}

#[tokio::test(start_paused = true)]
async fn plan_and_outcome_documents_have_the_documented_fields() {
    let (cluster, _) = changed(3, &json!({})).await;
    let plan = cluster.run("step statefulset/db --to 50% --soak 1m --dry-run -o json").await;
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
    assert_eq!((&plan["kind"], &plan["reach"]), (&json!("StepPlan"), &json!("50%")));
    assert_eq!(plan["pace"]["soakSeconds"], 60.0);
    assert_eq!(plan["pods"], json!({"wanted": 3, "updated": 0}));
    assert_eq!(plan["batches"][0]["slots"], json!([{"name": "db-2", "state": "outdated"}]));
    for (args, exit, outcome, reason) in [
        ("--timeout 1s --soak 1m", 3, "timed-out", json!("timed-out")),
        ("--skip-soak --check false", 4, "failed", json!("check")),
        ("--check ", 5, "stopped", json!("paused")),
    ] {
        if exit == 5 {
            cluster.run("pause statefulset/db").await;
        }
        let args = format!("step statefulset/db -o json {args}");
        let args: Vec<&str> = args.split(' ').collect();
        let path = std::env::var("PATH").unwrap_or_default();
        let output = run_of(&cluster, &args, &[("PATH", &path)]).await;
        let last: serde_json::Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((output.exit, &last["exitCode"]), (exit, &json!(exit)), "{}", output.transcript);
        assert_eq!((&last["event"], &last["outcome"]), (&json!("ended"), &json!(outcome)));
        assert_eq!(last["reason"], reason, "{last}");
    }
}

/// With `OnDelete` the controller still records the first revision, and below the partition of the plan it creates pods from
/// that one.
#[tokio::test(start_paused = true)]
async fn a_plan_begins_with_a_warning_about_pods_that_come_back_on_an_earlier_revision() {
    let cluster = Cluster::simulated().start();
    let db = cluster.stateful_set(3, &json!({"updateStrategy": {"type": "OnDelete"}}));
    cluster.advance(120).await;
    cluster.editor().set_image(&db, "app:2.0");
    for pod in ["db-2", "db-1", "db-0"] {
        cluster.editor().delete(&Key::new(&PODS, "default", pod));
        cluster.advance(60).await;
    }
    cluster.editor().set_image(&db, "app:3.0");
    cluster.advance(5).await;
    let warning = "warning: the controller of statefulset/db still records revision 1 as the current one: an evicted pod \
                   comes back on it until it is released: db-0..db-2";
    for (args, is_warned) in [("--dry-run", true), ("", true), ("", false)] {
        let output = cluster.run(&format!("step statefulset/db {args}")).await;
        output.ends(0);
        assert_eq!(output.stderr.contains(warning), is_warned, "{args}: {}", output.transcript);
    }
    cluster.editor().delete(&Key::new(&PODS, "default", "db-0"));
    cluster.advance(60).await;
    assert_eq!(["app:1.0", "app:2.0", "app:3.0"].map(|image| replicas_on(&cluster, &db, image)), [1, 0, 2]);
}

/// Its controller stores no revision of a template that was changed during a pause, so that `began` has none.
#[tokio::test(start_paused = true)]
async fn the_last_document_has_the_revision_that_was_stored_after_the_beginning() {
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.run("pause deployment/web").await.ends(0);
    cluster.editor().set_image(&web, "app:2.0");
    cluster.advance(10).await;
    let output = cluster.run("step deployment/web -o json").await;
    let lines: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let target = |line: &Value| [line["event"].clone(), line["toRevision"].clone()];
    assert_eq!(target(&lines[0]), [json!("began"), Value::Null], "{}", output.transcript);
    assert_eq!(target(lines.last().unwrap()), [json!("ended"), json!(2)], "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn every_decision_is_printed_on_request() {
    for (more, beginning) in [("", "statefulset/db  revision 1 -> 2"), (" -o json", "{")] {
        let (cluster, _) = changed(2, &json!({})).await;
        let output = cluster.run(&format!("step statefulset/db --check true -v 4{more}")).await;
        let decisions: Vec<_> =
            output.stderr.lines().filter_map(|line| line.strip_prefix("step: ")).collect();
        let expected = [
            "acquire the lock",
            "begin the next batch",
            "wait for the controller to observe the change",
            "wait",
            "run the check",
            "wait",
            "record that the batch is done",
            "end: reached",
            "release the lock",
        ];
        assert_eq!(decisions, expected, "{}", output.transcript);
        assert!(output.exit == 0 && output.stdout.starts_with(beginning), "{}", output.transcript);
    }
}
