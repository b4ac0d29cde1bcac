//! Whether a hold is still in force, or another client wrote the fields that hold.

use serde_json::Value;

use super::annotation::{Hold, HoldReason};
use crate::model::api::field_path::FieldPath;
use crate::model::api::managed_fields::last_author;
use crate::model::kind::properties::{HoldBy, StepBy};
use crate::model::kind::rolling_hold::NEVER_AVAILABLE;
use crate::model::kind::{Workload, plan_fields, strategy};

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
        match workload.kind().hold() {
            HoldBy::Paused(_) if workload.kind().step() == Ok(StepBy::UpdateBudget) => {
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
        let live = strategy::update_strategy(workload).and_then(strategy::written_partition);
        self.reason == HoldReason::Plan && live.is_some() && live == strategy::written_partition(&self.set)
    }

    /// Whether updated pods do not count as available. Another client may have paused the workload meanwhile, or written
    /// the strategy: then the hold has another number of pods, and still does not end.
    fn is_budget_in_force(&self, workload: &Workload) -> bool {
        self.reason == HoldReason::Plan && workload.min_ready_seconds() == NEVER_AVAILABLE
    }

    /// Whether the strategy of a Deployment is still the one of the plan that holds it. True for other kinds, whose hold
    /// ends with the strategy.
    #[must_use]
    pub fn has_budget(&self, workload: &Workload) -> bool {
        if !plan_fields::are_several(workload) {
            return true;
        }
        let mut parts = plan_fields::parts(workload, Some(&self.set)).into_iter();
        let strategy = parts.find(|(place, _)| *place == strategy::strategy_path(workload));
        strategy.is_some_and(|(place, set)| is_field_held(&place, set.as_ref(), workload))
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
        let has_own_pause = matches!(workload.kind().hold(), HoldBy::Paused(_));
        let holds_paused = self.set.get("paused").is_some();
        has_own_pause && self.reason == HoldReason::Plan && workload.is_paused() && !holds_paused
    }
}

/// Whether one of several fields still has the value that holds, or another one that the same manager wrote. The values
/// of two fields are those of a hold, whatever its annotation says.
pub(super) fn is_field_held(place: &FieldPath, set: Option<&Value>, workload: &Workload) -> bool {
    let live = place.value_in(workload.object().json());
    is_field_unchanged(set, live)
        || plan_fields::is_of_a_hold(place, live)
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
