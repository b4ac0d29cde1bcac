//! The number of sequential round trips of a command, which is its duration over a slow network.
//!
//! Every request takes one second of simulated time, so the duration of a command is the number of its sequential
//! requests.

use harness::cluster::observed;
use harness::many_workloads::{Shape, WorkloadGenerator};
use harness::prelude::*;
use simcluster::Clock;
use tokio::time::Instant;

use crate::status::stale_configuration::reading;

const ROUND_TRIP: Duration = Duration::from_secs(1);

/// Runs a command and returns the number of its sequential round trips and of its requests.
async fn count_round_trips(cluster: &SimCluster, args: &str) -> (u64, usize) {
    count_round_trips_of(Run::of(args.split_whitespace()), cluster).await
}

/// As [`count_round_trips`], for a command with more than arguments.
async fn count_round_trips_of(run: Run, cluster: &SimCluster) -> (u64, usize) {
    cluster.clear_faults();
    cluster.fault(Fault::on(Requests::any(), FaultAction::Delay(ROUND_TRIP)));
    cluster.forget_requests();
    let begun = Instant::now();
    let output = run.in_process(cluster.service_for("admin"), "default").run_async().await;
    assert!(output.exit != 1 && output.exit != 2, "{}", output.transcript);
    (begun.elapsed().as_secs(), cluster.requests().len())
}

/// Returns a cluster with a complete workload of each kind, each with three revisions.
async fn cluster() -> Cluster {
    let cluster = Cluster::simulated().start();
    let keys = [
        cluster.deployment(2, &json!({})),
        cluster.stateful_set(2, &json!({})),
        cluster.daemon_set(&json!({})),
    ];
    for image in ["app:2.0", "app:3.0"] {
        cluster.advance(120).await;
        for key in &keys {
            cluster.editor().set_image(key, image);
        }
    }
    cluster.advance(300).await;
    cluster
}

#[tokio::test(start_paused = true)]
async fn every_verb_needs_few_sequential_requests() {
    let cluster = cluster().await;
    for (args, round_trips) in [
        ("history TARGET", 2),
        ("history TARGET --revision 2", 2),
        ("history TARGET --revision 2 -o yaml --show-managed-fields", 2),
        ("diff TARGET 1 2", 2),
        ("status TARGET", 2),
        ("status TARGET --watch=false", 2),
        // Its surge pod needs room: the quotas are read when the target revision is known.
        ("undo deployment/web --dry-run=client", 3),
        ("undo statefulset/db --dry-run=client", 2),
        ("undo daemonset/agent --dry-run=client", 2),
        ("undo TARGET --dry-run=server", 3),
        ("undo TARGET --to-revision 1 --dry-run=server", 3),
        ("restart TARGET --dry-run=client", 2),
        ("restart TARGET --dry-run=server", 2),
        ("history deployment/web statefulset/db daemonset/agent", 2),
        ("history deployment,statefulset,daemonset", 2),
        ("status deployment,statefulset,daemonset --watch=false", 2),
        ("status deployment,statefulset,daemonset", 2),
        ("undo deployment,statefulset,daemonset --dry-run=client", 3),
        ("pause deployment/web --dry-run=client", 2),
        ("resume TARGET --dry-run=client", 1),
        ("step deployment/web --by 1 --all --dry-run", 2),
        ("step statefulset/db --by 1 --all --dry-run", 2),
        ("step daemonset/agent --by 1 --all --dry-run", 3), // the nodes are read after the pods
        ("list", 2),
        ("list -A -o json", 2),
    ] {
        for target in ["deployment/web", "statefulset/db", "daemonset/agent"] {
            let args = args.replace("TARGET", target);
            let (counted, requests) = count_round_trips(&cluster.sim, &args).await;
            assert_eq!(counted, round_trips, "{args}: {requests} requests");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_needs_a_read_and_a_write() {
    let cluster = cluster().await;
    for (args, round_trips) in [
        ("pause deployment/web", 2),
        ("pause daemonset/agent", 3),
        ("resume daemonset/agent", 2),
        ("resume deployment/web", 2),
        ("pause statefulset/db", 3),
        ("resume statefulset/db", 2),
        ("restart deployment/web", 2),
        ("undo daemonset/agent", 3),
        ("undo statefulset/db --to-revision 1", 3),
    ] {
        cluster.advance(300).await;
        let (counted, requests) = count_round_trips(&cluster.sim, args).await;
        assert_eq!(counted, round_trips, "{args}: {requests} requests");
    }
}

/// A step gets the workload, refreshes it and then its pods, and writes. Then it waits for pods.
#[tokio::test(start_paused = true)]
async fn a_step_needs_few_round_trips_before_its_first_write() {
    let cluster = cluster().await;
    for (resource, target, round_trips) in [
        (&DEPLOYMENTS, "deployment/web", 3),
        (&STATEFULSETS, "statefulset/db", 3),
        (&DAEMONSETS, "daemonset/agent", 4),
    ] {
        cluster.run(&format!("pause {target}")).await;
        let (_, name) = target.split_once('/').unwrap();
        cluster.editor().set_image(&key(resource, name), "app:4.0");
        cluster.advance(5).await;
        count_round_trips(&cluster.sim, &format!("step {target} --by 1 --all")).await;
        let requests = cluster.sim.requests();
        let write = requests.iter().find(|request| request.verb() == Some(Verb::Patch)).unwrap();
        assert_eq!(write.at.duration_since(requests[0].at).as_secs(), round_trips, "{target}");
    }
}

/// `preview` knows the applied objects, so it reads the workloads, and then their revisions and pods.
#[tokio::test(start_paused = true)]
async fn a_preview_needs_two_round_trips() {
    let cluster = cluster().await;
    let observed = observed(&cluster.sim, &key(&DEPLOYMENTS, "web")).unwrap();
    let mut applied = observed.workload.object().json().clone();
    applied["spec"]["template"]["spec"]["containers"][0]["image"] = "app:4.0".into();
    // While kubectl runs, the simulated time advances too.
    let run = Run::of(["preview", "-f", "-"]).stdin(applied.to_string()).kubectl_applies();
    assert_eq!(count_round_trips_of(run, &cluster.sim).await.1, 4); // quotas too, beside the workload
    let requests = cluster.sim.requests();
    assert_eq!(requests[3].at.duration_since(requests[0].at).as_secs(), 1);
}

/// The objects that explain why a rollout is incomplete are read in parallel with the others. Only the log of a crash needs
/// a round trip more, because they name its pod.
#[tokio::test(start_paused = true)]
async fn an_incomplete_rollout_needs_two_round_trips() {
    for (image, expected) in [("app:4.0-bad", (2, 4)), ("app:4.0-crash", (3, 5))] {
        let cluster = cluster().await;
        cluster.editor().set_image(&key(&DEPLOYMENTS, "web"), image);
        cluster.advance(30).await;
        let args = "status deployment/web --watch=false";
        assert_eq!(count_round_trips(&cluster.sim, args).await, expected, "{image}");
    }
}

/// What the template names is read in parallel with the revisions and pods.
#[tokio::test(start_paused = true)]
async fn the_metadata_of_a_config_map_needs_no_round_trip() {
    let cluster = reading().await;
    for (args, expected) in [
        ("status deployment/web --watch=false", (2, 5)),
        ("status deployment/web", (2, 8)),
        ("history --since 1h deployment", (2, 4)),
        ("list", (1, 4)),
        ("undo deployment/web --dry-run=client", (3, 6)),
    ] {
        assert_eq!(count_round_trips(&cluster.sim, args).await, expected, "{args}");
    }
}

/// The pages of one list are read in sequence, and the lists of different types in parallel.
#[tokio::test(start_paused = true)]
async fn many_workloads_need_as_many_round_trips_as_pages() {
    let recorded = WorkloadGenerator::from_recording();
    let deployments = (0..400).flat_map(|index| {
        let shape = Shape { revisions: 3, pods: 2, crashing: false };
        recorded.deployment(["a", "b"][index % 2], &format!("web-{index:03}"), shape)
    });
    let list = json!({ "items": deployments.collect::<Vec<_>>() });
    let clock = Clock::tokio(harness::cluster::START.parse().unwrap());
    let cluster = SimCluster::builder().snapshot(&list).unwrap().clock(clock).build();
    // One page of Deployments, then three pages of 1,200 ReplicaSets in parallel with two pages of 800 pods.
    for args in ["status deployment -A --watch=false -o json", "history deployment -A"] {
        assert_eq!(count_round_trips(&cluster, args).await, (1 + 3, 1 + 3 + 2), "{args}");
    }
    for args in ["status deployment -n a --watch=false -o json", "history deployment -n a"] {
        assert_eq!(count_round_trips(&cluster, args).await, (1 + 2, 1 + 2 + 1), "{args}");
    }
    // The lines of complete Deployments need no more than themselves.
    assert_eq!(count_round_trips(&cluster, "status deployment -A --watch=false").await, (1, 1));
    // The LimitRanges of the namespace are read once for all 200.
    let args = "undo deployment -n a --dry-run=client";
    assert_eq!(count_round_trips(&cluster, args).await, (1 + 2 + 1, 1 + 2 + 1 + 1), "{args}");
}
