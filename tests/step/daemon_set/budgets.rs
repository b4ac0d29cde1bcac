//! `--evict` and PodDisruptionBudgets.

use serde_json::json;

use super::setup::{Nodes, ZONE, fail_node};

#[tokio::test(start_paused = true)]
async fn an_evicting_plan_prints_a_line_for_each_event() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.create_budget("agent", &json!({"minAvailable": 5}));
    nodes.cluster.advance(5).await;
    let output =
        nodes.step(&format!("--all --by 2 --soak 10s --max-unavailable 2 --evict --order {ZONE}")).await;
    output.ends(0);
    insta::assert_snapshot!(output.transcript);
}

#[tokio::test(start_paused = true)]
async fn pods_kept_by_a_budget_are_not_reported_as_unavailable() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.create_budget("agent", &json!({"minAvailable": 5}));
    nodes.cluster.sim.store(|store| fail_node(store, "node-5"));
    nodes.cluster.advance(5).await;
    let args = "--all --no-canary --by 2 --evict --max-unavailable 2 --batch-timeout 60s";
    let output = nodes.step(args).await;
    output.ends(4);
    let failed = "batch 1 failed: after 1m node-0 node-1 are not updated and available";
    output.reports(failed);
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_never_allows_an_eviction_is_reported_before_any_write() {
    for (spec, args) in [
        (json!({"maxUnavailable": 1}), "daemonsets.apps does not implement the scale subresource"),
        (json!({"minAvailable": 6}), "wants 6 healthy pods"),
    ] {
        let nodes = Nodes::held("app:2.0").await;
        nodes.create_budget("agent", &spec);
        nodes.cluster.advance(5).await;
        let held = nodes.object();
        let refused = nodes.step("--all --evict").await;
        refused.ends(1);
        assert!(refused.stderr.contains(args) && refused.stderr.contains("agent"), "{}", refused.transcript);
        assert_eq!(nodes.object(), held);
        nodes.step("--all").await.ends(0); // a deletion ignores the budget
    }
}

/// A command without `--evict` continues an evicting plan with evictions. Only a new plan ends them.
#[tokio::test(start_paused = true)]
async fn a_new_plan_without_evict_replaces_one_with_it() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.step("--evict --by 2").await.ends(0);
    nodes.create_budget("agent", &json!({"minAvailable": 6}));
    nodes.cluster.advance(5).await;
    let refused = nodes.step("--all").await;
    refused.ends(1);
    let hint = "or begin a plan without --evict: kubectl rollout2 step daemonset/agent -n default --new-plan";
    refused.reports(hint);
    nodes.step("--evict --new-plan").await.ends(1);
    let output = nodes.step("--all --new-plan").await;
    output.ends(0).reports("already updated before it: node-0\n");
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (6, false));
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_step_without_released_pods_reports_no_continuation() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.create_budget("agent", &json!({"minAvailable": 6}));
    nodes.cluster.advance(5).await;
    let output = nodes.step("--evict --force --timeout 8s").await;
    output.ends(3).prints("batch 1 (canary): node-0").reports("timed out after");
}

/// `step` does not know the node of a pod that the controller has not created yet.
#[tokio::test(start_paused = true)]
async fn a_missing_pod_is_not_listed_without_its_node() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.step("--by 2").await.ends(0);
    nodes.cluster.editor().set_image(&nodes.agent, "app:3.0");
    nodes.cluster.advance(10).await;
    nodes.cluster.editor().delete(&nodes.pod_on("node-1"));
    nodes.cluster.advance(60).await;
    nodes.cluster.editor().delete(&nodes.pod_on("node-2"));
    let output = nodes.step("--new-plan --max-unavailable 2").await;
    output.ends(0).reports("already updated before it: node-1");
    assert!(!output.stderr.contains("(a node without its pod)"), "{}", output.transcript);
}
