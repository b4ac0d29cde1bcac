//! Invalid arguments are refused before any request is sent.

use harness::prelude::*;

#[tokio::test(start_paused = true)]
async fn invalid_arguments_send_no_request() {
    let (cluster, _) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.sim.forget_requests();
    let long = format!("ds/agent --node-selector {}", ["pool=blue"; 103].join(","));
    for (args, message) in [
        ("sts/db --by 0", "invalid value '0' for '--by <N|N%>': it must be at least 1"),
        ("sts/db --by 0%", "invalid value '0%' for '--by <N|N%>': it must be at least 1"),
        ("sts/db --by -1", "invalid value '-1' for '--by <N|N%>': it must be a number of pods"),
        ("sts/db --by 101%", "invalid value '101%' for '--by <N|N%>': it must be at most 100%"),
        ("sts/db --to 0", "invalid value '0' for '--to <N|N%>': it must be at least 1"),
        (
            "sts/db --max-unavailable 0",
            "invalid value '0' for '--max-unavailable <N|N%>': it must be at least 1",
        ),
        (
            "sts/db --batches 2,1",
            "invalid value '2,1' for '--batches <N|N%,...>': 1 is not above the goal before it",
        ),
        ("sts/db --batches 10%,10%", "10% is not above the goal before it"),
        ("sts/db --batches 1,", "invalid value '1,' for '--batches <N|N%,...>': it must be a number of pods"),
        ("sts/db --batches 1,10% --all", "--batches \"1,10%\" does not lead to the end, and --all does"),
        ("sts/db --by 1 --batches 1,2", "cannot be used with"),
        ("sts/db --to 1 --all", "cannot be used with"),
        ("sts/db --check true --no-check", "unexpected argument '--no-check'"),
        (
            "sts/db --batch-timeout 0",
            "invalid value '0' for '--batch-timeout <DURATION>': must be more than 0",
        ),
        ("sts/db --soak soon", "invalid value 'soon' for '--soak <DURATION>': expected a duration"),
        ("sts/db --soak -5m", "unexpected argument"),
        ("sts/db --dry-run=server", "--dry-run=server is not supported: a plan consists of many writes"),
        ("ds/agent --node-selector a=b=c", "a=b=c"),
        ("ds/agent --order=", "--order requires a label"),
        (long.as_str(), "error: a plan stores at most 1024 characters of --order and --node-selector"),
        ("sts/db --surge none", "invalid value 'none' for '--surge <N|N%>': it must be a number of pods"),
        ("sts", "exactly one workload must be named\nhint: write it as statefulset/db"),
        ("", "required resource not specified\nhint: write it as statefulset/db"),
        ("sts/db sts/log", "step takes one workload"),
        ("all", "exactly one workload must be named"),
        ("pods/db-0", "is not a type with rollouts"),
        ("sts/db -A", "unexpected argument"),
        ("sts/db --field-manager", "a value is required"),
    ] {
        let output = cluster.run(&format!("step {args}")).await;
        assert_eq!(output.exit, 2, "{args}: {}", output.transcript);
        assert!(output.stderr.contains(message), "{args}: {}", output.transcript);
        assert!(output.stdout.is_empty(), "{args}: {}", output.stdout);
    }
    assert_eq!(cluster.sim.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn arguments_invalid_for_the_workload_are_refused_before_any_write() {
    let (cluster, db) = Cluster::simulated().stateful_set(3, &json!({})).await;
    cluster.run("pause statefulset/db").await;
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(5).await;
    let before = cluster.revision();
    for args in ["--max-unavailable 3", "--max-unavailable 100%", "--max-unavailable 7"] {
        let output = cluster.run(&format!("step sts/db {args}")).await;
        assert_eq!(output.exit, 1, "{args}: {}", output.transcript);
        assert!(output.stderr.contains("--max-unavailable"), "{args}: {}", output.transcript);
    }
    for (args, message) in [
        ("--order zone", "--order does not apply to statefulset/db"),
        ("--node-selector a=b", "--node-selector does not apply to statefulset/db"),
        ("--evict", "--evict does not apply to statefulset/db"),
        ("--surge 1", "--surge does not apply to statefulset/db"),
    ] {
        let output = cluster.run(&format!("step sts/db {args}")).await;
        assert_eq!(output.exit, 2, "{args}: {}", output.transcript);
        assert!(output.stderr.contains(message), "{args}: {}", output.transcript);
    }
    for (args, message) in [
        ("--to 4", "--to 4 is more than the 3 pods of statefulset/db"),
        ("--to 4 --dry-run", "--to 4 is more than the 3 pods of statefulset/db"),
    ] {
        let output = cluster.run(&format!("step sts/db {args}")).await;
        assert_eq!(output.exit, 1, "{args}: {}", output.transcript);
        assert!(output.stderr.contains(message), "{args}: {}", output.transcript);
    }
    assert_eq!(cluster.revision(), before);
    for batches in ["1,40%,100%", "2,40%,100%", "70%,1,3", "1,4,100%"] {
        let output = cluster.run(&format!("step sts/db --batches {batches} --to 3 --dry-run")).await;
        output.ends(0);
        let is_whole = ["batch 1  canary", "batch 2"].iter().all(|batch| output.stdout.contains(batch));
        assert!(is_whole, "{batches}: {}", output.transcript);
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
