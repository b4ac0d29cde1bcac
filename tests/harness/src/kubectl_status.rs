//! What `kubectl rollout status` 1.36 prints for an object (`k8s.io/kubectl/pkg/polymorphichelpers/rollout_status.go`).

use serde_json::Value;

/// Returns kubectl's line for a Deployment, a DaemonSet or a StatefulSet, and whether kubectl exits after it.
pub fn kubectl_status(object: &Value) -> (String, bool) {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let strategy = text("/spec/updateStrategy/type");
    match text("/kind") {
        "Deployment" => deployment(object),
        _ if strategy != "RollingUpdate" => {
            ("error: rollout status is only available for RollingUpdate strategy type".to_owned(), true)
        }
        "DaemonSet" => daemon_set(object),
        _ => stateful_set(object),
    }
}

fn deployment(object: &Value) -> (String, bool) {
    let name = &object["metadata"]["name"];
    let status = |counter: &str| number(object, &format!("/status/{counter}"));
    let (updated, available) = (status("updatedReplicas"), status("availableReplicas"));
    let old = status("replicas") - updated;
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let is_late = |condition: &Value| condition["reason"] == "ProgressDeadlineExceeded";
    let finishing = format!("Waiting for deployment {name} rollout to finish:");
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64);
    if !is_observed(object) {
        return ("Waiting for deployment spec update to be observed...".to_owned(), false);
    }
    if conditions.into_iter().any(is_late) {
        return (format!("error: deployment {name} exceeded its progress deadline"), true);
    }
    if let Some(wanted) = wanted.filter(|wanted| updated < *wanted) {
        return (format!("{finishing} {updated} out of {wanted} new replicas have been updated..."), false);
    }
    if old > 0 {
        return (format!("{finishing} {old} old replicas are pending termination..."), false);
    }
    if available < updated {
        return (format!("{finishing} {available} of {updated} updated replicas are available..."), false);
    }
    (format!("deployment {name} successfully rolled out"), true)
}

fn daemon_set(object: &Value) -> (String, bool) {
    let name = &object["metadata"]["name"];
    let status = |counter: &str| number(object, &format!("/status/{counter}"));
    let (updated, available) = (status("updatedNumberScheduled"), status("numberAvailable"));
    let wanted = status("desiredNumberScheduled");
    let finishing = format!("Waiting for daemon set {name} rollout to finish:");
    if !is_observed(object) {
        return ("Waiting for daemon set spec update to be observed...".to_owned(), false);
    }
    if updated < wanted {
        return (format!("{finishing} {updated} out of {wanted} new pods have been updated..."), false);
    }
    if available < wanted {
        return (format!("{finishing} {available} of {wanted} updated pods are available..."), false);
    }
    (format!("daemon set {name} successfully rolled out"), true)
}

fn stateful_set(object: &Value) -> (String, bool) {
    let status = |counter: &str| number(object, &format!("/status/{counter}"));
    let (wanted, ready) = (number(object, "/spec/replicas"), status("readyReplicas"));
    let (updated, current) = (status("updatedReplicas"), status("currentReplicas"));
    let partition = object.pointer("/spec/updateStrategy/rollingUpdate/partition").and_then(Value::as_i64);
    let revision = |which: &str| object["status"][which].as_str().unwrap_or_default();
    if status("observedGeneration") == 0 || !is_observed(object) {
        return ("Waiting for statefulset spec update to be observed...".to_owned(), false);
    }
    if ready < wanted {
        return (format!("Waiting for {} pods to be ready...", wanted - ready), false);
    }
    if object.pointer("/spec/updateStrategy/rollingUpdate").is_some_and(Value::is_object) {
        let released = partition.map_or(0, |partition| wanted - partition);
        if updated < released {
            let waiting = "Waiting for partitioned roll out to finish:";
            return (format!("{waiting} {updated} out of {released} new pods have been updated..."), false);
        }
        return (format!("partitioned roll out complete: {updated} new pods have been updated..."), true);
    }
    let (live, former) = (revision("updateRevision"), revision("currentRevision"));
    if live != former {
        let waiting = "waiting for statefulset rolling update to complete";
        return (format!("{waiting} {updated} pods at revision {live}..."), false);
    }
    (format!("statefulset rolling update complete {current} pods at revision {former}..."), true)
}

fn is_observed(object: &Value) -> bool {
    number(object, "/metadata/generation") <= number(object, "/status/observedGeneration")
}

fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}
