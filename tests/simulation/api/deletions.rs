//! Deletions: preconditions, grace period, finalizers and dependents.

use crate::simulation::api::support::{app, core, delete, get, listed, post, shop};
use serde_json::{Value, json};
use simcluster::object;

#[tokio::test]
async fn preconditions_protect_an_object() {
    let service = shop().service();
    let pod = core("pods/db-0");
    let answer = delete(&service, &pod, &json!({ "preconditions": { "uid": "another" } })).await;
    assert_eq!(answer.code, 409);
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("Operation cannot be fulfilled on Pod \"db-0\": the UID in the precondition (another) does not match"), "{message}");
    let answer = delete(&service, &pod, &json!({ "preconditions": { "resourceVersion": "1" } })).await;
    assert_eq!((answer.code, answer.json()["reason"].as_str()), (409, Some("Conflict")));
    let uid = object::uid(&get(&service, &pod).await.json()).to_owned();
    let gone = delete(&service, &pod, &json!({ "preconditions": { "uid": uid } })).await;
    assert_eq!((gone.code, object::uid(&gone.json())), (200, uid.as_str()), "a pod is answered with itself");
    assert_eq!(get(&service, &pod).await.code, 404);
}

#[tokio::test]
async fn a_deletion_of_a_missing_object_returns_a_status() {
    let gone = delete(&shop().service(), &app("replicasets/web-69cc54bbb7"), &Value::Null).await;
    let uid = gone.json()["details"]["uid"].clone();
    assert_eq!(
        gone.json(),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": { "name": "web-69cc54bbb7", "group": "apps", "kind": "replicasets", "uid": uid },
        })
    );
}

#[tokio::test]
async fn the_propagation_policy_decides_about_dependents() {
    for (policy, left) in [("Background", 0), ("Foreground", 0), ("Orphan", 4)] {
        let service = shop().service();
        let answer =
            delete(&service, &app(&format!("deployments/web?propagationPolicy={policy}")), &Value::Null)
                .await;
        assert_eq!(answer.code, 200, "{}", answer.text);
        assert_eq!(get(&service, &app("deployments/web")).await.code, 404, "{policy}");
        assert_eq!(
            listed(&service, &app("replicasets?labelSelector=app%3Dweb")).await.len(),
            left,
            "{policy}"
        );
        assert_eq!(listed(&service, &core("pods?labelSelector=app%3Dweb")).await.len(), left, "{policy}");
        assert_eq!(
            listed(&service, &core("pods?labelSelector=app%3Ddb")).await.len(),
            5,
            "others are spared"
        );
    }
    let service = shop().service();
    delete(&service, &app("deployments/web?propagationPolicy=Orphan"), &Value::Null).await;
    let orphan = get(&service, &app("replicasets/web-69cc54bbb7")).await.json();
    assert_eq!(orphan["metadata"].get("ownerReferences"), None);
}

#[tokio::test]
async fn a_namespace_is_deleted_with_its_objects() {
    let service = shop().service();
    assert_eq!(delete(&service, "/api/v1/namespaces/shop", &Value::Null).await.code, 200);
    for uri in [app("deployments"), app("controllerrevisions"), core("pods"), core("events")] {
        assert_eq!(listed(&service, &uri).await, Vec::<String>::new());
    }
    assert_eq!(get(&service, "/api/v1/namespaces/shop").await.code, 404);
}

#[tokio::test]
async fn a_collection_is_deleted_by_selector() {
    let service = shop().service();
    delete(&service, &core("pods?labelSelector=app%3Ddb"), &Value::Null).await;
    assert_eq!(listed(&service, &core("pods?labelSelector=app%3Ddb")).await.len(), 0);
    assert_eq!(listed(&service, &core("pods?labelSelector=app%3Dweb")).await.len(), 4);
}

#[tokio::test]
async fn an_eviction_is_a_deletion() {
    let service = shop().service();
    let eviction = |uid: &str| json!({ "kind": "Eviction", "apiVersion": "policy/v1", "deleteOptions": { "preconditions": { "uid": uid } } });
    assert_eq!(post(&service, &core("pods/db-0/eviction"), &eviction("another")).await.code, 409);
    let uid = object::uid(&get(&service, &core("pods/db-0")).await.json()).to_owned();
    assert_eq!(post(&service, &core("pods/db-0/eviction"), &eviction(&uid)).await.code, 201);
    assert_eq!(get(&service, &core("pods/db-0")).await.code, 404);
}
