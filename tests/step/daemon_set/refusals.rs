//! Arguments and DaemonSets that are refused before any write.

use harness::prelude::*;

use super::setup::{Nodes, ZONE};

#[tokio::test(start_paused = true)]
async fn a_surge_is_refused_unless_one_unavailable_node_at_a_time_is_accepted() {
    let surge = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
    let nodes = Nodes::new(&json!({"updateStrategy": surge})).await;
    nodes.hold("app:2.0").await;
    let held = nodes.object();
    let refused = nodes.step("--all").await;
    refused.ends(1).reports("maxSurge");
    assert_eq!(nodes.object(), held, "nothing was written");
    let begun = nodes.cluster.revision();
    nodes.step("").await.ends(1);
    nodes.step("--force").await.ends(0);
    nodes.step("--all").await.ends(0);
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.max_unavailable_since(begun)), (6, 1));
    assert_eq!((nodes.strategy(), nodes.is_held()), (surge, false));
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_list_nodes_their_labels_are_refused_before_any_write() {
    let nodes = Nodes::held("app:2.0").await;
    let rules = [
        Rule::allow(&["get", "list", "watch", "patch"], &["daemonsets"]),
        Rule::allow(&["list", "watch"], &["controllerrevisions", "events"]),
        Rule::allow(&["list", "watch", "delete"], &["pods"]),
    ];
    nodes.cluster.sim.users(|users| users.add(User::limited("gina", rules)));
    let held = nodes.object();
    for args in [format!("--order {ZONE}"), format!("--node-selector {ZONE}=z1")] {
        let refused = nodes.cluster.run_as("gina", &format!("step daemonset/agent {args}")).await;
        refused.ends(1).reports("cannot read nodes");
        assert_eq!(nodes.object(), held);
    }
    let output = nodes.cluster.run_as("gina", "step daemonset/agent --all").await;
    output.ends(0);
    assert_eq!(output.stderr.matches("cannot read nodes").count(), 1, "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_node_selector_without_outdated_nodes_fails() {
    let nodes = Nodes::held("app:2.0").await;
    let held = nodes.object();
    let typo = nodes.step("--all --node-selector pool=canry").await;
    typo.ends(1).reports("--node-selector pool=canry matches none of the 6 nodes");
    assert_eq!(nodes.object(), held);
    let dying = nodes.pod_on("node-1");
    nodes.cluster.editor().delete(&dying);
    nodes.cluster.advance(60).await;
    let done = nodes.step("--all --node-selector kubernetes.io/hostname=node-1").await;
    done.ends(5).reports("5 other nodes have one");
    assert_eq!(nodes.removals(), Vec::<String>::new());
}
