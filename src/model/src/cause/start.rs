//! Containers that do not start: their configuration, their start, and what takes long before they run.

use k8s_openapi::jiff::Timestamp;

use super::context::{CauseContext, SLOW_AFTER};
use super::image_pull::inner_message;
use super::unready::{handler_text, last_failure};
use super::{Cause, CauseId, crash_loop};
use crate::api::container::{Container, ContainerState};
use crate::api::pod::Pod;

/// The waiting reason that the kubelet sets.
const CONFIG_ERROR: &str = "CreateContainerConfigError";

/// Returns the problem of a container whose configuration the kubelet cannot build.
pub(super) fn find_config_problem(container: &Container, _: &Pod, _: &CauseContext<'_>) -> Option<Cause> {
    if container.waiting_reason() != CONFIG_ERROR {
        return None;
    }
    let message = container.waiting_message();
    Some(missing(message).unwrap_or_else(|| {
        let id = if is_cache_not_synced(message) { CauseId::ConfigCache } else { CauseId::ConfigError };
        Cause::new(id, CONFIG_ERROR).with_evidence(message)
    }))
}

/// Returns the missing object or key that a kubelet message names.
///
/// The API server writes `configmap "x" not found` and `secret "x" not found`, and in its own errors, which CSI drivers quote,
/// `secrets "x" not found`. The kubelet writes `couldn't find
/// key K in ConfigMap NS/NAME` (`kubelet_pods.go`), and for volumes `configmap references non-existent config
/// key: K` (`pkg/volume/configmap`, `pkg/volume/secret`).
pub(super) fn missing(message: &str) -> Option<Cause> {
    let objects = [
        (CauseId::MissingConfigMap, ["configmap \"", "configmaps \""]),
        (CauseId::MissingSecret, ["secret \"", "secrets \""]),
    ];
    for (id, kinds) in objects {
        if let Some((_, phrase)) = kinds.iter().find_map(|kind| not_found(message, kind)) {
            return Some(Cause::new(id, phrase));
        }
    }
    let key =
        ["couldn't find key", "references non-existent"].into_iter().find_map(|phrase| message.find(phrase));
    Some(Cause::new(CauseId::MissingKey, message.get(key?..)?.trim()))
}

/// Returns the name of the missing object and the phrase about it: `NAME` and `secret "NAME" not found` for the kind
/// `secret "`.
pub(super) fn not_found<'a>(message: &'a str, kind: &str) -> Option<(&'a str, &'a str)> {
    const END: &str = "\" not found";
    message.match_indices(kind).find_map(|(at, _)| {
        let phrase = message.get(at..)?;
        let (name, _) = phrase.strip_prefix(kind)?.split_once('"')?;
        let phrase = phrase.get(..kind.len() + name.len() + END.len())?;
        phrase.ends_with(END).then_some((name, phrase))
    })
}

/// Whether the kubelet's cache lacks the ConfigMap or Secret. The kubelet writes: `failed to sync configmap
/// cache: timed out waiting for the condition` (`watch_based_manager.go`).
fn is_cache_not_synced(message: &str) -> bool {
    message.contains("failed to sync") && message.contains("cache")
}

/// The waiting reasons of a failed start. CRI-O fails while it creates the container, containerd while it starts
/// it.
const WAITING_REASONS: [&str; 2] = ["RunContainerError", "CreateContainerError"];

/// Returns the problem of a container whose `postStart` hook failed. The kubelet reports `PostStartHookError`
/// briefly and then `CrashLoopBackOff`, so the event about the last run identifies the failure. The exit code does
/// not, because the kubelet killed the container.
pub(super) fn find_failed_hook(
    container: &Container,
    pod: &Pod,
    context: &CauseContext<'_>,
) -> Option<Cause> {
    let is_waiting = matches!(container.state, ContainerState::Waiting { .. });
    let began = container.latest_termination().and_then(|ending| ending.started).filter(|_| is_waiting);
    let is_reported = || {
        let mut warnings = context.warnings(pod, &container.name);
        warnings.any(|warning| {
            warning.reason == "FailedPostStartHook" && began.is_some() && warning.last >= began
        })
    };
    if container.waiting_reason() != "PostStartHookError" && !is_reported() {
        return None;
    }
    let hook =
        context.declared(&container.name).and_then(|declared| declared.pointer("/lifecycle/postStart"));
    let what = hook.map(|hook| format!(", {}", handler_text(hook))).unwrap_or_default();
    let message = container.waiting_message();
    let evidence = message.split_once("failed - error: ").map_or("", |(_, error)| error);
    Some(Cause::new(CauseId::PostStartHook, format!("postStart hook fails{what}")).with_evidence(evidence))
}

/// Returns the problem of a container that never ran.
pub(super) fn find_failed_start(container: &Container, _: &Pod, _: &CauseContext<'_>) -> Option<Cause> {
    let message = start_error(container)?;
    let (id, summary) = match start_failure(message) {
        Some(what) => {
            let command = command_in(message).unwrap_or_default();
            (CauseId::CommandNotFound, format!("command {command:?} {what}"))
        }
        None => (CauseId::ContainerStart, "cannot be started".to_owned()),
    };
    Some(Cause::new(id, summary).with_evidence(inner_message(message)))
}

/// Returns the runtime's error; none of a container that runs. After some attempts a waiting container has only the message
/// `back-off`; its termination message still has the error.
fn start_error(container: &Container) -> Option<&str> {
    if matches!(container.state, ContainerState::Running { .. }) {
        return None;
    }
    let ending = container.latest_termination().filter(|ending| ending.is_failed_start());
    let waiting =
        || WAITING_REASONS.contains(&container.waiting_reason()).then(|| container.waiting_message());
    ending.map(|ending| ending.message.as_str()).or_else(waiting)
}

/// Returns the problem of a sidecar that runs and has not started: its startup probe has not passed, or its `postStart` hook
/// runs. Until then the kubelet starts no container after it.
pub(super) fn find_unstarted_sidecar(
    container: &Container,
    pod: &Pod,
    context: &CauseContext<'_>,
) -> Option<Cause> {
    let ContainerState::Running { since: Some(since) } = container.state else { return None };
    let is_slow = context.now.duration_since(since) > SLOW_AFTER;
    if !container.sidecar || container.started || !is_slow {
        return None;
    }
    let probe = context.declared(&container.name).and_then(|declared| declared.get("startupProbe"));
    Some(match probe {
        Some(probe) => {
            let failure = last_failure("startup", pod, &container.name, Some(since), context);
            Cause::new(
                CauseId::StartupProbe,
                format!("startup probe has not passed, {}", handler_text(probe)),
            )
            .with_evidence(failure.unwrap_or_default())
        }
        None => Cause::new(CauseId::InitRunning, "sidecar runs, but has not started"),
    })
}

/// Returns the problem of a pod whose containers are created slowly. The kubelet first mounts the volumes and
/// creates the sandbox (`PodReadyToStartContainers`), then pulls the images one by one.
pub(super) fn slow(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let waiting = next_to_create(pod)?;
    let since = last_progress(pod)?;
    if pod.node.is_empty() || context.now.duration_since(since) <= SLOW_AFTER {
        return None;
    }
    if !pod.sandbox.is_true() {
        let summary = "ContainerCreating, its volumes and network are being set up";
        return Some(Cause::new(CauseId::ContainerCreating, summary));
    }
    let has_hook = context
        .declared(&waiting.name)
        .is_some_and(|declared| declared.pointer("/lifecycle/postStart").is_some());
    let or_volume = if context.image_volumes().next().is_some() { " or that of a volume" } else { "" };
    let or_hook = if has_hook { ", or its postStart hook runs" } else { "" };
    let summary = format!("image {}{or_volume} is being pulled{or_hook}", waiting.image);
    Some(Cause::new(CauseId::ImagePulling, summary))
}

/// Returns the container that the kubelet creates next. Each init container waits until those before it have finished, or
/// have started if they are sidecars; the other containers wait for all of these.
fn next_to_create(pod: &Pod) -> Option<&Container> {
    let is_done = |container: &&Container| match &container.state {
        ContainerState::Terminated(ending) if container.init => ending.exit_code == 0,
        _ => container.sidecar && container.started,
    };
    let is_uncreated = |container: &&Container| {
        let is_waiting = matches!(container.waiting_reason(), "ContainerCreating" | "PodInitializing");
        is_waiting && container.last.is_none()
    };
    let of_init = |container: &&Container| container.init || container.sidecar;
    match pod.containers.iter().filter(of_init).find(|container| !is_done(container)) {
        Some(next) => Some(next).filter(is_uncreated),
        None => pod.containers.iter().find(is_uncreated),
    }
}

/// Returns the time of the kubelet's last progress with the pod.
fn last_progress(pod: &Pod) -> Option<Timestamp> {
    let of_containers = pod.containers.iter().filter_map(|container| match &container.state {
        ContainerState::Running { since } => *since,
        ContainerState::Terminated(ending) => ending.finished,
        ContainerState::Waiting { .. } | ContainerState::Unknown => None,
    });
    of_containers.chain(pod.sandbox.since).chain(pod.scheduling.since).max()
}

/// Returns the problem of an init container: its last failure, or that it has run for long.
pub(super) fn find_init_problem(
    container: &Container,
    pod: &Pod,
    context: &CauseContext<'_>,
) -> Option<Cause> {
    if !container.init {
        return None;
    }
    if container.latest_termination().is_some_and(|ending| ending.exit_code != 0)
        && let Some(problem) = crash_loop::find_crash(container, pod, context)
    {
        let id = if problem.id == CauseId::CrashLoop { CauseId::InitCrash } else { problem.id };
        let state = match problem.detail.state.as_str() {
            "" => "init container".to_owned(),
            state => format!("init container, {state}"),
        };
        return Some(Cause { id, ..problem }.in_state(&state));
    }
    let ContainerState::Running { since: Some(since) } = container.state else { return None };
    let is_slow = context.now.duration_since(since) > SLOW_AFTER;
    is_slow.then(|| Cause::new(CauseId::InitRunning, "init container is still running"))
}

/// What is wrong with the command of a container that cannot be started, with phrases of the messages.
const STARTS: [(&str, &[&str]); 2] = [
    ("not found", &["executable file not found", "no such file or directory"]),
    ("is not executable", &["permission denied"]),
];

/// Returns what is wrong with the command of a container that could not be started; none for another reason. Both runc and
/// crun write an error about a command after `exec:`. Without it, the same phrases may concern a mount.
pub(super) fn start_failure(message: &str) -> Option<&'static str> {
    let (_, about_command) = message.split_once("exec: ")?;
    let mut known =
        STARTS.iter().filter(|(_, phrases)| phrases.iter().any(|phrase| about_command.contains(phrase)));
    known.next().map(|(words, _)| *words)
}

/// Returns the command in the message of a failed start: `exec: "CMD": ...`.
pub(super) fn command_in(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("exec: ")?;
    let rest = rest.trim_start_matches('\\').strip_prefix('"')?;
    let (command, _) = rest.split_once('"')?;
    Some(command.trim_end_matches('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_objects_and_keys_are_found() {
        for (message, id, summary) in [
            (
                r#"configmap "missing" not found"#,
                CauseId::MissingConfigMap,
                r#"configmap "missing" not found"#,
            ),
            (
                r#"MountVolume.SetUp failed for volume "tls" : secret "tls" not found"#,
                CauseId::MissingSecret,
                r#"secret "tls" not found"#,
            ),
            (
                r#"rpc error: code = Internal desc = cannot mount: secrets "db-credentials" not found"#,
                CauseId::MissingSecret,
                r#"secrets "db-credentials" not found"#,
            ),
            (
                r#"configmap "a" is invalid: secret "b" not found"#,
                CauseId::MissingSecret,
                r#"secret "b" not found"#,
            ),
            (
                "couldn't find key url in ConfigMap shop/cfg",
                CauseId::MissingKey,
                "couldn't find key url in ConfigMap shop/cfg",
            ),
            (
                r#"MountVolume.SetUp failed for volume "cfg" : configmap references non-existent config key: a.yaml"#,
                CauseId::MissingKey,
                "references non-existent config key: a.yaml",
            ),
        ] {
            assert_eq!(missing(message), Some(Cause::new(id, summary)));
        }
        assert_eq!(missing("container has runAsNonRoot and image will run as root"), None);
        assert_eq!(missing(r#"configmap "half"#), None);
    }

    #[test]
    fn start_failures_of_every_runtime_are_recognized() {
        for (message, failure, command) in [
            // containerd with runc
            (
                r#"failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "-c": executable file not found in $PATH"#,
                Some("not found"),
                Some("-c"),
            ),
            (
                r#"failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/app": stat /app: no such file or directory: unknown"#,
                Some("not found"),
                Some("/app"),
            ),
            // CRI-O, which quotes runc's message
            (
                r#"Container creation error: runc create failed: unable to start container process: exec: \"/bin/prometheus-config-reloader\": permission denied"#,
                Some("is not executable"),
                Some("/bin/prometheus-config-reloader"),
            ),
            ("context deadline exceeded", None, None),
        ] {
            assert_eq!(start_failure(message), failure, "{message}");
            assert_eq!(command_in(message), command, "{message}");
        }
    }
}
