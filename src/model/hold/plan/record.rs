//! The plan of a workload with its hold and its lock, and the patches that write it.

use super::hold::Hold;
use super::schema::{Lock, Plan};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::patch::{FieldPath, Patch};
use crate::model::kind::Workload;
use crate::model::kind::fields::{HOLD_ANNOTATION, HoldFields};
use crate::model::text::shell_command::command;

/// The plan of a workload with its hold and its lock, whether or not the hold is in force. `plan` and `lock` are taken out
/// of `hold`: its methods of these names and `scaled_from` find nothing there, and [`PlanRecord::to_hold`] puts them
/// back.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRecord {
    /// The hold, without the plan and the lock.
    pub hold: Hold,
    /// The plan.
    pub plan: Plan,
    /// The lock; none while no process holds it.
    pub lock: Option<Lock>,
}

impl PlanRecord {
    /// Returns the plan of a workload, if it has one. Where pods are only counted, its last batch is scaled to the present
    /// replicas, and the next write stores that.
    ///
    /// # Errors
    /// When the annotation or the plan in it is invalid.
    pub fn of(workload: &Workload) -> Result<Option<Self>> {
        let Some(mut hold) = Hold::of(workload)? else { return Ok(None) };
        let plan = hold.plan().map_err(|why| unreadable(workload, &why))?;
        let lock = hold.lock();
        (hold.plan, hold.lock) = (None, None);
        Ok(plan.map(|plan| Self { hold, plan: plan.scaled_to(workload), lock }))
    }

    /// Returns the plan that holds a workload, if it is readable.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Self::of(workload).ok()?.filter(|record| record.hold.is_in_force(workload))
    }

    /// Returns the same record with the time of a write in its lock.
    #[must_use]
    pub fn written_at(&self, now: String) -> Self {
        Self { lock: self.lock.as_ref().map(|lock| lock.written_at(now)), ..self.clone() }
    }

    /// Returns the hold with the plan and the lock in it.
    #[must_use]
    pub fn to_hold(&self) -> Hold {
        let to_json = |value| serde_json::to_value(value).unwrap_or_default();
        let mut hold = self.hold.clone();
        hold.plan = serde_json::to_value(&self.plan).ok();
        hold.lock = self.lock.as_ref().map(to_json);
        hold
    }

    /// Returns the same record with other fields that hold.
    #[must_use]
    pub fn with_hold_fields(mut self, hold_fields: HoldFields) -> Self {
        self.hold.fields = hold_fields;
        self
    }

    /// Returns the value of the annotation.
    #[must_use]
    pub fn annotation(&self, workload: &Workload) -> String {
        let mut hold = self.to_hold();
        hold.end_by_hand = hold.end_by_hand(workload);
        hold.to_json_text()
    }

    /// Returns the patch that stores the record, and the record as it is then. The patch also writes new values of the
    /// fields of the hold, if there are any: pods up to the goal are released, and the others stay held. It tests the uid,
    /// the template, all fields of the hold, and the annotation.
    #[must_use]
    pub fn into_patch(self, workload: &Workload, hold_fields: Option<HoldFields>) -> (Self, Patch) {
        let mut patch = guarded(workload);
        let mut record = self;
        if let Some(hold_fields) = hold_fields {
            record = record.with_hold_fields(hold_fields);
            record.hold.add_fields_to(&mut patch);
        }
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), record.annotation(workload).into());
        (record, patch)
    }

    /// Returns the same record with the live fields as those that hold.
    #[must_use]
    pub fn adopting(self, workload: &Workload) -> Self {
        if self.hold.is_in_force(workload) {
            self.with_hold_fields(workload.replaceable_fields())
        } else {
            self
        }
    }

    /// Whether every field that a decision relies on is unchanged: the uid, the template, the strategy and the
    /// annotation with its lock. A deletion cannot test these fields as a patch does, so they are read again before
    /// it.
    #[must_use]
    pub fn is_unchanged(decided_on: &Workload, now: &Object) -> bool {
        guarded(decided_on).failed_preconditions(now).next().is_none()
    }
}

/// Returns a patch without edits that tests the uid, the template, each field of a hold, and the annotation.
#[must_use]
pub fn guarded(workload: &Workload) -> Patch {
    let mut patch = Patch::of(workload.object());
    patch.require_unchanged(FieldPath::template());
    require_fields(workload, &mut patch);
    patch.require_unchanged(FieldPath::annotation(HOLD_ANNOTATION));
    patch
}

/// Adds to a patch the preconditions that the fields of a plan are unchanged.
pub(in crate::model) fn require_fields(workload: &Workload, patch: &mut Patch) {
    for (path, _) in workload.replaceable_fields().iter() {
        patch.require_unchanged(path.clone());
    }
}

fn unreadable(workload: &Workload, why: &str) -> Error {
    Error::new(
        ErrorKind::Malformed,
        format!("the plan in the annotation {HOLD_ANNOTATION} of {} is not readable", workload.target()),
    )
    .caused_by(why)
    .hint(command("kubectl rollout2 resume {} --release-all", [workload.command_target()]))
}
