//! What the families look at, and the order in which they look at one pod.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::CauseId;
use super::{config, crash, image_pull, init, node, probe, scheduling, start, volume};
use crate::model::container::Container;
use crate::model::event::Event;
use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::revision::Revision;

/// A workload at a time, and the revision whose pods are looked at.
#[derive(Clone, Copy)]
pub(super) struct Sight<'a> {
    pub(super) observed: &'a Observed,
    /// The revision being rolled out; none while the live template is no revision yet.
    pub(super) running: Option<&'a Revision>,
    pub(super) now: Timestamp,
}

/// What is wrong with one pod or one of its containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) id: CauseId,
    pub(super) summary: String,
    pub(super) evidence: String,
}

/// A trouble and who has it.
#[derive(Clone, Debug)]
pub(super) struct Found<'a> {
    pub(super) pod: &'a Pod,
    pub(super) container: Option<&'a Container>,
    pub(super) trouble: Trouble,
}

type PodFamily = fn(&Pod, &Sight<'_>) -> Option<Trouble>;
type ContainerFamily = fn(&Container, &Pod, &Sight<'_>) -> Option<Trouble>;

/// What keeps a pod from having containers at all.
const BEFORE_CONTAINERS: [PodFamily; 5] =
    [node::refused, scheduling::unscheduled, volume::unbound, volume::unmounted, node::no_sandbox];

/// What is wrong with a container, the first that fits.
const OF_CONTAINERS: [ContainerFamily; 6] =
    [image_pull::of, config::of, start::of, init::of, crash::of, probe::of];

impl<'a> Sight<'a> {
    /// The troubles of the pods of the revision being rolled out. Pods on their way out are left
    /// alone: their end is no failure.
    pub(super) fn troubled_pods(&self) -> Vec<Found<'a>> {
        let pods = self.running.into_iter().flat_map(|revision| self.observed.pods_of(revision));
        pods.filter(|pod| !pod.terminating).flat_map(|pod| self.troubles_of(pod)).collect()
    }

    /// What is wrong with a pod: with the pod as a whole, or with each of its containers. One that is
    /// ready has no trouble, whatever it went through before.
    pub(super) fn troubles_of<'p>(&self, pod: &'p Pod) -> Vec<Found<'p>> {
        if pod.ready || node::is_unreachable(pod) {
            return Vec::new();
        }
        let of_pod = |trouble| vec![Found { pod, container: None, trouble }];
        if let Some(trouble) = BEFORE_CONTAINERS.iter().find_map(|family| family(pod, self)) {
            return of_pod(trouble);
        }
        let of_containers: Vec<_> = pod
            .containers
            .iter()
            .filter(|container| !container.ready)
            .filter_map(|container| {
                let trouble = OF_CONTAINERS.iter().find_map(|family| family(container, pod, self))?;
                Some(Found { pod, container: Some(container), trouble })
            })
            .collect();
        if of_containers.is_empty() {
            probe::closed_gate(pod).map(of_pod).unwrap_or_default()
        } else {
            of_containers
        }
    }

    /// The warnings about a pod's container, or about the whole pod, the newest first.
    pub(super) fn warnings(&self, pod: &Pod, container: &str) -> impl Iterator<Item = &'a Event> {
        let container = container.to_owned();
        let warnings = self.observed.warnings_about(&pod.uid).iter();
        warnings.filter(move |warning| warning.container.is_empty() || warning.container == container)
    }

    /// A container as the template of the revision has it.
    pub(super) fn declared(&self, name: &str) -> Option<&'a Value> {
        self.running?; // its template is the live one
        let workload = self.observed.workload.object();
        let lists = ["/spec/template/spec/containers", "/spec/template/spec/initContainers"].into_iter();
        let mut containers = lists.filter_map(|list| workload.at(list)?.as_array()).flatten();
        containers.find(|container| container.get("name").and_then(Value::as_str) == Some(name))
    }
}

impl Trouble {
    pub(super) fn new(id: CauseId, summary: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self { id, summary: summary.into(), evidence: evidence.into() }
    }
}
