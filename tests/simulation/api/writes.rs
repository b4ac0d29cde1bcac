//! Writes: defaults, generations, errors and managed fields.

use crate::simulation::api::support::{app, call, deployment, get, patch, post, shop};
use http::Method;
use serde_json::json;
use simcluster::object;

#[tokio::test]
async fn a_new_object_gets_server_fields_and_cannot_be_created_twice() {
    let service = shop().service();
    let created = post(&service, &app("deployments"), &deployment("new")).await;
    assert_eq!(created.code, 201);
    let created = created.json();
    assert_eq!(created["metadata"]["generation"], 1);
    assert_eq!(created["metadata"]["creationTimestamp"], "2026-11-20T14:00:00Z");
    assert_eq!(created["status"], json!({}));
    assert_eq!(object::resource_version(&created), 1591, "two namespaces came after the snapshot's 1588");
    let again = post(&service, &app("deployments"), &deployment("new")).await;
    assert_eq!((again.code, again.json()["reason"].as_str()), (409, Some("AlreadyExists")));
    assert_eq!(again.json()["message"], "deployments.apps \"new\" already exists");
}

#[tokio::test]
async fn generation_and_resource_version_change_correctly() {
    let service = shop().service();
    let state = |answer: &crate::simulation::api::support::Answer| {
        let value = answer.json();
        (object::generation(&value), object::resource_version(&value))
    };
    let before = state(&get(&service, &app("deployments/web")).await);
    let steps = [
        (json!({ "spec": { "replicas": 4 } }), 0, 0),
        (json!({ "spec": { "replicas": 5 } }), 1, 1),
        (json!({ "metadata": { "annotations": { "a": "b" } } }), 2, 2),
        (json!({ "metadata": { "labels": { "a": "b" } } }), 2, 3),
        (json!({ "status": { "replicas": 9 } }), 2, 3),
    ];
    let mut first_revision = None;
    for (change, generations, revisions) in steps {
        let after = state(&patch(&service, &app("deployments/web"), "merge", &change).await);
        assert_eq!(after.0, before.0 + generations, "{change}");
        if revisions > 0 {
            let first = *first_revision.get_or_insert(after.1);
            assert_eq!(after.1, first + revisions - 1, "{change}");
        } else {
            assert_eq!(after.1, before.1, "a write that changes nothing is none");
        }
    }
}

#[tokio::test]
async fn a_kubectl_rollback_works_on_all_three_kinds() {
    let cluster = shop();
    let service = cluster.service();
    let template = get(&service, &app("replicasets/web-54f998f4bf")).await.json()["spec"]["template"].clone();
    let operations = json!([
        { "op": "replace", "path": "/spec/template", "value": template },
        { "op": "replace", "path": "/metadata/annotations", "value": { "deployment.kubernetes.io/revision": "5" } },
    ]);
    let after = patch(&service, &app("deployments/web"), "json", &operations).await.json();
    assert_eq!(after["metadata"]["annotations"], json!({ "deployment.kubernetes.io/revision": "5" }));
    assert_eq!(object::generation(&after), 10);
    for (workload, revision) in
        [("statefulsets/db", "db-654dfb44bc"), ("daemonsets/agent", "agent-59788d9dd5")]
    {
        let data =
            get(&service, &app(&format!("controllerrevisions/{revision}"))).await.json()["data"].clone();
        let after = patch(&service, &app(workload), "strategic-merge", &data).await.json();
        let mut wanted = data["spec"]["template"].clone();
        object::members(&mut wanted).remove("$patch");
        assert_eq!(after["spec"]["template"], wanted, "{workload}");
    }
}

#[tokio::test]
async fn unknown_members_are_kept() {
    let service = shop().service();
    let change = json!({ "spec": { "template": { "spec": { "inTenYears": { "x": [1] } } } } });
    patch(&service, &app("deployments/web"), "strategic-merge", &change).await;
    patch(&service, &app("deployments/web"), "merge", &json!({ "spec": { "replicas": 1 } })).await;
    let after = get(&service, &app("deployments/web")).await.json();
    assert_eq!(after["spec"]["template"]["spec"]["inTenYears"], json!({ "x": [1] }));
}

#[tokio::test]
async fn a_dry_run_stores_nothing() {
    let service = shop().service();
    let before = get(&service, &app("deployments")).await.text;
    let patched =
        patch(&service, &app("deployments/web?dryRun=All"), "merge", &json!({ "spec": { "replicas": 9 } }))
            .await
            .json();
    assert_eq!((&patched["spec"]["replicas"], object::generation(&patched)), (&json!(9), 10));
    assert_eq!(post(&service, &app("deployments?dryRun=All"), &deployment("new")).await.code, 201);
    assert_eq!(call(&service, Method::DELETE, &app("deployments/web?dryRun=All"), "", "").await.code, 200);
    let in_body = json!({ "kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"] });
    assert_eq!(
        crate::simulation::api::support::delete(&service, &app("deployments/web"), &in_body).await.code,
        200
    );
    assert_eq!(get(&service, &app("deployments")).await.text, before);
}
