//! `status --contexts`: one follower of the workloads of several clusters.

use harness::files::directory;
use harness::prelude::*;

/// Starts two clusters with the complete Deployment `web`, and gives the second one this image.
async fn two_clusters(image: &str) -> ([Cluster; 2], [Key; 2]) {
    let clusters = [Cluster::simulated().start(), Cluster::simulated().start()];
    let keys = clusters.each_ref().map(|cluster| cluster.deployment(2, &json!({})));
    clusters[0].advance(60).await;
    if image != "app:1.0" {
        clusters[1].editor().set_image(&keys[1], image);
    }
    (clusters, keys)
}

fn status(clusters: &[Cluster; 2], args: &str) -> Run {
    let words = format!("status deployment/web --contexts * {args}");
    let start = harness::cluster::START.parse().unwrap();
    let [eu, us] = clusters;
    Run::of(words.split_whitespace()).contexts(&[("eu", eu), ("us", us)]).at(start)
}

#[tokio::test(start_paused = true)]
async fn the_context_is_in_front_of_each_line_and_the_worst_code_is_that_of_the_command() {
    let (clusters, _) = two_clusters("app:2.0-crash").await;
    let output = status(&clusters, "--fail-fast").run_async().await;
    assert_eq!(output.exit, 4, "{}", output.transcript);
    output.prints("eu: deployment \"web\" successfully rolled out\n");
    output.prints("us: Waiting for deployment \"web\" rollout to finish: ");
    output.reports("  ! us: web-").reports("error: us: deployment/web failed: crash-loop for 30s");
    output.reports("hint: kubectl rollout2 undo --context us deployment/web -n default\n");
    let reads = clusters[0].lines().iter().filter(|line| line.contains("events")).count();
    assert_eq!(reads, 0, "what is complete needs no events");

    let output = status(&clusters, "--watch=false").run_async().await;
    assert_eq!(output.exit, 3, "{}", output.transcript);
    output.prints("eu: deployment \"web\" successfully rolled out\n").prints("us: Waiting for deployment");
}

/// A command without the context would change another cluster.
#[tokio::test(start_paused = true)]
async fn the_command_in_the_live_view_has_the_context() {
    let (clusters, _) = two_clusters("app:2.0-crash").await;
    let output = status(&clusters, "--timeout 2m").terminal(120, 40).run_async().await;
    output.ends(3).prints("  hint: kubectl rollout2 undo --context us deployment/web -n default");
    assert!(!output.stdout.contains("rollout2 undo deployment"), "{}", output.stdout);
    assert!(
        !output.stdout.contains("! us: web-"),
        "the head of the block names the context: {}",
        output.stdout
    );
}

#[tokio::test(start_paused = true)]
async fn each_document_has_its_context() {
    let (clusters, _) = two_clusters("app:2.0-crash").await;
    let output = status(&clusters, "--fail-fast -o json").run_async().await;
    let documents: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, events) = documents.split_last().unwrap();
    assert!(events.iter().all(|event| event["context"].is_string()), "{}", output.stdout);
    let outcomes: Vec<_> = summary["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["context"].clone(), one["outcome"].clone(), one["hint"].clone()))
        .collect();
    assert_eq!(
        outcomes,
        [
            (json!("eu"), json!("reached"), Value::Null),
            (
                json!("us"),
                json!("failed"),
                json!("kubectl rollout2 undo --context us deployment/web -n default")
            ),
        ]
    );
    assert_eq!((output.exit, &summary["exitCode"]), (4, &json!(4)));
    let once = status(&clusters, "--watch=false -o json").run_async().await;
    let contexts: Vec<Value> = once
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["context"].clone())
        .collect();
    assert_eq!(contexts, ["eu", "us"]);
}

/// One is silent from the start, and another one during the rollout.
#[tokio::test(start_paused = true)]
async fn a_cluster_that_does_not_answer_hides_nothing_of_the_other() {
    let (clusters, _) = two_clusters("app:2.0-slow").await;
    clusters[0].sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
    let output = status(&clusters, "--request-timeout 2s").run_async().await;
    assert_eq!(output.exit, 1, "{}", output.transcript);
    output.reports("error: context eu: ").prints("us: deployment \"web\" successfully rolled out\n");

    let (clusters, keys) = two_clusters("app:1.0").await;
    for (cluster, key) in clusters.iter().zip(&keys) {
        cluster.editor().set_image(key, "app:2.0-bad");
    }
    let sim = clusters[1].sim.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
    });
    let output = status(&clusters, "--timeout 2m").run_async().await;
    output.ends(3).reports("error: timed out waiting for the condition: eu: deployment/web after 2m");
    output.reports("us: deployment/web after 2m0s (--timeout); the server does not answer");
    let of_eu = output.stderr.lines().find(|line| line.contains("condition: eu:")).unwrap();
    assert!(!of_eu.contains("does not answer"), "{of_eu}");
}

#[tokio::test(start_paused = true)]
async fn the_failure_in_one_cluster_rolls_back_the_release_in_all() {
    let (clusters, keys) = two_clusters("app:2.0-bad").await;
    clusters[0].editor().set_image(&keys[0], "app:2.0");
    let output = status(&clusters, "--undo-on-failure=all").run_async().await;
    assert_eq!(output.exit, 4, "{}", output.transcript);
    output.reports("error: us: deployment/web failed; eu: deployment/web: rolled back to revision 1");
    for (cluster, key) in clusters.iter().zip(&keys) {
        let image = cluster.sim.store(|store| {
            store.get(key).unwrap()["spec"]["template"]["spec"]["containers"][0]["image"].clone()
        });
        assert_eq!((image, cluster.writes()), (json!("app:1.0"), 1), "{}", output.transcript);
    }
    output.reports("to take this back: kubectl rollout2 undo --context eu deployment/web -n default --to ");
}

#[tokio::test(start_paused = true)]
async fn the_summary_of_a_job_has_a_column_for_the_context() {
    let (clusters, _) = two_clusters("app:2.0-crash").await;
    let file = directory().join("summary.md");
    let run = status(&clusters, "--fail-fast=5s").env("GITHUB_ACTIONS", "true").env("CI", "true");
    run.env("GITHUB_STEP_SUMMARY", &file).run_async().await.ends(4);
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[..2],
        ["| | context | workload | result | serves | causes |", "|---|---|---|---|---|---|"]
    );
    assert!(lines[2].starts_with("| ✅ | `eu` | `deployment/web` | "), "{text}");
    assert!(lines[3].starts_with("| ❌ | `us` | `deployment/web` | "), "{text}");
    assert!(
        text.contains("To roll back: `kubectl rollout2 undo deployment/web -n default --context us`"),
        "{text}"
    );
}

/// Nothing differs where there is one context.
#[tokio::test(start_paused = true)]
async fn one_context_is_followed_as_with_its_name() {
    let (clusters, _) = two_clusters("app:1.0").await;
    let run = |flag: &str| {
        let words = format!("status deployment/web {flag} -o json");
        Run::of(words.split_whitespace()).contexts(&[("eu", &clusters[0])]).run_async()
    };
    let one = run("--contexts e*").await;
    assert_eq!(one.exit, 0, "{}", one.transcript);
    assert!(!one.stdout.contains("context"), "{}", one.stdout);
    run("--contexts e* --wait-for-creation 5s").await.ends(0);
    let refused = status(&clusters, "--wait-for-creation 5s").run_async().await;
    refused.ends(2).reports("error: --wait-for-creation works on one cluster\n");
}
