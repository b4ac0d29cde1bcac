//! `list --since`: the rollouts whose template changed since a time.

use harness::prelude::*;

use crate::list::objects::{every_state, listing};

/// A DaemonSet that did not change, a Deployment that was rolled back 5 minutes ago, and a StatefulSet that crashes since
/// 2 minutes.
async fn changed() -> Cluster {
    let cluster = Cluster::simulated().start();
    let web = cluster.deployment(2, &json!({}));
    let db = cluster.stateful_set(2, &json!({}));
    cluster.daemon_set(&json!({}));
    cluster.advance(3600).await;
    cluster.editor().set_image(&web, "app:2.0");
    cluster.advance(60).await;
    cluster.run("undo deployment/web").await.ends(0);
    cluster.advance(180).await;
    cluster.editor().set_image(&db, "app:2.0-crash");
    cluster.advance(120).await;
    cluster
}

#[tokio::test(start_paused = true)]
async fn only_changed_rollouts_are_listed() {
    let cluster = changed().await;
    for (words, names, last) in [
        (
            "--since 10m",
            vec!["statefulset/db", "deployment/web"],
            "2 workloads: 1 stuck, 1 complete; changed since 14:21 UTC",
        ),
        ("--since 3m", vec!["statefulset/db"], "1 workload: 1 stuck; changed since 14:28 UTC"),
        (
            "deploy --since 14:26 -A",
            vec!["deployment/web"],
            "1 workload: 1 complete; changed since 14:26 UTC",
        ),
        (
            "--since 10m --state complete",
            vec!["deployment/web"],
            "2 workloads: 1 stuck, 1 complete; changed since 14:21 UTC",
        ),
        ("--since 1m", vec![], "0 workloads; changed since 14:30 UTC"),
    ] {
        let output = cluster.run(&format!("list {words}")).await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{words}");
        let lines: Vec<_> = output.stdout.lines().collect();
        let (end, rows) = lines.split_last().unwrap();
        let listed =
            rows.iter().skip(1).filter_map(|row| row.split_whitespace().find(|word| word.contains('/')));
        assert_eq!((listed.collect::<Vec<_>>(), *end), (names, last), "{words}\n{}", output.stdout);
    }
}

#[tokio::test(start_paused = true)]
async fn wide_has_the_change_and_its_author() {
    let cluster = changed().await;
    let output = cluster.run("list --since 10m -o wide").await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    insta::assert_snapshot!(output.stdout);
}

#[tokio::test(start_paused = true)]
async fn documents_have_the_listed_rollouts_only() {
    let cluster = changed().await;
    let output = cluster.run("list --since 3m -o json").await;
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["states"], json!({"stuck": 1}));
    assert_eq!(document["items"].as_array().unwrap().len(), 1);
    cluster.run("list --since 3m --fail-on-state stuck").await.ends(3);
    assert_eq!(
        cluster.run("list --since 1m --fail-on-state stuck").await.exit,
        0,
        "the StatefulSet is older"
    );
}

/// A list without revisions would say that nothing changed.
#[tokio::test(start_paused = true)]
async fn forbidden_revisions_are_an_error() {
    let user = User::limited("gina", [Rule::allow(&["list"], &["deployments", "pods", "events"])]);
    let (cluster, _) = Cluster::simulated().user(user).deployment(1, &json!({})).await;
    let output = cluster.run_as("gina", "list deploy --since 1h").await;
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
    assert!(output.stderr.starts_with("error: cannot read replicasets: forbidden"), "{}", output.stderr);
}

#[test]
fn a_narrow_terminal_shortens_images_and_keeps_the_cause() {
    let image = format!("registry.example.com/{}:1.0", "a-long-name/".repeat(8));
    let mut objects = every_state();
    for object in &mut objects {
        if let Some(container) = object.pointer_mut("/spec/template/spec/containers/0/image") {
            *container = json!(image);
        }
    }
    let run: Run = listing(&objects, &["deploy,sts", "-A", "-o", "wide", "--color", "never"]);
    let output = run.terminal(80, 40).run().stdout;
    assert!(output.lines().all(|line| line.chars().count() <= 120), "{output}");
    assert!(output.contains('…') && output.contains("paused, until kubectl rollout2 resume"), "{output}");
}
