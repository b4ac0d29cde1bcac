//! Templates whose pods crash, and nodes that are not ready.

use harness::prelude::*;

use super::setup::{Nodes, fail_node, pod_on, set_node_ready};

#[tokio::test(start_paused = true)]
async fn a_node_that_becomes_ready_is_stepped() {
    let nodes = Nodes::held("app:2.0").await;
    set_node_ready(&nodes.cluster.editor(), "node-1", "Unknown");
    nodes.cluster.later(3_000, |editor| set_node_ready(editor, "node-1", "True"));
    let output = nodes.step("--all --soak 5s --force").await;
    output.ends(0);
    let skipped: Vec<&str> = output.stderr.lines().filter(|line| line.contains("skipped")).collect();
    let first_note = "note: skipped, because their nodes are NotReady: node-1";
    assert_eq!(skipped, [first_note, "note: no pod is skipped any more"], "{}", output.transcript);
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (6, false));
}

/// Deletes the pod of a node whose kubelet never terminates it.
fn delete_pod_that_never_terminates(nodes: &Nodes, node: &str) -> Key {
    let (pod, author) = (nodes.pod_on(node), Author::new("kubectl"));
    nodes.cluster.sim.store(|store| {
        let stays = |pod: &mut Value| pod["metadata"]["finalizers"] = json!(["a/b"]);
        store.edit(&pod, Part::Object, &author, stays).unwrap();
        store.delete(&pod, &Deletion::default(), &author).unwrap();
    });
    pod
}

/// The pod was deleted and the kubelet of its node does not terminate it. `step` does not wait for it and does not
/// count it as updated.
#[tokio::test(start_paused = true)]
async fn a_pod_that_cannot_terminate_on_an_unready_node_is_never_done() {
    let nodes = Nodes::held("app:2.0").await;
    set_node_ready(&nodes.cluster.editor(), "node-1", "Unknown");
    let on_it = delete_pod_that_never_terminates(&nodes, "node-1");
    nodes.cluster.advance(5).await;
    let output = nodes.step("--all --force").await;
    output.ends(5).reports("skipped, because their nodes are NotReady: node-1");
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (5, true));
    set_node_ready(&nodes.cluster.editor(), "node-1", "True");
    nodes.cluster.sim.store(|store| {
        let author = Author::new("kubectl");
        store.edit(&on_it, Part::Object, &author, |pod| pod["metadata"]["finalizers"] = json!([])).unwrap();
    });
    nodes.cluster.advance(5).await;
    nodes.step("--all").await.ends(0);
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (6, false));
}

#[tokio::test(start_paused = true)]
async fn an_unready_node_counts_as_unavailable_unless_ignored() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.cluster.sim.store(|store| fail_node(store, "node-1"));
    nodes.cluster.advance(5).await;
    let output = nodes.step("--all").await;
    output.ends(5);
    insta::assert_snapshot!(output.transcript);
    assert_eq!(nodes.removals(), Vec::<String>::new());
}

/// A terminating pod on an unready node counts as unavailable, although `step` does not wait for it.
#[tokio::test(start_paused = true)]
async fn the_hint_for_a_terminating_pod_contains_the_flag() {
    let nodes = Nodes::held("app:2.0").await;
    set_node_ready(&nodes.cluster.editor(), "node-1", "Unknown");
    delete_pod_that_never_terminates(&nodes, "node-1");
    nodes.cluster.advance(700).await;
    let output = nodes.step("--all").await;
    output.ends(5);
    let hint = "hint: ignore nodes that are not ready: kubectl rollout2 step daemonset/agent \
                -n default --force\n";
    output.reports(hint);
}

/// A node that was updated in an earlier batch fails. Its pod is not part of the current batch.
#[tokio::test(start_paused = true)]
async fn a_node_that_fails_after_its_batch_is_skipped_within_max_unavailable() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.step("").await.ends(0);
    nodes.cluster.sim.store(|store| fail_node(store, "node-0"));
    nodes.cluster.advance(5).await;
    let args = "--all --batch-timeout 60s --on-failure undo";
    let one = nodes.step(&format!("{args} --max-unavailable 1")).await;
    one.ends(5).reports("  ! node-0");
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (1, true));
    let two = nodes.step(&format!("{args} --force --max-unavailable 2")).await;
    two.ends(0).reports("because their nodes are NotReady: node-0");
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (6, false));
}

/// Its pod is awaited while the next batch soaks, and no larger `--max-unavailable` helps.
#[tokio::test(start_paused = true)]
async fn the_hint_for_a_node_of_an_earlier_batch_contains_the_flag() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.step("").await.ends(0);
    nodes.cluster.later(80_000, |editor| editor.sim.store(|store| fail_node(store, "node-0")));
    let output = nodes.step("--soak 1m --batch-timeout 60s").await;
    output.ends(5).reports("  ! node-0");
    let hint =
        "hint: ignore nodes that are not ready: kubectl rollout2 step daemonset/agent -n default --force\n";
    assert!(output.stderr.ends_with(hint), "{}", output.transcript);
    nodes.step("--force").await.ends(0);
    assert_eq!(nodes.nodes_with("app:2.0"), 2);
}

/// The pod of a later batch becomes unavailable during the first batch.
#[tokio::test(start_paused = true)]
async fn an_unavailable_pod_of_another_batch_fails_no_batch() {
    let nodes = Nodes::held("app:2.0").await;
    let act = FaultAction::write_before(|store| fail_node(store, "node-5"));
    nodes.cluster.sim.fault(Fault::on(Requests::of(Verb::Delete, &PODS), act).once());
    let args = "--all --no-canary --by 3 --batch-timeout 60s --on-failure undo";
    let output = nodes.step(args).await;
    output.ends(5);
    insta::assert_snapshot!(output.transcript);
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (1, true));
    nodes.step("--max-unavailable 2").await.ends(5); // as the hint says
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (5, true));
}

#[tokio::test(start_paused = true)]
async fn a_node_deleted_during_its_batch_is_not_awaited() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.cluster.later(1_500, |editor| {
        editor.delete(&Key::new(&NODES, "", "node-1"));
        let pod = pod_on(editor, "node-1");
        if let Some(pod) = pod {
            editor
                .sim
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
    let output = nodes.step("--all --no-canary --by 3 --soak 5s").await;
    output.ends(0);
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.is_held()), (5, false), "{}", output.transcript);
}

/// The batch has no pod slot left, and its pod has not soaked.
#[tokio::test(start_paused = true)]
async fn a_batch_whose_only_node_leaves_is_not_reported_as_done() {
    let nodes = Nodes::held("app:2.0").await;
    nodes.cluster.later(6_000, |editor| {
        let pod = pod_on(editor, "node-0");
        editor.delete(&Key::new(&NODES, "", "node-0"));
        if let Some(pod) = pod {
            let now = Deletion { grace_seconds: Some(0), ..Deletion::default() };
            editor.sim.store(|store| store.delete(&pod, &now, &Author::new("gc"))).unwrap();
        }
    });
    let output = nodes.step("--all --soak 20s").await;
    output.ends(0);
    let done = |number: usize| output.stdout.contains(&format!("batch {number}: done"));
    assert!(!done(1) && done(2), "{}", output.transcript);
}

/// The pod on a node that was tainted later keeps running, is not counted, and is not replaced.
#[tokio::test(start_paused = true)]
async fn a_tainted_node_is_done_after_its_pod_is_deleted() {
    let nodes = Nodes::new(&json!({})).await;
    nodes.cluster.sim.store(|store| {
        let taint = |node: &mut Value| node["spec"]["taints"] = json!([{"key": "x", "effect": "NoSchedule"}]);
        let key = Key::new(&NODES, "", "node-2");
        store.edit(&key, Part::Object, &Author::new("test"), taint).unwrap();
    });
    nodes.cluster.advance(5).await;
    nodes.hold("app:2.0").await;
    let output = nodes.step("--all --by 2 --soak 5s").await;
    output.ends(0);
    assert!(nodes.removals().contains(&"node-2".to_owned()), "{}", output.transcript);
    assert_eq!((nodes.nodes_with("app:2.0"), nodes.images().len(), nodes.is_held()), (5, 5, false));
}

/// The nodes are read after each refresh. A list that the server refuses, or that keeps failing, has an end.
#[tokio::test(start_paused = true)]
async fn nodes_that_stay_unreadable_are_an_error() {
    for (code, exit) in [(401, 1), (403, 0), (500, 1)] {
        let nodes = Nodes::held("app:2.0").await;
        nodes.cluster.later(12_000, move |editor| {
            let refusal = FaultAction::Refuse(Refusal::with_status(code, "no nodes today"));
            editor.sim.fault(Fault::on(Requests::of(Verb::List, &NODES), refusal));
        });
        let output = nodes.step("--all --soak 20s --timeout 1h").await;
        assert_eq!(output.exit, exit, "{code}: {}", output.transcript);
        let reports = output.stderr.matches("note: waiting for an answer of the server: ").count();
        assert_eq!(reports, usize::from(exit), "{code}: {}", output.transcript);
        if exit == 1 {
            assert!(output.stderr.contains("error: ") && nodes.is_held(), "{code}: {}", output.transcript);
        }
    }
}
