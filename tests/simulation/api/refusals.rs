//! Errors and warnings of writes, and their messages.

use crate::simulation::api::support::{app, call, core, deployment, get, patch, post, put, shop};
use http::Method;
use serde_json::json;
use simcluster::object;

#[tokio::test]
async fn an_object_in_a_missing_namespace_is_refused() {
    let answer =
        post(&shop().service(), "/apis/apps/v1/namespaces/nowhere/deployments", &deployment("new")).await;
    assert_eq!(
        (answer.code, answer.json()["message"].as_str()),
        (404, Some("namespaces \"nowhere\" not found"))
    );
}

#[tokio::test]
async fn an_outdated_update_is_a_conflict() {
    let service = shop().service();
    let mut stale = get(&service, &app("deployments/web")).await.json();
    patch(&service, &app("deployments/web"), "merge", &json!({ "spec": { "replicas": 5 } })).await;
    stale["spec"]["replicas"] = 6.into();
    let answer = put(&service, &app("deployments/web"), &stale).await;
    assert_eq!(answer.code, 409);
    assert_eq!(
        answer.json()["message"],
        "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again"
    );
    object::metadata(&mut stale).remove("resourceVersion");
    assert_eq!(
        put(&service, &app("deployments/web"), &stale).await.code,
        200,
        "an update without one is unconditional"
    );
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
async fn the_data_of_a_revision_is_fixed_and_its_number_is_not() {
    let service = shop().service();
    let revision = app("controllerrevisions/db-654dfb44bc");
    assert_eq!(patch(&service, &revision, "merge", &json!({ "revision": 9 })).await.code, 200);
    assert_eq!(patch(&service, &revision, "merge", &json!({ "data": { "spec": null } })).await.code, 422);
}

#[tokio::test]
async fn a_warning_comes_in_a_header() {
    let answer = patch(
        &shop().service(),
        &app("statefulsets/db"),
        "merge",
        &json!({ "spec": { "revisionHistoryLimit": -1 } }),
    )
    .await;
    assert_eq!(answer.code, 200);
    assert_eq!(
        answer.header("warning"),
        "299 - \"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended\""
    );
}

#[tokio::test]
async fn unknown_paths_are_refused_with_the_servers_message() {
    let service = shop().service();
    let code_and_reason = |answer: crate::simulation::api::support::Answer| {
        (answer.code, answer.json()["reason"].as_str().map(str::to_owned).unwrap())
    };
    assert_eq!(code_and_reason(get(&service, "/apis/batch/v1/jobs").await), (404, "NotFound".to_owned()));
    assert_eq!(code_and_reason(get(&service, &app("deployments/nope")).await), (404, "NotFound".to_owned()));
    let apply =
        call(&service, Method::PATCH, &app("deployments/web"), "application/apply-patch+yaml", "{}").await;
    assert_eq!(code_and_reason(apply), (415, "UnsupportedMediaType".to_owned()));
    assert_eq!(
        code_and_reason(
            call(&service, Method::PATCH, &app("deployments/web"), "application/merge-patch+json", "{").await
        ),
        (400, "BadRequest".to_owned())
    );
    assert_eq!(
        code_and_reason(put(&service, &core("pods"), &json!({})).await),
        (405, "MethodNotAllowed".to_owned())
    );
}
