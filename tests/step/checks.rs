//! `--check`: the command that runs between batches, and its environment variables.

use std::path::Path;

use harness::prelude::*;

use crate::step::setup::{changed, replicas_on, run_of};

const HELD: &str = "/metadata/annotations/kubectl-rollout2~1held";

async fn run_in_shell(cluster: &Cluster, args: &[&str]) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    run_of(cluster, args, &[("PATH", &path)]).await
}

/// A variable that is not set must not release pods without the check.
#[tokio::test(start_paused = true)]
async fn a_blank_check_of_a_new_plan_is_refused() {
    let (cluster, db) = changed(3, &json!({})).await;
    let output = run_in_shell(&cluster, &["step", "statefulset/db", "--check", ""]).await;
    output.ends(2).reports("error: --check '' removes the check of a plan, and there is no plan");
    assert_eq!(replicas_on(&cluster, &db, "app:2.0"), 0);
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
        ("kill -9 $$", "the check of batch 1 failed: a signal killed it"),
    ] {
        let (cluster, db) = changed(3, &json!({})).await;
        let output = run_in_shell(&cluster, &["step", "statefulset/db", "--all", "--check", check]).await;
        assert_eq!((output.exit, replicas_on(&cluster, &db, "app:2.0")), (4, 1), "{}", output.transcript);
        output.reports(sentence);
        let step = format!("kubectl rollout2 step statefulset/db -n default --check '{check}'");
        output.reports(&format!("once it is fixed: {step}"));
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_shell_no_further_pod_is_released() {
    let (cluster, db) = changed(3, &json!({})).await;
    let output =
        run_of(&cluster, &["step", "statefulset/db", "--all", "--check", "true"], &[("PATH", "/nowhere")])
            .await;
    assert_eq!((output.exit, replicas_on(&cluster, &db, "app:2.0")), (4, 1), "{}", output.transcript);
    output.reports("sh cannot be started");
}

/// `step` never executes a command that it read from the cluster, so the user has to repeat `--check`.
#[tokio::test(start_paused = true)]
async fn the_plan_stores_only_the_digest_and_needs_the_check_again() {
    let (cluster, db) = changed(3, &json!({})).await;
    let check = "true hunter2";
    run_in_shell(&cluster, &["step", "statefulset/db", "--check", check]).await.ends(0);
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

/// Returns a check that fails so many times before it passes, with a file that counts its runs.
fn failing_first(times: usize, name: &str) -> String {
    let runs = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("watching-check-{name}"));
    let _ = std::fs::remove_file(&runs);
    let runs = runs.display();
    format!("echo run >> '{runs}'; test $(wc -l < '{runs}') -gt {times} || exit 3")
}

const WATCHING: [&str; 5] = ["step", "statefulset/db", "--soak", "1m", "--check-every"];

#[tokio::test(start_paused = true)]
async fn a_check_that_watches_may_fail_less_often_than_the_limit() {
    let patches = async |args: &[&str]| {
        let (cluster, db) = changed(3, &json!({})).await;
        let output = run_in_shell(&cluster, args).await;
        assert_eq!((output.exit, replicas_on(&cluster, &db, "app:2.0")), (0, 1), "{}", output.transcript);
        let requests = cluster.sim.requests();
        (requests.iter().filter(|request| request.verb() == Some(Verb::Patch)).count(), output)
    };
    let check = failing_first(2, "passes");
    let watching = [&WATCHING[..], &["10s", "--check-failures", "3", "--check", &check]].concat();
    let (watched, output) = patches(&watching).await;
    for line in [
        "note: the check of batch 1 failed, 1 of 3 in a row: exit 3",
        "note: the check of batch 1 failed, 2 of 3 in a row: exit 3",
        "note: the check of batch 1 passed again",
    ] {
        assert_eq!(
            output.stderr.lines().filter(|printed| *printed == line).count(),
            1,
            "{}",
            output.transcript
        );
    }
    assert_eq!(output.stdout.matches("batch 1: checking").count(), 1, "{}", output.transcript);
    let (plain, _) = patches(&["step", "statefulset/db", "--soak", "1m", "--check", "true"]).await;
    assert_eq!(watched, plain, "the soak writes nothing");
}

#[tokio::test(start_paused = true)]
async fn a_check_that_watches_fails_the_batch_during_the_soak() {
    let (cluster, db) = changed(3, &json!({})).await;
    let check = failing_first(9, "fails");
    let args = [&WATCHING[..], &["10s", "--check-failures", "3", "--check", &check, "-o", "json"]].concat();
    let output = run_in_shell(&cluster, &args).await;
    assert_eq!((output.exit, replicas_on(&cluster, &db, "app:2.0")), (4, 1), "{}", output.transcript);
    let events: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let pace = &events[0]["pace"];
    assert_eq!((&pace["checkEverySeconds"], &pace["checkFailures"]), (&json!(10.0), &json!(3)));
    let runs: Vec<&Value> = events.iter().filter(|event| event["event"] == "check").collect();
    let failures: Vec<&Value> = runs.iter().map(|run| &run["failuresInRow"]).collect();
    assert_eq!(failures, [1, 2, 3]);
    assert_eq!((&runs[0]["check"], &runs[0]["checkExitCode"]), (&json!("failed"), &json!(3)));
    let seconds: Vec<u64> =
        runs.iter().map(|run| run["elapsedMilliseconds"].as_u64().unwrap() / 1000).collect();
    assert!(seconds.windows(2).all(|pair| (10..=11).contains(&(pair[1] - pair[0]))), "{seconds:?}");
    let end = events.last().unwrap();
    assert_eq!((&end["reason"], &end["failuresInRow"]), (&json!("check"), &json!(3)), "{end}");
}

/// The plan stores the interval, so the next command needs only the check.
#[tokio::test(start_paused = true)]
async fn the_next_command_continues_to_watch() {
    let (cluster, db) = changed(3, &json!({})).await;
    let check = failing_first(0, "continues");
    let args = [&WATCHING[..], &["10s", "--check-failures", "2", "--check", &check]].concat();
    run_in_shell(&cluster, &args).await.ends(0);
    let dry_run = run_in_shell(&cluster, &["step", "statefulset/db", "--dry-run", "--check", &check]).await;
    let line = "a check every 10s of a soak and after it, 2 failures in a row fail the batch";
    dry_run.prints(line);
    let failing = check.replace("-gt 0", "-gt 1000");
    run_in_shell(&cluster, &["step", "statefulset/db", "--check", &failing]).await.ends(2);
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("watching-check-continues"), "").unwrap();
    let next = run_in_shell(&cluster, &["step", "statefulset/db", "--check", &check]).await;
    assert_eq!((next.exit, replicas_on(&cluster, &db, "app:2.0")), (0, 2), "{}", next.transcript);
    let runs =
        std::fs::read_to_string(Path::new(env!("CARGO_TARGET_TMPDIR")).join("watching-check-continues"));
    assert!((6..=7).contains(&runs.unwrap().lines().count()));
}
