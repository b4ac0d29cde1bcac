//! The program on simulated kubelets with the times of recorded ones, which can be changed.

use harness::prelude::*;
use simcluster::KubeletTiming;

/// A cluster with a complete Deployment `web` of two pods.
async fn cluster(timing: KubeletTiming) -> Cluster {
    let cluster = Cluster::simulated().controllers(Controllers::new().kubelet_timing(timing)).start();
    cluster.deployment(2, &json!({}));
    cluster.advance(30).await;
    cluster
}

fn set_image(cluster: &Cluster, image: &str) {
    cluster.editor().set_image(&key(&DEPLOYMENTS, "web"), image);
}

/// Changes to an image whose readiness probe fails.
fn fail_readiness_probe(cluster: &Cluster) {
    let probe = json!({"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 2});
    let containers = json!([{"name": "app", "image": "app:2.0-notready", "readinessProbe": probe}]);
    let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
    cluster.editor().patch(&key(&DEPLOYMENTS, "web"), &patch);
}

/// The events about causes of a run in JSON.
fn causes(output: &Output) -> Vec<Value> {
    let events = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["event"] == "cause").collect()
}

/// A cause has its evidence from the first line on, although the list of events takes 2s.
#[tokio::test(start_paused = true)]
async fn the_first_list_of_events_is_awaited() {
    let cluster = cluster(KubeletTiming::default()).await;
    fail_readiness_probe(&cluster);
    cluster.advance(20).await;
    let slow = FaultAction::Delay(Duration::from_secs(2));
    cluster.sim.fault(Fault::on(Requests::of(Verb::List, &EVENTS), slow).once());
    let output = cluster.status("deployment/web -o json --timeout 20s").await;
    let causes = causes(&output);
    assert_eq!(causes.len(), 1, "{}", output.transcript);
    assert!(causes[0]["elapsedMilliseconds"].as_u64() >= Some(2_000), "{}", causes[0]);
    let evidence = causes[0]["cause"]["evidence"].as_str().unwrap_or_default();
    assert!(evidence.contains("statuscode: 503"), "{}", causes[0]);
}

/// A list that does not arrive is awaited for 3s.
#[tokio::test(start_paused = true)]
async fn a_list_of_events_that_never_arrives_delays_causes_briefly() {
    let cluster = cluster(KubeletTiming::default()).await;
    fail_readiness_probe(&cluster);
    cluster.advance(20).await;
    cluster.sim.fault(Fault::on(Requests::of(Verb::List, &EVENTS), FaultAction::Stall));
    let output = cluster.status("deployment/web -o json --timeout 20s").await;
    let appeared = causes(&output)[0]["elapsedMilliseconds"].as_u64().unwrap();
    assert!((3_000..3_500).contains(&appeared), "{}", output.transcript);
    let output = cluster.status("deployment/web -o json --timeout 1s").await;
    assert_eq!(causes(&output).len(), 1, "the timeout comes first: {}", output.transcript);
}

#[tokio::test(start_paused = true)]
async fn events_that_cannot_be_read_are_not_awaited() {
    let cluster = cluster(KubeletTiming::default()).await;
    let rule = Rule::allow(&["get", "list", "watch"], &["deployments", "replicasets", "pods"]);
    cluster.sim.users(|users| users.add(User::limited("gina", vec![rule])));
    fail_readiness_probe(&cluster);
    cluster.advance(20).await;
    let output = cluster.status_as("gina", "deployment/web -o json --timeout 20s").await;
    let appeared = causes(&output)[0]["elapsedMilliseconds"].as_u64().unwrap();
    assert!(appeared < 500, "{}", output.transcript);
}

/// An event that arrives later than the state it explains is added to the cause.
#[tokio::test(start_paused = true)]
async fn a_late_event_completes_its_cause() {
    let timing = KubeletTiming { event_delay: Duration::from_secs(8), ..KubeletTiming::recorded() };
    let cluster = cluster(timing).await;
    fail_readiness_probe(&cluster);
    let output = cluster.status("deployment/web --timeout 40s").await;
    output.ends(3).reports("statuscode: 503");
}

#[tokio::test(start_paused = true)]
async fn a_pull_that_takes_long_is_reported() {
    let timing = KubeletTiming { pull: Duration::from_secs(40), ..KubeletTiming::recorded() };
    let cluster = cluster(timing).await;
    set_image(&cluster, "app:2-slowpull");
    let output = cluster.status("deployment/web --timeout 5m").await;
    output.ends(0).reports("image app:2-slowpull is being pulled");
}

#[tokio::test(start_paused = true)]
async fn an_init_container_that_runs_long_is_reported() {
    let cluster = cluster(KubeletTiming::recorded()).await;
    let web = key(&DEPLOYMENTS, "web");
    let init = json!([{"name": "wait", "image": "app:2-notready"}]);
    cluster.editor().patch(&web, &json!({"spec": {"template": {"spec": {"initContainers": init}}}}));
    let output = cluster.status("deployment/web --timeout 60s").await;
    output.ends(3).reports("init container");
}
