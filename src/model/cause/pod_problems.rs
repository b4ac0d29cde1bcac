//! The problems of one pod, and the order in which the detectors examine it.

use super::context::{CauseContext, PodProblem};
use super::{Cause, in_place, node, running, start};
use crate::model::api::container::Container;
use crate::model::api::pod::Pod;

type PodDetector = fn(&Pod, &CauseContext<'_>) -> Option<Cause>;
type ContainerDetector = fn(&Container, &Pod, &CauseContext<'_>) -> Option<Cause>;

/// The detectors for a pod that cannot create its containers.
const POD_DETECTORS: [PodDetector; 6] = [
    node::refused,
    node::without_status,
    node::unscheduled,
    node::unbound,
    node::unmounted,
    node::no_sandbox,
];

/// The detectors for a pod whose containers have no problem.
const WAITING_DETECTORS: [PodDetector; 3] = [in_place::waiting, running::closed_gate, start::slow];

/// The detectors for a container. The first one that finds a problem decides.
const CONTAINER_DETECTORS: [ContainerDetector; 6] = [
    start::find_image_problem,
    start::find_config_problem,
    start::find_start_problem,
    start::find_init_problem,
    running::find_crash,
    running::find_unready,
];

impl<'a> CauseContext<'a> {
    /// Returns the problems of the revision's pods. Terminating pods are skipped, because their end is no
    /// failure.
    pub(super) fn pod_problems(&self) -> Vec<PodProblem<'a>> {
        let pods = self.revision.into_iter().flat_map(|revision| self.observed.pods_of(revision));
        pods.filter(|pod| !pod.terminating).flat_map(|pod| self.problems_of(pod)).collect()
    }

    /// Returns the crashes of a pod that ended a short time ago. A container with `restartPolicy: Never` ends its pod, and
    /// the controller replaces it.
    fn endings_of<'p>(&self, pod: &'p Pod) -> Vec<PodProblem<'p>> {
        let is_recent = |container: &&Container| {
            let ended = container.latest_termination().and_then(|ending| ending.finished);
            ended.is_some_and(|ended| self.now.duration_since(ended) <= running::MAX_RECOVERY_TIME)
        };
        let crashes = pod.containers.iter().filter(is_recent).filter_map(|container| {
            let cause = running::find_crash(container, pod, self)?;
            Some(PodProblem { pod, container: Some(container), cause })
        });
        crashes.collect()
    }

    /// Returns the problems of a pod: one of the pod itself, or one of each container. A ready pod has only those of
    /// containers that crash repeatedly, which can be ready for a moment after every restart.
    pub(super) fn problems_of<'p>(&self, pod: &'p Pod) -> Vec<PodProblem<'p>> {
        if node::is_unreachable(pod) {
            return Vec::new();
        }
        let of_pod = |cause| vec![PodProblem { pod, container: None, cause }];
        if pod.has_ended() {
            return node::refused(pod, self).map_or_else(|| self.endings_of(pod), of_pod);
        }
        let detect_in_pod = |detectors: &[PodDetector]| {
            if pod.ready { None } else { detectors.iter().find_map(|detect| detect(pod, self)) }
        };
        if let Some(problem) = detect_in_pod(&POD_DETECTORS) {
            return of_pod(problem);
        }
        let find_problem = |container: &'p Container| {
            if !pod.ready && !container.ready {
                return CONTAINER_DETECTORS.iter().find_map(|detect| detect(container, pod, self));
            }
            let has_repeated = running::has_repeated(container, self);
            has_repeated.then(|| running::find_crash(container, pod, self)).flatten()
        };
        let in_containers: Vec<_> = pod
            .containers
            .iter()
            .filter_map(|container| {
                Some(PodProblem { pod, container: Some(container), cause: find_problem(container)? })
            })
            .collect();
        if in_containers.is_empty() {
            detect_in_pod(&WAITING_DETECTORS).map(of_pod).unwrap_or_default()
        } else {
            in_containers
        }
    }
}
