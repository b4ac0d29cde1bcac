//! Why `step` releases no more pods: pods that are not available, or a partition of the workload itself.

use std::collections::HashMap;

use super::outcome::StopReason;
use crate::cause::{AllowedRestarts, Cause, CauseSeverity, causes_of};
use crate::hold::mechanism::State;
use crate::hold::plan::Reach;
use crate::hold::slot::{Skip, Slot, SlotState};
use crate::observation::pod_stage::PodStage;
use crate::status::verdict;

/// Returns the reason to stop for slots without an available pod, with a clause for each.
pub(super) fn reason_to_stop<'s, 'a: 's>(
    state: &State<'a>,
    slots: impl IntoIterator<Item = &'s Slot<'a>>,
) -> StopReason {
    let (observed, allowed) = (state.observed, AllowedRestarts::default());
    let causes = causes_of(observed, verdict(observed).state, allowed, state.now.server_time);
    let causes = causes.iter().filter(|cause| cause.severity != CauseSeverity::Hold);
    let mut by_pod: HashMap<&str, &Cause> = HashMap::new();
    for (pod, cause) in causes.flat_map(|cause| cause.pods.iter().map(move |pod| (pod, cause))) {
        by_pod.entry(pod).or_insert(cause);
    }
    let reason = |slot: &Slot<'_>| {
        let Some(pod) = slot.pod else { return "it does not exist".to_owned() };
        if slot.state == SlotState::Released && state.is_available(pod) {
            return "it is about to be replaced".to_owned();
        }
        match (by_pod.get(pod.name.as_str()), &slot.unready_node) {
            (Some(cause), _) => cause.summary(),
            (None, Some(node)) => format!("its node {node} is not ready"),
            (None, None) => {
                PodStage::of(pod, state.original_min_ready_seconds, state.now.server_time).word().to_owned()
            }
        }
    };
    let pods = slots.into_iter().map(|slot| (slot.label(), reason(slot))).collect();
    StopReason::Unhealthy { pods, allowed: state.allowed() }
}

/// Whether the controller considers the update complete, so that the original strategy can be restored. If the original
/// partition keeps no pod, the controller must report the new revision as the current one, if it reports that. Until then it
/// would create pods below a partition from the old revision.
pub(super) fn is_complete(state: &State<'_>) -> bool {
    let is_current = || state.workload().is_update_reported_stable();
    state.observed.is_observed() && (state.hold.original_partition(state.workload()) > 0 || is_current())
}

/// Returns the reason to stop where the original partition keeps more pods outdated than the goal of the command allows:
/// every pod, or one that `--to` asks for.
pub(super) fn own_partition_reached(state: &State<'_>) -> Option<StopReason> {
    let slots = &state.slots;
    let is_kept = |slot: &Slot<'_>| slot.skip == Some(Skip::OwnPartition);
    let outdated = slots.iter().filter(|slot| is_kept(slot) && !slot.state.is_updated()).count();
    let partition = state.hold.original_partition(state.workload());
    let is_short = match state.plan.reach {
        Some(Reach::To(_)) => !state.is_reached(),
        Some(Reach::All) => partition > 0,
        Some(Reach::Next) | None => false,
    };
    (outdated > 0 && (is_short || slots.iter().all(is_kept)))
        .then_some(StopReason::OwnPartition { partition, outdated })
}
