//! Ownership of the plan: whether the annotation still has the value that this process stored.
//!
//! The process remembers the annotation that it stored last, and its writes without a response. An observation shows
//! which of them the server stored. A write that arrives later fails, because it tests the annotation.

use super::event::Write;
use super::outcome::StopReason;
use crate::api::patch::{FieldPath, Patch};
use crate::change::undo::is_live;
use crate::change::write_result::Conflict;
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
    /// The last write that is stored; none before the lock is acquired, and after the plan ended.
    stored: Option<Write>,
    /// Writes without a response. The server may have stored one of them, or may store it later.
    pub(super) unanswered_writes: Vec<Write>,
}

impl Ownership {
    pub(super) fn new(own: Lock) -> Self {
        Self { own, ..Self::default() }
    }

    /// Whether a lock is the one of this process.
    pub(super) fn is_own(&self, lock: &Lock) -> bool {
        lock.holder == self.own.holder
    }

    /// Whether the last stored write of this process stored a plan: it acquired the lock, which another process may have
    /// taken over since.
    pub(super) fn has_acquired_lock(&self) -> bool {
        self.stored.is_some()
    }

    /// Whether a write of this process with its lock is stored, or may be.
    pub(super) fn may_hold_lock(&self) -> bool {
        self.stored.is_some() || !self.unanswered_writes.is_empty()
    }

    /// Records that a write is stored. Earlier writes without a response can only fail from now on.
    pub(super) fn record_stored(&mut self, write: &Write) {
        self.stored = write.hold.is_some().then(|| write.clone());
        self.unanswered_writes.clear();
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
        let (stored, now) = (self.stored.as_ref()?, &observed.workload);
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
