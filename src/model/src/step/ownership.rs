//! Ownership of the plan: whether the annotation still has the value that this process stored.
//!
//! The process remembers the annotation that it stored last, and its writes without a response. An observation shows
//! which of them the server stored. A write that arrives later fails, because it tests the annotation.

use std::time::Duration;

use super::outcome::{StepOutcome, StopReason};
use super::request::Write;
use crate::api::patch::{FieldPath, Patch};
use crate::change::undo::is_live;
use crate::change::written::Conflict;
use crate::hold::plan::{HOLD_ANNOTATION, Hold, Lock, guarded};
use crate::kind::Workload;
use crate::observation::Observation;
use crate::revision::Revision;
use crate::text::json::go_json;

/// The lock of this process, and the annotations that it wrote.
#[derive(Debug, Default)]
pub(super) struct Ownership {
    /// The lock as this process writes it, without a time.
    pub(super) own: Lock,
    pub(super) lock: LockState,
    /// Writes without a response. The server may have stored one of them, or may store it later.
    pub(super) unanswered_writes: Vec<Write>,
}

/// How far a command is with its lock.
#[derive(Debug, Default)]
pub(super) enum LockState {
    /// It has not acquired it.
    #[default]
    NotAcquired,
    /// This is the last write that is stored. Another process may have taken the lock over since.
    Held(Write),
    /// It has its outcome since this time. It has still to release the lock that this write stored; if it ended its plan, there
    /// is none, and its controller has still to observe that and to complete the update.
    Releasing { outcome: StepOutcome, since: Duration, stored: Option<Write> },
    /// It ended, whether or not the lock is released.
    Released(StepOutcome),
}

impl Ownership {
    pub(super) fn new(own: Lock) -> Self {
        Self { own, ..Self::default() }
    }

    /// Whether a lock is the one of this process.
    pub(super) fn is_own(&self, lock: &Lock) -> bool {
        lock.holder == self.own.holder
    }

    /// Whether this process has acquired the lock, and has no outcome. Another process may have taken it over since.
    pub(super) fn is_stepping(&self) -> bool {
        matches!(self.lock, LockState::Held(_))
    }

    /// Whether the command has its outcome, so that nothing but its lock is written any more.
    pub(super) fn has_outcome(&self) -> bool {
        matches!(self.lock, LockState::Releasing { .. } | LockState::Released(_))
    }

    pub(super) fn is_finished(&self) -> bool {
        matches!(self.lock, LockState::Released(_))
    }

    /// Returns the last write that is stored; none before the lock is acquired, and after the plan ended.
    fn stored(&self) -> Option<&Write> {
        match &self.lock {
            LockState::Held(write) => Some(write),
            LockState::Releasing { stored, .. } => stored.as_ref(),
            LockState::NotAcquired | LockState::Released(_) => None,
        }
    }

    /// Whether a write of this process with its lock is stored, or may be.
    pub(super) fn may_hold_lock(&self) -> bool {
        self.stored().is_some() || !self.unanswered_writes.is_empty()
    }

    /// Records that a write is stored. Earlier writes without a response can only fail from now on.
    pub(super) fn record_stored(&mut self, write: &Write) {
        let new = write.hold.is_some().then(|| write.clone());
        match &mut self.lock {
            LockState::Releasing { stored, .. } => *stored = new,
            lock => *lock = new.map_or(LockState::NotAcquired, LockState::Held),
        }
        self.unanswered_writes.clear();
    }

    /// Records that the command has this outcome, and has still to release its lock.
    pub(super) fn begin_release(&mut self, outcome: StepOutcome, now: Duration) {
        self.lock = match std::mem::take(&mut self.lock) {
            LockState::NotAcquired => LockState::Releasing { outcome, since: now, stored: None },
            LockState::Held(write) => LockState::Releasing { outcome, since: now, stored: Some(write) },
            LockState::Releasing { since, stored, .. } => LockState::Releasing { outcome, since, stored },
            released @ LockState::Released(_) => released,
        };
    }

    /// Returns the write without a response that the observation shows to be stored.
    pub(super) fn resolved(&mut self, workload: &Workload) -> Option<Write> {
        let now = workload.object().annotation(HOLD_ANNOTATION);
        let is_stored = |write: &Write| match write.annotation() {
            Some(annotation) => now == Some(annotation),
            None => write.patch.is_applied_to(workload.object()),
        };
        let index = self.unanswered_writes.iter().position(is_stored)?;
        Some(self.unanswered_writes.swap_remove(index))
    }

    /// Returns the external change to a field that the plan relies on, if there is one.
    pub(super) fn external_change(&self, observed: &Observation) -> Option<StopReason> {
        let (stored, now) = (self.stored()?, &observed.workload);
        let hold = stored.hold.as_ref()?;
        let is_template_kept = hold.is_for_live_template(now);
        let is_held = hold.holds_nothing()
            || hold.is_in_force(now) && hold.is_unchanged(now) && !hold.is_paused_by_another_client(now);
        if now.object().annotation(HOLD_ANNOTATION) == stored.annotation() && is_template_kept && is_held {
            return None;
        }
        let changed = || Some(Self::changed(stored, hold, observed));
        let Ok(Some(found)) = now.held().readable() else { return changed() };
        match &found.lock {
            Some(lock) if !self.is_own(lock) => {
                return Some(StopReason::TakenOver { by: lock.by.clone() });
            }
            _ if !is_template_kept || !is_held => return changed(),
            None => return Some(StopReason::TakenOver { by: None }),
            Some(_) => {}
        }
        if found.is_paused() { Some(StopReason::Paused) } else { changed() }
    }

    /// Describes the external change: its author, and how the workload differs from what this process stored.
    fn changed(stored: &Write, hold: &Hold, observed: &Observation) -> StopReason {
        let now = &observed.workload;
        let mut as_stored = Patch::of(now.object());
        let template = hold.plan.as_ref().map(|plan| &plan.template);
        let is_released = |revision: &&Revision| Some(&revision.digest.hex()) == template;
        if let Some(revision) =
            observed.revisions.iter().find(is_released).filter(|_| !hold.is_for_live_template(now))
        {
            as_stored.set(FieldPath::of(["spec", "template"]), revision.template().without_hash_labels());
        }
        if !hold.is_unchanged(now) && !hold.holds_nothing() {
            hold.add_fields_to(now, &mut as_stored);
        }
        as_stored.set(FieldPath::annotation(HOLD_ANNOTATION), stored.annotation().into());
        let as_stored = Workload::of_json(as_stored.after());
        let conflict = as_stored.and_then(|as_stored| Conflict::of(&guarded(&as_stored), now.object()));
        let (manager, mut changes) = conflict.map(|one| (one.manager, one.changes)).unwrap_or_default();
        // The annotation is gone or not readable, and nothing else stores the original strategy.
        let is_lost = !matches!(now.held().readable(), Ok(Some(_))) && hold.is_unchanged(now);
        let lost_original = hold.strategy.to_json().filter(|_| is_lost);
        if let Some(original) = &lost_original {
            changes.push(format!("the original update strategy was {}", go_json(original)));
        }
        let rolled_back_to = rolled_back_to(hold, observed);
        StopReason::Changed { manager, changes, lost_original, rolled_back_to }
    }
}

/// Returns the label of the revision that a plan began from, if another client rolled back to it: no hold is in force any
/// more, and the live template is the one of that revision.
fn rolled_back_to(hold: &Hold, observed: &Observation) -> Option<String> {
    let workload = &observed.workload;
    let plan = hold.plan.as_ref().filter(|plan| !plan.rolling_back)?;
    let from = observed.revisions.iter().find(|revision| plan.from.as_ref() == Some(&revision.name))?;
    let is_back = is_live(observed, from) && from.digest.hex() != plan.template;
    (is_back && workload.held().in_force().is_none() && !workload.held().is_lost()).then(|| from.label())
}
