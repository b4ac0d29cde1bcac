//! How many round trips a command waits for, one after the other. Far from its server that is its time.
//!
//! Every request takes the same time here, in a time that only moves when everybody waits: what a command
//! takes is the number of requests that waited for each other.

use std::time::Duration;

use harness::Run;
use harness::lab::Lab;
use harness::many_workloads::{Crowd, Shape};
use serde_json::json;
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::DEPLOYMENTS;
use simcluster::{Clock, SimCluster};
use tokio::time::Instant;

const ROUND_TRIP: Duration = Duration::from_secs(1);

/// Counts the round trips that a command waits for, one after the other, and the requests in them.
async fn counted(cluster: &SimCluster, words: &str) -> (u64, usize) {
    cluster.clear_faults();
    cluster.fault(Fault::on(Requests::any(), FaultAction::Delay(ROUND_TRIP)));
    cluster.forget_requests();
    let client = kube::Client::new(cluster.service_for("admin"), "default");
    let begun = Instant::now();
    let ended = Run::of(words.split_whitespace()).run_through(client).await;
    assert!(ended.exit != 1 && ended.exit != 2, "{words}: {}", ended.transcript);
    (begun.elapsed().as_secs(), cluster.requests().len())
}

/// A cluster at rest with three revisions of a workload of each kind.
async fn lab() -> Lab {
    let lab = Lab::new();
    let keys = [lab.deployment(2, &json!({})), lab.stateful_set(2, &json!({})), lab.daemon_set(&json!({}))];
    for image in ["app:2.0", "app:3.0"] {
        lab.pass(120).await;
        for key in &keys {
            lab.hands().image(key, image);
        }
    }
    lab.pass(300).await;
    lab
}

#[tokio::test(start_paused = true)]
async fn every_verb_needs_few_sequential_requests() {
    let lab = lab().await;
    for (words, round_trips) in [
        ("history TARGET", 2),
        ("history TARGET --revision 2", 2),
        ("history TARGET --revision 2 -o yaml --show-managed-fields", 2),
        ("history TARGET --compat", 2),
        ("diff TARGET 1 2", 2),
        ("status TARGET", 2),
        ("status TARGET --compat", 1),
        ("status TARGET --watch=false", 2),
        ("undo TARGET --dry-run=client", 2),
        ("undo TARGET --dry-run=server", 3),
        ("undo TARGET --to-revision 1 --dry-run=server --compat", 3),
        ("restart TARGET --dry-run=client", 2),
        ("restart TARGET --dry-run=server", 2),
        ("history deployment/web statefulset/db daemonset/agent", 2),
        ("history deployment,statefulset,daemonset", 2),
        ("status deployment,statefulset,daemonset --watch=false", 2),
        ("status deployment,statefulset,daemonset", 2),
        ("undo deployment,statefulset,daemonset --dry-run=client", 2),
    ] {
        for target in ["deployment/web", "statefulset/db", "daemonset/agent"] {
            let words = words.replace("TARGET", target);
            let (counted, requests) = counted(&lab.cluster, &words).await;
            assert_eq!(counted, round_trips, "{words}: {requests} requests");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_needs_a_read_and_a_write() {
    let lab = lab().await;
    for (words, round_trips) in [
        ("pause deployment/web", 2),
        ("resume deployment/web", 2),
        ("pause statefulset/db", 3),
        ("resume statefulset/db", 2),
        ("restart deployment/web", 2),
        ("undo daemonset/agent", 3),
        ("undo statefulset/db --to-revision 1", 3),
    ] {
        lab.pass(300).await;
        let (counted, requests) = counted(&lab.cluster, words).await;
        assert_eq!(counted, round_trips, "{words}: {requests} requests");
    }
}

/// What is not complete has causes, and those are read beside the rest.
#[tokio::test(start_paused = true)]
async fn an_incomplete_rollout_needs_two_round_trips() {
    let lab = lab().await;
    lab.hands().image(&harness::lab::key(&DEPLOYMENTS, "web"), "app:4.0-crash");
    lab.pass(30).await;
    assert_eq!(counted(&lab.cluster, "status deployment/web --watch=false").await, (2, 4));
}

/// Lists of one type are pages, one after the other; those of different types go side by side.
#[tokio::test(start_paused = true)]
async fn many_workloads_need_as_many_round_trips_as_pages() {
    let recorded = Crowd::recorded();
    let deployments = (0..400).flat_map(|index| {
        let shape = Shape { revisions: 3, pods: 2, crashing: false };
        recorded.deployment(["a", "b"][index % 2], &format!("web-{index:03}"), shape)
    });
    let list = json!({ "items": deployments.collect::<Vec<_>>() });
    let clock = Clock::tokio(harness::lab::START.parse().unwrap());
    let cluster = SimCluster::builder().snapshot(&list).unwrap().clock(clock).build();
    // A page of Deployments; three of 1,200 ReplicaSets beside two of 800 pods.
    for words in ["status deployment -A --watch=false", "history deployment -A"] {
        assert_eq!(counted(&cluster, words).await, (1 + 3, 1 + 3 + 2), "{words}");
    }
    for words in [
        "status deployment -n a --watch=false",
        "history deployment -n a",
        "undo deployment -n a --dry-run=client",
    ] {
        assert_eq!(counted(&cluster, words).await, (1 + 2, 1 + 2 + 1), "{words}");
    }
}
