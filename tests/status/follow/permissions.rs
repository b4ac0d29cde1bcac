//! Missing permissions: the command continues without them and prints one note.

use harness::prelude::*;

const APPS: [&str; 2] = ["deployments", "replicasets"];

async fn as_user(rules: Vec<Rule>, image: &str, args: &str) -> harness::Output {
    let cluster = Cluster::simulated().start();
    cluster.sim.users(|users| users.add(User::limited("gina", rules)));
    let web = cluster.deployment(3, &json!({"progressDeadlineSeconds": 30}));
    cluster.advance(30).await;
    cluster.editor().set_image(&web, image);
    cluster.status_as("gina", args).await
}

/// Checks the exit code and the number of notes about permissions.
fn ends(output: &harness::Output, exit: u8, notes: usize) {
    output.ends(exit);
    let printed = output.stderr.lines().filter(|line| line.starts_with("note: ")).count();
    assert_eq!(printed, notes, "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn with_permission_to_get_only_status_polls() {
    let rules = || vec![Rule::allow(&["get"], &["deployments"])];
    ends(&as_user(rules(), "app:2.0", "deployment/web").await, 0, 1);
    ends(&as_user(rules(), "app:2.0-bad", "deployment/web").await, 4, 1);
}

#[tokio::test(start_paused = true)]
async fn without_permission_to_watch_status_polls() {
    let rules = || vec![Rule::allow(&["get", "list"], &["deployments", "replicasets", "pods", "events"])];
    ends(&as_user(rules(), "app:2.0", "deployment/web").await, 0, 0);
    let output = as_user(rules(), "app:2.0-bad", "deployment/web").await;
    ends(&output, 4, 0);
    assert!(output.stderr.contains("no image app:2.0-bad"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn unreadable_pods_are_reported_once() {
    let rules = vec![Rule::allow(&["get", "list", "watch"], &APPS)];
    let output = as_user(rules, "app:2.0-bad", "deployment/web").await;
    ends(&output, 4, 1);
    assert!(output.stderr.contains("note: causes are incomplete: cannot list pods"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn unreadable_events_are_reported_once() {
    let rules = vec![Rule::allow(&["get", "list", "watch"], &["deployments", "replicasets", "pods"])];
    let output = as_user(rules, "app:2.0-bad", "deployment/web").await;
    ends(&output, 4, 1);
    assert!(
        output.stderr.contains("note: causes are incomplete: cannot list events"),
        "{}",
        output.transcript
    );
    assert!(output.stderr.contains("no image app:2.0-bad"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn unreadable_logs_are_reported_once() {
    let rules =
        vec![Rule::allow(&["get", "list", "watch"], &["deployments", "replicasets", "pods", "events"])];
    let output = as_user(rules, "app:2.0-crash", "deployment/web").await;
    ends(&output, 4, 1);
    assert!(
        output.stderr.contains("note: container logs are not shown: cannot read logs"),
        "{}",
        output.transcript
    );
}

#[tokio::test(start_paused = true)]
async fn missing_permissions_end_the_command_with_an_error() {
    let output = as_user(Vec::new(), "app:2.0", "deployment/web").await;
    output.ends(1);
    assert!(output.stderr.contains("forbidden"), "{}", output.transcript);
}

/// A StatefulSet has no counter of terminating pods.
#[tokio::test(start_paused = true)]
async fn a_goal_that_needs_pods_ends_with_a_hint() {
    for watch in ["true", "false"] {
        let cluster = Cluster::simulated().start();
        let rules = Rule::allow(&["get", "list", "watch"], &["statefulsets", "controllerrevisions"]);
        cluster.sim.users(|users| users.add(User::limited("gina", vec![rules])));
        cluster.stateful_set(2, &json!({}));
        cluster.advance(30).await;
        let args = format!("statefulset/db --until old-gone --watch={watch}");
        let output = cluster.status_as("gina", &args).await;
        output.ends(1);
        let hint = "hint: wait for --until complete, or request permission to list pods\n";
        assert_eq!(output.stderr.matches(hint).count(), 1, "{}", output.transcript);
    }
}
