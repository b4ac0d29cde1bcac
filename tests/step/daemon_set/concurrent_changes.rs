//! What happens while it is stepped: pods that die, nodes that come, processes that are killed, people.

use std::time::Duration;

use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::patch::Format;
use simcluster::resource::{DAEMONSETS, NODES, PODS};
use simcluster::rules::{Author, Part};
use simcluster::{Store, Verb, object};

use super::setup::{Nodes, ZONE, ends, pod_on};

/// A node is added.
fn join(store: &mut Store, name: &str) {
    let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    let node = json!({"metadata": {"name": name, "labels": {"kubernetes.io/os": "linux", ZONE: "z0"}},
        "spec": {}, "status": ready});
    store.create(&NODES, "", node, &Author::new("test")).unwrap();
}

#[tokio::test(start_paused = true)]
async fn dead_pods_and_new_nodes_are_reported_and_counted() {
    let nodes = Nodes::held("app:2.0").await;
    ends(&nodes.step("").await, 0);
    let dying = nodes.images()[4].0.clone();
    nodes.lab.later(3_000, move |hands| hands.delete(&pod_on(hands, &dying).unwrap()));
    nodes.lab.later(20_000, |hands| hands.cluster.store(|store| join(store, "node-9")));
    let ended = nodes.step("--all --soak 15s").await;
    ends(&ended, 0);
    assert!(
        ended.transcript.contains("node-4") && ended.transcript.contains("node-9"),
        "{}",
        ended.transcript
    );
    let removals = nodes.removals();
    assert!(
        !removals.contains(&"node-4".to_owned()) && !removals.contains(&"node-9".to_owned()),
        "{removals:?}"
    );
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (7, false));
}

/// In a large fleet there is always a node that comes, or a pod that dies: neither is of the batch.
#[tokio::test(start_paused = true)]
async fn other_nodes_do_not_restart_the_soak_of_a_batch() {
    let nodes = Nodes::held("app:2.0").await;
    ends(&nodes.step("").await, 0);
    nodes.lab.pass(120).await;
    nodes.lab.later(30_000, |hands| hands.delete(&pod_on(hands, "node-0").unwrap()));
    nodes.lab.later(60_000, |hands| hands.cluster.store(|store| join(store, "node-9")));
    let ended = nodes.step("--by 3 --soak 90s -o json").await;
    ends(&ended, 0);
    let lines: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let printed = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    assert_eq!(printed("added-by-cluster").len(), 1, "{}", ended.transcript);
    assert_eq!(printed("soak-restarted"), Vec::<&Value>::new());
    let took = printed("ended")[0]["elapsedMilliseconds"].as_f64().unwrap() / 1000.0;
    assert!((90.0..120.0).contains(&took), "{took} seconds: {}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_between_two_deletions_is_continued() {
    let nodes = Nodes::held("app:2.0").await;
    let deletions = Requests::of(Verb::Delete, &PODS);
    nodes.lab.cluster.fault(Fault::on(deletions, FaultAction::Stall).after(1).once());
    let words = "step daemonset/agent --all --no-canary --by 3 --max-unavailable 2";
    let killed = tokio::time::timeout(Duration::from_secs(20), nodes.lab.run(words)).await;
    assert!(killed.is_err(), "the second deletion is never answered");
    assert_eq!(nodes.removals().len(), 2);
    let begun = nodes.lab.revision();
    ends(&nodes.step("").await, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false), "the same reach, and the same pace");
    assert!(nodes.most_missing(begun) <= 2);
    let mut removals = nodes.removals();
    assert_eq!(removals.len(), 7, "one was asked for twice, and never done the first time: {removals:?}");
    removals.sort();
    removals.dedup();
    assert_eq!(removals.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_pause_between_two_deletions_stops_the_second() {
    let nodes = Nodes::held("app:2.0").await;
    let pausing = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        nodes.lab.run("pause daemonset/agent").await
    };
    let (ended, paused) = tokio::join!(nodes.step("--all --no-canary --by 6"), pausing);
    ends(&paused, 0);
    ends(&ended, 5);
    assert!(nodes.removals().len() < 6, "{}", ended.transcript);
    ends(&nodes.lab.run("resume daemonset/agent").await, 0);
    ends(&nodes.step("").await, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false));
}

/// The write that begins the plan is made, its answer is lost, and before anybody looks again somebody
/// applies another template.
#[tokio::test(start_paused = true)]
async fn a_template_changed_behind_a_lost_answer_is_an_external_change() {
    let nodes = Nodes::held("app:2.0").await;
    let (cluster, agent) = (&nodes.lab.cluster, nodes.agent.clone());
    cluster.fault(Fault::on(Requests::of(Verb::Patch, &DAEMONSETS), FaultAction::LoseAnswer).once());
    let act = FaultAction::write_before(move |store| {
        if object::at(store.find(&agent).unwrap(), &["metadata", "annotations", "kubectl-rollout2/held"])
            .is_some_and(|held| held.as_str().unwrap().contains("\"lease\""))
        {
            let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:3.0"}]}}}});
            store.patch(&agent, Part::Object, Format::Merge, &image, &Author::new("kubectl")).unwrap();
        }
    });
    cluster.fault(Fault::on(Requests::of(Verb::Get, &DAEMONSETS), act));
    let ended = nodes.step("--all").await;
    ends(&ended, 5);
    assert!(ended.stderr.contains("image app:3.0"), "{}", ended.transcript);
    assert_eq!(nodes.removals(), Vec::<String>::new());
}

/// Between the look that decides on a deletion and the deletion itself: what the look has not seen is read
/// again.
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
    nodes.lab.cluster.fault(Fault::on(Requests::of(Verb::List, &NODES), act));
    let ended = nodes.step("--all").await;
    ends(&ended, 5);
    assert!(ended.stderr.contains("held: daemonset.apps/agent: the plan is paused"), "{}", ended.transcript);
    assert_eq!((nodes.removals(), nodes.on("app:2.0")), (Vec::new(), 0));
}
