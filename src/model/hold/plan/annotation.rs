//! The annotation as read and written. Its schema is in [`plan`](super).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::lock::Lock;
use super::schema::Plan;
use super::validation;
use crate::error::{Error, ErrorKind, Result};
use crate::model::kind::Workload;
use crate::model::kind::plan_fields::HOLD_ANNOTATION;
use crate::model::kind::properties::HoldBy;
use crate::model::kind::strategy;
use crate::model::text::go_json::go_json;
use crate::model::text::shell_command::{Word, command};

/// The version of the schema that this version writes.
const VERSION: u32 = 1;

/// The value of the annotation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    #[serde(default = "first_version")]
    version: u32,
    pub(super) reason: HoldReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) strategy: Option<Value>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) set: Value,
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
    /// Returns the hold of a workload, whether or not it is in force; none for a kind whose holds need no annotation.
    ///
    /// # Errors
    /// When the annotation exists and is invalid. The original strategy is unknown then.
    pub fn of(workload: &Workload) -> Result<Option<Self>> {
        if !Self::is_stored_for(workload) {
            return Ok(None);
        }
        workload.object().annotation(HOLD_ANNOTATION).map(|text| Self::read(workload, text)).transpose()
    }

    /// Whether the annotation stores holds of this kind: those that replace the user's strategy.
    pub(in crate::model) fn is_stored_for(workload: &Workload) -> bool {
        workload.kind().hold().needs_annotation() || workload.kind().step().is_ok()
    }

    pub(in crate::model) fn read(workload: &Workload, text: &str) -> Result<Self> {
        validation::check(workload, text).map_err(|why| unreadable(workload).caused_by(why))?;
        let hold: Self = serde_json::from_str(text).map_err(|_| unreadable(workload))?;
        Ok(hold.without_pause(workload))
    }

    /// Returns the hold of a workload if it is in force and readable.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Self::of(workload).ok()?.filter(|hold| hold.is_in_force(workload))
    }

    /// Creates a hold that stores the present strategy of a workload, without a pause. `set` is the strategy that holds. If another client
    /// ended a hold in part, the original of each field that was not restored is stored again.
    #[must_use]
    pub fn new(workload: &Workload, reason: HoldReason, set: &Value) -> Self {
        Self {
            version: VERSION,
            reason,
            strategy: Self::originals(workload),
            set: set.clone(),
            since: None,
            by: None,
            paused: false,
            plan: None,
            lock: None,
            end_by_hand: None,
            rest: Map::new(),
        }
        .without_pause(workload)
    }

    /// A plan takes over the pause that it finds, so that its end leaves the workload neither held nor paused.
    fn without_pause(mut self, workload: &Workload) -> Self {
        if matches!(workload.kind().hold(), HoldBy::Paused(_)) {
            self.strategy = self.strategy.map(strategy::without_pause);
        }
        self
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

    /// Returns the original update strategy, if there was one.
    #[must_use]
    pub fn original(&self) -> Option<&Value> {
        self.strategy.as_ref().filter(|strategy| !strategy.is_null())
    }

    /// Returns the update strategy that holds; null for none.
    #[must_use]
    pub fn set(&self) -> &Value {
        &self.set
    }

    /// Returns the original partition as a number of pods; 0 if there is none.
    #[must_use]
    pub fn own_partition(&self, workload: &Workload) -> i64 {
        self.original().map_or(0, |original| strategy::partition_of(workload, original))
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
        let before = i64::try_from(self.plan().ok()??.batch?.of?).ok()?;
        (before != workload.wanted()).then_some(before)
    }

    /// Returns the lock of the process that steps the workload.
    #[must_use]
    pub fn lock(&self) -> Option<Lock> {
        self.lock.as_ref().filter(|lock| !lock.is_null()).map(Lock::read)
    }

    /// Returns the value of the annotation.
    #[must_use]
    pub fn annotation(&self) -> String {
        go_json(&serde_json::to_value(self).unwrap_or_default())
    }
}

fn first_version() -> u32 {
    1
}

/// The members of a plan that change while `step` runs.
const PROGRESS: [&str; 3] = ["batch", "batchSizes", "reach"];

/// Whether two states of a workload have the same plan for the same template, at any batch. The progress of a plan is
/// no conflict for a command that ends or pauses the plan.
#[must_use]
pub fn have_same_plan(one: &Workload, other: &Workload) -> bool {
    let plan = |workload: &Workload| {
        let mut hold = Hold::of(workload).ok()?.filter(|hold| hold.reason == HoldReason::Plan)?;
        (hold.lock, hold.set) = (None, Value::Null);
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
