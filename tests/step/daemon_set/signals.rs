//! A signal while a wave of deletions is in flight.

use std::cell::Cell;

use harness::prelude::*;
use tokio::sync::watch;

use super::setup::Nodes;

/// Steps with a wave of three deletions, and sends SIGINT after some seconds and a half, when nothing else happens. Also
/// returns the removals since then.
async fn interrupted(nodes: &Nodes, seconds: u64) -> (Output, usize) {
    let before = Cell::new(0);
    let (sender, numbers) = watch::channel(0);
    let args = ["step", "daemonset/agent", "--all", "--no-canary", "--by", "3", "--max-unavailable", "3"];
    let run = nodes.cluster.command(args).signals(numbers).run_async();
    let signal = async {
        nodes.cluster.advance(seconds).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        before.set(nodes.removals().len());
        sender.send_replace(2);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        output = run => (output, nodes.removals().len() - before.get()),
        () = signal => unreachable!(),
    }
}

/// The wave reads the DaemonSet again before it deletes, and the answer is late. The signal arrives at each moment until
/// the wave is sent. Before the first answers it would end the process.
#[tokio::test(start_paused = true)]
async fn no_pod_is_deleted_after_a_signal() {
    let mut held = 0;
    for seconds in (6..60).step_by(2) {
        let nodes = Nodes::held("app:2.0").await;
        let slow = FaultAction::Delay(Duration::from_secs(4));
        nodes.cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &DAEMONSETS), slow));
        let begun = nodes.cluster.revision();
        let (output, removed_later) = interrupted(&nodes, seconds).await;
        output.ends(130);
        assert_eq!(removed_later, 0, "{}", output.transcript);
        if !nodes.removals().is_empty() {
            assert!(held > 0, "no signal arrived before the wave");
            return;
        }
        if output.stdout.contains("batch 1") {
            held += 1;
            assert_eq!(nodes.max_unavailable_since(begun), 0);
            output.reports("no pod is being replaced");
        }
    }
    panic!("no wave began");
}

#[tokio::test(start_paused = true)]
async fn deletions_whose_answers_are_late_are_unknown() {
    let nodes = Nodes::held("app:2.0").await;
    let late = FaultAction::Delay(Duration::from_secs(9));
    nodes.cluster.sim.fault(Fault::on(Requests::of(Verb::Delete, &PODS), late));
    let (output, _) = interrupted(&nodes, 3).await;
    output.ends(130);
    let unknown = "were deleted, because the server did not answer; its lock was not released";
    output.reports("it stays held; it is unknown whether agent-").reports(unknown);
}
