//! The plan of a workload with its hold and its lease, and the patches that write it.

use serde_json::Value;

use super::annotation::Hold;
use super::lease::Lease;
use super::schema::{Phase, Plan};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::change::patch::{FieldPath, Patch};
use crate::model::text::shell_command::command;
use crate::model::workload::Workload;
use crate::model::workload::plan_fields::{self, HOLD_ANNOTATION};

/// The plan of a workload with its hold and its lease, whether or not the hold is in force.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRecord {
    /// The hold.
    pub hold: Hold,
    /// The plan in it.
    pub plan: Plan,
    /// The lease in it.
    pub lease: Option<Lease>,
}

impl PlanRecord {
    /// Returns the plan of a workload, if it has one.
    ///
    /// # Errors
    /// When the annotation or the plan in it is invalid.
    pub fn of(workload: &Workload) -> Result<Option<Self>> {
        let Some(hold) = Hold::of(workload)? else { return Ok(None) };
        let plan = hold.plan().map_err(|why| unreadable(workload, &why))?;
        let lease = hold.lease();
        let wanted = usize::try_from(workload.wanted()).unwrap_or_default();
        Ok(plan.map(|plan| Self { hold, plan: plan.scaled_to(wanted), lease }))
    }

    /// Returns the plan that holds a workload, if it is readable.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Self::of(workload).ok()?.filter(|record| record.hold.is_in_force(workload))
    }

    /// Returns the same record with its lease renewed. `now` is the time of day, for display.
    #[must_use]
    pub fn renewed(&self, now: String) -> Self {
        Self { lease: self.lease.as_ref().map(|lease| lease.renewed(now)), ..self.clone() }
    }

    /// Returns the hold with the plan and the lease in it.
    #[must_use]
    pub fn to_hold(&self) -> Hold {
        let to_json = |value| serde_json::to_value(value).unwrap_or_default();
        let mut hold = self.hold.clone();
        hold.plan = serde_json::to_value(&self.plan).ok();
        hold.lease = self.lease.as_ref().map(to_json);
        hold
    }

    /// Returns the patch that stores the record, and the update strategy `set` if there is one.
    #[must_use]
    pub fn patch(&self, workload: &Workload, set: Option<Value>) -> Patch {
        let (mut patch, mut hold) = (guarded(workload), self.to_hold());
        if let Some(set) = set {
            hold.set = set;
            hold.hold_by(workload, &mut patch);
        }
        hold.end_by_hand = hold.end_by_hand(workload);
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), hold.annotation().into());
        patch
    }

    /// Returns the patch that ends the plan and restores the original strategy.
    #[must_use]
    pub fn ending(&self, workload: &Workload) -> Patch {
        let mut patch = guarded(workload);
        self.hold.end(workload, &mut patch);
        patch
    }

    /// Returns the patch that restores the original fields, except a pause, and keeps the plan until the controller has
    /// completed the update.
    #[must_use]
    pub fn completing(&self, workload: &Workload) -> Patch {
        let (mut patch, mut record) = (guarded(workload), self.clone());
        record.hold.clone().without_pause(workload).restore(workload, &mut patch);
        (record.hold.set, record.plan.phase) = (Value::Null, Phase::Completing);
        let mut hold = record.to_hold();
        hold.end_by_hand = None;
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), hold.annotation().into());
        patch
    }

    /// Returns the same record with the live strategy as the one that holds.
    #[must_use]
    pub fn adopting(mut self, workload: &Workload) -> Self {
        if self.hold.is_in_force(workload)
            && let Some(live) = plan_fields::live(workload)
        {
            self.hold.set = live;
        }
        self
    }

    /// Whether every field that a decision relies on is unchanged: the uid, the template, the strategy and the
    /// annotation with its lease. A deletion cannot test these fields as a patch does, so they are read again before
    /// it.
    #[must_use]
    pub fn is_unchanged(decided_on: &Workload, now: &Object) -> bool {
        guarded(decided_on).failed_preconditions(now).next().is_none()
    }
}

/// Returns a patch without edits that tests the template, the update strategy and the annotation.
#[must_use]
pub fn guarded(workload: &Workload) -> Patch {
    let mut patch = Patch::of(workload.object());
    patch.require_unchanged(FieldPath::template());
    require_fields(workload, &mut patch);
    patch.require_unchanged(FieldPath::annotation(HOLD_ANNOTATION));
    patch
}

/// Adds to a patch the preconditions that the fields of a plan are unchanged.
pub(in crate::model::change) fn require_fields(workload: &Workload, patch: &mut Patch) {
    for place in plan_fields::paths(workload) {
        patch.require_unchanged(place);
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
