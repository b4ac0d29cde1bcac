//! Selects the slots of the next batch, and says when there is none or when it cannot begin, and why.

use std::collections::HashMap;

use super::action::{StepOutcome, StopReason};
use super::slot::PodSlot;
use super::state::{State, StepKind};
use crate::model::cause::{Cause, causes_without_holds};
use crate::model::hold::plan::{BatchSize, Pace, Plan, PlannedBatch, Reach};
use crate::model::observation::pod_stage::PodStage;

/// Counts the slots whose pods run the new revision, or will run it because the plan or the partition released them.
/// A missing pod on a node that was not released does not count.
pub(super) fn released_or_updated(slots: &[PodSlot<'_>]) -> usize {
    let counts = |slot: &&PodSlot<'_>| {
        slot.is_updated || slot.is_released && (slot.awaits_deletion || slot.is_in_last_batch)
    };
    slots.iter().filter(counts).count()
}

/// Whether as many slots are released as the command requested.
pub(super) fn is_reached(reach: Option<Reach>, slots: &[PodSlot<'_>]) -> bool {
    match reach {
        None => true,
        Some(Reach::To(amount)) => released_or_updated(slots) >= amount.pods_of(slots.len()),
        Some(Reach::Next | Reach::All) => false,
    }
}

/// The limit for the slot names of one batch, in bytes. The plan's annotation stores them, and all annotations of an
/// object together may have 256 KiB.
const MAX_NAMES: usize = 64 << 10;

/// Returns the outcome when all remaining slots are skipped, because their nodes are not ready or not selected.
pub(super) fn only_skipped_left(state: &State<'_>, has_finished_batch: bool) -> StepOutcome {
    let others = state.slots.iter().filter(|slot| slot.is_not_selected()).count();
    match state.skipped_nodes(false) {
        nodes if !nodes.is_empty() => StepOutcome::Stopped(StopReason::OnUnreadyNodes(nodes)),
        _ if others > 0 && !has_finished_batch => StepOutcome::Stopped(StopReason::NotSelected { others }),
        _ => reached(state),
    }
}

/// Returns the outcome of a command whose goal is reached.
pub(super) fn reached(state: &State<'_>) -> StepOutcome {
    let updated = state.slots.iter().filter(|slot| slot.is_updated).count();
    StepOutcome::Reached { updated, of: state.slots.len() }
}

/// Returns the batch that the plan releases next; none if every slot that it may release is released, or if the goal of
/// the command is reached.
///
/// # Errors
/// When the next pod is on a node that is not ready, and cannot be skipped.
pub(super) fn next(state: &State<'_>) -> Result<Option<PlannedBatch>, StopReason> {
    FutureBatches::after(state.plan, &state.slots, state.kind).next(state.plan.reach)
}

/// Returns why the next batch may not begin, if its first pod would make too many pods unavailable, or if a released pod
/// is not ready.
pub(super) fn unhealthy(state: &State<'_>, next: &PlannedBatch) -> Option<StopReason> {
    let first = state.slots.iter().find(|slot| Some(&slot.key) == next.slots.first())?;
    if state.kind.may_begin(state, first) {
        return unready(state);
    }
    let pods = reasons(state.unavailable_slots(), state);
    Some(StopReason::Unhealthy { pods, allowed: state.allowed() })
}

/// Returns the reason to stop if a released pod is not ready.
pub(super) fn unready(state: &State<'_>) -> Option<StopReason> {
    let pods = reasons(state.required().filter(|slot| !slot.is_ready()), state);
    (!pods.is_empty()).then(|| StopReason::Unhealthy { pods, allowed: state.allowed() })
}

/// The batches to come, as if each one succeeded. All of them together visit each slot once.
pub(super) struct FutureBatches<'s, 'a> {
    kind: &'s dyn StepKind,
    pace: &'s Pace,
    wanted: usize,
    released_or_updated: usize,
    number: usize,
    /// The slots that are not visited yet.
    rest: &'s [PodSlot<'a>],
}

impl<'s, 'a> FutureBatches<'s, 'a> {
    /// Begins after the last batch of a plan.
    pub(super) fn after(plan: &'s Plan, slots: &'s [PodSlot<'a>], kind: &'s dyn StepKind) -> Self {
        Self {
            kind,
            pace: &plan.pace,
            wanted: slots.len(),
            released_or_updated: released_or_updated(slots),
            number: plan.last_batch.as_ref().map_or(0, |batch| batch.number),
            rest: slots,
        }
    }

    /// Returns the next batch as [`next`] does, and counts its slots as updated. A slot that a batch skips is skipped by
    /// all later ones too.
    pub(super) fn next(&mut self, reach: Option<Reach>) -> Result<Option<PlannedBatch>, StopReason> {
        let canary = self.pace.canary && self.released_or_updated == 0;
        let goal = if canary { 1 } else { goal(self.pace, self.released_or_updated, self.wanted) };
        let goal = match reach {
            Some(Reach::To(amount)) => goal.min(amount.pods_of(self.wanted)),
            _ => goal,
        };
        let mut names = Vec::new();
        let (mut group, mut length) = (None, 0);
        while let Some((slot, rest)) = self.rest.split_first() {
            if slot.awaits_release() {
                if self.released_or_updated + names.len() >= goal
                    || group.is_some_and(|group| group != &slot.group)
                {
                    break;
                }
                match &slot.unready_node {
                    None => {
                        group = Some(&slot.group);
                        length += slot.key.len();
                        if length > MAX_NAMES {
                            break;
                        }
                        names.push(slot.key.clone());
                    }
                    Some(_) if self.kind.skips_unready_nodes() => {}
                    Some(node) if names.is_empty() => {
                        let (pod, node) = (slot.key.clone(), node.clone());
                        return Err(StopReason::OnUnreadyNode { pod, node });
                    }
                    Some(_) => break,
                }
            }
            self.rest = rest;
        }
        if names.is_empty() {
            return Ok(None);
        }
        self.released_or_updated += names.len();
        self.number += 1;
        let of = self.kind.counts_pods().then_some(self.wanted);
        Ok(Some(PlannedBatch { number: self.number, canary, slots: names, done: false, of }))
    }
}

/// Returns how many pods run the new revision after the next batch: of a list the lowest goal that is not reached, because
/// the order of numbers and per cent depends on the replicas.
fn goal(pace: &Pace, updated: usize, wanted: usize) -> usize {
    match &pace.batch_size {
        BatchSize::By(amount) => updated.saturating_add(amount.pods_of(wanted)),
        BatchSize::Until(goals) => {
            let goals = goals.iter().map(|goal| goal.pods_of(wanted));
            goals.filter(|goal| *goal > updated).min().unwrap_or(wanted)
        }
    }
}

/// Returns why each of these slots has no available pod, as a clause.
pub(super) fn reasons<'s, 'p: 's>(
    slots: impl IntoIterator<Item = &'s PodSlot<'p>>,
    state: &State<'_>,
) -> Vec<(String, String)> {
    let causes = causes_without_holds(state.observed, state.now.server_time);
    let mut by_pod: HashMap<&str, &Cause> = HashMap::new();
    for (pod, cause) in causes.iter().flat_map(|cause| cause.pods.iter().map(move |pod| (pod, cause))) {
        by_pod.entry(pod).or_insert(cause);
    }
    let reason = |slot: &PodSlot<'_>| {
        let Some(pod) = slot.pod else { return "it does not exist".to_owned() };
        if slot.is_available && slot.awaits_deletion {
            return "it is about to be replaced".to_owned();
        }
        match (by_pod.get(pod.name.as_str()), &slot.unready_node) {
            (Some(cause), _) => cause.summary.clone(),
            (None, Some(node)) => format!("its node {node} is not ready"),
            (None, None) => {
                PodStage::of(pod, state.original_min_ready_seconds, state.now.server_time).word().to_owned()
            }
        }
    };
    slots.into_iter().map(|slot| (slot.label(), reason(slot))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::api::pod::Pod;
    use crate::model::step::slot::tests::updated_slot;

    /// With `--force` a plan continues past a released pod that its controller has still to replace.
    #[test]
    fn what_is_released_counts_before_it_is_updated() {
        let pod = json!({"kind": "Pod", "metadata": {"name": "db-0"}});
        let pod = Pod::read(&Object::read(pod).unwrap());
        let updated = || updated_slot(&pod);
        let missing = || PodSlot { pod: None, is_updated: false, is_available: false, ..updated() };
        for (slot, counts) in [
            (updated(), true),
            (PodSlot { is_updated: false, awaits_deletion: true, ..updated() }, true),
            (PodSlot { is_in_last_batch: true, ..missing() }, true),
            (missing(), false), // the pod of a new node
            (PodSlot { is_updated: false, is_released: false, ..updated() }, false),
        ] {
            assert_eq!(released_or_updated(std::slice::from_ref(&slot)), usize::from(counts), "{slot:?}");
        }
    }
}
