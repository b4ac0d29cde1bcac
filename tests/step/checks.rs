//! `--check`: the command that runs between batches, and its environment variables.

use harness::Output;
use harness::test_cluster::TestCluster;
use serde_json::{Value, json};

use crate::step::setup::{changed, replicas_on, run_of};

const HELD: &str = "/metadata/annotations/kubectl-rollout2~1held";

async fn run_in_shell(cluster: &TestCluster, args: &[&str]) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    run_of(cluster, args, &[("PATH", &path)]).await
}

#[tokio::test(start_paused = true)]
async fn a_check_gets_variables_and_its_output_goes_to_stderr() {
    let (cluster, db) = changed(3, &json!({})).await;
    let check = "env | grep ^ROLLOUT2_ | sort; printf 'bad \\033[31mwords\\n' >&2";
    let output =
        run_in_shell(&cluster, &["step", "statefulset/db", "--by", "2", "--all", "--check", check]).await;
    assert_eq!((output.exit, replicas_on(&cluster, &db, "app:2.0")), (0, 3), "{}", output.transcript);
    assert!(!output.stdout.contains("check|"), "{}", output.stdout);
    for line in [
        "    check| ROLLOUT2_BATCH=1",
        "    check| ROLLOUT2_PODS=db-2",
        "    check| ROLLOUT2_UPDATED=1",
        "    check| ROLLOUT2_BATCH=2",
        "    check| ROLLOUT2_PODS=db-1 db-0",
        "    check| ROLLOUT2_UPDATED=3",
        "    check| ROLLOUT2_TOTAL=3",
        "    check| ROLLOUT2_FROM=1",
        "    check| ROLLOUT2_TO=2",
        "    check| ROLLOUT2_NAME=db",
        "    check| ROLLOUT2_TYPE=statefulset",
        "    check| ROLLOUT2_NAMESPACE=default",
        "    check| bad ^[[31mwords",
    ] {
        assert!(output.stderr.lines().any(|printed| printed == line), "{line}: {}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failing_check_fails_the_batch() {
    for (check, sentence) in [
        ("exit 3", "the check of batch 1 failed: exit 3"),
        ("kill -9 $$", "the check of batch 1 was killed by a signal"),
    ] {
        let (cluster, db) = changed(3, &json!({})).await;
        let output = run_in_shell(&cluster, &["step", "statefulset/db", "--all", "--check", check]).await;
        assert_eq!((output.exit, replicas_on(&cluster, &db, "app:2.0")), (4, 1), "{}", output.transcript);
        assert!(output.stderr.contains(sentence), "{}", output.transcript);
        let way_on = "once it is fixed: kubectl rollout2 step statefulset/db -n default --check '...'";
        assert!(output.stderr.contains(way_on), "{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_shell_no_further_pod_is_released() {
    let (cluster, db) = changed(3, &json!({})).await;
    let output =
        run_of(&cluster, &["step", "statefulset/db", "--all", "--check", "true"], &[("PATH", "/nowhere")])
            .await;
    assert_eq!((output.exit, replicas_on(&cluster, &db, "app:2.0")), (4, 1), "{}", output.transcript);
    assert!(output.stderr.contains("sh cannot be started"), "{}", output.transcript);
}

/// `step` never executes a command that it read from the cluster, so the user has to repeat `--check`.
#[tokio::test(start_paused = true)]
async fn the_plan_stores_only_the_digest_and_needs_the_check_again() {
    let (cluster, db) = changed(3, &json!({})).await;
    let check = "true hunter2";
    let first = run_in_shell(&cluster, &["step", "statefulset/db", "--check", check]).await;
    assert_eq!(first.exit, 0, "{}", first.transcript);
    let held = cluster.object(&db);
    let text = held.pointer(HELD).and_then(Value::as_str).unwrap();
    // printf %s 'true hunter2' | sha256sum
    assert!(text.contains(DIGEST) && !text.contains("hunter2"), "{text}");
    let before = cluster.revision();
    for args in [&["step", "statefulset/db"][..], &["step", "statefulset/db", "--check", "false"]] {
        let output = run_in_shell(&cluster, args).await;
        assert_eq!((output.exit, cluster.revision()), (2, before), "{}", output.transcript);
    }
    let same = run_in_shell(&cluster, &["step", "statefulset/db", "--check", check]).await;
    assert_eq!((same.exit, replicas_on(&cluster, &db, "app:2.0")), (0, 2), "{}", same.transcript);
    let without = run_in_shell(&cluster, &["step", "statefulset/db", "--check", ""]).await;
    assert_eq!((without.exit, replicas_on(&cluster, &db, "app:2.0")), (0, 3), "{}", without.transcript);
}

const DIGEST: &str = "6c3e90b88fda9808b60830e0221cf1dd2f3f4abccd923a652e0c916656763755";

/// The line of the check follows the line of the soak. The output of the check and the end of the batch follow it.
#[tokio::test(start_paused = true)]
async fn the_lines_of_a_batch_are_in_the_order_of_its_stages() {
    let (cluster, _) = changed(2, &json!({})).await;
    let output =
        run_in_shell(&cluster, &["step", "statefulset/db", "--soak", "5s", "--check", "echo fine"]).await;
    let stages = [
        "batch 1 (canary)",
        "batch 1: db-1 released",
        "batch 1: available, soaking",
        "batch 1: checking",
        "check| fine",
        "batch 1: done",
    ];
    let places: Vec<_> = stages.iter().map(|stage| output.transcript.find(stage)).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}: {}", output.transcript);
}
