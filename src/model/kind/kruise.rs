//! The rules that the kinds of OpenKruise share.

use super::counts::Counts;
use super::fields::Fields;
use super::partition_hold::{has_type_of, held_strategy, hold_by_partition, hold_rollback_by_partition};
pub(super) use super::strategy::field;
use super::strategy::{is_on_delete, partition, partition_path, update_strategy, written_partition};
use super::update_budget::PodUpdatePolicy;
use super::verdict::{RolloutFacts, RolloutState};
use super::{HoldMethod, PresentPods, StepMethod, VersionedPath, Workload};
use crate::model::api::field_path::FieldPath;
pub(super) use crate::model::api::resource_type::KRUISE as GROUP;

/// The field `paused` of the kinds by ordinal and by node, in every version.
pub(super) const PAUSED: &[VersionedPath] =
    &[("v1beta1", &["spec", "updateStrategy", "rollingUpdate", "paused"])];

/// The partition of the strategy, as it is written: a number of pods, or a percentage.
pub(super) struct Partition;

impl HoldMethod for Partition {
    fn hold(&self, workload: &Workload, pods: &PresentPods<'_>) -> Fields {
        hold_by_partition(workload, pods)
    }

    fn is_in_force(&self, workload: &Workload, held: &Fields) -> bool {
        let live = update_strategy(workload).and_then(written_partition);
        let held_partition = held_strategy(workload, held).and_then(written_partition);
        has_type_of(workload, held) && live.is_some() && live == held_partition
    }

    fn hold_rollback(
        &self,
        workload: &Workload,
        held: &Fields,
        original: &Fields,
        is_below: bool,
    ) -> Option<Fields> {
        hold_rollback_by_partition(workload, held, original, is_below)
    }

    fn step_field(&self, workload: &Workload) -> (FieldPath, Option<&'static str>) {
        (partition_path(workload), None)
    }

    fn step_method(&self) -> StepMethod {
        StepMethod::Partition
    }
}

/// Returns the policy that a field of the strategy names. A pod that `OnDelete` replaces is always a new one.
pub(super) fn policy(workload: &Workload, name: &str) -> PodUpdatePolicy {
    let word = update_strategy(workload).and_then(|strategy| field(strategy, name)?.as_str());
    match word {
        _ if is_on_delete(workload) => PodUpdatePolicy::Recreate,
        Some("InPlaceIfPossible") => PodUpdatePolicy::InPlaceIfPossible,
        Some("InPlaceOnly") => PodUpdatePolicy::InPlaceOnly,
        _ => PodUpdatePolicy::Recreate,
    }
}

/// Returns the state of a workload whose outdated pods are kept: by `OnDelete` once the updated pods are ready,
/// by a pause that keeps pods which the partition releases, or by a partition that releases none. A plan of `step`
/// holds once every pod that it released is done.
pub(super) fn hold_state(
    workload: &Workload,
    facts: &RolloutFacts<'_>,
    counts: Counts,
    is_done: bool,
) -> Option<RolloutState> {
    let kept = partition(workload);
    let released = counts.wanted - kept;
    let is_partition_hold = released == 0 && kept > 0;
    if counts.outdated() == 0 {
        return None;
    }
    if is_on_delete(workload) {
        return (!facts.is_starting).then_some(RolloutState::Held);
    }
    if workload.is_paused() && counts.updated < released {
        return Some(RolloutState::Paused);
    }
    if facts.is_rolling_back {
        return Some(RolloutState::Progressing);
    }
    (is_partition_hold || facts.is_held && is_done).then_some(RolloutState::Held)
}
