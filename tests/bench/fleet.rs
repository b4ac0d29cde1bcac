//! `step` of a DaemonSet on a large fleet, in the simulated cluster: wall time, requests, full reads and peak memory.
//!
//! Pods take no real time to start, so the wall time is the program's and the simulator's own.

use std::io;
use std::time::Instant;

use harness::lab::Lab;
use serde_json::json;
use simcluster::resource::{NODES, PODS};
use simcluster::{Controllers, Recorded, Route, SimCluster, Verb};

/// The command that is measured.
const STEP: &str = "step daemonset/agent --by 10% --max-unavailable 50 --all --soak 10s";

/// Steps a DaemonSet on so many nodes, and prints what it took.
#[expect(clippy::print_stdout, reason = "the result of a bench")]
pub(crate) fn report(nodes: usize) -> io::Result<()> {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build()?;
    let local = tokio::task::LocalSet::new();
    let (line, transcript) = local.block_on(&runtime, measured(nodes));
    println!("{line}\n{transcript}");
    Ok(())
}

async fn measured(nodes: usize) -> (String, String) {
    let lab = Lab::built(SimCluster::builder().unattributed().nodes(nodes), Controllers::new());
    let agent = lab.daemon_set(&json!({}));
    lab.pass(3_600).await;
    lab.run("pause daemonset/agent").await;
    lab.hands().image(&agent, "app:2.0");
    lab.pass(60).await;
    lab.cluster.forget_requests();
    let (begun, from) = (Instant::now(), lab.cluster.store(|store| store.now()));
    let ended = lab.run(STEP).await;
    let wall = begun.elapsed();
    let took = lab.cluster.store(|store| store.now()).duration_since(from);
    let requests = lab.cluster.requests();
    let of = |verb, kind: &str| requests.iter().filter(|request| is(request, verb, kind)).count();
    let line = format!(
        "{nodes} nodes: exit {}, wall {wall:.1?}, cluster time {}, {} requests: {} lists of pods (pages), {} of nodes, \
         {} reads of the DaemonSet, {} patches, {} deletions; peak memory {}",
        ended.exit,
        took.as_secs(),
        requests.len(),
        of(Verb::List, PODS.kind),
        of(Verb::List, NODES.kind),
        of(Verb::Get, "DaemonSet"),
        of(Verb::Patch, "DaemonSet"),
        of(Verb::Delete, PODS.kind),
        peak_memory(),
    );
    let last: Vec<&str> = ended.transcript.lines().rev().take(2).collect();
    (line, last.join("\n"))
}

fn is(request: &Recorded, verb: Verb, kind: &str) -> bool {
    let Route::Resource(target) = &request.route else { return false };
    request.verb() == Some(verb) && target.resource.kind == kind
}

/// The largest resident set of this process, with the simulated cluster in it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |value| value.trim().to_owned())
}
