//! `step` of a DaemonSet on a large fleet, in the simulated cluster: wall time, requests, bytes and peak memory.
//!
//! Pods start in simulated time, so the wall time is the time of the program and the simulator.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use harness::cluster::START;
use harness::{Cluster, Run};
use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::json;
use simcluster::resource::{NODES, PODS};
use simcluster::{Builder, Lost, RecordedRequest, Route, SimService, Verb};

/// The command that is measure.
const STEP: &str = "step daemonset/agent --by 10% --max-unavailable 50 --all --soak 10s";

/// Steps a DaemonSet on this many nodes, and prints the measurements.
#[expect(clippy::print_stdout, reason = "the result of a bench")]
pub(crate) fn report(nodes: usize) -> io::Result<()> {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().start_paused(true).build()?;
    let local = tokio::task::LocalSet::new();
    let (line, transcript) = local.block_on(&runtime, measure(nodes));
    println!("{line}\n{transcript}");
    Ok(())
}

async fn measure(nodes: usize) -> (String, String) {
    let cluster = Cluster::simulated().nodes(nodes).with(Builder::without_managed_fields).start();
    let agent = cluster.daemon_set(&json!({}));
    cluster.advance(3_600).await;
    cluster.run("pause daemonset/agent").await;
    cluster.editor().set_image(&agent, "app:2.0");
    cluster.advance(60).await;
    cluster.sim.forget_requests();
    let before = memory("VmRSS:");
    let _ = std::fs::write("/proc/self/clear_refs", "5"); // resets the peak of the resident memory on Linux
    let bytes = Arc::default();
    let client = counting_client(cluster.sim.service(), &bytes);
    let run = Run::of(STEP.split_whitespace()).at(START.parse().unwrap_or_default());
    let (begun, from) = (Instant::now(), cluster.sim.store(|store| store.now()));
    let output = run.run_against(client).await;
    let wall = begun.elapsed();
    let took = cluster.sim.store(|store| store.now()).duration_since(from);
    let requests = cluster.sim.requests();
    let of = |verb, kind: &str| requests.iter().filter(|request| is(request, verb, kind)).count();
    let line = format!(
        "{nodes} nodes: exit {}, wall {wall:.1?}, cluster time {}, {} requests: {} lists of pods (pages), {} of nodes, \
         {} reads of the DaemonSet, {} patches, {} deletions; {} MiB answered; memory with the cluster {before} \
         before, {} at most",
        output.exit,
        took.as_secs(),
        requests.len(),
        of(Verb::List, PODS.kind),
        of(Verb::List, NODES.kind),
        of(Verb::Get, "DaemonSet"),
        of(Verb::Patch, "DaemonSet"),
        of(Verb::Delete, PODS.kind),
        bytes.load(Ordering::Relaxed) >> 20,
        memory("VmHWM:"),
    );
    let last: Vec<&str> = output.transcript.lines().rev().take(2).collect();
    (line, last.join("\n"))
}

fn is(request: &RecordedRequest, verb: Verb, kind: &str) -> bool {
    let Route::Resource(target) = &request.route else { return false };
    request.verb() == Some(verb) && target.resource.kind == kind
}

/// Returns the resident memory of this process, which includes the simulated cluster.
fn memory(which: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(which));
    line.map_or_else(|| "unknown".to_owned(), |value| value.trim().to_owned())
}

/// Returns a client of the cluster that counts the bytes of the responses.
fn counting_client(service: SimService, bytes: &Arc<AtomicU64>) -> kube::Client {
    let bytes = Arc::clone(bytes);
    let answer = move |request: Request<Body>| {
        let (service, bytes) = (service.clone(), Arc::clone(&bytes));
        async move {
            let answer = service.answer(request).await?;
            Ok::<_, Lost>(answer.map(|body| {
                let counted = body.map_frame(move |frame| {
                    let length = frame.data_ref().map_or(0, |data| data[..].len());
                    bytes.fetch_add(u64::try_from(length).unwrap_or_default(), Ordering::Relaxed);
                    frame
                });
                counted.boxed_unsync()
            }))
        }
    };
    kube::Client::new(tower::service_fn(answer), "default")
}
