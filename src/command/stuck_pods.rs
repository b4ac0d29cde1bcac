//! Removes single pods.

use crate::cluster::source::Source;
use crate::cluster::write::{WriteFailure, WriteOutcome};
use crate::model::api::resource_type::POD;
use crate::model::change::answer::DeletionResult;
use crate::model::engine::PodRef;

/// Deletes a pod, or evicts it so that PodDisruptionBudgets apply. Both carry the uid as a precondition.
/// Sends one request and never retries it.
pub(super) async fn remove_pod(
    pod: &PodRef,
    namespace: &str,
    evict: bool,
    source: &Source,
) -> DeletionResult {
    let outcome = match source.writable() {
        Some(cluster) if evict => cluster.evict(namespace, &pod.name, &pod.uid).await,
        Some(cluster) => cluster.delete(&POD, namespace, &pod.name, &pod.uid).await,
        None => Err(WriteFailure::for_snapshot()),
    };
    match outcome {
        Ok(()) => DeletionResult::Deleted,
        Err(WriteFailure { error, outcome, .. }) => match outcome {
            // The pod is gone, or another pod has its name.
            WriteOutcome::Gone | WriteOutcome::Conflict => DeletionResult::Deleted,
            WriteOutcome::RetryLater => DeletionResult::Disallowed(error.sentence()),
            WriteOutcome::Unknown => DeletionResult::Unknown(error),
            WriteOutcome::Unchanged | WriteOutcome::TestsFailed => DeletionResult::not_deleted(error),
        },
    }
}
