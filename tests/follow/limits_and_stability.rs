//! The clocks of `status`: `--stable`, the deadline, and what restarts them.

use std::time::Duration;

use harness::lab::Lab;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::PODS;
use simcluster::rules::{Author, Part};
use tokio::time::Instant;

/// A pod that was unready for a moment may only show a newer `lastTransitionTime`, because one
/// watch event can carry both changes.
#[tokio::test(start_paused = true)]
async fn a_later_readiness_restarts_the_stable_period() {
    let lab = Lab::new();
    lab.deployment(1, &json!({}));
    lab.pass(60).await;
    let now = Instant::now();
    lab.later(20_000, |hands| {
        let author = Author::new("kubelet");
        hands.cluster.store(|store| {
            let key = store.list(&PODS, Some("default")).next().unwrap().0.clone();
            let touch = |pod: &mut Value| {
                for condition in pod["status"]["conditions"].as_array_mut().unwrap() {
                    condition["lastTransitionTime"] = "2026-11-20T13:26:45Z".into();
                }
            };
            store.edit(&key, Part::Status, &author, touch).unwrap();
        });
    });
    let ended = lab.status("deployment/web --stable 30s").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    let elapsed = now.elapsed();
    assert!(elapsed >= Duration::from_secs(50) && elapsed < Duration::from_secs(55), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_hold_does_not_count_towards_the_deadline() {
    let lab = Lab::new();
    let strategy = |word: &str| json!({"spec": {"updateStrategy": {"type": word}}});
    let agent = lab.daemon_set(&strategy("OnDelete")["spec"]);
    lab.pass(60).await;
    lab.hands().image(&agent, "app:2.0");
    lab.pass(10).await;
    let release = strategy("RollingUpdate");
    lab.later(40_000, move |hands| hands.patch(&agent, &release));
    let ended = lab.status("daemonset/agent --wait-held --deadline 15s").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
}

/// The progress of an earlier generation does not count for the rollout that replaced it.
#[tokio::test(start_paused = true)]
async fn a_new_generation_restarts_the_deadline() {
    let lab = Lab::new();
    let db = lab.stateful_set(3, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&db, "app:2.0-bad");
    let now = Instant::now();
    lab.later(15_000, move |hands| hands.image(&db, "app:3.0-bad"));
    let ended = lab.status("statefulset/db --deadline 20s").await;
    assert_eq!(ended.exit, 4, "{}", ended.transcript);
    let elapsed = now.elapsed();
    assert!(elapsed >= Duration::from_secs(35) && elapsed < Duration::from_secs(45), "{elapsed:?}");
}

/// The last refresh before a timeout has a second. An unreachable server does not delay the end further.
#[tokio::test(start_paused = true)]
async fn a_timeout_during_an_outage_ends_within_a_second() {
    let lab = Lab::new();
    let web = lab.deployment(3, &json!({}));
    lab.pass(60).await;
    lab.hands().image(&web, "app:2.0-bad");
    lab.later(2_000, |hands| hands.cluster.fault(Fault::on(Requests::any(), FaultAction::Stall)));
    let now = Instant::now();
    let ended = lab.status("deployment/web --timeout 6s").await;
    assert_eq!(ended.exit, 3, "{}", ended.transcript);
    let elapsed = now.elapsed();
    assert!(elapsed >= Duration::from_secs(6) && elapsed <= Duration::from_secs(7), "{elapsed:?}");
}
