//! `--allow-restarts`: containers that crash until what they need is there.

use harness::prelude::*;
use simcluster::KubeletTiming;

/// Creates a Deployment whose update crashes and runs from its fourth restart on, 70 seconds later.
async fn recovering(replicas: i64) -> Cluster {
    let timing = KubeletTiming { back_off: Duration::from_secs(10), ..KubeletTiming::default() };
    let cluster = Cluster::simulated().controllers(Controllers::new().kubelet_timing(timing)).start();
    let web = cluster.deployment(replicas, &json!({}));
    cluster.advance(30).await;
    cluster.editor().set_image(&web, "app:2.0-recovers");
    cluster
}

#[tokio::test(start_paused = true)]
async fn a_container_that_recovers_within_its_restarts_is_no_failure() {
    for (flags, exit) in [
        ("--fail-fast", 4),
        ("--fail-fast --allow-restarts 2", 4),
        ("--fail-fast --allow-restarts 4", 0),
        ("--fail-fast --allow-restarts 100", 0),
        ("--undo-on-failure --allow-restarts 4", 0),
    ] {
        let cluster = recovering(2).await;
        let output = cluster.status(&format!("deployment/web --timeout 10m {flags}")).await;
        assert_eq!(output.exit, exit, "{flags}\n{}", output.transcript);
        assert!(output.stderr.contains("crashed, exit 1"), "{flags}\n{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn the_waits_of_restart_and_undo_allow_restarts_too() {
    for (flags, exit) in [("", 4), (" --allow-restarts 4", 0)] {
        let cluster = recovering(2).await;
        cluster.advance(300).await;
        cluster.run(&format!("restart deployment/web --wait --fail-fast{flags}")).await.ends(exit);
    }
}

/// The server is slow to answer the read before the rollback, and the containers run by then.
#[tokio::test(start_paused = true)]
async fn a_rollout_that_completes_before_its_rollback_is_written_is_followed_on() {
    let cluster = recovering(1).await;
    // The first GET reads the workload, and the second is the refresh after the failure.
    let slow = FaultAction::Delay(Duration::from_secs(28));
    cluster.sim.fault(Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), slow).after(2).once());
    let output = cluster.status("deployment/web --undo-on-failure --fail-fast=55s").await;
    output.ends(0).prints("deployment \"web\" successfully rolled out\n");
    output.reports("error: deployment/web failed: crash-loop for 55s");
    output.reports("note: deployment/web: not rolled back, because it has completed meanwhile\n");
    assert_eq!(cluster.sim.requests().iter().filter(|request| request.method != "GET").count(), 0);
}

/// A rollout is stuck only after one more restart than are allowed.
#[tokio::test(start_paused = true)]
async fn one_evaluation_allows_restarts_too() {
    let cluster = recovering(2).await;
    cluster.advance(60).await; // three restarts
    for (flags, state) in
        [("", "stuck"), ("--allow-restarts 2", "stuck"), ("--allow-restarts 3", "progressing")]
    {
        let output = cluster.status(&format!("deployment/web --watch=false -o json {flags}")).await;
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!((document["state"].as_str(), output.exit), (Some(state), 3), "{}", output.transcript);
    }
}
