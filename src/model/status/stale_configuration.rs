//! The pods that started before a ConfigMap or Secret changed, and still have its earlier values.

use k8s_openapi::jiff::Timestamp;

use crate::model::api::configuration::Configuration;
use crate::model::api::container::{Container, ContainerState};
use crate::model::api::pod::Pod;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::revision::configuration::{ConfigurationUse, configuration_of};

/// The pods that read a ConfigMap or Secret only when their containers start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodsReadingAtStart {
    /// Those with such a container that started before the change.
    pub started_before: usize,
    /// All of them.
    pub total: usize,
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
