//! The annotation `kubectl-rollout2/held`, in which `pause` and `step` store the state of a hold.
//!
//! Both hold a StatefulSet with its partition and a DaemonSet with `OnDelete`. The same patch stores the original
//! update strategy. A plan holds a workload of OpenKruise with its partition. A plan holds a Deployment with four fields of `spec`; then `strategy` and `set` are objects with
//! those of the four that are present. The value is one JSON object:
//!
//! | member | content |
//! |---|---|
//! | `version` | version of this schema: 1 |
//! | `reason` | `pause`, or `plan` for a plan of `step` |
//! | `strategy` | the original update strategy, raw; absent when there was none |
//! | `set` | the update strategy that holds, as it was written |
//! | `since`, `by` | the time and the user, for display |
//! | `paused` | `true` when a plan is paused |
//! | `plan` | see [`Plan`] |
//! | `lease` | see [`Lease`] |
//! | `endByHand` | the kubectl command that ends the hold of a Deployment, for people |
//!
//! Unknown members are kept, because a newer version may have written them.

mod amount;
mod lease;
mod lost;
mod pace;
mod pause;
mod plan;
mod record;
mod release;
mod resume;
mod rollback;
mod summary;
mod validation;

pub use amount::Amount;
pub use lease::{LEASE_DURATION, Lease, RENEW_EVERY};
pub use lost::{check_not_lost, end_command, end_lost_hold, is_lost, lost_hold};
pub use pace::{Batches, Check, OnFailure, Pace, Reach, SETTLING_TIME};
pub(in crate::model) use pause::{hold_method, holding_partition};
pub use pause::{HoldMethod, Pause, pause};
pub use plan::{BatchRecord, Phase, Plan};
pub use record::{PlanRecord, guarded};
pub use release::own_min_ready_seconds;
pub use resume::{Resume, resume};
pub use rollback::{PartitionRollback, is_rollback_held, is_rolling_back};
pub use summary::{HoldSummary, step_command};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(test)]
use super::patch::Patch;
use crate::error::{Error, ErrorKind, Result};
use crate::model::text::go_json::go_json;
use crate::model::text::shell_command::{Word, command};
use crate::model::workload::Workload;
use crate::model::workload::kind::{HoldBy, StepBy};
pub use crate::model::workload::plan_fields::HOLD_ANNOTATION;
use crate::model::workload::{plan_fields, strategy};

/// The version of the schema that this version writes.
const VERSION: u32 = 1;

/// The value of the annotation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    #[serde(default = "first_version")]
    version: u32,
    reason: HoldReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    strategy: Option<Value>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    set: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    paused: bool,
    /// Raw JSON, so that a plan of a newer version can be paused and ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lease: Option<Value>,
    /// For people without this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end_by_hand: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
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
    /// Returns the hold of a workload, whether or not it is in force.
    ///
    /// # Errors
    /// When the annotation exists and is invalid. The original strategy is unknown then.
    pub fn of(workload: &Workload) -> Result<Option<Self>> {
        workload.object().annotation(HOLD_ANNOTATION).map(|text| Self::read(workload, text)).transpose()
    }

    fn read(workload: &Workload, text: &str) -> Result<Self> {
        validation::check(workload, text).map_err(|why| unreadable(workload).caused_by(why))?;
        serde_json::from_str(text).map_err(|_| unreadable(workload))
    }

    /// Returns the hold of a workload if it is in force and readable.
    #[must_use]
    pub fn in_force(workload: &Workload) -> Option<Self> {
        Self::of(workload).ok()?.filter(|hold| hold.is_in_force(workload))
    }

    /// Creates a hold that stores the present strategy of a workload. `set` is the strategy that holds. If another client
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
            lease: None,
            end_by_hand: None,
            rest: Map::new(),
        }
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
        let plan = self.plan.clone().ok_or("it has no plan")?;
        serde_json::from_value(plan).map(Some).map_err(|error| error.to_string())
    }

    /// Returns the lease of the process that steps the workload.
    #[must_use]
    pub fn lease(&self) -> Option<Lease> {
        self.lease.as_ref().filter(|lease| !lease.is_null()).map(Lease::read)
    }

    /// Whether the hold is in force: the live strategy is still the one that holds. Once another client writes
    /// `updateStrategy`, the annotation has no effect.
    ///
    /// Compares only the fields that hold, because a server may add defaults to the others.
    #[must_use]
    pub fn is_in_force(&self, workload: &Workload) -> bool {
        if self.set.is_null() && workload.kind().plan_fields.is_empty() {
            return false;
        }
        match workload.kind().hold {
            HoldBy::Paused(_) if workload.kind().step == Ok(StepBy::UpdateBudget) => {
                self.is_budget_in_force(workload)
            }
            HoldBy::Paused(_) => self.is_counted_partition_in_force(workload),
            HoldBy::OnDelete => {
                strategy::is_on_delete(workload) == strategy::is_on_delete_strategy(&self.set)
            }
            HoldBy::Partition => {
                strategy::is_on_delete(workload) == strategy::is_on_delete_strategy(&self.set)
                    && strategy::partition(workload) == strategy::partition_field(&self.set)
            }
        }
    }

    /// Whether the partition of a kind with a pause of its own is still as a plan wrote it.
    fn is_counted_partition_in_force(&self, workload: &Workload) -> bool {
        let Some(live) = strategy::update_strategy(workload) else { return false };
        let partition = strategy::counted_partition(live);
        self.reason == HoldReason::Plan
            && partition.is_some()
            && partition == strategy::counted_partition(&self.set)
            && !strategy::is_on_delete_strategy(live)
    }

    /// Whether every field of the strategy that holds is still as it was written.
    #[must_use]
    pub fn is_unchanged(&self, workload: &Workload) -> bool {
        plan_fields::parts(workload, Some(&self.set)).iter().all(|(place, set)| {
            match (set, place.value_in(workload.object().json())) {
                (Some(set), Some(live)) => is_contained(set, live),
                (set, live) => set.is_none() && live.is_none(),
            }
        })
    }

    /// Returns the value of the annotation.
    #[must_use]
    pub fn annotation(&self) -> String {
        go_json(&serde_json::to_value(self).unwrap_or_default())
    }
}

/// Whether each member of one value is in another, with the same value.
fn is_contained(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| is_contained(value, whole.get(name).unwrap_or(&Value::Null)))
        }
        (part, whole) => part == whole,
    }
}

fn first_version() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The members of a plan that change while `step` runs.
const PROGRESS: [&str; 3] = ["batch", "batchSizes", "reach"];

/// Whether two states of a workload have the same plan for the same template, at any batch. The progress of a plan is
/// no conflict for a command that ends or pauses the plan.
#[must_use]
pub fn have_same_plan(one: &Workload, other: &Workload) -> bool {
    let plan = |workload: &Workload| {
        let mut hold = Hold::of(workload).ok()?.filter(|hold| hold.reason == HoldReason::Plan)?;
        (hold.lease, hold.set) = (None, Value::Null);
        hold.plan.as_mut()?.as_object_mut()?.retain(|member, _| !PROGRESS.contains(&member.as_str()));
        Some((workload.template().digest(), hold))
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

#[cfg(test)]
mod tests;
