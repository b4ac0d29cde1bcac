//! The program on simulated kubelets with the times of recorded ones, which can be changed.

use std::time::Duration;

use harness::Ended;
use harness::lab::Lab;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{EVENTS, PODS};
use simcluster::{Controllers, KubeletTiming, Rule, User, Verb};

/// A lab with a Deployment `web` of two pods that is complete.
async fn lab(timing: KubeletTiming) -> Lab {
    let lab = Lab::with(Controllers::new().kubelet_timing(timing));
    lab.deployment(2, &json!({}));
    lab.pass(30).await;
    lab
}

fn set_image(lab: &Lab, image: &str) {
    lab.hands().image(&harness::lab::key(&simcluster::resource::DEPLOYMENTS, "web"), image);
}

/// The events about causes of a run in JSON.
fn causes(ended: &Ended) -> Vec<Value> {
    let events = ended.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["event"] == "cause").collect()
}

/// A container without a readiness probe is ready while it runs, so the Deployment is complete between two crashes.
#[tokio::test(start_paused = true)]
async fn a_crash_loop_without_a_readiness_probe_fails_fast() {
    for image in ["app:3-crash", "app:3-crashlate"] {
        for pass in [4, 17] {
            let lab = lab(KubeletTiming::recorded()).await;
            set_image(&lab, image);
            lab.pass(pass).await;
            if image == "app:3-crashlate" {
                lab.pass(3).await; // until both have crashed
            }
            let ended = lab.status("deployment/web --fail-fast --timeout 10m").await;
            assert_eq!(ended.exit, 4, "{}", ended.transcript);
            assert!(!ended.stdout.contains("successfully rolled out"), "{}", ended.transcript);
            let words = ["unable to retrieve", "panic: DB_URL is not set"];
            let found = words.map(|words| ended.stderr.contains(words));
            assert_eq!(found, [false, true], "{}", ended.transcript);
        }
    }
}

/// A cause has its evidence from the first line on, although the list of events takes 2s.
#[tokio::test(start_paused = true)]
async fn the_first_list_of_events_is_awaited() {
    let lab = lab(KubeletTiming::default()).await;
    set_image(&lab, "app:2.0-notready");
    lab.pass(20).await;
    let slow = FaultAction::Delay(Duration::from_secs(2));
    lab.cluster.fault(Fault::on(Requests::of(Verb::List, &EVENTS), slow).once());
    let ended = lab.status("deployment/web -o json --timeout 20s").await;
    let causes = causes(&ended);
    assert_eq!(causes.len(), 1, "{}", ended.transcript);
    assert!(causes[0]["elapsedMilliseconds"].as_u64() >= Some(2_000), "{}", causes[0]);
    let evidence = causes[0]["cause"]["evidence"].as_str().unwrap_or_default();
    assert!(evidence.contains("statuscode: 503"), "{}", causes[0]);
}

/// A list that does not arrive is awaited for 3s.
#[tokio::test(start_paused = true)]
async fn a_list_of_events_that_never_arrives_delays_causes_briefly() {
    let lab = lab(KubeletTiming::default()).await;
    set_image(&lab, "app:2.0-notready");
    lab.pass(20).await;
    lab.cluster.fault(Fault::on(Requests::of(Verb::List, &EVENTS), FaultAction::Stall));
    let ended = lab.status("deployment/web -o json --timeout 20s").await;
    let appeared = causes(&ended)[0]["elapsedMilliseconds"].as_u64().unwrap();
    assert!((3_000..3_500).contains(&appeared), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn events_that_cannot_be_read_are_not_awaited() {
    let lab = lab(KubeletTiming::default()).await;
    let rule = Rule::allow(&["get", "list", "watch"], &["deployments", "replicasets", "pods"]);
    lab.cluster.users(|users| users.add(User::limited("gina", vec![rule])));
    set_image(&lab, "app:2.0-notready");
    lab.pass(20).await;
    let ended = lab.status_as("gina", "deployment/web -o json --timeout 20s").await;
    let appeared = causes(&ended)[0]["elapsedMilliseconds"].as_u64().unwrap();
    assert!(appeared < 500, "{}", ended.transcript);
}

/// An event that arrives later than the state it explains is added to the cause.
#[tokio::test(start_paused = true)]
async fn a_late_event_completes_its_cause() {
    let timing = KubeletTiming { event_delay: Duration::from_secs(8), ..KubeletTiming::recorded() };
    let lab = lab(timing).await;
    set_image(&lab, "app:2.0-notready");
    let ended = lab.status("deployment/web --timeout 40s").await;
    assert_eq!(ended.exit, 3, "{}", ended.transcript);
    assert!(ended.stderr.contains("statuscode: 503"), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_pull_that_takes_long_is_reported() {
    let timing = KubeletTiming { pull: Duration::from_secs(40), ..KubeletTiming::recorded() };
    let lab = lab(timing).await;
    set_image(&lab, "app:2-slowpull");
    let ended = lab.status("deployment/web --timeout 5m").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    assert!(ended.stderr.contains("image app:2-slowpull is being pulled"), "{}", ended.transcript);
}

#[tokio::test(start_paused = true)]
async fn an_init_container_that_runs_long_is_reported() {
    let lab = lab(KubeletTiming::recorded()).await;
    let web = harness::lab::key(&simcluster::resource::DEPLOYMENTS, "web");
    let init = json!([{"name": "wait", "image": "app:2-notready"}]);
    lab.hands().patch(&web, &json!({"spec": {"template": {"spec": {"initContainers": init}}}}));
    let ended = lab.status("deployment/web --timeout 60s").await;
    assert_eq!(ended.exit, 3, "{}", ended.transcript);
    assert!(ended.stderr.contains("init container"), "{}", ended.transcript);
}

/// Pods whose containers have ended are listed until the kubelet removes them.
#[tokio::test(start_paused = true)]
async fn old_gone_waits_for_pods_whose_containers_have_ended() {
    let timing = KubeletTiming { remove: Duration::from_secs(20), ..KubeletTiming::recorded() };
    let lab = lab(timing).await;
    set_image(&lab, "app:2");
    let ended = lab.status("deployment/web --until old-gone --timeout 5m").await;
    assert_eq!(ended.exit, 0, "{}", ended.transcript);
    let left = lab.cluster.store(|store| store.list(&PODS, None).count());
    assert_eq!(left, 2, "{}", ended.transcript);
}
