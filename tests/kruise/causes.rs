//! What pods that are updated in place wait for, and the errors that the controllers report: recorded objects, changed
//! as the controllers change them.

use serde_json::{Value, json};

use crate::kruise::recording::Step;

/// Returns the document of `status`, with its exit code.
fn status(step: &Step) -> (u8, Value) {
    let output = step.run(&["status", step.target(), "--watch=false", "-o", "json"]);
    (output.exit, serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

/// Returns the ids and summaries of the causes.
fn causes(document: &Value) -> Vec<(&str, &str)> {
    let causes = document["causes"].as_array().unwrap().iter();
    causes.map(|cause| (cause["id"].as_str().unwrap(), cause["summary"].as_str().unwrap())).collect()
}

/// The annotation with the state of an update in place.
const STATE: &str = "apps.kruise.io/inplace-update-state";

/// The steps in the middle of an update in place.
const IN_PLACE: [(&str, &str); 3] =
    [("master-cs-inplace", "01"), ("master-asts-inplace", "01"), ("master-ads-inplace", "01")];

/// Returns a condition of a pod, to change it.
fn condition<'a>(pod: &'a mut Value, type_: &str) -> &'a mut Value {
    let mut conditions = pod["status"]["conditions"].as_array_mut().unwrap().iter_mut();
    conditions.find(|condition| condition["type"] == type_).unwrap()
}

/// Closes the readiness gate of each pod that is being updated in place, changes it, and returns their number.
fn change_updating_pods(step: &mut Step, change: impl Fn(&mut Value)) -> usize {
    let mut count = 0;
    for pod in step.objects_mut("Pod") {
        let is_open = condition(pod, "InPlaceUpdateReady")["status"] == "True";
        let is_ready = condition(pod, "Ready")["status"] == "True";
        if is_open && (is_ready || pod["metadata"]["annotations"][STATE].is_null()) {
            continue;
        }
        condition(pod, "InPlaceUpdateReady")["status"] = "False".into();
        condition(pod, "Ready")["status"] = "False".into();
        change(pod);
        count += 1;
    }
    count
}

#[test]
fn a_pod_in_its_grace_period_waits_for_it() {
    for (scenario, number) in IN_PLACE {
        let mut step = Step::numbered(scenario, number);
        let pods = change_updating_pods(&mut step, |pod| {
            pod["metadata"]["annotations"]["apps.kruise.io/inplace-update-grace"] =
                r#"{"revision":"x","containerImages":{"main":"y"},"graceSeconds":30}"#.into();
        });
        let (exit, document) = status(&step);
        assert!(pods > 0 && exit == 3, "{}: {document:#}", step.name);
        let summary = "in the grace period before its update in place";
        assert_eq!(causes(&document), [("in-place-grace-period", summary)], "{}", step.name);
        assert_eq!(document["causes"][0]["pods"], pods, "{}", step.name);
        assert_eq!(document["causes"][0]["transient"], true, "{document:#}");
    }
}

#[test]
fn a_restart_by_kruise_daemon_is_awaited() {
    for (scenario, number) in IN_PLACE {
        let mut step = Step::numbered(scenario, number);
        let pods = change_updating_pods(&mut step, |pod| {
            let state = json!({"updateEnvFromMetadata": true, "containerBatchesRecord": [
                {"containers": ["before"]}, {"containers": ["main", "side"]},
            ]});
            pod["metadata"]["annotations"][STATE] = state.to_string().into();
        });
        let (_, document) = status(&step);
        let summary =
            "waits for kruise-daemon to restart main, side, whose environment reads changed metadata";
        assert_eq!(causes(&document), [("kruise-daemon", summary)], "{}: {document:#}", step.name);
        assert_eq!(document["causes"][0]["pods"], pods, "{}", step.name);
    }
}

/// The controller opens the gate after the containers have restarted. Until then the kubelet names the gate.
#[test]
fn a_closed_gate_of_a_pod_whose_containers_are_ready_is_a_cause() {
    for ((scenario, number), since, is_cause) in IN_PLACE
        .into_iter()
        .flat_map(|step| [(step, "2026-11-20T13:00:00Z", true), (step, "2036-11-20T13:00:00Z", false)])
    {
        let mut step = Step::numbered(scenario, number);
        let message = r#"the status of pod readiness gate "InPlaceUpdateReady" is not "True", but False"#;
        let pods = change_updating_pods(&mut step, |pod| {
            pod["metadata"]["creationTimestamp"] = since.into();
            let ready = condition(pod, "Ready");
            ready["reason"] = "ReadinessGatesNotReady".into();
            ready["message"] = message.into();
            ready["lastTransitionTime"] = since.into();
            condition(pod, "ContainersReady")["status"] = "True".into();
            for container in pod["status"]["containerStatuses"].as_array_mut().unwrap() {
                container["ready"] = true.into();
                container["state"] = json!({"running": {"startedAt": since}});
            }
        });
        let (_, document) = status(&step);
        let expected: &[_] = if is_cause { &[("readiness-gate", "a readiness gate is closed")] } else { &[] };
        assert_eq!(causes(&document), expected, "{}: {document:#}", step.name);
        if is_cause {
            assert_eq!(document["causes"][0]["evidence"], message);
            assert_eq!(document["causes"][0]["pods"], pods);
        }
    }
}

#[test]
fn a_pod_that_waits_for_a_lifecycle_hook_names_its_handlers() {
    let hook = json!({"labelsHandler": {"drained": "false"}, "finalizersHandler": ["shop.example/drain"]});
    for (state, name) in [
        ("PreparingUpdate", "inPlaceUpdate"),
        ("Updated", "inPlaceUpdate"),
        ("PreparingDelete", "preDelete"),
        ("PreparingNormal", "preNormal"),
    ] {
        for (scenario, number) in IN_PLACE {
            let mut step = Step::numbered(scenario, number);
            let kind = step.workload()["kind"].as_str().unwrap().to_owned();
            step.object_mut(&kind)["spec"]["lifecycle"] = json!({name: hook});
            step.object_mut("Pod")["metadata"]["labels"]["lifecycle.apps.kruise.io/state"] = state.into();
            let (_, document) = status(&step);
            let summary = format!(
                "{state}: waits for the lifecycle hook {name} (label drained=false, finalizer shop.example/drain)"
            );
            let found = causes(&document);
            assert!(found.contains(&("lifecycle-hook", &summary)), "{}: {document:#}", step.name);
            // Without the hook the state is that of a usual pod.
            step.object_mut(&kind)["spec"]["lifecycle"] = Value::Null;
            let (_, document) = status(&step);
            assert!(causes(&document).iter().all(|(id, _)| *id != "lifecycle-hook"), "{document:#}");
        }
    }
}

/// The webhook refuses such a change. The policy can follow the change, or the webhook can be absent.
#[test]
fn a_policy_that_keeps_pods_is_a_cause() {
    for (scenario, number, field) in [
        ("master-cs-inplace", "10", "/type"),
        ("master-asts-inplace", "06", "/rollingUpdate/podUpdatePolicy"),
    ] {
        let all = Step::of(scenario);
        let before = all.iter().position(|step| step.name.contains(&format!("/{number}-"))).unwrap() - 1;
        let mut step = Step::numbered(scenario, number);
        let kind = step.workload()["kind"].as_str().unwrap().to_owned();
        let workload = step.object_mut(&kind);
        *workload["spec"]["updateStrategy"].pointer_mut(field).unwrap() = "InPlaceOnly".into();
        workload["status"]["updatedReplicas"] = 0.into();
        workload["status"]["updatedReadyReplicas"] = 0.into();
        workload["status"]["updatedAvailableReplicas"] = 0.into();
        step.replace("Pod", &all[before]);
        let (exit, document) = status(&step);
        assert_eq!(exit, 3, "{document:#}");
        let pods = step.objects("Pod").count();
        let summary = format!(
            "InPlaceOnly keeps {pods} pods: spec.containers[main].env[A].value cannot change in place"
        );
        assert_eq!(causes(&document), [("in-place-only", summary.as_str())], "{document:#}");
        assert_eq!(document["causes"][0]["pods"], pods, "{document:#}");
    }
}

/// The controller of a `CloneSet` leaves `FailedUpdate` in place for good, whatever was wrong.
#[test]
fn a_complete_rollout_has_no_errors_of_its_controller() {
    for (scenario, number) in [("master-cs-inplace", "03"), ("master-cs-recreate", "02")] {
        let mut step = Step::numbered(scenario, number);
        let recorded = step.workload()["status"]["conditions"].to_string();
        assert!(recorded.contains(r#""status":"True","type":"FailedUpdate""#), "{recorded}");
        for message in [None, Some("update revision not found")] {
            if let Some(message) = message {
                let stale = json!({"type": "FailedUpdate", "status": "True", "message": message,
                    "lastTransitionTime": "2036-11-22T12:00:00Z"});
                step.object_mut("CloneSet")["status"]["conditions"] = json!([stale]);
            }
            let (exit, document) = status(&step);
            assert_eq!((exit, causes(&document)), (0, Vec::new()), "{}: {document:#}", step.name);
        }
    }
}

#[test]
fn the_errors_of_a_controller_are_causes() {
    for (scenario, number, type_, message) in [
        ("master-cs-inplace", "01", "FailedUpdate", "update revision not found"),
        ("master-cs-inplace", "01", "FailedScale", "pods \"web-x\" is forbidden: exceeded quota"),
        ("master-asts-inplace", "01", "FailedCreatePod", "failed to create pod web-1"),
        ("master-asts-inplace", "01", "FailedUpdatePod", "failed to update pod web-1"),
    ] {
        let mut step = Step::numbered(scenario, number);
        let kind = step.workload()["kind"].as_str().unwrap().to_owned();
        let condition = |status: &str, since: &str, message: &str| json!({"type": type_, "status": status, "lastTransitionTime": since, "message": message});
        for (condition, is_cause) in [
            (condition("True", "2036-11-22T12:00:00Z", message), true),
            (condition("False", "2036-11-22T12:00:00Z", message), false),
            (condition("True", "2020-11-22T12:00:00Z", message), false),
            (condition("True", "2036-11-22T12:00:00Z", "the object has been modified"), false),
        ] {
            step.object_mut(&kind)["status"]["conditions"] = json!([condition]);
            let (_, document) = status(&step);
            let errors: Vec<_> = document["causes"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|cause| cause["id"] == "controller-error")
                .map(|cause| (cause["summary"].as_str().unwrap(), cause["evidence"].as_str().unwrap()))
                .collect();
            let expected: &[_] = if is_cause { &[(type_, message)] } else { &[] };
            assert_eq!(errors, expected, "{condition}: {document:#}");
        }
    }
}

/// OpenKruise 1.9 reports `spec.progressDeadlineSeconds` of a CloneSet as the Deployment controller does.
#[test]
fn a_clone_set_that_exceeded_its_progress_deadline_failed() {
    let mut step = Step::numbered("master-cs-inplace", "01");
    let condition = |revision: &Value| {
        let message = format!("CloneSet revision {} has timed out progressing", revision.as_str().unwrap());
        json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": message}])
    };
    let [current, update] =
        ["currentRevision", "updateRevision"].map(|name| step.workload()["status"][name].clone());
    step.object_mut("CloneSet")["status"]["conditions"] = condition(&update);
    let (exit, document) = status(&step);
    assert_eq!((exit, &document["state"]), (4, &json!("failed")), "{document:#}");
    let output = step.run(&["status", "cloneset/web", "--watch=false"]);
    assert!(output.transcript.contains("cloneset \"web\" exceeded its progress deadline"), "{output:?}");
    // The controller keeps the condition of an earlier rollout, such as the one that was rolled back.
    step.object_mut("CloneSet")["status"]["conditions"] = condition(&current);
    assert_eq!(status(&step).0, 3);
    // A rollout that is complete does not fail.
    let mut settled = Step::numbered("master-cs-inplace", "03");
    settled.object_mut("CloneSet")["status"]["conditions"] = condition(&update);
    assert_eq!(status(&settled).0, 0);
}
