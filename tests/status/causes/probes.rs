//! Causes of running containers that are not ready.

use harness::prelude::*;

use super::{crashed, of_container, only};
use crate::status::objects::{broken_pod, cause_ids, document, warning, workload};

/// kubelet: `pkg/kubelet/prober/prober.go`.
#[test]
fn failed_probes_are_reported() {
    let probes = json!({"spec": {"template": {"spec": {"containers": [{
        "name": "app", "image": "x:3",
        "readinessProbe": {"httpGet": {"port": 8080, "path": "/healthz"}, "failureThreshold": 2},
    }]}}}});
    let rollout = |since: &str, container: Value, message: &str| {
        let running = json!({"state": {"running": {"startedAt": since}}});
        let pod = broken_pod("Deployment", "web-3-a", 3, &merged(running, &container));
        let revision = merged(crate::status::objects::revision("Deployment", 3), &probes);
        document(
            "Deployment",
            &[
                merged(workload("Deployment"), &probes),
                revision,
                pod,
                warning("uid-web-3-a", "Unhealthy", message),
            ],
        )
    };
    let message = "Readiness probe failed: HTTP probe failed with statuscode: 503";
    let failing = rollout("2026-11-20T13:59:00Z", json!({}), message);
    let expected = (
        "readiness-probe",
        true,
        "readiness probe fails, GET :8080/healthz",
        Some("HTTP probe failed with statuscode: 503"),
    );
    assert_eq!(only(&failing), expected);

    let starting = rollout("2026-11-20T13:59:41Z", json!({}), message);
    assert_eq!(cause_ids(&starting), [""; 0], "the failure threshold is reached after 20s");

    for (which, id) in [("Liveness", "liveness-probe"), ("Startup", "startup-probe")] {
        let killed = merged(crashed("Error", 137, ""), &json!({}));
        let message =
            format!("{which} probe errored and resulted in unknown state: rpc error: deadline exceeded");
        let summary = format!("killed by its {} probe, exit 137 (SIGKILL)", which.to_lowercase());
        let killed =
            rollout("2026-11-20T13:59:00Z", merged(killed, &json!({"state": {"running": null}})), &message);
        assert_eq!(only(&killed), (id, false, summary.as_str(), Some("rpc error: deadline exceeded")));
        let running = json!({"state": {"running": null}});
        let own = merged(crashed("Error", 1, ""), &running);
        let own = rollout("2026-11-20T13:59:00Z", own, &message);
        assert_eq!(only(&own).0, "crash-loop", "it ended with an exit code of its own");
    }
}

/// The kubelet may not record the event of each failure in a crash loop, but never one of a container that ended by itself.
#[test]
fn a_probe_that_failed_in_an_earlier_run_killed_nothing() {
    for (exit_code, failed, id) in [
        (0, "2026-11-20T13:50:00Z", "liveness-probe"),
        (0, "2026-11-20T13:49:59Z", "crash-loop"),
        (143, "2026-11-20T13:45:00Z", "liveness-probe"),
        (143, "2026-11-20T13:44:59Z", "crash-loop"),
    ] {
        let run = json!({"startedAt": "2026-11-20T13:50:00Z", "finishedAt": "2026-11-20T13:59:00Z"});
        let container =
            merged(crashed("Completed", exit_code, ""), &json!({"lastState": {"terminated": run}}));
        let message = "Liveness probe failed: HTTP probe failed with statuscode: 503";
        let event = merged(warning("uid-web-2-a", "Unhealthy", message), &json!({"lastTimestamp": failed}));
        let pod = broken_pod("Deployment", "web-2-a", 2, &container);
        let document = document("Deployment", &[workload("Deployment"), pod, event]);
        assert_eq!(only(&document).0, id, "exit {exit_code}, {failed}");
    }
}

#[test]
fn an_unready_container_has_a_grace_period() {
    let since = |time: &str| json!({"state": {"running": {"startedAt": time}}});
    assert_eq!(cause_ids(&of_container(&since("2026-11-20T13:59:51Z"))), [""; 0]);
    let late = of_container(&since("2026-11-20T13:59:49Z"));
    assert_eq!(only(&late), ("not-ready", true, "runs, but is not ready", None));
}

/// kubelet: `pkg/kubelet/status/generate.go`.
#[test]
fn false_readiness_gates_are_reported() {
    let message =
        r#"the status of pod readiness gate "target-health.elbv2.k8s.aws/tg" is not "True", but False"#;
    let gate =
        json!({"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady", "message": message});
    let ready = json!({"ready": true, "state": {"running": {"startedAt": "2026-11-20T13:00:00Z"}}});
    let pod = broken_pod("Deployment", "web-2-a", 2, &ready);
    let conditions = json!([gate, {"type": "ContainersReady", "status": "True"}]);
    let pod = merged(pod, &json!({"status": {"conditions": conditions}}));
    let document = document("Deployment", &[workload("Deployment"), pod]);
    assert_eq!(only(&document), ("readiness-gate", true, "a readiness gate is closed", Some(message)));
}
