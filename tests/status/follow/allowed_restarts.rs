//! `--allow-restarts`: containers that crash until what they need is there.

use harness::prelude::*;
use simcluster::KubeletTiming;
use simcluster::store::Store;

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

/// The server is slow to answer the read before the rollback, and the containers run by then. The clock of the node may be
/// ahead.
#[tokio::test(start_paused = true)]
async fn a_rollout_that_completes_before_its_rollback_is_written_is_followed_on() {
    for is_ahead in [false, true] {
        let cluster = recovering(1).await;
        // The first GET reads the workload, and the second is the refresh after the failure.
        let fault = |action| Fault::on(Requests::of(Verb::Get, &DEPLOYMENTS), action).after(2).once();
        cluster.sim.fault(fault(FaultAction::Delay(Duration::from_secs(28))));
        if is_ahead {
            cluster.sim.fault(fault(FaultAction::write_before(set_ready_stamps_ahead)));
        }
        let output = cluster.status("deployment/web --undo-on-failure --fail-fast=55s").await;
        output.ends(0).prints("deployment \"web\" successfully rolled out\n");
        output.reports("error: deployment/web failed: crash-loop for 55s");
        output.reports("note: deployment/web: complete now; not rolled back if it stays so for 10s\n");
        output.reports("note: deployment/web: not rolled back, because it has completed meanwhile\n");
        assert_eq!(cluster.writes(), 0);
    }
}

/// Writes that each pod is ready since an hour from now.
fn set_ready_stamps_ahead(store: &mut Store) {
    let pods: Vec<_> = store.list(&PODS, None).map(|(key, pod)| (key.clone(), Value::clone(pod))).collect();
    let later = (store.now() + Duration::from_secs(3600)).to_string();
    for (key, pod) in pods {
        let mut conditions = pod["status"]["conditions"].clone();
        for condition in conditions.as_array_mut().unwrap().iter_mut().filter(|one| one["type"] == "Ready") {
            condition["lastTransitionTime"] = later.clone().into();
        }
        let patch = json!({"status": {"conditions": conditions}});
        store.patch(&key, Part::Status, Format::Merge, &patch, &Author::new("kubelet")).unwrap();
    }
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
