//! A signal while a wave of deletions is in flight.

use std::time::Duration;

use harness::test_cluster::START;
use harness::{Output, Run};
use simcluster::Verb;
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{DAEMONSETS, PODS};
use tokio::sync::watch;

use super::setup::{Nodes, ends};

/// Steps with a wave of three deletions, and sends SIGINT after some seconds.
async fn interrupted(nodes: &Nodes, seconds: u64) -> Output {
    let (sender, numbers) = watch::channel(0);
    let client = kube::Client::new(nodes.cluster.sim.service(), "default");
    let args = ["step", "daemonset/agent", "--all", "--no-canary", "--by", "3", "--max-unavailable", "3"];
    let run = Run::of(args).at(START.parse().unwrap()).signals(numbers).run_against(client);
    let signal = async {
        nodes.cluster.advance(seconds).await;
        sender.send_replace(2);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        output = run => output,
        () = signal => unreachable!(),
    }
}

/// The wave reads the DaemonSet again before it deletes, and the answer is late.
#[tokio::test(start_paused = true)]
async fn no_pod_is_deleted_after_a_signal() {
    let mut seconds = 0;
    let output = loop {
        // The signal arrives during the read that precedes the wave.
        seconds += 2;
        assert!(seconds < 60, "no wave began");
        let nodes = Nodes::held("app:2.0").await;
        let slow = FaultAction::Delay(Duration::from_secs(4));
        nodes.cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &DAEMONSETS), slow));
        let begun = nodes.cluster.revision();
        let output = interrupted(&nodes, seconds).await;
        ends(&output, 130);
        let has_batch = output.stdout.contains("batch 1");
        assert!(!has_batch || nodes.max_unavailable_since(begun) == 0 && nodes.removals().is_empty());
        if has_batch {
            break output;
        }
    };
    assert!(output.stderr.contains("no pod is being replaced"), "{}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn deletions_whose_answers_are_late_are_unknown() {
    let nodes = Nodes::held("app:2.0").await;
    let late = FaultAction::Delay(Duration::from_secs(9));
    nodes.cluster.sim.fault(Fault::on(Requests::of(Verb::Delete, &PODS), late));
    let output = interrupted(&nodes, 3).await;
    ends(&output, 130);
    let unknown = "were deleted, because the server did not answer; its lock was not released";
    assert!(output.stderr.contains("it stays held; it is unknown whether agent-"), "{}", output.transcript);
    assert!(output.stderr.contains(unknown), "{}", output.transcript);
}
