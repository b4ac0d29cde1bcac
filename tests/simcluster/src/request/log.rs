//! GET of a pod's `log`.

use serde_json::Value;

use super::{query::Query, route::Target};
use crate::{object, refusal::Refusal, store::Store};

/// Returns the output of a container, of the present run or of the run before. `follow` ends with the present lines.
pub(super) fn read(store: &Store, target: &Target, query: &Query) -> Result<String, Refusal> {
    let pod = store.find(&target.key())?;
    let container = container(pod, query.get("container"))?;
    let output = store.logs().of(object::uid(pod), container);
    let lines = if query.flag("previous") {
        let name = object::name(pod);
        output.and_then(|output| output.previous.as_ref()).ok_or_else(|| {
            Refusal::bad_request(format!(
                "previous terminated container \"{container}\" in pod \"{name}\" not found"
            ))
        })?
    } else {
        output.and_then(|output| output.current.as_ref()).ok_or_else(|| not_started(pod, container))?
    };
    let tail =
        query.number("tailLines")?.and_then(|lines| usize::try_from(lines).ok()).unwrap_or(lines.len());
    let shown = &lines[lines.len().saturating_sub(tail)..];
    let mut text = shown.join("\n");
    if !shown.is_empty() {
        text.push('\n');
    }
    if let Some(limit) = query.number("limitBytes")?.and_then(|limit| usize::try_from(limit).ok()) {
        let limit = limit.min(text.len());
        text = String::from_utf8_lossy(&text.as_bytes()[..limit]).into_owned();
    }
    Ok(text)
}

/// Returns the requested container, or the only one.
fn container<'p>(pod: &'p Value, asked: &str) -> Result<&'p str, Refusal> {
    let names = |list: &str| {
        object::list(pod, &["spec", list])
            .iter()
            .map(|container| object::text(container, &["name"]))
            .collect::<Vec<_>>()
    };
    let (containers, init) = (names("containers"), names("initContainers"));
    let pod_name = object::name(pod);
    if asked.is_empty() {
        return match containers.as_slice() {
            [only] => Ok(only),
            _ => Err(Refusal::bad_request(format!(
                "a container name must be specified for pod {pod_name}, choose one of: [{}]",
                containers.join(" ")
            ))),
        };
    }
    containers
        .into_iter()
        .chain(init)
        .find(|name| *name == asked)
        .ok_or_else(|| Refusal::bad_request(format!("container {asked} is not valid for pod {pod_name}")))
}

/// Returns a kubelet's error for a container that has not started.
fn not_started(pod: &Value, container: &str) -> Refusal {
    let statuses = object::list(pod, &["status", "containerStatuses"])
        .iter()
        .chain(object::list(pod, &["status", "initContainerStatuses"]));
    let reason = statuses
        .filter(|status| object::text(status, &["name"]) == container)
        .map(|status| object::text(status, &["state", "waiting", "reason"]))
        .find(|reason| !reason.is_empty());
    let why = match reason {
        Some("ImagePullBackOff" | "ErrImagePull") => "trying and failing to pull image",
        Some(other) => other,
        None => "ContainerCreating",
    };
    Refusal::bad_request(format!(
        "container \"{container}\" in pod \"{}\" is waiting to start: {why}",
        object::name(pod)
    ))
}
