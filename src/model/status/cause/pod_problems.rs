//! The problems of one pod, and the order in which the detectors examine it.

use super::context::{CauseContext, PodProblem, Problem};
use super::{config, crash, creating, image_pull, in_place, init, node, probe, scheduling, start, volume};
use crate::model::api::container::Container;
use crate::model::api::pod::Pod;

type PodDetector = fn(&Pod, &CauseContext<'_>) -> Option<Problem>;
type ContainerDetector = fn(&Container, &Pod, &CauseContext<'_>) -> Option<Problem>;

/// The detectors for a pod that cannot create its containers.
const POD_DETECTORS: [PodDetector; 6] = [
    node::refused,
    node::without_status,
    scheduling::unscheduled,
    volume::unbound,
    volume::unmounted,
    node::no_sandbox,
];

/// The detectors for a pod whose containers have no problem.
const WAITING_DETECTORS: [PodDetector; 3] = [in_place::waiting, probe::closed_gate, creating::slow];

/// The detectors for a container. The first one that finds a problem decides.
const CONTAINER_DETECTORS: [ContainerDetector; 6] = [
    image_pull::find_problem,
    config::find_problem,
    start::find_problem,
    init::find_problem,
    crash::find_problem,
    probe::find_problem,
];

impl<'a> CauseContext<'a> {
    /// Returns the problems of the revision's pods. Terminating pods are skipped, because their end is no
    /// failure.
    pub(super) fn pod_problems(&self) -> Vec<PodProblem<'a>> {
        let pods = self.revision.into_iter().flat_map(|revision| self.observed.pods_of(revision));
        pods.filter(|pod| !pod.terminating).flat_map(|pod| self.problems_of(pod)).collect()
    }

    /// Returns the problems of a pod: one of the pod itself, or one of each container. A ready pod has none.
    pub(super) fn problems_of<'p>(&self, pod: &'p Pod) -> Vec<PodProblem<'p>> {
        if pod.ready || node::is_unreachable(pod) {
            return Vec::new();
        }
        let of_pod = |problem| vec![PodProblem { pod, container: None, problem }];
        if pod.has_ended() {
            return node::refused(pod, self).into_iter().flat_map(of_pod).collect();
        }
        if let Some(problem) = POD_DETECTORS.iter().find_map(|detect| detect(pod, self)) {
            return of_pod(problem);
        }
        let in_containers: Vec<_> = pod
            .containers
            .iter()
            .filter(|container| !container.ready)
            .filter_map(|container| {
                let problem = CONTAINER_DETECTORS.iter().find_map(|detect| detect(container, pod, self))?;
                Some(PodProblem { pod, container: Some(container), problem })
            })
            .collect();
        if in_containers.is_empty() {
            WAITING_DETECTORS.iter().find_map(|detect| detect(pod, self)).map(of_pod).unwrap_or_default()
        } else {
            in_containers
        }
    }
}
