//! Containers that crash repeatedly: by themselves, without memory, or killed by a probe.

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::container_logs::error_line;
use super::context::{CauseContext, MAX_RECOVERY_TIME};
use super::since::restarts_in_series;
use super::unready::last_failure;
use super::{AllowedRestarts, Cause, CauseId};
use crate::api::container::{Container, ContainerState, Termination};
use crate::api::pod::Pod;

/// The states of a crash loop. A container alternates between them with every restart; all are one problem.
const CRASHED: &str = "crashed";
const COMPLETED: &str = "completed"; // with exit code 0, as `kubectl get pods` prints it
const BACK_OFF: &str = "CrashLoopBackOff";

/// The termination reasons of containers that the kubelet lost track of, usually because the node restarted.
const LOST: [&str; 2] = ["Unknown", "ContainerStatusUnknown"];

/// The termination reason of a container that was stopped because the rule `RestartAllContainers` restarts the
/// whole pod (`restartPolicyRules[].action`).
const RESTARTING_ALL: &str = "RestartingAllContainers";

/// A container has recovered once it has run this much longer than its last run, or for [`MAX_RECOVERY_TIME`].
const RECOVERY_MARGIN: SignedDuration = SignedDuration::from_secs(10);

/// Returns the problem of a container in a crash loop: it ended, or has not run for long enough since, ready or not.
pub(super) fn find_crash(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let ending = container.latest_termination()?;
    if !is_in_crash_loop(container, context.allowed, context.now) {
        return None;
    }
    if restarts_all(container, ending, context) {
        let evidence = if ending.reason == RESTARTING_ALL { &ending.message } else { &exit(ending) };
        return Some(
            Cause::new(CauseId::CrashLoop, "and all containers of its pod restart")
                .in_state(CRASHED)
                .with_evidence(evidence),
        );
    }
    if ending.reason == RESTARTING_ALL {
        return None; // another container crashed
    }
    if ending.reason == "OOMKilled" {
        let limit = memory_limit(container, context);
        let limit = limit.map(|limit| format!(", memory limit {limit}")).unwrap_or_default();
        let state = format!("OOMKilled, exit {}{limit}", ending.exit_code);
        return Some(Cause::new(CauseId::OutOfMemory, "").in_state(&state));
    }
    if let Some((id, which, message)) = killed_by_probe(container, ending, pod, context) {
        return Some(
            Cause::new(id, format!("killed by its {which} probe, {}", exit(ending))).with_evidence(message),
        );
    }
    let state = match ending.exit_code {
        _ if container.waiting_reason() == BACK_OFF => BACK_OFF,
        0 => COMPLETED,
        _ => CRASHED,
    };
    let message = error_line(ending.message.lines()).unwrap_or_default();
    if let Some(limit) = memory_limit_of_killed(container, ending, context) {
        // The kubelet reports the same lack of memory as `OOMKilled` and as `Error`.
        let state = format!("{state}, {}, memory limit {limit}", exit(ending));
        return Some(Cause::new(CauseId::OutOfMemory, "").in_state(&state).with_evidence(message));
    }
    Some(Cause::new(CauseId::CrashLoop, exit(ending)).in_state(state).with_evidence(message))
}

/// Whether a container of a pod is in a crash loop. Readiness does not matter: without a readiness probe a container is ready
/// for a moment after every restart.
pub(crate) fn is_crash_looping(pod: &Pod, allowed: AllowedRestarts, now: Timestamp) -> bool {
    pod.containers.iter().any(|container| is_in_crash_loop(container, allowed, now))
}

/// Whether a container terminated and waits for a restart, or restarted so recently that the same crash may
/// happen again. A container that runs for longer than [`RECOVERY_MARGIN`] beyond its last run, or for
/// [`MAX_RECOVERY_TIME`], has recovered from that crash; one that could not be started before, at once.
fn is_in_crash_loop(container: &Container, allowed: AllowedRestarts, now: Timestamp) -> bool {
    let Some(ending) = container.latest_termination() else { return false };
    if LOST.contains(&ending.reason.as_str()) || container.restarted_by_resize || allowed.allows(container) {
        return false;
    }
    match &container.state {
        ContainerState::Waiting { reason, .. } => reason == BACK_OFF || reason == RESTARTING_ALL,
        ContainerState::Terminated(_) => !(container.init && ending.exit_code == 0),
        ContainerState::Running { since } => {
            let recovery_time =
                ending.ran_for().saturating_add(RECOVERY_MARGIN).clamp(RECOVERY_MARGIN, MAX_RECOVERY_TIME);
            container.restarts > 0
                && !ending.is_failed_start()
                && since.is_none_or(|since| now.duration_since(since) <= recovery_time)
        }
        ContainerState::Unknown => false,
    }
}

/// Whether a container crashed repeatedly and may crash again, although it can be ready at this moment.
pub(super) fn has_repeated(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> bool {
    let allowed = context.allowed;
    counted_restarts(container, pod, allowed) > allowed.limit()
        && is_in_crash_loop(container, allowed, context.now)
}

/// Returns the restarts that are compared with those that are allowed: the counter of the container with an option, and
/// without one those of the present series.
pub(super) fn counted_restarts(container: &Container, pod: &Pod, allowed: AllowedRestarts) -> i64 {
    if allowed.0.is_some() { container.restarts } else { restarts_in_series(container, pod) }
}

/// Whether the termination of this container restarts every container of the pod (`RestartAllContainers`).
/// After the restart the kubelet keeps no exit code, so any such rule of the container matches.
fn restarts_all(container: &Container, ending: &Termination, context: &CauseContext<'_>) -> bool {
    let rules =
        context.declared(&container.name).and_then(|declared| declared.get("restartPolicyRules")?.as_array());
    let applies = |rule: &Value| {
        let values = rule.pointer("/exitCodes/values").and_then(Value::as_array);
        let is_in = values.is_some_and(|values| values.contains(&Value::from(ending.exit_code)));
        let is_negated = rule.pointer("/exitCodes/operator").and_then(Value::as_str) == Some("NotIn");
        ending.reason == RESTARTING_ALL || is_in != is_negated
    };
    let mut rules = rules.into_iter().flatten();
    rules.any(|rule| {
        rule.get("action").and_then(Value::as_str) == Some("RestartAllContainers") && applies(rule)
    })
}

fn memory_limit<'a>(container: &Container, context: &'a CauseContext<'_>) -> Option<&'a str> {
    context.declared(&container.name)?.pointer("/resources/limits/memory")?.as_str()
}

/// Returns the memory limit of a container that was killed by SIGKILL, unless a probe may have killed it. The kubelet
/// reports some containers that exceed their limit with the reason `Error`, and the same container's next run with
/// `OOMKilled` (recorded with containerd 1.6).
fn memory_limit_of_killed<'a>(
    container: &Container,
    ending: &Termination,
    context: &'a CauseContext<'_>,
) -> Option<&'a str> {
    let declared = context.declared(&container.name)?;
    let is_probed = ["livenessProbe", "startupProbe"].iter().any(|probe| declared.get(probe).is_some());
    if ending.exit_code != 137 || is_probed { None } else { memory_limit(container, context) }
}

/// The kubelet records 25 events of a pod at once, and then one in this time (`EventSourceObjectSpamFilter` of client-go).
const EVENT_INTERVAL: SignedDuration = SignedDuration::from_mins(5);

/// Returns the failed probe that made the kubelet kill the container. A killed container exits with 0 or by a
/// signal. Any other exit code is the container's own failure, even if a probe failed too. The probe failed during that
/// run, or shortly before a run that a signal ended, because the event of a crash loop may not be recorded again.
fn killed_by_probe<'a>(
    container: &Container,
    ending: &Termination,
    pod: &Pod,
    context: &CauseContext<'a>,
) -> Option<(CauseId, &'static str, &'a str)> {
    if !ending.is_stopped() {
        return None;
    }
    let lag = if ending.exit_code == 0 { SignedDuration::ZERO } else { EVENT_INTERVAL };
    let since = ending.started.and_then(|started| started.checked_sub(lag).ok());
    let probes = [(CauseId::LivenessProbe, "liveness"), (CauseId::StartupProbe, "startup")];
    probes.into_iter().find_map(|(id, which)| {
        last_failure(which, pod, &container.name, since, context).map(|message| (id, which, message))
    })
}

/// Returns `exit 1`, and for a code above 128 the signal too: `exit 137 (SIGKILL)`.
fn exit(ending: &Termination) -> String {
    let code = ending.exit_code;
    match code.checked_sub(128).and_then(signal) {
        Some(signal) => format!("exit {code} ({signal})"),
        None => format!("exit {code}"),
    }
}

fn signal(number: i64) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::Object;
    use crate::kind::Workload;
    use crate::observation::Observation;
    use serde_json::json;

    /// Java and Node.js print the error above its stack trace, as Go does.
    #[test]
    fn the_line_of_the_error_is_quoted() {
        for (message, line) in [
            ("", None),
            (
                "panic: DB_URL is not set\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:9 +0x1d",
                Some("panic: DB_URL is not set"),
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'DB_URL'\n",
                Some("KeyError: 'DB_URL'"),
            ),
            (
                "Exception in thread \"main\" java.lang.IllegalStateException: no DB_URL\n\tat Main.main(Main.java:3)",
                Some("Exception in thread \"main\" java.lang.IllegalStateException: no DB_URL"),
            ),
            ("Error: no DB_URL\n    at main.js:9:1\n\nNode.js v24.1.0\n", Some("Error: no DB_URL")),
        ] {
            let ending = json!({"exitCode": 1, "message": message});
            let container = json!({"name": "app", "restartCount": 3, "state": {"terminated": ending}});
            let pod = json!({"kind": "Pod", "metadata": {"name": "p"}, "status": {"containerStatuses": [container]}});
            let pod = Pod::read(&Object::read(pod).unwrap());
            let workload =
                Workload::of_json(&json!({"kind": "Deployment", "metadata": {"name": "w"}})).unwrap();
            let observed = Observation::of_alone(workload);
            let context =
                CauseContext::new(&observed, None, AllowedRestarts::default(), Timestamp::UNIX_EPOCH);
            let cause = find_crash(&pod.containers[0], &pod, &context).unwrap();
            assert_eq!(cause.evidence.as_deref(), line);
        }
    }

    #[test]
    fn a_signal_is_named() {
        for (exit_code, text) in [
            (0, "exit 0"),
            (1, "exit 1"),
            (137, "exit 137 (SIGKILL)"),
            (139, "exit 139 (SIGSEGV)"),
            (255, "exit 255"),
            (i64::MIN, "exit -9223372036854775808"),
        ] {
            assert_eq!(exit(&Termination { exit_code, ..Termination::default() }), text);
        }
    }

    #[test]
    fn a_container_that_the_kubelet_lost_did_not_crash() {
        for (reason, is_looping) in [("Unknown", false), ("ContainerStatusUnknown", false), ("Error", true)] {
            let ending = json!({"terminated": {"exitCode": 137, "reason": reason}});
            let pod = json!({"kind": "Pod", "metadata": {"name": "w-0"},
                "status": {"containerStatuses": [{"name": "app", "state": ending}]}});
            let pod = Pod::read(&Object::read(pod).unwrap());
            let now = "2026-11-20T13:00:05Z".parse().unwrap();
            assert_eq!(is_crash_looping(&pod, AllowedRestarts::default(), now), is_looping, "{reason}");
        }
    }

    #[test]
    fn an_init_container_that_succeeded_does_not_crash() {
        for (exit_code, is_looping) in [(0, false), (1, true)] {
            let ending = json!({"terminated": {"exitCode": exit_code, "finishedAt": "2026-11-20T13:00:00Z"}});
            let pod = json!({"kind": "Pod", "metadata": {"name": "w-0"},
                "status": {"initContainerStatuses": [{"name": "migrate", "state": ending}]}});
            let pod = Pod::read(&Object::read(pod).unwrap());
            let now = "2026-11-20T13:00:05Z".parse().unwrap();
            assert_eq!(is_crash_looping(&pod, AllowedRestarts::default(), now), is_looping, "{exit_code}");
        }
    }
}
