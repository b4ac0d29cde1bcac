//! Whether a hold is still in force, or another client wrote the fields that hold.

use serde_json::Value;

use super::annotation::{Hold, HoldReason};
use crate::model::api::field_path::FieldPath;
use crate::model::api::managed_fields::last_author;
use crate::model::workload::kind::{HoldBy, StepBy};
use crate::model::workload::rolling_hold::NEVER_AVAILABLE;
use crate::model::workload::{Workload, plan_fields, strategy};

impl Hold {
    /// Whether the hold is in force: the live strategy is still the one that holds. Once another client writes
    /// `updateStrategy`, the annotation has no effect.
    ///
    /// Compares only the fields that hold, because a server may add defaults to the others.
    #[must_use]
    pub fn is_in_force(&self, workload: &Workload) -> bool {
        if self.set.is_null() && !plan_fields::are_several(workload) {
            return false;
        }
        let has_its_type = || strategy::is_on_delete(workload) == strategy::is_on_delete_strategy(&self.set);
        match workload.kind().hold {
            HoldBy::Paused(_) if workload.kind().step == Ok(StepBy::UpdateBudget) => {
                self.is_budget_in_force(workload)
            }
            HoldBy::Paused(_) => has_its_type() && self.is_counted_partition_in_force(workload),
            HoldBy::OnDelete => has_its_type(),
            HoldBy::Partition => {
                has_its_type() && strategy::partition(workload) == strategy::partition_field(&self.set)
            }
        }
    }

    /// Whether the partition of a kind with a pause of its own is still the one of the plan.
    fn is_counted_partition_in_force(&self, workload: &Workload) -> bool {
        let live = strategy::update_strategy(workload).and_then(strategy::counted_partition);
        self.reason == HoldReason::Plan && live.is_some() && live == strategy::counted_partition(&self.set)
    }

    /// Whether the fields that keep updated pods from counting as available are unchanged. Another client may have
    /// paused the workload meanwhile.
    fn is_budget_in_force(&self, workload: &Workload) -> bool {
        let live = |name: &str| workload.object().at(&format!("/spec/{name}"));
        let is_unchanged = |name: &str| is_field_unchanged(self.set.get(name), live(name));
        self.reason == HoldReason::Plan
            && workload.min_ready_seconds() == NEVER_AVAILABLE
            && (["minReadySeconds", "strategy"].into_iter().all(is_unchanged) || has_one_author(workload))
    }

    /// Whether no other client changed a field that holds.
    #[must_use]
    pub fn is_unchanged(&self, workload: &Workload) -> bool {
        let live = |place: &FieldPath| place.value_in(workload.object().json());
        let fields = plan_fields::parts(workload, Some(&self.set));
        fields.iter().all(|(place, set)| is_field_unchanged(set.as_ref(), live(place)))
    }

    /// Whether another client paused a workload whose hold does not.
    #[must_use]
    pub fn is_paused_by_another_client(&self, workload: &Workload) -> bool {
        let has_own_pause = matches!(workload.kind().hold, HoldBy::Paused(_));
        let holds_paused = self.set.get("paused").is_some();
        has_own_pause && self.reason == HoldReason::Plan && workload.is_paused() && !holds_paused
    }
}

/// Whether one of several fields still has the value that holds, or another one that the same manager wrote.
pub(super) fn is_field_held(place: &FieldPath, set: Option<&Value>, workload: &Workload) -> bool {
    is_field_unchanged(set, place.value_in(workload.object().json()))
        || *place != strategy::hold_path(workload) && has_one_author(workload)
}

/// Whether a live field has the value that holds. A server may have added defaults to it.
fn is_field_unchanged(set: Option<&Value>, live: Option<&Value>) -> bool {
    match (set, live.filter(|live| !live.is_null())) {
        (Some(set), Some(live)) => is_contained(set, live),
        (set, live) => set.is_none() && live.is_none(),
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

/// Whether one manager wrote the whole hold. `kubectl rollout undo` restores an older annotation, which the controller
/// copied to a ReplicaSet. The strategy then differs from the one in the annotation, and a plan wrote both.
fn has_one_author(workload: &Workload) -> bool {
    let author = |fields: &[&str]| {
        let path = ["spec"].iter().chain(fields).copied();
        last_author(workload.object(), &FieldPath::of(path)).map(|author| author.manager)
    };
    let limit = |name| author(&["strategy", "rollingUpdate", name]);
    let hold = author(&["minReadySeconds"]);
    workload.min_ready_seconds() == NEVER_AVAILABLE
        && hold.is_some()
        && limit("maxSurge") == hold
        && limit("maxUnavailable") == hold
}
