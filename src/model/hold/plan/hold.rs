//! The hold of a workload: what keeps it from updating, and what it was before. The schema of its annotation is in
//! [`plan`](super).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::schema::{Lock, Plan};
use crate::model::api::object::Object;
use crate::model::api::patch::Patch;
use crate::model::kind::fields::HoldFields;
use crate::model::kind::{Workload, strategy};

/// The version of the schema that this version writes.
pub(super) const VERSION: u32 = 1;

/// The content of the annotation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    pub(super) version: u32,
    /// The fields before the hold.
    #[serde(rename = "strategy", skip_deserializing, skip_serializing_if = "HoldFields::are_absent")]
    pub original: HoldFields,
    /// The fields that hold; none during a rollback that holds nothing.
    #[serde(rename = "set", skip_deserializing, skip_serializing_if = "HoldFields::are_absent")]
    pub fields: HoldFields,
    /// When it was written, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The user who wrote it, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether its plan is paused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// The plan; none for a hold of `pause`, and for a plan that this version cannot read.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The lock of the process that steps the workload.
    #[serde(default, deserialize_with = "Lock::read", skip_serializing_if = "Option::is_none")]
    pub lock: Option<Lock>,
    /// Members that this version does not know, and a plan that it cannot read. They are kept, so that a plan of a newer
    /// version can be paused and ended.
    #[serde(flatten)]
    pub(in crate::model) rest: Map<String, Value>,
}

impl Hold {
    /// Creates a hold by these fields, without a plan. It stores the present ones, without a pause. If another client ended a
    /// hold in part, the original of each field that was not restored is stored again.
    #[must_use]
    pub fn new(workload: &Workload, fields: HoldFields) -> Self {
        Self {
            version: VERSION,
            original: originals(workload),
            fields,
            since: None,
            by: None,
            paused: false,
            plan: None,
            lock: None,
            rest: Map::new(),
        }
    }

    /// Returns the same hold with the present originals, after another client wrote a field that it replaced.
    #[must_use]
    pub fn with_present_originals(self, workload: &Workload) -> Self {
        Self { original: originals(workload), ..self }
    }

    /// Returns the same hold with the live fields as those that hold.
    #[must_use]
    pub fn adopting(self, workload: &Workload) -> Self {
        if self.is_in_force(workload) { self.with_fields(workload.replaceable_fields()) } else { self }
    }

    /// Returns the same hold by other fields.
    #[must_use]
    pub fn with_fields(self, fields: HoldFields) -> Self {
        Self { fields, ..self }
    }

    /// Returns the same hold with another plan.
    #[must_use]
    pub fn with_plan(self, plan: Plan) -> Self {
        Self { plan: Some(plan), ..self }
    }

    /// Sets the user who wrote it and the time, for display.
    #[must_use]
    pub fn written_by(mut self, by: Option<&str>, since: &str) -> Self {
        (self.by, self.since) = (by.map(str::to_owned), Some(since.to_owned()));
        self
    }

    /// Returns the same hold with the time of a write in its lock.
    #[must_use]
    pub fn written_at(self, now: String) -> Self {
        Self { lock: self.lock.map(|lock| lock.written_at(now)), ..self }
    }

    /// Sets whether the plan is paused.
    #[must_use]
    pub fn with_pause(self, paused: bool) -> Self {
        Self { paused, ..self }
    }

    /// Whether a plan of `step` holds the workload, which this version may not be able to read; otherwise `pause` does.
    #[must_use]
    pub fn has_plan(&self) -> bool {
        self.plan.is_some() || self.rest.contains_key(PLAN)
    }

    /// Whether its plan is for the live template of a workload. True for a hold without a readable plan.
    #[must_use]
    pub fn is_for_live_template(&self, workload: &Workload) -> bool {
        self.plan.as_ref().is_none_or(|plan| plan.is_for_live_template(workload))
    }

    /// Whether its plan is rolling back.
    #[must_use]
    pub fn is_rolling_back(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.rolling_back)
    }

    /// Whether its plan is rolling back to the live template.
    #[must_use]
    pub fn is_rolling_back_to_live_template(&self, workload: &Workload) -> bool {
        self.is_rolling_back() && self.is_for_live_template(workload)
    }

    /// Returns the original update strategy, if there was one.
    #[must_use]
    pub fn original_strategy(&self, workload: &Workload) -> Option<&Value> {
        self.original.get(workload.kind().strategy())
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
        self.original.get(MIN_READY_SECONDS).and_then(Value::as_i64).unwrap_or_default()
    }

    /// Whether no more pods are released: during a pause, or when a plan is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        !self.has_plan() || self.paused
    }

    /// Returns how many pods were wanted when the last batch began, where pods are only counted and the workload was scaled
    /// since.
    #[must_use]
    pub fn scaled_from(&self, workload: &Workload) -> Option<i64> {
        let before = i64::try_from(self.plan.as_ref()?.last_batch.as_ref()?.of?).ok()?;
        (before != workload.wanted()).then_some(before)
    }

    /// Whether the hold is in force: the workload still has the fields that hold.
    #[must_use]
    pub fn is_in_force(&self, workload: &Workload) -> bool {
        self.holds_by_fields(workload)
            && workload.kind().hold_method().is_ok_and(|method| method.is_in_force(workload, &self.fields))
    }

    /// Whether the update strategy is still held. Another client can replace it, and the rest of the hold stays in force.
    #[must_use]
    pub fn is_strategy_held(&self, workload: &Workload) -> bool {
        self.is_field_held(workload, workload.kind().strategy())
    }

    pub(super) fn is_field_held(&self, workload: &Workload, name: &str) -> bool {
        workload.kind().hold_method().is_ok_and(|method| {
            let may_be_held = self.holds_by_fields(workload) || method.is_evident(workload);
            may_be_held && method.is_field_held(workload, &self.fields, name)
        })
    }

    /// Whether the program holds this kind by fields for this reason. A kind that has a pause of its own is paused by that
    /// field alone, so another client wrote the annotation of such a pause.
    fn holds_by_fields(&self, workload: &Workload) -> bool {
        self.has_plan() || workload.pause_field().is_none()
    }

    /// Whether no other client changed a field that holds.
    #[must_use]
    pub fn is_unchanged(&self, workload: &Workload) -> bool {
        let is_unchanged = |name: &&str| self.fields.is_unchanged(name, workload.object().json());
        !self.fields.are_absent() && workload.hold_fields().iter().all(is_unchanged)
    }

    /// Whether another client paused a workload whose hold does not.
    #[must_use]
    pub fn is_paused_by_another_client(&self, workload: &Workload) -> bool {
        self.has_plan() && workload.is_paused() && self.fields.get("paused").is_none()
    }
}

/// The field of a Deployment that decides when a pod counts as available, and that a plan replaces.
const MIN_READY_SECONDS: &str = "minReadySeconds";

/// The member with the plan.
pub(super) const PLAN: &str = "plan";

/// The member with the kubectl command that ends the hold, for people without this program.
pub(super) const END_BY_HAND: &str = "endByHand";

/// Returns the original fields of a workload, without a pause. Of a hold that another client ended in part, those come from
/// it that were not restored.
fn originals(workload: &Workload) -> HoldFields {
    let leftover = Hold::of(workload).ok().flatten();
    let restored = leftover.and_then(|leftover| {
        let mut patch = Patch::of(workload.object());
        leftover.end(workload, &mut patch);
        Object::read(patch.after().clone()).ok().and_then(Workload::of)
    });
    let restored = restored.as_ref().unwrap_or(workload);
    restored.replaceable_fields().without_pause()
}

/// Returns how long a pod of a workload must be ready before it counts as available. A plan may have replaced
/// `minReadySeconds`; then it is the original one.
#[must_use]
pub fn original_min_ready_seconds(workload: &Workload) -> i64 {
    let hold = Hold::of(workload).ok().flatten();
    hold.map_or_else(|| workload.min_ready_seconds(), |hold| hold.original_min_ready_seconds(workload))
}
