//! How a controller may update a pod to another template.

/// How a controller may update a pod to another template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodUpdatePolicy {
    /// Each outdated pod is replaced by another pod.
    Recreate,
    /// A pod keeps its name and node where only its images or its metadata change, and is replaced otherwise.
    InPlaceIfPossible,
    /// As `InPlaceIfPossible`, but the API server refuses every other change of the template.
    InPlaceOnly,
}
