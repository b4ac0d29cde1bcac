//! Evictions: the responses of the server, and what they mean for the pod.

use std::sync::Arc;

use harness::prelude::*;
use rollout2::cluster::notice::Listener;
use rollout2::cluster::objects::read::{disruption_budgets, nodes};
use rollout2::cluster::source::{Cluster, Source};
use rollout2::error::ErrorKind;
use rollout2::model::change::written::DeletionResult;
use rollout2::model::engine::PodRef;
use rollout2::world::Clock;
use simcluster::object;
use simcluster::resource::PODDISRUPTIONBUDGETS;

/// Connects to a cluster as a user.
fn connect_as(cluster: &SimCluster, user: &str) -> Source {
    let client = kube::Client::new(cluster.service_for(user), "shop");
    Source::Cluster(Arc::new(Cluster::in_process(client, Clock::System, 0, Listener::new(|_| {}))))
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

async fn evict(cluster: &SimCluster, pod: &str) -> DeletionResult {
    evict_with(cluster, pod, uid(cluster, pod)).await
}

async fn evict_with(cluster: &SimCluster, name: &str, uid: String) -> DeletionResult {
    connect_as(cluster, "admin").remove_pod("shop", &PodRef { name: name.to_owned(), uid }, true).await
}

#[tokio::test]
async fn an_eviction_has_a_uid_precondition() {
    let cluster = shop();
    let another = evict_with(&cluster, "db-4", "another".to_owned()).await;
    assert!(matches!(another, DeletionResult::Accepted), "another pod has its name: {another:?}");
    assert!(!uid(&cluster, "db-4").is_empty());
    assert!(matches!(evict(&cluster, "db-4").await, DeletionResult::Accepted));
    assert!(uid(&cluster, "db-4").is_empty());
    assert!(matches!(evict(&cluster, "db-4").await, DeletionResult::Accepted), "it is gone");
}

#[tokio::test]
async fn a_budget_refusal_is_reported_with_the_servers_message() {
    let cluster = shop();
    create_budget(
        &cluster,
        "db",
        &json!({"observedGeneration": 1, "desiredHealthy": 4, "currentHealthy": 4}),
    );
    let words = "The disruption budget db needs 4 healthy pods and has 4 currently";
    let result = evict(&cluster, "db-4").await;
    assert!(matches!(&result, DeletionResult::Disallowed(message) if message == words), "{result:?}");
    assert!(!uid(&cluster, "db-4").is_empty());
}

#[tokio::test]
async fn several_budgets_for_a_pod_are_a_refusal() {
    let cluster = shop();
    create_budget(&cluster, "one", &json!({}));
    create_budget(&cluster, "two", &json!({}));
    let result = evict(&cluster, "db-4").await;
    let DeletionResult::Refused(error) = &result else { panic!("{result:?}") };
    assert!(error.to_string().contains("more than one PodDisruptionBudget"), "{error:?}");
}

#[tokio::test]
async fn an_eviction_with_a_lost_answer_is_not_repeated_or_assumed() {
    let cluster = shop();
    cluster.fault(Fault::on(Requests::of(Verb::Create, &PODS), FaultAction::LoseAnswer).once());
    let result = evict(&cluster, "db-4").await;
    assert!(matches!(result, DeletionResult::Unknown(_)) && uid(&cluster, "db-4").is_empty(), "{result:?}");
    let evictions = cluster.requests().iter().filter(|request| request.line().contains("eviction")).count();
    assert_eq!(evictions, 1);
}

#[tokio::test]
async fn a_429_without_a_budget_cause_is_not_an_eviction() {
    let cluster = shop();
    let busy = FaultAction::Refuse(Refusal::with_status(429, "the server is busy").retry_after(1));
    cluster.fault(Fault::on(Requests::of(Verb::Create, &PODS), busy.clone()).once());
    assert!(matches!(evict(&cluster, "db-4").await, DeletionResult::Disallowed(_)));
    cluster.fault(Fault::on(Requests::of(Verb::Delete, &PODS), busy).once());
    let pod = PodRef { name: "db-4".to_owned(), uid: uid(&cluster, "db-4") };
    let deleted = connect_as(&cluster, "admin").remove_pod("shop", &pod, false).await;
    assert!(matches!(deleted, DeletionResult::Unavailable(_)), "{deleted:?}");
    assert!(!uid(&cluster, "db-4").is_empty());
}

#[tokio::test]
async fn nodes_and_budgets_are_read_or_reported_as_withheld() {
    let cluster = shop();
    create_budget(&cluster, "db", &json!({}));
    let admin = connect_as(&cluster, "admin");
    let read = nodes(&admin).await.unwrap();
    assert!(read.iter().any(|node| node.ready && node.labels["topology.kubernetes.io/zone"] == "z2"));
    assert_eq!(disruption_budgets(&admin, "shop").await.unwrap().len(), 1);
    let gina = connect_as(&cluster, "gina");
    let error = nodes(&gina).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotReadable);
    assert!(error.to_string().starts_with("cannot read nodes: forbidden"), "{error}");
    assert_eq!(disruption_budgets(&gina, "shop").await.unwrap_err().kind(), ErrorKind::NotReadable);
}
