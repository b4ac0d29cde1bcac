//! The hold of a workload: what keeps it from updating, and what it was before; and how its annotation is read. The schema of
//! the annotation is in [`plan`](super).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::schema::{Lock, Plan, is_small};
use crate::api::patch::Patch;
use crate::error::{Error, ErrorKind, Result};
use crate::kind::fields::{HOLD_ANNOTATION, HoldFields, spec_path};
use crate::kind::{Workload, strategy};
use crate::text::json::data_problem;
use crate::text::shell_command::{Word, command};

/// The version of the schema that this version writes.
pub(super) const VERSION: u32 = 1;

/// The content of the annotation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    pub(super) version: u32,
    /// The original fields; for a Deployment four members, one of which is `strategy`.
    #[serde(skip_deserializing, skip_serializing_if = "HoldFields::are_absent")]
    pub strategy: HoldFields,
    /// The fields that hold; none during a rollback that holds nothing.
    #[serde(skip_deserializing, skip_serializing_if = "HoldFields::are_absent")]
    pub set: HoldFields,
    /// When the pause or the plan began, for display. Of several copies of a lost hold, the latest is restored.
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
    pub(crate) rest: Map<String, Value>,
}

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
            rest: Map::new(),
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

    /// Whether no more pods are released: during a pause, or when a plan is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        !self.has_plan() || self.paused
    }

    /// Whether the hold is in force: the workload still has the fields that hold.
    #[must_use]
    pub fn is_in_force(&self, workload: &Workload) -> bool {
        self.holds_by_fields(workload)
            && workload.kind().hold_method().is_ok_and(|method| method.is_in_force(workload, &self.set))
    }

    /// Whether the update strategy is still held. Another client can replace it, and the rest of the hold stays in force.
    #[must_use]
    pub fn is_strategy_held(&self, workload: &Workload) -> bool {
        let method = workload.kind().hold_method();
        self.may_hold(workload) && method.is_ok_and(|method| method.is_strategy_held(workload, &self.set))
    }

    /// Returns the value of a field after the end of the hold.
    pub(super) fn restored(&self, workload: &Workload, name: &str) -> Option<Value> {
        match workload.kind().hold_method() {
            Ok(method) if self.may_hold(workload) => {
                method.restored(workload, &self.set, &self.strategy, name)
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

/// The member with the plan.
pub(super) const PLAN: &str = "plan";

/// The member with the kubectl command that ends the hold, for people without this program.
pub(super) const END_BY_HAND: &str = "endByHand";

/// Returns the original fields of a workload, without a pause. Of a hold that another client ended in part, those come from
/// it that were not restored.
fn originals(workload: &Workload) -> HoldFields {
    let leftover = Hold::readable(workload);
    let restored = leftover.and_then(|leftover| {
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
    let hold = Hold::readable(workload);
    hold.map_or_else(|| workload.min_ready_seconds(), |hold| hold.original_min_ready_seconds(workload))
}

impl Hold {
    /// Returns the hold of a workload, whether or not it is in force; none for a kind that is not held by fields.
    ///
    /// # Errors
    /// When the annotation exists and is invalid. The original fields are unknown then.
    pub fn of(workload: &Workload) -> Result<Option<Self>> {
        let text =
            workload.object().annotation(HOLD_ANNOTATION).filter(|_| workload.kind().hold_method().is_ok());
        let Some(text) = text else { return Ok(None) };
        let read = || Self::read(workload, text).map(Some);
        let kept = workload.hold.get_or_init(|| Arc::new(read()));
        kept.downcast_ref::<Result<Option<Self>>>().cloned().unwrap_or_else(read)
    }

    /// Returns the same hold as [`Hold::of`]; none also if the annotation is invalid.
    #[must_use]
    pub fn readable(workload: &Workload) -> Option<Self> {
        Self::of(workload).ok().flatten()
    }

    /// Returns the hold of the plan of a workload, if it has one, whether or not the hold is in force.
    ///
    /// # Errors
    /// When the annotation or the plan in it is invalid.
    pub fn of_plan(workload: &Workload) -> Result<Option<Self>> {
        let Some(hold) = Self::of(workload)?.filter(Self::has_plan) else { return Ok(None) };
        hold.require_plan(workload)?;
        Ok(Some(hold))
    }

    /// Reads an annotation of a workload.
    pub(crate) fn read(workload: &Workload, text: &str) -> Result<Self> {
        let mut members: Map<_, _> = serde_json::from_str(text).map_err(|_| unreadable(workload))?;
        members.remove(END_BY_HAND); // each write renews it
        let stored = ["strategy", "set"].map(|member| members.remove(member).unwrap_or_default());
        let invalid = |why: String| unreadable(workload).caused_by(why);
        let (names, update_strategy) = (workload.hold_fields(), workload.kind().strategy());
        let [strategy, set] = stored.map(|stored| HoldFields::read(names, update_strategy, stored));
        let (strategy, set) = (strategy.map_err(invalid)?, set.map_err(invalid)?);
        let mut hold: Self =
            serde_json::from_value(Value::Object(members)).map_err(|_| unreadable(workload))?;
        let rest = std::mem::take(&mut hold.rest); // a newer version may write anything there
        if !serde_json::to_value(&hold).is_ok_and(|known| is_small(&known)) {
            return Err(invalid(TOO_LARGE.to_owned()));
        }
        hold.rest = rest;
        if let Some(Ok(plan)) = hold.rest.get(PLAN).filter(|_| hold.version <= VERSION).map(read_plan) {
            hold.plan = Some(plan);
            hold.rest.remove(PLAN);
        }
        // A plan takes over the pause that it finds, so that its end leaves the workload neither held nor paused.
        Ok(Self { strategy: strategy.without_pause(), set, ..hold })
    }

    /// Returns the hold of a workload if it is in force and readable.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Self::of(workload).ok()?.filter(|hold| hold.is_in_force(workload))
    }

    /// Returns the plan.
    ///
    /// # Errors
    /// When there is none that this version can read.
    pub fn require_plan(&self, workload: &Workload) -> Result<&Plan> {
        self.plan.as_ref().ok_or_else(|| {
            let why = match self.rest.get(PLAN).map(read_plan) {
                _ if self.version > VERSION => {
                    format!("it has version {}, this is version {VERSION}", self.version)
                }
                Some(Err(why)) => why,
                _ => "it has no plan".to_owned(),
            };
            let sentence = format!(
                "the plan in the annotation {HOLD_ANNOTATION} of {} is not readable",
                workload.target()
            );
            Error::new(ErrorKind::Malformed, sentence)
                .caused_by(why)
                .hint(command("kubectl rollout2 resume {} --release-all", [workload.command_target()]))
        })
    }
}

impl Workload {
    /// Returns the update strategy that a hold in force replaced, or the present one.
    pub(crate) fn original_update_strategy(&self) -> Option<Value> {
        match Hold::in_force(self) {
            Some(hold) => hold.original_strategy(self).cloned(),
            None => strategy::update_strategy(self).cloned(),
        }
    }

    /// Returns the name of the revision from which the plan in force began, if it is for the live template.
    pub(crate) fn start_of_plan(&self) -> Option<String> {
        Plan::in_force(self).filter(|plan| plan.is_for_live_template(self))?.from
    }
}

/// Why an annotation or a plan with such a member is not readable.
const TOO_LARGE: &str = "it has a text or a number that is too large";

/// Reads a plan, or returns why it is not readable. The limits are for the members that this version knows.
fn read_plan(member: &Value) -> Result<Plan, String> {
    let mut plan = Plan::deserialize(member).map_err(|error| data_problem(&error))?;
    let rest = std::mem::take(&mut plan.rest);
    let is_readable = serde_json::to_value(&plan).is_ok_and(|known| is_small(&known));
    plan.rest = rest;
    is_readable.then_some(plan).ok_or_else(|| TOO_LARGE.to_owned())
}

impl Plan {
    /// Returns the plan that holds a workload, if it is readable.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Hold::in_force(workload)?.plan
    }
}

/// The members of a plan that change while `step` runs.
const PROGRESS: [&str; 3] = ["batch", "reach", "failure"];

/// Whether two states of a workload have the same plan for the same template, at any batch. The progress of a plan is
/// no conflict for a command that ends or pauses the plan.
#[must_use]
pub fn have_same_plan(one: &Workload, other: &Workload) -> bool {
    let plan = |workload: &Workload| {
        let hold = Hold::readable(workload).filter(Hold::has_plan)?;
        let hold = Hold { lock: None, set: HoldFields::default(), ..hold };
        let mut members = serde_json::to_value(hold).ok()?;
        members[PLAN].as_object_mut()?.retain(|member, _| !PROGRESS.contains(&member.as_str()));
        Some((workload.template_digest(), members))
    };
    plan(one).is_some_and(|one| plan(other) == Some(one))
}

fn unreadable(workload: &Workload) -> Error {
    Error::new(
        ErrorKind::Malformed,
        format!("the annotation {HOLD_ANNOTATION} of {} is not readable", workload.target()),
    )
    .hint(command(
        "correct its update strategy, then: kubectl annotate {} {}-",
        [workload.command_target(), Word::text(HOLD_ANNOTATION, "KEY")],
    ))
}
