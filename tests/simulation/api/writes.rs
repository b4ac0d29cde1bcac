//! Writes: generations, dry runs, and refusals with their causes.

use crate::simulation::api::client::{Answer, app, delete, get, patch, shop};
use serde_json::json;
use simcluster::object;

#[tokio::test]
async fn generation_and_resource_version_change_correctly() {
    let service = shop().service();
    let state = |answer: &Answer| {
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
async fn a_failed_test_is_refused_without_causes_and_writes_nothing() {
    let service = shop().service();
    let operations = json!([
        { "op": "test", "path": "/metadata/uid", "value": "another" },
        { "op": "replace", "path": "/spec/replicas", "value": 1 },
    ]);
    let answer = patch(&service, &app("deployments/web"), "json", &operations).await;
    assert_eq!(
        (answer.code, answer.json()),
        (
            422,
            json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Invalid", "details": {}, "code": 422,
                "message": "the server rejected our request due to an error in our request",
            })
        )
    );
    assert_eq!(get(&service, &app("deployments/web")).await.json()["spec"]["replicas"], 4);
}

#[tokio::test]
async fn wrong_fields_are_refused_with_their_causes() {
    let service = shop().service();
    for (workload, change, message) in [
        (
            "deployments/web",
            json!({ "spec": { "replicas": -1 } }),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            "statefulsets/db",
            json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": -1 } } } }),
            "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            "daemonsets/agent",
            json!({ "spec": { "updateStrategy": { "rollingUpdate": { "maxSurge": 1 } } } }),
            "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
        ),
        (
            "deployments/web",
            json!({ "spec": { "selector": { "matchLabels": { "app": "web", "x": "y" } }, "template": { "metadata": { "labels": { "x": "y" } } } } }),
            "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"web\",\"x\":\"y\"}}: field is immutable",
        ),
        (
            "statefulsets/db",
            json!({ "spec": { "serviceName": "other" } }),
            "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        ),
    ] {
        let answer = patch(&service, &app(workload), "merge", &change).await;
        let body = answer.json();
        assert_eq!((answer.code, body["reason"].as_str()), (422, Some("Invalid")), "{body}");
        let (field, why) = message.split_once(": ").unwrap();
        assert_eq!(
            (&body["details"]["causes"][0]["field"], &body["details"]["causes"][0]["message"]),
            (&json!(field), &json!(why))
        );
        assert!(body["message"].as_str().unwrap().ends_with(message), "{body}");
    }
}

#[tokio::test]
async fn a_partition_in_per_cent_is_an_unreadable_patch() {
    let change = json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": "50%" } } } });
    let answer = patch(&shop().service(), &app("statefulsets/db"), "merge", &change).await;
    let body = answer.json();
    assert_eq!((answer.code, &body["details"]["causes"][0]["field"]), (422, &json!("patch")));
    assert!(body["message"].as_str().unwrap().ends_with("unrecognized type: int32"), "{body}");
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
    let in_body = json!({ "kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"] });
    assert_eq!(delete(&service, &app("deployments/web"), &in_body).await.code, 200);
    assert_eq!(get(&service, &app("deployments")).await.text, before);
}
