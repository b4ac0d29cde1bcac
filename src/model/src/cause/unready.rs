//! Pods whose containers run and are not ready: a probe fails, or a readiness gate is closed.

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::context::CauseContext;
use super::{Cause, CauseId, CauseSeverity};
use crate::api::container::{Container, ContainerState};
use crate::api::pod::Pod;
use crate::hold::plan::original_min_ready_seconds;

/// The seconds within which the kubelet reports a container without a readiness probe as ready.
const READINESS_REPORT_SECONDS: i64 = 10;

/// How long a container may be unready after its probes had time to succeed and its pod to become available, before only a fix
/// is expected to help.
const UNREADY_SECONDS: i64 = 60;

/// Returns the problem of a container that is not ready although its probes had time to succeed. An init container
/// that runs as long is slow before.
pub(super) fn find_unready(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let ContainerState::Running { since: Some(since) } = container.state else {
        return None;
    };
    let declared = context.declared(&container.name);
    let probe = |name: &str| declared.and_then(|declared| declared.get(name));
    let allowed = probe("startupProbe").map_or(0, failure_seconds)
        + probe("readinessProbe").map_or(READINESS_REPORT_SECONDS, failure_seconds);
    let unready = context.now.duration_since(since);
    if unready <= SignedDuration::from_secs(allowed) {
        return None; // the container is still starting
    }
    let limit = UNREADY_SECONDS + allowed + original_min_ready_seconds(&context.observed.workload);
    let is_over = unready > SignedDuration::from_secs(limit) && has_serving_old_pod(context);
    let cause = match probe("readinessProbe") {
        Some(readiness) => {
            Cause::new(CauseId::ReadinessProbe, format!("readiness probe fails, {}", handler_text(readiness)))
                .with_evidence(
                    last_failure("readiness", pod, &container.name, None, context).unwrap_or_default(),
                )
        }
        None => Cause::new(CauseId::NotReady, "runs, but is not ready"),
    };
    Some(if is_over { Cause { severity: CauseSeverity::NeedsFix, ..cause } } else { cause })
}

/// Whether the examined pods are those of the current revision, and a pod of another one is ready. Then what all pods depend
/// on is there, and the revision is at fault.
fn has_serving_old_pod(context: &CauseContext<'_>) -> bool {
    let observed = context.observed;
    let is_current = context.revision.is_some_and(|revision| observed.revisions.is_current(revision));
    is_current && observed.outdated_pods().any(|pod| pod.ready)
}

/// How long the gate for updates in place is closed in a usual update. A container has 30 seconds to terminate by default.
const USUAL_IN_PLACE_TIME: SignedDuration = SignedDuration::from_secs(60);

/// Returns the problem of a pod with a readiness gate that is not true (`spec.readinessGates`). The kubelet's
/// message names the gate. The gate for updates in place is closed while containers terminate and restart, and
/// the kubelet reports it a little longer.
pub(super) fn closed_gate(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let is_recent = |since| context.now.duration_since(since) <= USUAL_IN_PLACE_TIME;
    let is_usual = pod.in_place_update.is_some() && pod.ready_since().is_some_and(is_recent);
    (pod.readiness.reason == "ReadinessGatesNotReady" && !is_usual).then(|| {
        Cause::new(CauseId::ReadinessGate, "a readiness gate is closed").with_evidence(&pod.readiness.message)
    })
}

/// Returns the message of a probe's last failure. The event reads `Readiness probe failed: HTTP probe failed with
/// statuscode: 503`, or `errored` if the kubelet could not run the probe (`pkg/kubelet/prober`). `which` is
/// `readiness`, `liveness` or `startup`.
pub(super) fn last_failure<'a>(
    which: &str,
    pod: &Pod,
    container: &str,
    since: Option<Timestamp>,
    context: &CauseContext<'a>,
) -> Option<&'a str> {
    let warnings = context.warnings(pod, container).filter(|warning| warning.last >= since);
    warnings.filter(|warning| warning.reason == "Unhealthy").find_map(|warning| {
        let (probe, rest) = warning.message.split_once(" probe ")?;
        probe
            .eq_ignore_ascii_case(which)
            .then(|| rest.split_once(": ").map_or(rest, |(_, message)| message).trim())
    })
}

/// Returns the seconds until a failing probe reaches its failure threshold. Fields that the template omits have
/// the API's defaults.
fn failure_seconds(probe: &Value) -> i64 {
    let field = |name: &str, default: i64| {
        probe.get(name).and_then(Value::as_i64).unwrap_or(default).clamp(0, i64::from(i32::MAX))
    };
    field("initialDelaySeconds", 0) + field("periodSeconds", 10) * field("failureThreshold", 3)
}

/// Returns the request of a probe or a lifecycle hook: `GET :8080/healthz`.
pub(super) fn handler_text(probe: &Value) -> String {
    let at = |pointer: &str| match probe.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    if probe.get("httpGet").is_some() {
        let scheme = if at("/httpGet/scheme") == "HTTPS" { "https://" } else { "" };
        format!("GET {scheme}{}:{}{}", at("/httpGet/host"), at("/httpGet/port"), at("/httpGet/path"))
    } else if probe.get("tcpSocket").is_some() {
        format!("TCP {}:{}", at("/tcpSocket/host"), at("/tcpSocket/port"))
    } else if probe.get("grpc").is_some() {
        format!("gRPC :{}", at("/grpc/port"))
    } else {
        let command = probe.pointer("/exec/command").and_then(Value::as_array);
        let arguments = command.into_iter().flatten().filter_map(Value::as_str);
        format!("exec {}", arguments.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::Object;
    use crate::cause::AllowedRestarts;
    use crate::kind::Workload;
    use crate::observation::Observation;
    use serde_json::json;

    /// The gate is closed while the containers terminate, and until the controller has seen that they run again.
    #[test]
    fn a_gate_that_a_usual_update_in_place_closes_is_no_cause() {
        let workload =
            Workload::of_json(&json!({"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet",
            "metadata": {"name": "w"}}));
        let observed = Observation::of_alone(workload.unwrap());
        let now = "2026-11-20T13:01:00Z".parse().unwrap();
        let context = CauseContext::new(&observed, None, AllowedRestarts::default(), now);
        for (what, closed, started, is_in_place, is_cause) in [
            ("its containers terminate for 25 s", "13:00:35", "12:00:00", true, false),
            ("its containers run again for 2 s", "12:59:00", "13:00:58", true, false),
            ("it stays closed", "12:59:00", "12:59:30", true, true),
            ("another gate", "13:00:35", "12:00:00", false, true),
        ] {
            let gate = if is_in_place { "InPlaceUpdateReady" } else { "example.com/lb" };
            let pod = json!({"kind": "Pod", "metadata": {"name": "w-0"}, "status": {
                "conditions": [
                    {"type": gate, "status": "False"},
                    {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady",
                        "lastTransitionTime": format!("2026-11-20T{closed}Z")},
                ],
                "containerStatuses": [{"name": "app", "ready": true,
                    "state": {"running": {"startedAt": format!("2026-11-20T{started}Z")}}}],
            }});
            let pod = Pod::read(&Object::read(pod).unwrap());
            assert_eq!(closed_gate(&pod, &context).is_some(), is_cause, "{what}");
        }
    }

    #[test]
    fn a_handler_is_described_by_its_request() {
        for (probe, text) in [
            (json!({"httpGet": {"port": 8080, "path": "/healthz"}}), "GET :8080/healthz"),
            (json!({"httpGet": {"port": "web", "path": "/", "scheme": "HTTPS"}}), "GET https://:web/"),
            (json!({"tcpSocket": {"port": 5432}}), "TCP :5432"),
            (json!({"grpc": {"port": 9}}), "gRPC :9"),
            (json!({"exec": {"command": ["cat", "/tmp/ready"]}}), "exec cat /tmp/ready"),
        ] {
            assert_eq!(handler_text(&probe), text);
        }
    }

    #[test]
    fn a_probe_fails_after_its_threshold() {
        assert_eq!(failure_seconds(&json!({})), 30);
        assert_eq!(
            failure_seconds(&json!({"initialDelaySeconds": 5, "periodSeconds": 2, "failureThreshold": 4})),
            13
        );
        assert!(failure_seconds(&json!({"periodSeconds": i64::MAX, "failureThreshold": i64::MAX})) > 0);
    }
}
