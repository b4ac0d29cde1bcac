//! How a controller updates a pod to another template.

use super::Workload;

/// How the controller of a kind updates a pod to another template.
#[derive(Clone, Copy)]
pub enum UpdatePods {
    /// Each outdated pod is replaced by another pod.
    Recreate,
    /// The update strategy decides.
    ByStrategy(fn(&Workload) -> PodUpdatePolicy),
}

/// What the update strategy of a workload allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodUpdatePolicy {
    /// Each outdated pod is replaced.
    Recreate,
    /// A pod keeps its name and node where only its images or its metadata change, and is replaced otherwise.
    InPlaceIfPossible,
    /// As `InPlaceIfPossible`, but the API server refuses every other change of the template.
    InPlaceOnly,
}

impl Workload {
    /// Returns how the controller updates an outdated pod of this workload.
    #[must_use]
    pub fn pod_update_policy(&self) -> PodUpdatePolicy {
        match self.kind().update_pods {
            UpdatePods::Recreate => PodUpdatePolicy::Recreate,
            UpdatePods::ByStrategy(policy) => policy(self),
        }
    }
}
