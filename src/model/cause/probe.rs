//! Containers that run and are not ready.

use k8s_openapi::jiff::SignedDuration;
use serde_json::Value;

use super::CauseId;
use super::sight::{Sight, Trouble};
use crate::model::container::{Container, State};
use crate::model::pod::Pod;

/// How long a container without a readiness probe may take to be reported as ready.
const REPORTING: i64 = 10;

/// Containers that had the time their probes give them, and are still not ready.
pub(super) fn of(container: &Container, pod: &Pod, sight: &Sight<'_>) -> Option<Trouble> {
    let State::Running { since: Some(since) } = container.state else {
        return None;
    };
    if container.init {
        return None;
    }
    let declared = sight.declared(&container.name);
    let probe = |name: &str| declared.and_then(|declared| declared.get(name));
    let patience =
        probe("startupProbe").map_or(0, patience) + probe("readinessProbe").map_or(REPORTING, patience);
    if sight.now.duration_since(since) <= SignedDuration::from_secs(patience) {
        return None; // it is merely starting
    }
    Some(match probe("readinessProbe") {
        Some(readiness) => Trouble::new(
            CauseId::ReadinessProbe,
            format!("readiness probe fails, {}", target(readiness)),
            last_failure("readiness", pod, &container.name, sight).unwrap_or_default(),
        ),
        None => Trouble::new(CauseId::NotReady, "runs, but is not ready", ""),
    })
}

/// Conditions of others that the pod waits for (`spec.readinessGates`). The kubelet names them.
pub(super) fn closed_gate(pod: &Pod) -> Option<Trouble> {
    (pod.readiness.reason == "ReadinessGatesNotReady").then(|| {
        Trouble::new(CauseId::ReadinessGate, "a readiness gate is closed", pod.readiness.message.as_str())
    })
}

/// What a probe said when it last failed: `Readiness probe failed: HTTP probe failed with statuscode:
/// 503`, or `errored` where it could not be run (`pkg/kubelet/prober`). `which` is in lower case.
pub(super) fn last_failure<'a>(
    which: &str,
    pod: &Pod,
    container: &str,
    sight: &Sight<'a>,
) -> Option<&'a str> {
    sight.warnings(pod, container).filter(|warning| warning.reason == "Unhealthy").find_map(|warning| {
        let (probe, rest) = warning.message.split_once(" probe ")?;
        probe
            .eq_ignore_ascii_case(which)
            .then(|| rest.split_once(": ").map_or(rest, |(_, words)| words).trim())
    })
}

/// How long a probe may fail before it has failed: as long as its threshold takes, in seconds. What
/// the template leaves out has the API's default.
fn patience(probe: &Value) -> i64 {
    let field = |name: &str, default: i64| {
        probe.get(name).and_then(Value::as_i64).unwrap_or(default).clamp(0, i64::from(i32::MAX))
    };
    field("initialDelaySeconds", 0) + field("periodSeconds", 10) * field("failureThreshold", 3)
}

/// What a probe asks, in a few words.
fn target(probe: &Value) -> String {
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
        let words = command.into_iter().flatten().filter_map(Value::as_str);
        format!("exec {}", words.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_probe_is_told_by_what_it_asks() {
        for (probe, text) in [
            (json!({"httpGet": {"port": 8080, "path": "/healthz"}}), "GET :8080/healthz"),
            (json!({"httpGet": {"port": "web", "path": "/", "scheme": "HTTPS"}}), "GET https://:web/"),
            (json!({"tcpSocket": {"port": 5432}}), "TCP :5432"),
            (json!({"grpc": {"port": 9}}), "gRPC :9"),
            (json!({"exec": {"command": ["cat", "/tmp/ready"]}}), "exec cat /tmp/ready"),
        ] {
            assert_eq!(target(&probe), text);
        }
    }

    #[test]
    fn a_probe_has_the_patience_of_its_threshold() {
        assert_eq!(patience(&json!({})), 30);
        assert_eq!(
            patience(&json!({"initialDelaySeconds": 5, "periodSeconds": 2, "failureThreshold": 4})),
            13
        );
        assert!(patience(&json!({"periodSeconds": i64::MAX, "failureThreshold": i64::MAX})) > 0);
    }
}
