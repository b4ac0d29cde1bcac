//! The hold of a workload: what keeps it from updating, what it was before, and the annotation that stores both. The schema
//! is in [`plan`](super).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::pause_field::{end_pause, forget_pause};
use super::schema;
use super::schema::{Lock, Plan};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::patch::{FieldPath, Patch};
use crate::model::kind::fields::{HOLD_ANNOTATION, HoldFields};
use crate::model::kind::{Workload, strategy};
use crate::model::text::go_json::go_json;
use crate::model::text::shell_command::{Word, command};

/// The version of the schema that this version writes.
const VERSION: u32 = 1;

/// The content of the annotation. In a [`PlanRecord`](super::PlanRecord) the plan and the lock are taken out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    #[serde(default = "first_version")]
    version: u32,
    reason: HoldReason,
    /// The fields before the hold.
    #[serde(rename = "strategy", skip_deserializing, skip_serializing_if = "HoldFields::are_absent")]
    original: HoldFields,
    /// The fields that hold; none during a rollback that holds nothing.
    #[serde(rename = "set", skip_deserializing, skip_serializing_if = "HoldFields::are_absent")]
    pub(super) fields: HoldFields,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    paused: bool,
    /// Raw JSON, so that a plan of a newer version can be paused and ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) plan: Option<Value>,
    #[serde(default, alias = "lease", skip_serializing_if = "Option::is_none")]
    pub(super) lock: Option<Value>,
    /// The kubectl command that ends the hold, for people without this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) end_by_hand: Option<String>,
    #[serde(flatten)]
    pub(in crate::model) rest: Map<String, Value>,
}

/// Why a workload is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HoldReason {
    /// `pause` holds it.
    Pause,
    /// A plan of `step` holds it.
    Plan,
}

impl Hold {
    /// Returns the hold of a workload, whether or not it is in force; none for a kind that is not held by fields.
    ///
    /// # Errors
    /// When the annotation exists and is invalid. The original fields are unknown then.
    pub fn of(workload: &Workload) -> Result<Option<Self>> {
        let text =
            workload.object().annotation(HOLD_ANNOTATION).filter(|_| workload.kind().hold_method().is_ok());
        text.map(|text| Self::read(workload, text)).transpose()
    }

    /// Reads an annotation of a workload.
    pub(in crate::model) fn read(workload: &Workload, text: &str) -> Result<Self> {
        let mut members: Map<_, _> = serde_json::from_str(text).map_err(|_| unreadable(workload))?;
        let stored = ["strategy", "set"].map(|member| members.remove(member).unwrap_or_default());
        let invalid = |why: String| unreadable(workload).caused_by(why);
        let types = workload.field_types();
        let [original, fields] =
            stored.map(|stored| HoldFields::read(&types, workload.object().json(), &stored));
        schema::check_limits(&members).map_err(invalid)?;
        let (original, fields) = (original.map_err(invalid)?, fields.map_err(invalid)?);
        let rest = serde_json::from_value(Value::Object(members)).map_err(|_| unreadable(workload))?;
        // A plan takes over the pause that it finds, so that its end leaves the workload neither held nor paused.
        Ok(Self { original: original.without_pause(workload.pause_field().as_ref()), fields, ..rest })
    }

    /// Returns the hold of a workload if it is in force and readable.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Self::of(workload).ok()?.filter(|hold| hold.is_in_force(workload))
    }

    /// Creates a hold by these fields. It stores the present ones, without a pause. If another client ended a hold in
    /// part, the original of each field that was not restored is stored again.
    #[must_use]
    pub fn new(workload: &Workload, reason: HoldReason, fields: HoldFields) -> Self {
        Self {
            version: VERSION,
            reason,
            original: originals(workload),
            fields,
            since: None,
            by: None,
            paused: false,
            plan: None,
            lock: None,
            end_by_hand: None,
            rest: Map::new(),
        }
    }

    /// Returns the same hold with the present originals, after another client wrote a field that it replaced.
    #[must_use]
    pub fn with_present_originals(self, workload: &Workload) -> Self {
        Self { original: originals(workload), ..self }
    }

    /// Sets the user who wrote it and the time, for display.
    #[must_use]
    pub fn written_by(mut self, by: Option<&str>, since: &str) -> Self {
        (self.by, self.since) = (by.map(str::to_owned), Some(since.to_owned()));
        self
    }

    /// Sets whether the plan is paused.
    #[must_use]
    pub fn with_pause(mut self, paused: bool) -> Self {
        self.paused = paused;
        self
    }

    /// Turns the hold of a pause into the hold of a plan.
    #[must_use]
    pub fn into_plan_hold(mut self) -> Self {
        (self.reason, self.paused) = (HoldReason::Plan, false);
        self
    }

    /// Returns why the workload is held.
    #[must_use]
    pub fn reason(&self) -> HoldReason {
        self.reason
    }

    /// Returns the original fields.
    #[must_use]
    pub fn original(&self) -> &HoldFields {
        &self.original
    }

    /// Returns the fields that hold.
    #[must_use]
    pub fn fields(&self) -> &HoldFields {
        &self.fields
    }

    /// Returns the original update strategy, if there was one.
    #[must_use]
    pub fn original_strategy(&self, workload: &Workload) -> Option<&Value> {
        self.original.get(&strategy::strategy_path(workload))
    }

    /// Returns the original partition as a number of pods; 0 if there is none.
    #[must_use]
    pub fn original_partition(&self, workload: &Workload) -> i64 {
        self.original_strategy(workload).map_or(0, |own| strategy::partition_of(workload, own))
    }

    /// Returns how long a pod of the workload must be ready before it counts as available, by the original fields.
    #[must_use]
    pub fn original_min_ready_seconds(&self, workload: &Workload) -> i64 {
        let path = FieldPath::of(workload.kind().min_ready_seconds().split('/').skip(1));
        if !workload.replaceable_fields().have(&path) || !self.is_in_force(workload) {
            return workload.min_ready_seconds();
        }
        self.original.get(&path).and_then(Value::as_i64).unwrap_or_default()
    }

    /// Returns the user who wrote it, if it is stored.
    #[must_use]
    pub fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    /// Returns when it was written, if it is stored.
    #[must_use]
    pub fn since(&self) -> Option<&str> {
        self.since.as_deref()
    }

    /// Whether no more pods are released: during a pause, or when a plan is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.reason == HoldReason::Pause || self.paused
    }

    /// Returns the plan, if this is the hold of one.
    ///
    /// # Errors
    /// The reason why it cannot be read, as a fragment.
    pub fn plan(&self) -> Result<Option<Plan>, String> {
        if self.reason != HoldReason::Plan {
            return Ok(None);
        }
        if self.version > VERSION {
            return Err(format!("it has version {}, this is version {VERSION}", self.version));
        }
        let plan = self.plan.as_ref().ok_or("it has no plan")?;
        Plan::deserialize(plan).map(Some).map_err(|error| error.to_string())
    }

    /// Returns how many pods were wanted when the last batch began, where pods are only counted and the workload was scaled
    /// since.
    #[must_use]
    pub fn scaled_from(&self, workload: &Workload) -> Option<i64> {
        let before = i64::try_from(self.plan().ok()??.last_batch?.of?).ok()?;
        (before != workload.wanted()).then_some(before)
    }

    /// Returns the lock of the process that steps the workload.
    #[must_use]
    pub fn lock(&self) -> Option<Lock> {
        self.lock.as_ref().filter(|lock| !lock.is_null()).map(Lock::read)
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
        self.is_field_held(workload, &strategy::strategy_path(workload))
    }

    fn is_field_held(&self, workload: &Workload, path: &FieldPath) -> bool {
        workload.kind().hold_method().is_ok_and(|method| {
            let may_be_held = self.holds_by_fields(workload) || method.is_evident(workload);
            may_be_held && method.is_field_held(workload, &self.fields, path)
        })
    }

    /// Whether the program holds this kind by fields for this reason. A kind that has a pause of its own is paused by that
    /// field alone, so another client wrote the annotation of such a pause.
    fn holds_by_fields(&self, workload: &Workload) -> bool {
        self.reason == HoldReason::Plan || workload.pause_field().is_none()
    }

    /// Whether no other client changed a field that holds.
    #[must_use]
    pub fn is_unchanged(&self, workload: &Workload) -> bool {
        !self.fields.are_absent()
            && self.fields.iter().all(|(path, _)| self.fields.is_unchanged(path, workload.object().json()))
    }

    /// Whether another client paused a workload whose hold does not.
    #[must_use]
    pub fn is_paused_by_another_client(&self, workload: &Workload) -> bool {
        let holds_paused = workload.pause_field().is_some_and(|pause| self.fields.get(&pause).is_some());
        self.reason == HoldReason::Plan && workload.is_paused() && !holds_paused
    }

    /// Adds to a patch the fields that hold.
    pub fn add_fields_to(&self, patch: &mut Patch) {
        for (path, value) in self.fields.iter() {
            patch.set_or_remove(path.clone(), value.cloned());
        }
    }

    /// Adds to a patch what ends the hold: restores the original fields and removes the annotation. A field that another
    /// client wrote meanwhile stays.
    pub fn end(&self, workload: &Workload, patch: &mut Patch) {
        for (path, _) in workload.replaceable_fields().iter() {
            if self.is_field_held(workload, path) {
                patch.set_or_remove(path.clone(), self.original.get(path).cloned());
            } else {
                patch.require_unchanged(path.clone());
            }
        }
        patch.remove(FieldPath::annotation(HOLD_ANNOTATION));
        forget_pause(workload, patch);
    }

    /// Returns the kubectl command that ends the hold without this program, as `resume --release-all` does. None where the
    /// rollout completes without it, at the latest when the strategy is applied again.
    #[must_use]
    pub fn end_by_hand(&self, workload: &Workload) -> Option<String> {
        if !workload.is_completion_blocked_by_hold() || self.fields.are_absent() {
            return None;
        }
        let null = &Value::Null;
        let merged = |(path, held): (&FieldPath, Option<&Value>)| {
            let merged = merge(held.unwrap_or(null), self.original.get(path).unwrap_or(null));
            Some((path.members().last()?.clone(), merged))
        };
        let spec: Map<String, Value> = self.fields.iter().filter_map(merged).collect();
        let patch = json!({"metadata": {"annotations": {HOLD_ANNOTATION: null}}, "spec": spec});
        Some(patch_command(workload, &patch))
    }

    /// Returns the hold as the annotation stores it. A plan renews `endByHand` first: see
    /// [`PlanRecord::annotation`](super::PlanRecord::annotation).
    #[must_use]
    pub fn to_json_text(&self) -> String {
        go_json(&serde_json::to_value(self).unwrap_or_default())
    }
}

fn first_version() -> u32 {
    1
}

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
    let mut patch = Patch::of(restored.object());
    end_pause(restored, &mut patch);
    let fields =
        HoldFields::of(patch.after(), restored.replaceable_fields().iter().map(|(path, _)| path.clone()));
    fields.without_pause(restored.pause_field().as_ref())
}

/// Returns how long a pod of a workload must be ready before it counts as available. A plan may have replaced
/// `minReadySeconds`; then it is the original one.
#[must_use]
pub fn original_min_ready_seconds(workload: &Workload) -> i64 {
    let hold = Hold::of(workload).ok().flatten();
    hold.map_or_else(|| workload.min_ready_seconds(), |hold| hold.original_min_ready_seconds(workload))
}

/// Returns the kubectl command that puts back an update strategy that nothing in the cluster stores any more; none if there
/// is no strategy to replace.
#[must_use]
pub fn restore_by_hand(workload: &Workload, original: &Value) -> Option<String> {
    let live = strategy::update_strategy(workload)?;
    let member = *workload.kind().strategy().last()?;
    let patch = json!({"spec": {member: merge(live, original)}});
    Some(patch_command(workload, &patch))
}

/// Returns the kubectl command that applies a merge patch.
fn patch_command(workload: &Workload, patch: &Value) -> String {
    let words = [workload.command_target(), Word::text(&go_json(patch), "PATCH")];
    command("kubectl patch {} --type=merge -p {}", words)
}

/// Returns the merge patch that turns one value into another.
fn merge(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
    let removed = from.keys().filter(|name| !to.contains_key(*name)).map(|name| (name, Value::Null));
    let set = to.iter().map(|(name, value)| (name, merge(from.get(name).unwrap_or(&Value::Null), value)));
    Value::Object(removed.chain(set).map(|(name, value)| (name.clone(), value)).collect())
}

/// The members of a plan that change while `step` runs.
const PROGRESS: [&str; 4] = ["batch", "batchSizes", "reach", "failure"];

/// Whether two states of a workload have the same plan for the same template, at any batch. The progress of a plan is
/// no conflict for a command that ends or pauses the plan.
#[must_use]
pub fn have_same_plan(one: &Workload, other: &Workload) -> bool {
    let plan = |workload: &Workload| {
        let mut hold = Hold::of(workload).ok()?.filter(|hold| hold.reason == HoldReason::Plan)?;
        (hold.lock, hold.fields) = (None, HoldFields::default());
        hold.plan.as_mut()?.as_object_mut()?.retain(|member, _| !PROGRESS.contains(&member.as_str()));
        Some((workload.template_digest(), hold))
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
