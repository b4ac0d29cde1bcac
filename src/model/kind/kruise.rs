//! The rules that the kinds of OpenKruise share.

pub(super) use super::strategy::field;
use super::strategy::{is_on_delete, partition, update_strategy};
use super::update_budget::PodUpdatePolicy;
use super::verdict::{Counts, RolloutFacts, RolloutState};
use super::{VersionedPath, Workload};
pub(super) use crate::model::api::resource_type::KRUISE as GROUP;

/// The field `paused` of the kinds by ordinal and by node, in every version.
pub(super) const PAUSED: &[VersionedPath] =
    &[("v1beta1", &["spec", "updateStrategy", "rollingUpdate", "paused"])];

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
        return (!facts.is_updating_pods).then_some(RolloutState::Held);
    }
    if workload.is_paused() && counts.updated < released {
        return Some(RolloutState::Paused);
    }
    if facts.is_rolling_back {
        return Some(RolloutState::Progressing);
    }
    (is_partition_hold || facts.is_held && is_done).then_some(RolloutState::Held)
}
