//! What differs between the kinds that can be stepped.

use super::action::Release;
use super::partition::lower_partition;
use super::request::Request;
use super::slot::{PodSlot, max_unavailable, own_limit};
use super::state::State;
use crate::error::Result;
use crate::model::hold::plan::BatchRecord;
use crate::model::kind::Workload;
use crate::model::observation::Observation;

/// Steps one kind of workload. Each kind implements it in one file.
pub(super) trait StepKind {
    /// Refuses a request that is invalid for this kind. Called when only the workload was read.
    fn check_request(&self, workload: &Workload, request: &Request) -> Result<()>;

    /// Refuses a plan that needs objects that could not be read.
    fn check_state(&self, _: &State<'_>) -> Result<()> {
        Ok(())
    }

    /// Returns the slots in the order of release. The state has no slots yet.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<PodSlot<'a>>;

    /// Returns how to release more slots of a batch, if any can be released now. `free` is how many more pods may
    /// become unavailable; none when too many are unavailable already. By default it lowers the partition.
    fn release(&self, state: &State<'_>, batch: &BatchRecord, free: Option<usize>) -> Option<Release> {
        lower_partition(state, batch, free)
    }

    /// Whether the first slot of a batch can be released. `free` is how many more pods may become unavailable.
    fn can_release(&self, state: &State<'_>, first: &PodSlot<'_>, free: Option<usize>) -> bool {
        let cost = usize::from(first.is_available && first.counts(state.pace()));
        free.is_some_and(|free| cost <= free)
    }

    /// Returns how many of the wanted pods may be unavailable: the smaller limit of the plan and of the workload.
    fn allowed(&self, state: &State<'_>) -> usize {
        let limit = max_unavailable(state.pace(), state.slots.len());
        own_limit(state.workload()).map_or(limit, |own| own.min(limit))
    }

    /// Returns how many more pods can be released than may be unavailable, because the controller creates surge pods.
    fn surge(&self, _: &State<'_>) -> usize {
        0
    }

    /// Returns how many of the wanted pods are missing, where that is not the number of unavailable slots.
    fn missing(&self, _: &State<'_>) -> Option<usize> {
        None
    }

    /// Whether the controller reports the update as complete, after the original fields are restored. None where it does
    /// so before.
    fn is_settled(&self, _: &Observation) -> Option<bool> {
        None
    }

    /// Whether a slot is only a number of pods, so that batches keep their proportion when the workload is scaled.
    fn counts_pods(&self) -> bool {
        false
    }

    /// Whether a batch can skip slots on nodes that are not ready.
    fn skips_unready_nodes(&self) -> bool {
        false
    }
}
