//! Missing permissions: the command continues without them and prints one note.

use serde_json::json;
use simcluster::{Rule, User};

use harness::lab::Lab;

const APPS: [&str; 2] = ["deployments", "replicasets"];

async fn as_user(rules: Vec<Rule>, image: &str, words: &str) -> harness::Ended {
    let lab = Lab::new();
    lab.cluster.users(|users| users.add(User::limited("gina", rules)));
    let web = lab.deployment(3, &json!({"progressDeadlineSeconds": 30}));
    lab.pass(30).await;
    lab.hands().image(&web, image);
    lab.status_as("gina", words).await
}

/// Checks the exit code and the number of notes about permissions.
fn ends(ended: &harness::Ended, exit: u8, notes: usize) {
    assert_eq!(ended.exit, exit, "{}", ended.transcript);
    let said = ended.stderr.lines().filter(|line| line.starts_with("note: ")).count();
    assert_eq!(said, notes, "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn permission_to_get_only_means_polling() {
    let rules = || vec![Rule::allow(&["get"], &["deployments"])];
    ends(&as_user(rules(), "app:2.0", "deployment/web").await, 0, 1);
    ends(&as_user(rules(), "app:2.0-bad", "deployment/web").await, 4, 1);
}

#[tokio::test(start_paused = true)]
async fn permission_to_get_and_list_means_polling() {
    let rules = || vec![Rule::allow(&["get", "list"], &["deployments", "replicasets", "pods", "events"])];
    ends(&as_user(rules(), "app:2.0", "deployment/web").await, 0, 0);
    let ended = as_user(rules(), "app:2.0-bad", "deployment/web").await;
    ends(&ended, 4, 0);
    assert!(ended.stderr.contains("no image app:2.0-bad"), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn unreadable_pods_are_reported_once() {
    let rules = vec![Rule::allow(&["get", "list", "watch"], &APPS)];
    let ended = as_user(rules, "app:2.0-bad", "deployment/web").await;
    ends(&ended, 4, 1);
    assert!(ended.stderr.contains("note: causes are incomplete: cannot list pods"), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn unreadable_events_are_reported_once() {
    let rules = vec![Rule::allow(&["get", "list", "watch"], &["deployments", "replicasets", "pods"])];
    let ended = as_user(rules, "app:2.0-bad", "deployment/web").await;
    ends(&ended, 4, 1);
    assert!(ended.stderr.contains("note: causes are incomplete: cannot list events"), "{}", ended.transcript);
    assert!(ended.stderr.contains("no image app:2.0-bad"), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn unreadable_logs_are_reported_once() {
    let rules =
        vec![Rule::allow(&["get", "list", "watch"], &["deployments", "replicasets", "pods", "events"])];
    let ended = as_user(rules, "app:2.0-crash", "deployment/web").await;
    ends(&ended, 4, 1);
    assert!(
        ended.stderr.contains("note: container logs are not shown: cannot read logs"),
        "{}",
        ended.transcript
    );
}

#[tokio::test(start_paused = true)]
async fn missing_permissions_end_the_command_with_an_error() {
    let ended = as_user(Vec::new(), "app:2.0", "deployment/web").await;
    assert_eq!(ended.exit, 1, "{}", ended.transcript);
    assert!(ended.stderr.contains("forbidden"), "{}", ended.transcript);
}
