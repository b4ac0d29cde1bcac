//! `--until available=N%`: a share of the pods is enough.

use harness::prelude::*;
use simcluster::controller::Quota;

/// Creates the `DaemonSet` `agent` on three nodes, one of which goes down before the update: its pod never terminates.
async fn agent_with_a_node_down() -> Cluster {
    let (cluster, agent) = Cluster::simulated()
        .daemon_set(&json!({"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}}))
        .await;
    let not_ready = json!([{"type": "Ready", "status": "False", "reason": "NodeNotReady"}]);
    cluster.sim.store(|store| {
        let author = Author::new("node-controller");
        let fail = |value: &mut Value| value["status"]["conditions"] = not_ready.clone();
        let pod = store.list(&PODS, Some("default")).find(|(_, pod)| pod["spec"]["nodeName"] == "node-1");
        let pod = pod.unwrap().0.clone();
        store.edit(&Key::new(&NODES, "", "node-1"), Part::Status, &author, fail).unwrap();
        // The node controller leaves `ContainersReady`, which only the kubelet writes.
        let not_ready = json!([not_ready[0], {"type": "ContainersReady", "status": "True"}]);
        let fail = |value: &mut Value| value["status"]["conditions"] = not_ready.clone();
        store.edit(&pod, Part::Status, &author, fail).unwrap();
        let keep = |pod: &mut Value| pod["metadata"]["finalizers"] = json!(["example.com/node"]);
        store.edit(&pod, Part::Object, &author, keep).unwrap();
    });
    cluster.editor().set_image(&agent, "app:2.0");
    cluster
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_with_a_node_down_reaches_a_share() {
    for (goal, exit) in [
        ("available=60%", 0),
        ("available=2", 0),
        ("available=67%", 3),
        ("available", 3),
        ("available=ready-nodes", 0),
    ] {
        let cluster = agent_with_a_node_down().await;
        let output = cluster.status(&format!("daemonset/agent --timeout 5m --until {goal}")).await;
        assert_eq!(output.exit, exit, "{goal}\n{}", output.transcript);
        let output = cluster.status(&format!("daemonset/agent --watch=false --until {goal}")).await;
        assert_eq!(output.exit, exit, "{goal}\n{}", output.transcript);
        let stable = format!("daemonset/agent --timeout 5m --stable 20s --fail-fast --until {goal}");
        let output = cluster.status(&stable).await;
        assert_eq!(output.exit, exit, "{goal}\n{}", output.transcript);
    }
}

/// A pod is awaited on each node that answers, and only there.
#[tokio::test(start_paused = true)]
async fn pods_on_ready_nodes_are_enough() {
    let cluster = agent_with_a_node_down().await;
    let output = cluster.status("daemonset/agent --timeout 5m --until available=ready-nodes").await;
    output
        .ends(0)
        .reports("note: daemonset/agent has reached the goal of --until\nnote: daemonset/agent: 1 node not ready: node-1\n");
    let cluster = agent_with_a_node_down().await;
    cluster.editor().set_image(&key(&DAEMONSETS, "agent"), "app:3.0-notready");
    cluster.status("daemonset/agent --timeout 2m --until available=ready-nodes").await.ends(3);
    let (cluster, web) = Cluster::simulated().deployment(3, &json!({})).await;
    cluster.editor().set_image(&web, "app:2.0-notready");
    cluster.status("deployment/web --timeout 1m --until available=ready-nodes").await.ends(3);
}

/// A quota refuses the last pod, so the progress deadline passes.
#[tokio::test(start_paused = true)]
async fn a_share_is_reached_after_the_progress_deadline_too() {
    let quota = Quota { name: "few".to_owned(), pods: 3 };
    let cluster = Cluster::simulated().controllers(Controllers::new().quota("default", quota)).start();
    let rolling = json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}});
    let web = cluster.deployment(3, &json!({"progressDeadlineSeconds": 60, "strategy": rolling}));
    cluster.advance(30).await;
    cluster.editor().set_image(&web, "app:2.0");
    cluster.editor().patch(&web, &json!({"spec": {"replicas": 4}}));
    cluster.advance(200).await;
    for (goal, exit) in [("available=75%", 0), ("available=76%", 4), ("complete", 4)] {
        for flags in ["--watch=false", "--timeout 5m", "--timeout 5m --stable 10s"] {
            let output = cluster.status(&format!("deployment/web --until {goal} {flags}")).await;
            assert_eq!(output.exit, exit, "{goal} {flags}\n{}", output.transcript);
            let note = "note: deployment/web has reached the goal of --until\n";
            assert_eq!(output.stderr.contains(note), exit == 0, "{goal} {flags}\n{}", output.transcript);
        }
    }
}
