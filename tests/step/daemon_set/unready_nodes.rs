//! Bad releases, and nodes that are not ready.

use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{NODES, PODS};
use simcluster::rules::{Author, Deletion, Part};
use simcluster::{Key, Verb};

use super::setup::{Nodes, ends, fails, pod_on, set_ready, unready};

#[tokio::test(start_paused = true)]
async fn a_bad_release_is_held_at_the_canary_and_undone() {
    let nodes = Nodes::held("app:2.0-bad").await;
    let before = nodes.lab.revision();
    let ended = nodes.step("--all --by 2").await;
    ends(&ended, 4);
    assert_eq!((nodes.on("app:2.0-bad"), nodes.on("app:1.0"), nodes.most_missing(before)), (1, 5, 1));
    ends(&nodes.lab.run("undo daemonset/agent --wait").await, 0);
    assert_eq!((nodes.on("app:1.0"), nodes.is_held()), (6, false));
    assert_eq!(nodes.strategy()["type"], "RollingUpdate");
}

#[tokio::test(start_paused = true)]
async fn a_bad_release_is_rolled_back_with_on_failure_undo() {
    let nodes = Nodes::held("app:2.0-crash").await;
    ends(&nodes.step("--all --on-failure undo").await, 4);
    nodes.lab.pass(5).await;
    assert_eq!((nodes.on("app:1.0"), nodes.is_held()), (6, false));
    assert_eq!(nodes.strategy()["type"], "RollingUpdate");
}

#[tokio::test(start_paused = true)]
async fn an_unready_node_is_skipped_and_stays_held() {
    let nodes = Nodes::held("app:2.0").await;
    unready(&nodes.lab.hands(), "node-1", "Unknown");
    nodes.lab.pass(5).await;
    let ended = nodes.step("--all --ignore-unready-nodes").await;
    ends(&ended, 5);
    assert!(ended.transcript.contains("node-1"), "{}", ended.transcript);
    assert!(!nodes.removals().contains(&"node-1".to_owned()));
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (5, true));
    unready(&nodes.lab.hands(), "node-1", "True");
    nodes.lab.pass(5).await;
    ends(&nodes.step("--all").await, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_becomes_ready_is_stepped() {
    let nodes = Nodes::held("app:2.0").await;
    unready(&nodes.lab.hands(), "node-1", "Unknown");
    nodes.lab.later(3_000, |hands| unready(hands, "node-1", "True"));
    let ended = nodes.step("--all --soak 5s --ignore-unready-nodes").await;
    ends(&ended, 0);
    let said: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("skipped")).collect();
    let left_out = "note: skipped, because their nodes are NotReady: node-1";
    assert_eq!(said, [left_out, "note: no pod is skipped any more"], "{}", ended.transcript);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false));
}

/// A deleted pod that never terminates.
fn deleted_and_not_ended(nodes: &Nodes, node: &str) -> Key {
    let (pod, author) = (nodes.pod_on(node), Author::new("kubectl"));
    nodes.lab.cluster.store(|store| {
        let stays = |pod: &mut Value| pod["metadata"]["finalizers"] = json!(["a/b"]);
        store.edit(&pod, Part::Object, &author, stays).unwrap();
        store.delete(&pod, &Deletion::default(), &author).unwrap();
    });
    pod
}

/// Its pod was deleted, and nobody there ends it: it is not waited for, and it is not on the new revision.
#[tokio::test(start_paused = true)]
async fn a_pod_that_cannot_terminate_on_an_unready_node_is_never_done() {
    let nodes = Nodes::held("app:2.0").await;
    unready(&nodes.lab.hands(), "node-1", "Unknown");
    let on_it = deleted_and_not_ended(&nodes, "node-1");
    nodes.lab.pass(5).await;
    let ended = nodes.step("--all --ignore-unready-nodes").await;
    ends(&ended, 5);
    assert!(
        ended.stderr.contains("skipped, because their nodes are NotReady: node-1"),
        "{}",
        ended.transcript
    );
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (5, true));
    unready(&nodes.lab.hands(), "node-1", "True");
    nodes.lab.cluster.store(|store| {
        let author = Author::new("kubectl");
        store.edit(&on_it, Part::Object, &author, |pod| pod["metadata"]["finalizers"] = json!([])).unwrap();
    });
    nodes.lab.pass(5).await;
    ends(&nodes.step("--all").await, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false));
}

#[tokio::test(start_paused = true)]
async fn an_unready_node_counts_as_unavailable_unless_ignored() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.lab.cluster.store(|store| fails(store, "node-1"));
    nodes.lab.pass(5).await;
    let ended = nodes.step("--all").await;
    ends(&ended, 5);
    insta::assert_snapshot!(ended.transcript);
    assert_eq!(nodes.removals(), Vec::<String>::new());
}

/// Its pod was deleted already, so that it does not wait for us; it counts all the same.
#[tokio::test(start_paused = true)]
async fn the_hint_names_the_flag_for_a_terminating_pod() {
    let nodes = Nodes::held("app:2.0").await;
    unready(&nodes.lab.hands(), "node-1", "Unknown");
    deleted_and_not_ended(&nodes, "node-1");
    nodes.lab.pass(700).await;
    let ended = nodes.step("--all").await;
    ends(&ended, 5);
    let hint = "hint: ignore nodes that are not ready: kubectl rollout2 step daemonset/agent \
                -n default --ignore-unready-nodes\n";
    assert!(ended.stderr.contains(hint), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_fails_during_its_batch_is_skipped() {
    let nodes = Nodes::held("app:2.0").await;
    let act = FaultAction::write_before(|store| set_ready(store, "node-2", "Unknown"));
    nodes.lab.cluster.fault(Fault::on(Requests::of(Verb::Delete, &PODS), act).after(1).once());
    let ended = nodes.step("--all --no-canary --by 3 --soak 5s --ignore-unready-nodes").await;
    ends(&ended, 5);
    assert!(!nodes.removals().contains(&"node-2".to_owned()), "{}", ended.transcript);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (5, true));
}

/// One of many nodes always fails. It was updated long before, so it says nothing of the batch that is under way.
#[tokio::test(start_paused = true)]
async fn a_node_that_fails_after_its_batch_is_skipped_within_max_unavailable() {
    let nodes = Nodes::held("app:2.0").await;
    ends(&nodes.step("").await, 0);
    nodes.lab.cluster.store(|store| fails(store, "node-0"));
    nodes.lab.pass(5).await;
    let words = "--all --ignore-unready-nodes --batch-timeout 60s --on-failure undo";
    let one = nodes.step(&format!("{words} --max-unavailable 1")).await;
    ends(&one, 5);
    assert!(one.stderr.contains("  ! node-0"), "{}", one.transcript);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (1, true));
    let two = nodes.step(&format!("{words} --max-unavailable 2")).await;
    ends(&two, 0);
    assert!(two.stderr.contains("because their nodes are NotReady: node-0"), "{}", two.transcript);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (6, false));
}

/// Between two batches the very same is no failure either.
#[tokio::test(start_paused = true)]
async fn another_batchs_pod_that_leaves_no_room_fails_no_batch() {
    let nodes = Nodes::held("app:2.0").await;
    let act = FaultAction::write_before(|store| fails(store, "node-5"));
    nodes.lab.cluster.fault(Fault::on(Requests::of(Verb::Delete, &PODS), act).once());
    let words = "--all --no-canary --by 3 --batch-timeout 60s --on-failure undo";
    let ended = nodes.step(words).await;
    ends(&ended, 5);
    insta::assert_snapshot!(ended.transcript);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (1, true));
    ends(&nodes.step("--max-unavailable 2").await, 5); // as the hint says
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (5, true));
}

#[tokio::test(start_paused = true)]
async fn a_node_deleted_during_its_batch_is_not_awaited() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.lab.later(1_500, |hands| {
        hands.delete(&Key::new(&NODES, "", "node-1"));
        let pod = pod_on(hands, "node-1");
        if let Some(pod) = pod {
            hands
                .cluster
                .store(|store| {
                    store.delete(
                        &pod,
                        &Deletion { grace_seconds: Some(0), ..Deletion::default() },
                        &Author::new("gc"),
                    )
                })
                .unwrap();
        }
    });
    let ended = nodes.step("--all --no-canary --by 3 --soak 5s").await;
    ends(&ended, 0);
    assert_eq!((nodes.on("app:2.0"), nodes.is_held()), (5, false), "{}", ended.transcript);
}

/// No slot of the batch is left, so no write records that it is done.
#[tokio::test(start_paused = true)]
async fn a_batch_whose_only_node_leaves_is_reported_as_done() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.lab.later(6_000, |hands| {
        let pod = pod_on(hands, "node-0");
        hands.delete(&Key::new(&NODES, "", "node-0"));
        if let Some(pod) = pod {
            let now = Deletion { grace_seconds: Some(0), ..Deletion::default() };
            hands.cluster.store(|store| store.delete(&pod, &now, &Author::new("gc"))).unwrap();
        }
    });
    let ended = nodes.step("--all --soak 20s").await;
    ends(&ended, 0);
    let done = |number: usize| ended.stdout.contains(&format!("batch {number}: done"));
    assert!(done(1) && done(2), "{}", ended.transcript);
}

/// A pod on a node that was tainted later runs on, is not counted, and does not come back.
#[tokio::test(start_paused = true)]
async fn an_unwanted_node_is_done_once_its_pod_is_gone() {
    let nodes = Nodes::new(&json!({})).await;
    nodes.lab.cluster.store(|store| {
        let taint = |node: &mut Value| node["spec"]["taints"] = json!([{"key": "x", "effect": "NoSchedule"}]);
        let key = Key::new(&NODES, "", "node-2");
        store.edit(&key, Part::Object, &Author::new("test"), taint).unwrap();
    });
    nodes.lab.pass(5).await;
    nodes.hold("app:2.0").await;
    let ended = nodes.step("--all --by 2 --soak 5s").await;
    ends(&ended, 0);
    assert!(nodes.removals().contains(&"node-2".to_owned()), "{}", ended.transcript);
    assert_eq!((nodes.on("app:2.0"), nodes.images().len(), nodes.is_held()), (5, 5, false));
}
