//! Pods that the API server rejects.

use harness::prelude::*;

use super::only;
use crate::status::objects::{NOW, cause_ids, document, pod, warning, workload};

/// API server: `plugin/pkg/admission/resourcequota` and `webhook/errors/statuserror.go`; Pod Security. The
/// controllers report it in a condition of the ReplicaSet, or in Events (`pkg/controller/controller_utils.go`,
/// `stateful_pod_control.go`).
#[test]
fn rejected_pods_are_reported() {
    let quota =
        r#"pods "web-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"#;
    let webhook = r#"admission webhook "policy.example.com" denied the request: no latest tags"#;
    let security = r#"pods "web-x" is forbidden: violates PodSecurity "restricted:latest": privileged"#;
    let used_up = (
        "quota-exceeded",
        false,
        r#"no new pods: quota "q" is exhausted (2 of 2)"#,
        Some("exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"),
    );
    let denied =
        ("admission-refused", false, "pods refused by admission webhook policy.example.com", Some(webhook));
    let insecure = (
        "admission-refused",
        false,
        "pods refused",
        Some(r#"violates PodSecurity "restricted:latest": privileged"#),
    );
    let down = r#"Internal error occurred: failed calling webhook "w": failed to call webhook: no endpoints available for service "w""#;
    let failed = ("admission-refused", true, "pods refused", Some(down));
    for (message, expected) in [(quota, used_up), (webhook, denied), (security, insecure), (down, failed)] {
        let failure =
            json!({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message});
        let replica_set =
            json!({"metadata": {"name": "web-3", "uid": "r3"}, "status": {"conditions": [failure]}});
        let template =
            json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "x:3"}]}}}});
        let replica_set =
            merged(merged(crate::status::objects::revision("Deployment", 3), &template), &replica_set);
        let deployment = merged(workload("Deployment"), &template);
        let status = document("Deployment", &[deployment, replica_set]);
        assert_eq!(only(&status), expected);
        assert_eq!(
            status["state"], "progressing",
            "progressing until the progress deadline of the Deployment"
        );

        let missing = json!({"status": {"replicas": 2}});
        let printed = warning(
            "n-web",
            "FailedCreate",
            &format!("create Pod web-2 in StatefulSet web failed error: {message}"),
        );
        let status = document("StatefulSet", &[merged(workload("StatefulSet"), &missing), printed]);
        assert_eq!(only(&status), expected);

        let missing = json!({"status": {"currentNumberScheduled": 2}});
        let printed = warning("n-web", "FailedCreate", &format!("Error creating: {message}"));
        let status = document("DaemonSet", &[merged(workload("DaemonSet"), &missing), printed]);
        assert_eq!(only(&status), expected);
    }
}

#[test]
fn a_rejected_replica_set_is_reported() {
    let message = r#"Failed to create new replica set "web-9": admission webhook "policy.example.com" denied the request: no"#;
    let condition = json!({"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError", "message": message});
    let image = json!([{"name": "app", "image": "x:9"}]);
    let changes =
        json!({"spec": {"template": {"spec": {"containers": image}}}, "status": {"conditions": [condition]}});
    let document = document("Deployment", &[merged(workload("Deployment"), &changes)]);
    assert_eq!(cause_ids(&document), ["admission-refused"]);
}

/// A terminating pod may free the quota, so the refusal can end without a fix.
#[test]
fn a_refusal_is_transient_while_a_pod_terminates() {
    let message = "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2";
    for (terminating, is_transient) in [(0, false), (1, true)] {
        let status = json!({"status": {"replicas": 2, "terminatingReplicas": terminating}});
        let printed = warning("n-web", "FailedCreate", message);
        let status = document("StatefulSet", &[merged(workload("StatefulSet"), &status), printed]);
        assert_eq!(only(&status).1, is_transient, "{terminating}");
    }
}

/// The StatefulSet controller tries again at once. A stamp has whole seconds, so that the refused attempt and the pod of the
/// next one can have the same.
#[test]
fn a_refusal_in_the_second_of_the_newest_pod_is_over() {
    let missing = json!({"status": {"replicas": 2}});
    let refused = warning("n-web", "FailedCreate", "exceeded quota: q, requested: pods=1");
    for (created, is_refused) in [(NOW, false), ("2026-11-20T13:59:59Z", true)] {
        let created = json!({"metadata": {"creationTimestamp": created}});
        let pod = merged(pod("StatefulSet", "web-0", 1), &created);
        let objects = [merged(workload("StatefulSet"), &missing), pod, refused.clone()];
        let document = document("StatefulSet", &objects);
        assert_eq!(cause_ids(&document).contains(&"quota-exceeded"), is_refused, "{document}");
    }
}
