//! Subresources: status, scale, binding; and managed fields.

use crate::simulation::api::support::{app, core, get, patch, post, put, shop};
use serde_json::json;
use simcluster::{SimCluster, object};

#[tokio::test]
async fn the_status_is_written_separately() {
    let service = shop().service();
    let change = json!({ "spec": { "replicas": 9 }, "status": { "replicas": 9 }, "metadata": { "labels": { "a": "b" }, "annotations": { "a": "b" } } });
    let after = patch(&service, &app("deployments/web/status"), "merge", &change).await.json();
    assert_eq!((&after["spec"]["replicas"], &after["status"]["replicas"]), (&json!(4), &json!(9)));
    assert_eq!(after["metadata"]["labels"], json!({ "app": "web" }));
    assert_eq!((object::generation(&after), &after["metadata"]["annotations"]["a"]), (9, &json!("b")));
}

#[tokio::test]
async fn the_scale_of_a_workload_is_read_and_written() {
    let service = shop().service();
    let scale = get(&service, &app("statefulsets/db/scale")).await.json();
    assert_eq!((&scale["spec"]["replicas"], &scale["status"]["selector"]), (&json!(5), &json!("app=db")));
    let after =
        patch(&service, &app("statefulsets/db/scale"), "merge", &json!({ "spec": { "replicas": 2 } }))
            .await
            .json();
    assert_eq!((&after["kind"], &after["spec"]["replicas"]), (&json!("Scale"), &json!(2)));
    assert_eq!(
        put(&service, &app("statefulsets/db/scale"), &scale).await.code,
        409,
        "its resourceVersion is old by now"
    );
    assert_eq!(get(&service, &app("statefulsets/db")).await.json()["spec"]["replicas"], 2);
}

#[tokio::test]
async fn a_pod_gets_a_name_a_node_and_a_status() {
    let cluster = SimCluster::builder().namespace("shop").nodes(1).build();
    let service = cluster.service();
    let pod = json!({ "metadata": { "generateName": "web-" }, "spec": { "containers": [{ "name": "c", "image": "c:1" }] } });
    let created = post(&service, &core("pods"), &pod).await.json();
    let name = object::name(&created).to_owned();
    assert!(name.starts_with("web-") && name.len() == 9, "{name}");
    assert_eq!(created["status"], json!({ "phase": "Pending", "qosClass": "BestEffort" }));
    let binding = json!({ "target": { "kind": "Node", "name": "node-0" } });
    assert_eq!(post(&service, &core(&format!("pods/{name}/binding")), &binding).await.code, 201);
    let bound = get(&service, &core(&format!("pods/{name}"))).await.json();
    assert_eq!(
        (&bound["spec"]["nodeName"], &bound["status"]["conditions"][0]["type"]),
        (&json!("node-0"), &json!("PodScheduled"))
    );
    assert_eq!(post(&service, &core(&format!("pods/{name}/binding")), &binding).await.code, 409);
}

#[tokio::test]
async fn the_field_manager_is_stored() {
    let service = shop().service();
    patch(&service, &app("deployments/web?fieldManager=me"), "merge", &json!({ "spec": { "replicas": 9 } }))
        .await;
    let after = get(&service, &app("deployments/web")).await.json();
    let entry = object::list(&after, &["metadata", "managedFields"])
        .iter()
        .find(|entry| entry["manager"] == "me")
        .cloned()
        .unwrap();
    assert_eq!(
        entry,
        json!({
            "manager": "me", "operation": "Update", "apiVersion": "apps/v1", "time": "2026-11-20T14:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": { "f:spec": { "f:replicas": {} } },
        })
    );
}
