//! Containers that do not start: their configuration, their image, their start, and what takes long before they run.

use k8s_openapi::jiff::Timestamp;

use super::context::{CauseContext, SLOW_AFTER};
use super::running::handler_text;
use super::runtime_messages::{command_in, inner_message, pull_failure, start_failure};
use super::{Cause, CauseId, running};
use crate::model::api::container::{Container, ContainerState};
use crate::model::api::pod::Pod;

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
        Cause::of_pod(id, CONFIG_ERROR, message)
    }))
}

/// Returns the missing object or key that a kubelet message names.
///
/// The API server writes `configmap "x" not found` and `secret "x" not found`. The kubelet writes `couldn't find
/// key K in ConfigMap NS/NAME` (`kubelet_pods.go`), and for volumes `configmap references non-existent config
/// key: K` (`pkg/volume/configmap`, `pkg/volume/secret`).
pub(super) fn missing(message: &str) -> Option<Cause> {
    let found = |id, summary: &str| Some(Cause::of_pod(id, summary, ""));
    for (id, kind) in [(CauseId::MissingConfigMap, "configmap \""), (CauseId::MissingSecret, "secret \"")] {
        if let Some(start) = message.find(kind)
            && let Some(length) = message.get(start..)?.find("\" not found")
        {
            return found(id, message.get(start..start + length + "\" not found".len())?);
        }
    }
    let key =
        ["couldn't find key", "references non-existent"].into_iter().find_map(|phrase| message.find(phrase));
    found(CauseId::MissingKey, message.get(key?..)?.trim())
}

/// Whether the kubelet's cache lacks the ConfigMap or Secret. The kubelet writes: `failed to sync configmap
/// cache: timed out waiting for the condition` (`watch_based_manager.go`).
fn is_cache_not_synced(message: &str) -> bool {
    message.contains("failed to sync") && message.contains("cache")
}

/// Returns the problem of a container whose image is not pulled (`pkg/kubelet/images/types.go`). The kubelet
/// alternates between `ErrImagePull` and `ImagePullBackOff`, so both are one problem.
pub(super) fn find_image_problem(
    container: &Container,
    pod: &Pod,
    context: &CauseContext<'_>,
) -> Option<Cause> {
    let (image, message) = (&container.image, container.waiting_message());
    match container.waiting_reason() {
        "ErrImagePull" | "ImagePullBackOff" => {
            Some(unpulled(image, "ImagePullBackOff", pull_message(container, pod, context)))
        }
        reason @ ("RegistryUnavailable" | "SignatureValidationFailed" | "ImageInspectError") => {
            Some(unpulled(image, reason, message))
        }
        "ErrImageNeverPull" => Some(Cause::of_pod(
            CauseId::ImageNotFound,
            format!("ErrImageNeverPull, image {image} is not on the node"),
            message,
        )),
        "InvalidImageName" => {
            Some(Cause::of_pod(CauseId::ImageNameInvalid, format!("InvalidImageName {image}"), message))
        }
        _ => None,
    }
}

fn unpulled(image: &str, reason: &str, message: &str) -> Cause {
    let (id, what) =
        pull_failure(message, image).unwrap_or_else(|| (CauseId::ImagePull, format!("cannot pull {image}")));
    Cause::of_pod(id, format!("{reason}, {what}"), inner_message(message))
}

/// Returns the message of the failed pull. Older kubelets write it only to an event: `Failed to pull image
/// "...": ...`.
fn pull_message<'a>(container: &'a Container, pod: &Pod, context: &CauseContext<'a>) -> &'a str {
    let message = container.waiting_message();
    if pull_failure(message, "").is_some() {
        return message;
    }
    let mut warnings = context.warnings(pod, &container.name);
    let failed = warnings.find(|warning| warning.message.starts_with("Failed to pull image"));
    failed.map_or(message, |warning| &warning.message)
}

/// The waiting reasons of a failed start. CRI-O fails while it creates the container, containerd while it starts
/// it.
const WAITING_REASONS: [&str; 2] = ["RunContainerError", "CreateContainerError"];

/// The termination reasons of a container that never ran.
const TERMINATION_REASONS: [&str; 2] = ["StartError", "ContainerCannotRun"];

/// Returns the problem of a container that never ran, or that was killed because its postStart hook failed.
pub(super) fn find_start_problem(
    container: &Container,
    pod: &Pod,
    context: &CauseContext<'_>,
) -> Option<Cause> {
    failed_hook(container, pod, context).or_else(|| never_ran(container))
}

/// Returns the problem of a container whose `postStart` hook failed. The kubelet reports `PostStartHookError`
/// briefly and then `CrashLoopBackOff`, so the event about the last run identifies the failure. The exit code does
/// not, because the kubelet killed the container.
fn failed_hook(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
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
    Some(Cause::of_pod(CauseId::PostStartHook, format!("postStart hook fails{what}"), evidence))
}

fn never_ran(container: &Container) -> Option<Cause> {
    let message = start_error(container)?;
    let (id, summary) = match start_failure(message) {
        Some(what) => {
            let command = command_in(message).unwrap_or_default();
            (CauseId::CommandNotFound, format!("command {command:?} {what}"))
        }
        None => (CauseId::ContainerStart, "cannot be started".to_owned()),
    };
    Some(Cause::of_pod(id, summary, inner_message(message)))
}

/// Returns the runtime's error. After some attempts a waiting container has only the message `back-off`; its
/// termination message still has the error.
fn start_error(container: &Container) -> Option<&str> {
    let ending =
        container.latest_termination().filter(|ending| TERMINATION_REASONS.contains(&ending.reason.as_str()));
    let waiting =
        || WAITING_REASONS.contains(&container.waiting_reason()).then(|| container.waiting_message());
    ending.map(|ending| ending.message.as_str()).or_else(waiting)
}

/// Returns the problem of a pod whose containers are created slowly. The kubelet first mounts the volumes and
/// creates the sandbox (`PodReadyToStartContainers`), then pulls the images one by one.
pub(super) fn slow(pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    let waiting = pod.containers.iter().find(|container| is_not_created(container, pod))?;
    let since = last_progress(pod)?;
    if pod.node.is_empty() || context.now.duration_since(since) <= SLOW_AFTER {
        return None;
    }
    if !pod.sandbox.is_true() {
        let summary = "ContainerCreating, its volumes and network are being set up";
        return Some(Cause::of_pod(CauseId::ContainerCreating, summary, ""));
    }
    let has_hook = context
        .declared(&waiting.name)
        .is_some_and(|declared| declared.pointer("/lifecycle/postStart").is_some());
    let or_hook = if has_hook { ", or its postStart hook runs" } else { "" };
    let summary = format!("image {} is being pulled{or_hook}", waiting.image);
    Some(Cause::of_pod(CauseId::ImagePulling, summary, ""))
}

/// Whether the kubelet creates this container next. Containers wait until all init containers have finished.
fn is_not_created(container: &Container, pod: &Pod) -> bool {
    let has_ended =
        |init: &Container| matches!(&init.state, ContainerState::Terminated(ending) if ending.exit_code == 0);
    let is_its_turn = container.init || pod.containers.iter().filter(|other| other.init).all(has_ended);
    let is_waiting = matches!(container.waiting_reason(), "ContainerCreating" | "PodInitializing");
    is_its_turn && is_waiting && container.last.is_none()
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
    failed(container, pod, context).or_else(|| still_running(container, context))
}

fn still_running(container: &Container, context: &CauseContext<'_>) -> Option<Cause> {
    let ContainerState::Running { since: Some(since) } = container.state else { return None };
    let is_slow = context.now.duration_since(since) > SLOW_AFTER;
    is_slow.then(|| Cause::of_pod(CauseId::InitRunning, "init container is still running", ""))
}

fn failed(container: &Container, pod: &Pod, context: &CauseContext<'_>) -> Option<Cause> {
    if container.latest_termination()?.exit_code == 0 {
        return None;
    }
    let problem = running::find_crash(container, pod, context)?;
    let id = if problem.id == CauseId::CrashLoop { CauseId::InitCrash } else { problem.id };
    Some(Cause { id, summary: format!("{}{}", running::INIT, problem.summary), ..problem })
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
            assert_eq!(missing(message), Some(Cause::of_pod(id, summary, "")));
        }
        assert_eq!(missing("container has runAsNonRoot and image will run as root"), None);
        assert_eq!(missing(r#"configmap "half"#), None);
    }
}
