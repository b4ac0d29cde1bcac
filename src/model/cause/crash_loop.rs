//! Containers that started and are not ready: they crash repeatedly, or their probes fail; and since when a pod has a problem.

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::container_logs::error_line;
use super::context::CauseContext;
use super::{AllowedRestarts, Cause, CauseId};
use crate::api::container::{Container, ContainerState, Termination};
use crate::api::pod::Pod;

/// The states of a crash loop. A container alternates between them with every restart; all are one problem.
const CRASHED: &str = "crashed";
const COMPLETED: &str = "completed"; // with exit code 0, as `kubectl get pods` prints it
const BACK_OFF: &str = "CrashLoopBackOff";

/// How the summary of an init container's crash loop begins.
pub(super) const INIT: &str = "init container, ";

/// The termination reasons of containers that the kubelet lost track of, usually because the node restarted.
const LOST: [&str; 2] = ["Unknown", "ContainerStatusUnknown"];

/// The termination reason of a container that was stopped because the rule `RestartAllContainers` restarts the
/// whole pod (`restartPolicyRules[].action`).
const RESTARTING_ALL: &str = "RestartingAllContainers";

/// The restart from which the kubelet waits before the next one.
const BACK_OFF_RESTARTS: i64 = 2;

/// A container has recovered once it has run this much longer than its last run, or for [`MAX_RECOVERY_TIME`].
const RECOVERY_MARGIN: SignedDuration = SignedDuration::from_secs(10);

/// The longest run that a recovery needs.
pub(super) const MAX_RECOVERY_TIME: SignedDuration = SignedDuration::from_secs(60);

/// Returns the problem of a container in a crash loop: it ended, or has not run for long enough since, ready or not.
pub(super) fn find_crash(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let ending = container.latest_termination()?;
    if !is_in_crash_loop(container, context.allowed, context.now) {
        return None;
    }
    if restarts_all(container, ending, context) {
        let evidence = if ending.reason == RESTARTING_ALL { &ending.message } else { &exit(ending) };
        return Some(
            Cause::new(CauseId::CrashLoop, "crashed, and all containers of its pod restart")
                .with_evidence(evidence),
        );
    }
    if ending.reason == RESTARTING_ALL {
        return None; // another container crashed
    }
    if ending.reason == "OOMKilled" {
        return Some(out_of_memory(container, ending, context));
    }
    if let Some((id, which, message)) = killed_by_probe(container, ending, pod, context) {
        return Some(
            Cause::new(id, format!("killed by its {which} probe, {}", exit(ending))).with_evidence(message),
        );
    }
    let what = match ending.exit_code {
        _ if container.waiting_reason() == BACK_OFF => BACK_OFF,
        0 => COMPLETED,
        _ => CRASHED,
    };
    let message = error_line(ending.message.lines()).unwrap_or_default();
    if let Some(limit) = memory_limit_of_killed(container, ending, context) {
        let summary = format!("{what}, {}, memory limit {limit}", exit(ending));
        return Some(Cause::new(CauseId::OutOfMemory, summary).with_evidence(message));
    }
    Some(Cause::new(CauseId::CrashLoop, format!("{what}, {}", exit(ending))).with_evidence(message))
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
    if LOST.contains(&ending.reason.as_str()) || container.restarted_by_resizes() || allowed.allows(container)
    {
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
pub(super) fn has_repeated(container: &Container, context: &CauseContext<'_>) -> bool {
    container.restarts > context.allowed.limit() && is_in_crash_loop(container, context.allowed, context.now)
}

/// Returns the time since when a pod has a problem, at the latest; none if no stamp shows it.
///
/// | problem | source |
/// |---|---|
/// | crash loop | [`crashed_since`] |
/// | other | the latest of: the creation of the pod; `lastTransitionTime` of `PodScheduled`, `PodReadyToStartContainers` and `Ready`; the end of an init container; [`crashed_since`] |
pub(super) fn since(id: CauseId, pod: &Pod, container: Option<&Container>) -> Option<Timestamp> {
    let crashed = container.and_then(crashed_since);
    if id.ends_container() {
        return crashed.and_then(|crashed| pod.updated_at().max(Some(crashed)));
    }
    let conditions = [&pod.scheduling, &pod.sandbox, &pod.readiness].map(|condition| condition.since);
    let init = pod.containers.iter().filter(|container| container.init);
    let init = init.filter_map(|init| init.latest_termination()?.finished);
    conditions.into_iter().chain([pod.updated_at(), crashed]).flatten().chain(init).max()
}

/// Returns when a container crashed first, at the latest; none if it never ended.
///
/// The stamps of earlier runs are lost, but the restarts show how long the kubelet waited between them. So a crash loop
/// does not begin again with each restart. A first crash, and one after a long run, begins when that run ended.
fn crashed_since(container: &Container) -> Option<Timestamp> {
    let ending = container.latest_termination()?;
    if container.restarts < BACK_OFF_RESTARTS || ending.ran_for() > MAX_RECOVERY_TIME {
        return ending.finished;
    }
    let latest_start = match container.state {
        ContainerState::Running { since } => since,
        _ => ending.started,
    };
    let latest_start = latest_start.or(ending.finished)?;
    Some(latest_start.checked_sub(back_offs(container.restarts)).unwrap_or(Timestamp::MIN))
}

/// Returns how long the kubelet has waited in all before a container's restarts: not before the first one, then 10 s, and
/// each time twice as long, up to 5 minutes (`MaxCrashLoopBackOff` in `pkg/kubelet`). A kubelet with a shorter back-off
/// waited less.
fn back_offs(restarts: i64) -> SignedDuration {
    let waits = restarts.saturating_sub(1).max(0);
    let growing = waits.min(5); // 10, 20, 40, 80 and 160 s
    let longest = (waits - growing).saturating_mul(300);
    SignedDuration::from_secs(longest.saturating_add(10 * ((1 << growing) - 1)))
}

/// Returns a summary without the current state of the crash loop.
pub(super) fn without_state(summary: &str) -> &str {
    let summary = summary.strip_prefix(INIT).unwrap_or(summary);
    [CRASHED, COMPLETED, BACK_OFF].into_iter().find_map(|word| summary.strip_prefix(word)).unwrap_or(summary)
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

fn out_of_memory(container: &Container, ending: &Termination, context: &CauseContext<'_>) -> Cause {
    let limit = memory_limit(container, context);
    let limit = limit.map(|limit| format!(", memory limit {limit}")).unwrap_or_default();
    Cause::new(CauseId::OutOfMemory, format!("OOMKilled, exit {}{limit}", ending.exit_code))
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

/// The seconds within which the kubelet reports a container without a readiness probe as ready.
const READINESS_REPORT_SECONDS: i64 = 10;

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
    if context.now.duration_since(since) <= SignedDuration::from_secs(allowed) {
        return None; // the container is still starting
    }
    Some(match probe("readinessProbe") {
        Some(readiness) => {
            Cause::new(CauseId::ReadinessProbe, format!("readiness probe fails, {}", handler_text(readiness)))
                .with_evidence(
                    last_failure("readiness", pod, &container.name, None, context).unwrap_or_default(),
                )
        }
        None => Cause::new(CauseId::NotReady, "runs, but is not ready"),
    })
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
fn last_failure<'a>(
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
    use crate::kind::Workload;
    use crate::observation::Observation;
    use serde_json::json;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

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
    fn the_states_of_a_crash_loop_are_one_problem() {
        for summary in ["crashed, exit 1", "CrashLoopBackOff, exit 1", "init container, crashed, exit 1"] {
            assert_eq!(without_state(summary), ", exit 1", "{summary}");
        }
        assert_eq!(without_state("init container, CrashLoopBackOff, exit 1"), ", exit 1");
        assert_eq!(without_state("completed, exit 0"), ", exit 0");
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

    #[test]
    fn a_problem_of_a_pod_begins_at_a_stamp() {
        let pod = json!({"kind": "Pod", "metadata": {"name": "p", "creationTimestamp": at(10)}, "status": {
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(20)},
                {"type": "Ready", "status": "False", "lastTransitionTime": at(10)},
            ],
        }});
        let pod = Pod::read(&Object::read(pod).unwrap());
        let crashed = |restarts, started, finished| Container {
            restarts,
            state: ContainerState::Waiting { reason: "CrashLoopBackOff".to_owned(), message: String::new() },
            last: Some(Termination {
                started: Some(at(started)),
                finished: Some(at(finished)),
                ..Termination::default()
            }),
            ..Container::default()
        };
        let never_ran = |restarts, finished| {
            let last = Termination { finished: Some(at(finished)), ..Termination::default() };
            Container { last: Some(last), ..crashed(restarts, 0, 0) }
        };
        for (id, container, expected) in [
            (CauseId::CrashLoop, crashed(1, 30, 40), 40),
            (CauseId::CrashLoop, crashed(2, 90, 91), 80), // one back-off of 10 s
            (CauseId::CrashLoop, crashed(3, 90, 91), 60), // and one of 20 s
            (CauseId::CrashLoop, crashed(i64::MAX, 90, 91), 10), // not before the pod was created
            (CauseId::CommandNotFound, crashed(3, 90, 91), 60),
            (CauseId::CommandNotFound, never_ran(3, 91), 61),
            (CauseId::CrashLoop, crashed(7, 30, 5_000), 5_000), // it had recovered from the crash before
            (CauseId::ImageNotFound, Container::default(), 20),
            (CauseId::ImageNotFound, crashed(1, 30, 40), 40),
            (CauseId::ImageNotFound, Container { init: true, ..Container::default() }, 20),
        ] {
            assert_eq!(since(id, &pod, Some(&container)), Some(at(expected)), "{id:?} {container:?}");
        }
        let initialized = Pod { containers: vec![Container { init: true, ..crashed(0, 20, 25) }], ..pod };
        assert_eq!(since(CauseId::MissingSecret, &initialized, None), Some(at(25)));
    }
}
