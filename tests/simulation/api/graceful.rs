//! Deletions that kubelets or finalizers complete.

use crate::simulation::api::support::{app, core, delete, get, listed, patch, post, shop};
use harness::snapshot;
use serde_json::{Value, json};
use simcluster::{Finalization, Key, SimCluster, object, resource::PODS};

#[tokio::test]
async fn a_finalizer_blocks_a_deletion() {
    let service = shop().service();
    let web = app("deployments/web");
    patch(&service, &web, "merge", &json!({ "metadata": { "finalizers": ["example.com/hold"] } })).await;
    let marked = delete(&service, &web, &Value::Null).await.json();
    assert_eq!(marked["metadata"]["deletionTimestamp"], "2026-11-20T14:00:00Z");
    assert_eq!(object::generation(&marked), 10, "its controller is to notice");
    assert_eq!(get(&service, &web).await.code, 200);
    patch(&service, &web, "merge", &json!({ "metadata": { "finalizers": null } })).await;
    assert_eq!(get(&service, &web).await.code, 404);
}

#[tokio::test]
async fn a_kubelet_ends_a_running_pod_when_there_are_kubelets() {
    let cluster = SimCluster::builder()
        .snapshot(&snapshot("shop"))
        .unwrap()
        .finalization(Finalization::ByControllers)
        .build();
    let service = cluster.service();
    let pod = core("pods/db-0");
    let marked = delete(&service, &pod, &Value::Null).await.json();
    assert_eq!(
        (&marked["metadata"]["deletionTimestamp"], &marked["metadata"]["deletionGracePeriodSeconds"]),
        (&json!("2026-11-20T14:00:30Z"), &json!(30))
    );
    let shorter = delete(&service, &core("pods/db-0?gracePeriodSeconds=5"), &Value::Null).await.json();
    assert_eq!(
        (&shorter["metadata"]["deletionTimestamp"], object::generation(&shorter)),
        (&json!("2026-11-20T14:00:05Z"), object::generation(&marked))
    );
    assert_eq!(delete(&service, &core("pods/db-0?gracePeriodSeconds=0"), &Value::Null).await.code, 200);
    assert!(cluster.store(|store| store.get(&Key::new(&PODS, "shop", "db-0")).is_none()));
    let unscheduled =
        json!({ "metadata": { "name": "new" }, "spec": { "containers": [{ "name": "c", "image": "c:1" }] } });
    post(&service, &core("pods"), &unscheduled).await;
    delete(&service, &core("pods/new"), &Value::Null).await;
    assert_eq!(
        get(&service, &core("pods/new")).await.code,
        404,
        "a pod without a node has no kubelet to wait for"
    );
}

#[tokio::test]
async fn controllers_finish_a_cascade() {
    let cluster = SimCluster::builder()
        .snapshot(&snapshot("shop"))
        .unwrap()
        .finalization(Finalization::ByControllers)
        .build();
    let service = cluster.service();
    let marked =
        delete(&service, &app("deployments/web?propagationPolicy=Foreground"), &Value::Null).await.json();
    assert_eq!(marked["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    assert_eq!(listed(&service, &app("replicasets?labelSelector=app%3Dweb")).await.len(), 4);
}
