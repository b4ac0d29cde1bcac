//! The state of a plan: its slots, and the values derived from them.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use super::batches::{self, Next};
use super::causes::reasons;
use super::outcome::{StepOutcome, StopReason};
use super::slot::{PlanContext, PodSlot, unavailable};
use super::step_kind::StepKind;
use super::timers::Timers;
use crate::model::change::plan::{BatchRecord, Pace, Plan};

/// The slots of an observation.
pub(super) struct Slots<'a> {
    pub(super) context: PlanContext<'a>,
    pub(super) kind: &'static dyn StepKind,
    pub(super) all: Vec<PodSlot<'a>>,
    /// The existing slots of the present batch.
    batch: HashSet<&'a str>,
}

/// The state of a plan: the annotation, an observation, and the timers of this process.
pub(super) struct PlanState<'a> {
    pub(super) slots: &'a Slots<'a>,
    pub(super) timers: &'a Timers,
}

impl<'a> Slots<'a> {
    pub(super) fn of(kind: &'static dyn StepKind, context: PlanContext<'a>) -> Self {
        let slots = kind.slots(&context);
        let batch = context.record.plan.batch_in_progress();
        let mut batch: HashSet<&str> =
            batch.into_iter().flat_map(|batch| &batch.slots).map(String::as_str).collect();
        if !slots.iter().any(|slot| batch.contains(slot.name.as_str())) {
            batch.clear();
        }
        Self { context, kind, all: slots, batch }
    }
}

impl<'a> PlanState<'a> {
    pub(super) fn context(&self) -> &PlanContext<'a> {
        &self.slots.context
    }

    pub(super) fn plan(&self) -> &'a Plan {
        &self.slots.context.record.plan
    }

    pub(super) fn pace(&self) -> &'a Pace {
        &self.plan().pace
    }

    pub(super) fn all(&self) -> &'a [PodSlot<'a>] {
        &self.slots.all
    }

    /// Returns the present batch, if its slots still exist.
    pub(super) fn batch(&self) -> Option<&'a BatchRecord> {
        self.plan().batch_in_progress().filter(|_| !self.slots.batch.is_empty())
    }

    /// Whether a slot belongs to the present batch.
    pub(super) fn is_in_batch(&self, slot: &PodSlot<'_>) -> bool {
        self.slots.batch.contains(slot.name.as_str())
    }

    /// Returns the slots that must be ready before the plan continues: all released ones. A pod that fails late is as
    /// important as one that fails immediately.
    pub(super) fn required(&self) -> impl Iterator<Item = &'a PodSlot<'a>> {
        self.all().iter().filter(|slot| self.is_required(slot))
    }

    /// Returns the slots that must stay ready for the whole soak.
    pub(super) fn soaking(&self) -> impl Iterator<Item = &'a PodSlot<'a>> {
        self.required().filter(|slot| slot.soaks)
    }

    /// Whether a slot must be ready before the plan continues.
    pub(super) fn is_required(&self, slot: &PodSlot<'_>) -> bool {
        let is_excused = self.timers.excused.contains(&slot.name) && !self.is_in_batch(slot);
        slot.is_released && slot.excluded.is_none() && !slot.is_ignored(self.pace()) && !is_excused
    }

    /// Whether released pods are being replaced, or slots of the batch wait for their release.
    pub(super) fn is_moving(&self) -> bool {
        self.all().iter().any(|slot| self.is_awaited(slot))
    }

    /// Whether the batch waits for a slot. Slots whose node is not ready any more are skipped if the kind allows it.
    pub(super) fn is_awaited(&self, slot: &PodSlot<'_>) -> bool {
        let is_skipped = self.slots.kind.skips_unready_nodes() && slot.unready_node.is_some();
        self.is_required(slot) && !slot.is_ready()
            || slot.awaits_release() && self.is_in_batch(slot) && !is_skipped
    }

    /// Returns how many pods may be unavailable.
    pub(super) fn allowed(&self) -> usize {
        self.slots.kind.allowed(self.context(), self.all().len())
    }

    /// Returns how many more pods may become unavailable; none when too many are unavailable already.
    pub(super) fn free(&self) -> Option<usize> {
        let surge = self.slots.kind.surge(self.context(), self.all().len());
        (self.allowed() + surge).checked_sub(self.unavailable())
    }

    /// Returns how many pods count as unavailable.
    pub(super) fn unavailable(&self) -> usize {
        let Some(missing) = self.slots.kind.missing(self.context()) else {
            return unavailable(self.counted(), self.pace());
        };
        let is_excused = |slot: &&PodSlot<'_>| !slot.is_available && self.timers.excused.contains(&slot.name);
        missing.saturating_sub(self.all().iter().filter(is_excused).count())
    }

    /// Returns the slots that count as unavailable.
    pub(super) fn unavailable_slots(&self) -> impl Iterator<Item = &'a PodSlot<'a>> {
        self.counted().filter(|slot| slot.is_unavailable(self.pace()))
    }

    fn counted(&self) -> impl Iterator<Item = &'a PodSlot<'a>> {
        self.all().iter().filter(|slot| !self.timers.excused.contains(&slot.name))
    }

    /// Returns how long the soaking slots must be ready.
    pub(super) fn soak(&self) -> Duration {
        match self.is_final() {
            _ if self.timers.skip_soak => Duration::ZERO,
            true => self.pace().soak + self.pace().final_soak,
            false => self.pace().soak,
        }
    }

    /// Returns how long the soaking slots have been ready; zero when there are none.
    pub(super) fn healthy(&self) -> Duration {
        let healthy = self.timers.soak.healthy(self.soaking(), self.context().now);
        Some(healthy).filter(|healthy| *healthy != Duration::MAX).unwrap_or_default()
    }

    /// Returns the rest of the soak.
    pub(super) fn soak_left(&self) -> Duration {
        self.timers.soak.left(self.soaking(), self.soak(), self.context().now)
    }

    /// Whether every batch is done, so that only the final soak and the end of the plan remain.
    pub(super) fn is_final(&self) -> bool {
        self.batch().is_none() && !self.all().iter().any(PodSlot::awaits_release)
    }

    /// Returns what the plan releases next.
    pub(super) fn next(&self) -> Next {
        let before = if self.is_back_to_canary() { None } else { self.plan().batch.as_ref() };
        let before = before.map_or(0, |batch| batch.number);
        batches::next(self.slots.kind, self.all(), self.pace(), self.plan().reach, before)
    }

    /// Returns the reason if the next batch may not begin, because its first pod would make too many pods unavailable.
    pub(super) fn too_many_unavailable(&self, next: &BatchRecord) -> Option<StopReason> {
        let first = self.all().iter().find(|slot| next.slots.contains(&slot.name))?;
        let can_release = self.slots.kind.can_release(self.context(), self.all(), first, self.free());
        let allowed = self.allowed();
        (!can_release).then(|| {
            let pods = reasons(self.unavailable_slots(), self.context());
            StopReason::Unhealthy { pods, allowed }
        })
    }

    /// Whether a scale-down removed every released slot.
    pub(super) fn is_back_to_canary(&self) -> bool {
        self.plan().batch.is_some() && batches::updated(self.all()) == 0
    }

    /// Returns the outcome when all remaining slots are skipped, because their nodes are not ready or not selected.
    pub(super) fn only_skipped_left(&self) -> StepOutcome {
        let nodes = skipped(self.all().iter().filter(|slot| slot.is_outdated()), self.pace());
        let others = self.all().iter().filter(|slot| slot.is_not_selected()).count();
        let has_finished = self.timers.has_finished_batch;
        match nodes {
            nodes if !nodes.is_empty() => StepOutcome::Stopped(StopReason::OnUnreadyNodes(nodes)),
            _ if others > 0 && !has_finished => StepOutcome::Stopped(StopReason::NotSelected { others }),
            _ => self.reached(),
        }
    }

    /// Returns the ignored nodes that are not ready and have pods of the new revision.
    pub(super) fn ignored_nodes(&self) -> Vec<String> {
        let is_ignored =
            |slot: &&PodSlot<'_>| slot.is_updated && !slot.is_available && slot.is_ignored(self.pace());
        let nodes = self.all().iter().filter(is_ignored).filter_map(|slot| slot.unready_node.clone());
        nodes.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the outcome of a command whose goal is reached.
    pub(super) fn reached(&self) -> StepOutcome {
        let updated = self.all().iter().filter(|slot| slot.is_updated).count();
        StepOutcome::Reached { updated, of: self.all().len() }
    }
}

/// Returns the slots without a ready pod on nodes that are not ready. `step` does not release them or wait for them.
pub(super) fn skipped<'s>(slots: impl IntoIterator<Item = &'s PodSlot<'s>>, pace: &Pace) -> Vec<String> {
    let is_skipped = |slot: &&PodSlot<'_>| {
        let awaits = slot.awaits_release() && slot.unready_node.is_some();
        slot.excluded.is_none() && !slot.is_ready() && (awaits || slot.is_ignored(pace))
    };
    slots.into_iter().filter(is_skipped).map(PodSlot::label).collect()
}
