//! `--allow-restarts`: containers that crash until what they need is there.

use harness::prelude::*;
use simcluster::KubeletTiming;

/// Creates a Deployment whose update crashes and runs from its fourth restart on, 70 seconds later.
async fn recovering() -> Cluster {
    let timing = KubeletTiming { back_off: Duration::from_secs(10), ..KubeletTiming::default() };
    let cluster = Cluster::simulated().controllers(Controllers::new().kubelet_timing(timing)).start();
    let web = cluster.deployment(2, &json!({}));
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
        let cluster = recovering().await;
        let output = cluster.status(&format!("deployment/web --timeout 10m {flags}")).await;
        assert_eq!(output.exit, exit, "{flags}\n{}", output.transcript);
        assert!(output.stderr.contains("crashed, exit 1"), "{flags}\n{}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn the_waits_of_restart_and_undo_allow_restarts_too() {
    for (flags, exit) in [("", 4), (" --allow-restarts 4", 0)] {
        let cluster = recovering().await;
        cluster.advance(300).await;
        cluster.run(&format!("restart deployment/web --wait --fail-fast{flags}")).await.ends(exit);
    }
}

/// A rollout is stuck only after one more restart than are allowed.
#[tokio::test(start_paused = true)]
async fn one_evaluation_allows_restarts_too() {
    let cluster = recovering().await;
    cluster.advance(60).await; // three restarts
    for (flags, state) in
        [("", "stuck"), ("--allow-restarts 2", "stuck"), ("--allow-restarts 3", "progressing")]
    {
        let output = cluster.status(&format!("deployment/web --watch=false -o json {flags}")).await;
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!((document["state"].as_str(), output.exit), (Some(state), 3), "{}", output.transcript);
    }
}
