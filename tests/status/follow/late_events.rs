//! Events that arrive after the state that they explain, or not at all.

use harness::prelude::*;

/// A cluster with a complete Deployment `web` of two pods.
async fn cluster() -> Cluster {
    Cluster::simulated().deployment(2, &json!({})).await.0
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
    let cluster = cluster().await;
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
    let cluster = cluster().await;
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
    let cluster = cluster().await;
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
    let cluster = cluster().await;
    fail_readiness_probe(&cluster);
    let late = FaultAction::Delay(Duration::from_secs(8));
    cluster.sim.fault(Fault::on(Requests::of(Verb::List, &EVENTS), late));
    let output = cluster.status("deployment/web --timeout 40s").await;
    output.ends(3).reports("statuscode: 503");
}
