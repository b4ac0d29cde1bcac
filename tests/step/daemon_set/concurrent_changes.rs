//! Changes while a DaemonSet is stepped: failed pods, added nodes, killed processes and other clients.

use harness::prelude::*;
use simcluster::{Store, object};

use super::setup::{Nodes, ZONE, pod_on};

/// Adds a node.
fn add_node(store: &mut Store, name: &str) {
    let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    let node = json!({"metadata": {"name": name, "labels": {"kubernetes.io/os": "linux", ZONE: "z0"}},
        "spec": {}, "status": ready});
    store.create(&NODES, "", node, &Author::new("test")).unwrap();
}

#[tokio::test(start_paused = true)]
async fn deleted_pods_and_new_nodes_are_reported_and_counted() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.step("").await.ends(0);
    let dying = nodes.images()[4].0.clone();
    nodes.cluster.later(3_000, move |editor| editor.delete(&pod_on(editor, &dying).unwrap()));
    nodes.cluster.later(20_000, |editor| editor.sim.store(|store| add_node(store, "node-9")));
    let output = nodes.step("--all --soak 15s").await;
    output.ends(0);
    assert!(
        output.transcript.contains("node-4") && output.transcript.contains("node-9"),
        "{}",
        output.transcript
    );
    let removals = nodes.removals();
    assert!(
        !removals.contains(&"node-4".to_owned()) && !removals.contains(&"node-9".to_owned()),
        "{removals:?}"
    );
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (7, false));
}

/// In a large cluster nodes are added and pods fail at any time. Neither belongs to the batch.
#[tokio::test(start_paused = true)]
async fn other_nodes_do_not_restart_the_soak_of_a_batch() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.step("").await.ends(0);
    nodes.cluster.advance(120).await;
    nodes.cluster.later(30_000, |editor| editor.delete(&pod_on(editor, "node-0").unwrap()));
    nodes.cluster.later(60_000, |editor| editor.sim.store(|store| add_node(store, "node-9")));
    let output = nodes.step("--by 3 --soak 90s -o json").await;
    output.ends(0);
    let lines: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let printed = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    assert_eq!(printed("added-by-controller").len(), 1, "{}", output.transcript);
    assert_eq!(printed("soak-restarted"), Vec::<&Value>::new());
    let took = printed("ended")[0]["elapsedMilliseconds"].as_f64().unwrap() / 1000.0;
    assert!((90.0..120.0).contains(&took), "{took} seconds: {}", output.transcript);
}

/// The answer to the write that begins the plan is lost. Before the next refresh another client applies another
/// template.
#[tokio::test(start_paused = true)]
async fn a_template_changed_after_a_lost_answer_is_an_external_change() {
    let nodes = Nodes::held("app:2.0").await;
    let (cluster, agent) = (&nodes.cluster.sim, nodes.agent.clone());
    cluster.fault(Fault::on(Requests::of(Verb::Patch, &DAEMONSETS), FaultAction::LoseAnswer).once());
    let act = FaultAction::write_before(move |store| {
        if object::at(store.find(&agent).unwrap(), &["metadata", "annotations", "kubectl-rollout2/held"])
            .is_some_and(|held| held.as_str().unwrap().contains("\"lock\""))
        {
            let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:3.0"}]}}}});
            store.patch(&agent, Part::Object, Format::Merge, &image, &Author::new("kubectl")).unwrap();
        }
    });
    cluster.fault(Fault::on(Requests::of(Verb::Get, &DAEMONSETS), act));
    let output = nodes.step("--all").await;
    output.ends(5).reports("image app:3.0");
    assert_eq!(nodes.removals(), Vec::<String>::new());
}

/// Another client pauses between the refresh that decides on a deletion and the deletion. `step` reads the
/// DaemonSet again before it deletes.
#[tokio::test(start_paused = true)]
async fn a_pause_after_the_refresh_stops_the_next_deletion() {
    let nodes = Nodes::held("app:2.0").await;
    let agent = nodes.agent.clone();
    let act = FaultAction::write_before(move |store| {
        const HELD: &str = "kubectl-rollout2/held";
        let found = store.find(&agent).unwrap();
        let held = object::at(found, &["metadata", "annotations", HELD]).and_then(|held| held.as_str());
        let mut held: serde_json::Value = serde_json::from_str(held.unwrap()).unwrap();
        if held["plan"]["batch"]["slots"].is_array() {
            held["paused"] = true.into();
            let paused = json!({"metadata": {"annotations": {HELD: held.to_string()}}});
            store.patch(&agent, Part::Object, Format::Merge, &paused, &Author::new("kubectl")).unwrap();
        }
    });
    nodes.cluster.sim.fault(Fault::on(Requests::of(Verb::List, &NODES), act));
    let output = nodes.step("--all").await;
    output.ends(5).reports("held: daemonset/agent: the plan is paused");
    assert_eq!((nodes.removals(), nodes.nodes_with("app:2.0")), (Vec::new(), 0));
}
