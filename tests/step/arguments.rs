//! Invalid arguments are refused before any request is sent.

use harness::prelude::*;

#[tokio::test(start_paused = true)]
async fn a_node_selector_that_no_plan_can_store_is_refused() {
    let (cluster, _) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.sim.forget_requests();
    let long = ["pool=blue"; 103].join(",");
    let output = cluster.run(&format!("step ds/agent --node-selector {long}")).await;
    output.ends(2);
    let message = "error: a plan stores at most 1024 characters of --order and --node-selector";
    assert!(output.stderr.contains(message), "{}", output.transcript);
    assert_eq!(cluster.sim.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn arguments_invalid_for_the_workload_are_refused_before_any_write() {
    let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.run("pause statefulset/db").await;
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(5).await;
    let before = cluster.revision();
    for (args, exit, message) in [
        ("--max-unavailable 3", 1, "--max-unavailable"),
        ("--max-unavailable 100%", 1, "--max-unavailable"),
        ("--max-unavailable 7", 1, "--max-unavailable"),
        ("--order zone", 2, "--order does not apply to statefulset/db"),
        ("--node-selector a=b", 2, "--node-selector does not apply to statefulset/db"),
        ("--evict", 2, "--evict does not apply to statefulset/db"),
        ("--surge 1", 2, "--surge does not apply to statefulset/db"),
        ("--to 4", 1, "--to 4 is more than the 3 pods of statefulset/db"),
        ("--to 4 --dry-run", 1, "--to 4 is more than the 3 pods of statefulset/db"),
    ] {
        cluster.run(&format!("step sts/db {args}")).await.ends(exit).reports(message);
    }
    assert_eq!(cluster.revision(), before);
    for (batches, equal) in [
        ("1,40%,100%", "1, 40%, 100% are 1, 1, 3"),
        ("2,40%,100%", ""),
        ("70%,1,3", ""),
        ("1,4,100%", "1, 4, 100% are 1, 3, 3"),
    ] {
        let output = cluster.run(&format!("step sts/db --batches {batches} --to 3 --dry-run")).await;
        output.ends(0);
        let is_whole = ["batch 1  canary", "batch 2"].iter().all(|batch| output.stdout.contains(batch));
        assert!(is_whole, "{batches}: {}", output.transcript);
        let note = format!("note: of 3 pods, --batches {equal}: equal numbers are one batch\n");
        let expected = if equal.is_empty() { String::new() } else { note };
        assert_eq!(output.stderr, expected, "{}", output.transcript);
    }
    cluster.run("step sts/nobody").await.ends(1);
}

#[test]
fn a_snapshot_can_be_previewed_but_not_stepped() {
    let shop = harness::snapshot_path("shop");
    let run = |args: &[&str]| Run::of(["step", "sts/db", "--from"]).arg(&shop).args(args).run();
    let output = run(&[]);
    assert_eq!((output.exit, output.stdout.as_str()), (2, ""));
    output.reports("a snapshot cannot be changed");
    assert_eq!(run(&["--dry-run"]).exit, 0, "{}", run(&["--dry-run"]).transcript);
}

#[test]
fn the_help_matches_its_snapshot() {
    let output = Run::of(["step", "--help"]).run();
    let own_options = output.stdout.split("Options for every verb:").next().unwrap();
    let below = output.stdout.split("\nExamples:\n").nth(1).unwrap();
    insta::assert_snapshot!(format!("{own_options}...\n\nExamples:\n{below}"));
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_prints_one_plan_document_without_writing_a_plan() {
    let (cluster, _) = Cluster::simulated().stateful_set(2, &json!({})).await;
    let output = cluster.run("step statefulset/db --dry-run -o json").await;
    assert_eq!((output.exit, output.stdout.lines().count()), (0, 1), "{}", output.transcript);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&document["kind"], &document["event"]), (&json!("StepPlan"), &Value::Null));
    assert_eq!((&document["outcome"], &document["exitCode"]), (&json!("nothing-outdated"), &json!(0)));
}
