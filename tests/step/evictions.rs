//! Evictions: the responses of the server, and what they mean for the pod.

use std::sync::Arc;

use harness::prelude::*;
use rollout2::cluster::notice::Listener;
use rollout2::cluster::reader::{disruption_budgets, nodes};
use rollout2::cluster::source::{Cluster, Source};
use rollout2::cluster::write::{WriteFailure, WriteOutcome};
use rollout2::error::ErrorKind;
use rollout2::world::Clock;
use simcluster::object;
use simcluster::resource::PODDISRUPTIONBUDGETS;

/// Connects to a cluster as a user.
fn connect_as(cluster: &SimCluster, user: &str) -> Cluster {
    let client = kube::Client::new(cluster.service_for(user), "shop");
    Cluster::in_process(client, Clock::System, 0, Listener::new(|_| {}))
}

fn shop() -> SimCluster {
    SimCluster::builder()
        .snapshot(&harness::snapshot("shop"))
        .unwrap()
        .nodes(3)
        .user(User::limited("gina", [Rule::allow(&["list"], &["pods"])]))
        .build()
}

/// A PodDisruptionBudget for the database with this status.
fn create_budget(cluster: &SimCluster, name: &str, status: &Value) {
    let metadata = json!({"name": name, "namespace": "shop", "uid": name, "generation": 1});
    let spec = json!({"selector": {"matchLabels": {"app": "db"}}, "maxUnavailable": 1});
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata,
        "spec": spec, "status": status});
    cluster.store(|store| store.restore(&PODDISRUPTIONBUDGETS, budget));
}

fn uid(cluster: &SimCluster, pod: &str) -> String {
    let key = Key::new(&PODS, "shop", pod);
    cluster.store(|store| store.get(&key).map(|pod| object::uid(pod).to_owned())).unwrap_or_default()
}

async fn evict(cluster: &SimCluster, pod: &str) -> Result<(), WriteFailure> {
    let uid = uid(cluster, pod);
    connect_as(cluster, "admin").evict("shop", pod, &uid).await
}

#[tokio::test]
async fn an_eviction_has_a_uid_precondition() {
    let cluster = shop();
    let failure = connect_as(&cluster, "admin").evict("shop", "db-4", "another").await.unwrap_err();
    assert_eq!(failure.outcome, WriteOutcome::Conflict);
    assert!(!uid(&cluster, "db-4").is_empty());
    evict(&cluster, "db-4").await.unwrap();
    assert!(uid(&cluster, "db-4").is_empty());
    assert_eq!(evict(&cluster, "db-4").await.unwrap_err().outcome, WriteOutcome::Gone);
}

#[tokio::test]
async fn a_budget_refusal_is_reported_with_the_servers_message() {
    let cluster = shop();
    create_budget(
        &cluster,
        "db",
        &json!({"observedGeneration": 1, "desiredHealthy": 4, "currentHealthy": 4}),
    );
    let failure = evict(&cluster, "db-4").await.unwrap_err();
    assert_eq!(failure.outcome, WriteOutcome::RetryLater);
    let words = "The disruption budget db needs 4 healthy pods and has 4 currently";
    assert_eq!(failure.error.sentence(), words);
    assert!(!uid(&cluster, "db-4").is_empty());
}

#[tokio::test]
async fn several_budgets_for_a_pod_are_a_refusal() {
    let cluster = shop();
    create_budget(&cluster, "one", &json!({}));
    create_budget(&cluster, "two", &json!({}));
    let failure = evict(&cluster, "db-4").await.unwrap_err();
    assert_eq!(failure.outcome, WriteOutcome::Unchanged);
    assert!(failure.error.sentence().contains("more than one PodDisruptionBudget"), "{failure:?}");
}

#[tokio::test]
async fn an_eviction_with_a_lost_answer_is_not_repeated_or_assumed() {
    let cluster = shop();
    cluster.fault(Fault::on(Requests::of(Verb::Create, &PODS), FaultAction::LoseAnswer).once());
    let pod = uid(&cluster, "db-4");
    let failure = connect_as(&cluster, "admin").evict("shop", "db-4", &pod).await.unwrap_err();
    assert_eq!((failure.outcome, uid(&cluster, "db-4").is_empty()), (WriteOutcome::Unknown, true));
    let evictions = cluster.requests().iter().filter(|request| request.line().contains("eviction")).count();
    assert_eq!(evictions, 1);
}

#[tokio::test]
async fn a_429_without_a_budget_cause_is_not_an_eviction() {
    let cluster = shop();
    let busy = FaultAction::Refuse(Refusal::with_status(429, "the server is busy").retry_after(1));
    cluster.fault(Fault::on(Requests::of(Verb::Create, &PODS), busy).once());
    assert_eq!(evict(&cluster, "db-4").await.unwrap_err().outcome, WriteOutcome::RetryLater);
}

#[tokio::test]
async fn nodes_and_budgets_are_read_or_reported_as_withheld() {
    let cluster = shop();
    create_budget(&cluster, "db", &json!({}));
    let admin = Source::Cluster(Arc::new(connect_as(&cluster, "admin")));
    let read = nodes(&admin).await.unwrap();
    assert!(read.iter().any(|node| node.ready && node.labels["topology.kubernetes.io/zone"] == "z2"));
    assert_eq!(disruption_budgets(&admin, "shop").await.unwrap().len(), 1);
    let gina = Source::Cluster(Arc::new(connect_as(&cluster, "gina")));
    let error = nodes(&gina).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotReadable);
    assert!(error.sentence().starts_with("cannot read nodes: forbidden"), "{}", error.sentence());
    assert_eq!(disruption_budgets(&gina, "shop").await.unwrap_err().kind(), ErrorKind::NotReadable);
}
