//! The pods that started before a ConfigMap or Secret changed, and still have its earlier values.

use k8s_openapi::jiff::Timestamp;
use serde::Serialize;

use crate::api::container::{Container, ContainerState};
use crate::api::managed_fields::Authorship;
use crate::api::pod::Pod;
use crate::observation::Observation;
use crate::revision::Revision;
use crate::revision::references::{Configuration, ConfigurationUse, configuration_of};

/// The pods that read a ConfigMap or Secret only when their containers start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodsReadingAtStart {
    /// Those with such a container that started before the change.
    pub started_before: usize,
    /// All of them.
    pub total: usize,
}

/// The stable name of the remark that pods have earlier values.
pub const STALE_CONFIG: &str = "stale-config";

/// A ConfigMap or Secret of which pods of the current revision have earlier values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleConfiguration {
    /// The object.
    pub object: Configuration,
    /// Its last change.
    pub change: Authorship,
    /// The pods that read it when their containers start.
    pub pods: PodsReadingAtStart,
}

/// Returns those of these objects of which pods of the current revision have earlier values. The pods of other revisions do
/// not count: the rollout replaces them anyway.
#[must_use]
pub fn stale_configuration(observed: &Observation, objects: &[Configuration]) -> Vec<StaleConfiguration> {
    let of_namespace =
        objects.iter().filter(|object| object.namespace == observed.workload.object().namespace());
    let stale = of_namespace.filter_map(|object| {
        let change = object.change.clone()?;
        let pods =
            pods_reading_at_start(observed, observed.revisions.current().into_iter(), object, change.time);
        (pods.started_before > 0).then(|| StaleConfiguration { object: object.clone(), change, pods })
    });
    stale.collect()
}

/// Counts the pods of revisions that read an object only when their containers start. Each revision has its own template.
/// The time of the change has whole seconds, so that a container of the same second may have either value and is not
/// counted as started before.
#[must_use]
pub fn pods_reading_at_start<'a>(
    observed: &'a Observation,
    revisions: impl Iterator<Item = &'a Revision>,
    object: &Configuration,
    change: Timestamp,
) -> PodsReadingAtStart {
    let mut count = PodsReadingAtStart::default();
    for revision in revisions {
        let mut pods = observed.pods_of(revision).filter(|pod| pod.is_active()).peekable();
        if pods.peek().is_none() {
            continue;
        }
        let read = configuration_of(revision.template().json()).into_iter();
        let mut at_start = read.filter(|one| one.object.is(object) && !one.read_at_start.is_empty());
        let Some(ConfigurationUse { read_at_start, .. }) = at_start.next() else { continue };
        for pod in pods {
            count.total += 1;
            count.started_before += usize::from(started_before(pod, &read_at_start, change));
        }
    }
    count
}

/// Whether one of these containers of a pod runs since before a time. A container that restarts reads the present values.
fn started_before(pod: &Pod, containers: &[String], change: Timestamp) -> bool {
    let is_before = |container: &Container| {
        let started = match &container.state {
            ContainerState::Running { since } => *since,
            ContainerState::Terminated(ended) if container.init => ended.started,
            _ => None,
        };
        started.is_some_and(|started| started < change)
    };
    pod.containers.iter().filter(|container| containers.contains(&container.name)).any(is_before)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::object::Object;

    #[test]
    fn a_container_of_the_second_of_the_change_may_have_either_value() {
        for (second, expected) in [(4, true), (5, false), (6, false)] {
            let running = json!({"running": {"startedAt": format!("2026-11-20T13:00:{second:02}Z")}});
            let pod = json!({"kind": "Pod", "metadata": {"name": "p"},
                "status": {"containerStatuses": [{"name": "app", "state": running}]}});
            let pod = Pod::read(&Object::read(pod).unwrap());
            let change = "2026-11-20T13:00:05Z".parse().unwrap();
            assert_eq!(started_before(&pod, &["app".to_owned()], change), expected, "{second}");
            assert!(!started_before(&pod, &["other".to_owned()], change));
        }
    }
}
