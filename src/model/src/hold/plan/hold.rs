//! What a hold says of a workload: whether it is in force, and the fields that it replaced. [`held`](crate::hold::held) has the
//! content of the annotation, and `read.rs` reads it.

use serde_json::Value;

use super::schema::Plan;
use crate::api::patch::Patch;
use crate::hold::held::{Hold, VERSION};
use crate::kind::fields::{HoldFields, spec_path};
use crate::kind::{Workload, strategy};

impl Hold {
    /// Creates a hold by these fields, without a plan. It stores the present ones, without a pause. If another client ended a
    /// hold in part, the original of each field that was not restored is stored again.
    #[must_use]
    pub fn new(workload: &Workload, set: HoldFields) -> Self {
        Self {
            version: VERSION,
            strategy: originals(workload),
            set,
            since: None,
            by: None,
            paused: false,
            plan: None,
            lock: None,
        }
    }

    /// Returns the same hold with the present originals, after another client wrote a field that it replaced.
    #[must_use]
    pub fn with_present_originals(self, workload: &Workload) -> Self {
        Self { strategy: originals(workload), ..self }
    }

    /// Returns the same hold with the live fields as those that hold.
    #[must_use]
    pub fn adopting(self, workload: &Workload) -> Self {
        let set = if self.is_in_force(workload) { workload.replaceable_fields() } else { self.set };
        Self { set, ..self }
    }

    /// Whether its plan is for the live template of a workload. True for a hold without a readable plan.
    #[must_use]
    pub fn is_for_live_template(&self, workload: &Workload) -> bool {
        self.plan.as_ref().is_none_or(|plan| plan.is_for_live_template(workload))
    }

    /// Whether its plan is rolling back to the live template.
    #[must_use]
    pub fn is_rolling_back_to_live_template(&self, workload: &Workload) -> bool {
        self.is_rolling_back() && self.is_for_live_template(workload)
    }

    /// Returns the original update strategy, if there was one.
    #[must_use]
    pub fn original_strategy(&self, workload: &Workload) -> Option<&Value> {
        self.strategy.get(workload.kind().strategy())
    }

    /// Returns the original partition as a number of pods; 0 if there is none.
    #[must_use]
    pub fn original_partition(&self, workload: &Workload) -> i64 {
        self.original_strategy(workload).map_or(0, |own| strategy::partition_of(workload, own))
    }

    /// Returns how long a pod of the workload must be ready before it counts as available, by the original fields.
    #[must_use]
    pub fn original_min_ready_seconds(&self, workload: &Workload) -> i64 {
        if !workload.hold_fields().contains(&MIN_READY_SECONDS) || !self.is_in_force(workload) {
            return workload.min_ready_seconds();
        }
        self.strategy.get(MIN_READY_SECONDS).and_then(Value::as_i64).unwrap_or_default()
    }

    /// Whether the hold is in force: the workload still has the fields that hold.
    #[must_use]
    pub fn is_in_force(&self, workload: &Workload) -> bool {
        self.holds_by_fields(workload)
            && workload.mechanism().is_ok_and(|mechanism| mechanism.is_in_force(workload, &self.set))
    }

    /// Whether the update strategy is still held. Another client can replace it, and the rest of the hold stays in force.
    #[must_use]
    pub fn is_strategy_held(&self, workload: &Workload) -> bool {
        let mechanism = workload.mechanism();
        self.may_hold(workload)
            && mechanism.is_ok_and(|mechanism| mechanism.is_strategy_held(workload, &self.set))
    }

    /// Returns the value of a field after the end of the hold.
    pub(super) fn restored(&self, workload: &Workload, name: &str) -> Option<Value> {
        match workload.mechanism() {
            Ok(mechanism) if self.may_hold(workload) => {
                mechanism.restored(workload, &self.set, &self.strategy, name)
            }
            _ => spec_path(name).value_in(workload.object().json()).cloned(),
        }
    }

    /// Whether the fields of a workload can be those of the hold.
    fn may_hold(&self, workload: &Workload) -> bool {
        self.holds_by_fields(workload) || workload.has_fields_of_plan()
    }

    /// Whether the program holds this kind by fields for this reason. A kind that has a pause of its own is paused by that
    /// field alone, so another client wrote the annotation of such a pause.
    fn holds_by_fields(&self, workload: &Workload) -> bool {
        self.has_plan() || workload.pause_field().is_none()
    }

    /// Whether no other client changed a field that holds.
    #[must_use]
    pub fn is_unchanged(&self, workload: &Workload) -> bool {
        let is_unchanged = |name: &&str| self.set.is_unchanged(name, workload.object().json());
        !self.set.are_absent() && workload.hold_fields().iter().all(is_unchanged)
    }

    /// Whether another client paused a workload whose hold does not.
    #[must_use]
    pub fn is_paused_by_another_client(&self, workload: &Workload) -> bool {
        self.has_plan() && workload.is_paused() && self.set.get("paused").is_none()
    }
}

/// The field of a Deployment that decides when a pod counts as available, and that a plan replaces.
const MIN_READY_SECONDS: &str = "minReadySeconds";

/// Returns the original fields of a workload, without a pause. Of a hold that another client ended in part, those come from
/// it that were not restored.
fn originals(workload: &Workload) -> HoldFields {
    let restored = workload.held().stored().and_then(|leftover| {
        let mut patch = Patch::of(workload.object());
        leftover.end(workload, &mut patch);
        Workload::of_json(patch.after())
    });
    let restored = restored.as_ref().unwrap_or(workload);
    restored.replaceable_fields().without_pause()
}

/// Returns how long a pod of a workload must be ready before it counts as available. A plan may have replaced
/// `minReadySeconds`; then it is the original one.
#[must_use]
pub fn original_min_ready_seconds(workload: &Workload) -> i64 {
    let hold = workload.held().in_force();
    hold.map_or_else(|| workload.min_ready_seconds(), |hold| hold.original_min_ready_seconds(workload))
}

impl Plan {
    /// Whether the plan is for the live template of a workload.
    #[must_use]
    pub fn is_for_live_template(&self, workload: &Workload) -> bool {
        self.template == workload.template_digest().hex()
    }
}
