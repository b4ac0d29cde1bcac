//! Ending a hold: the original fields come back, each exactly as it was.

use serde_json::{Map, Value, json};

use super::{HOLD_ANNOTATION, Hold, HoldReason, is_contained};
use crate::model::api::managed_fields::last_author;
use crate::model::api::object::Object;
use crate::model::change::patch::{FieldPath, Patch};
use crate::model::text::go_json::go_json;
use crate::model::text::shell_command::{Word, command};
use crate::model::workload::kind::HoldBy;
use crate::model::workload::rolling_hold::NEVER_AVAILABLE;
use crate::model::workload::{Workload, plan_fields, strategy};

impl Hold {
    /// Adds to a patch what restores the original fields and removes the annotation. A field that another client wrote
    /// meanwhile stays.
    pub fn release(&self, workload: &Workload, patch: &mut Patch) {
        self.restore(workload, patch);
        patch.remove(FieldPath::annotation(HOLD_ANNOTATION));
    }

    /// Adds to a patch what restores the original fields.
    pub(super) fn restore(&self, workload: &Workload, patch: &mut Patch) {
        let is_in_force = self.is_in_force(workload);
        let originals = plan_fields::parts(workload, self.original());
        let set = plan_fields::parts(workload, Some(&self.set));
        for ((place, original), (_, set)) in originals.into_iter().zip(set) {
            let is_ours = if has_several_fields(workload) {
                is_as_written(set.as_ref(), place.value_in(workload.object().json()))
                    || place != strategy::hold_path(workload) && has_one_author(workload)
            } else {
                is_in_force
            };
            if is_ours {
                patch.set_or_remove(place, original);
            } else {
                patch.require_unchanged(place);
            }
        }
    }

    /// Adds to a patch the strategy that holds.
    pub fn hold_by(&self, workload: &Workload, patch: &mut Patch) {
        for (place, part) in plan_fields::parts(workload, Some(&self.set)) {
            patch.set_or_remove(place, part);
        }
    }

    /// Returns the same hold without the pause that was there before.
    #[must_use]
    pub fn without_pause(mut self, workload: &Workload) -> Self {
        if has_own_pause(workload) {
            self.strategy = self.strategy.map(strategy::without_pause);
        }
        self
    }

    /// Whether the fields that keep updated pods from counting as available are still as they were written. Another
    /// client may have paused the workload meanwhile.
    pub(super) fn is_budget_in_force(&self, workload: &Workload) -> bool {
        let set = |name: &str| self.set.get(name);
        let live = |name: &str| workload.object().at(&format!("/spec/{name}"));
        let is_written =
            ["minReadySeconds", "strategy"].iter().all(|name| is_as_written(set(name), live(name)));
        self.reason == HoldReason::Plan
            && workload.min_ready_seconds() == NEVER_AVAILABLE
            && (is_written || has_one_author(workload))
    }

    /// Whether another client paused a workload whose hold does not.
    #[must_use]
    pub fn is_paused_by_another_client(&self, workload: &Workload) -> bool {
        has_own_pause(workload)
            && workload.is_paused()
            && self.set.get("paused").is_none()
            && self.reason == HoldReason::Plan
    }

    /// Returns how long a pod of the workload must be ready before it counts as available, by the original
    /// `minReadySeconds`.
    #[must_use]
    pub fn own_min_ready_seconds(&self, workload: &Workload) -> i64 {
        if !has_several_fields(workload) || !self.is_in_force(workload) {
            return workload.min_ready_seconds();
        }
        let own = self.original().and_then(|original| original.get("minReadySeconds"));
        own.and_then(Value::as_i64).unwrap_or_default()
    }

    /// Returns the original fields of a workload. Of a hold that another client ended in part, those come from it that
    /// were not restored.
    pub(super) fn originals(workload: &Workload) -> Option<Value> {
        let Some(leftover) = Self::of(workload).ok().flatten().filter(|_| has_several_fields(workload))
        else {
            return plan_fields::live(workload);
        };
        let mut patch = Patch::of(workload.object());
        leftover.release(workload, &mut patch);
        let restored = Object::read(patch.after().clone()).ok().and_then(Workload::of);
        restored.as_ref().and_then(plan_fields::live)
    }

    /// Returns the kubectl command that ends the hold without this program; none for a kind whose original strategy is
    /// in the annotation alone.
    #[must_use]
    pub fn end_by_hand(&self, workload: &Workload) -> Option<String> {
        if !has_several_fields(workload) || self.set.is_null() {
            return None;
        }
        let null = &Value::Null;
        let set = plan_fields::parts(workload, Some(&self.set)).into_iter();
        let originals = plan_fields::parts(workload, self.original());
        let spec: Map<String, Value> = set
            .zip(originals)
            .filter_map(|((place, set), (_, original))| {
                let merged = merge(set.as_ref().unwrap_or(null), original.as_ref().unwrap_or(null));
                Some((place.members().last()?.clone(), merged))
            })
            .collect();
        let patch = json!({"metadata": {"annotations": {HOLD_ANNOTATION: null}}, "spec": spec});
        let words = [workload.command_target(), Word::text(&go_json(&patch), "PATCH")];
        Some(command("kubectl patch {} --type=merge -p {}", words))
    }
}

/// Returns how long a pod of a workload must be ready before it counts as available. A plan may have replaced
/// `minReadySeconds`; then it is the original one.
#[must_use]
pub fn own_min_ready_seconds(workload: &Workload) -> i64 {
    let hold = if has_several_fields(workload) { Hold::of(workload).ok().flatten() } else { None };
    hold.map_or_else(|| workload.min_ready_seconds(), |hold| hold.own_min_ready_seconds(workload))
}

/// Whether the kind has a pause of its own, beside which a plan has a hold.
pub(super) fn has_own_pause(workload: &Workload) -> bool {
    matches!(workload.kind().hold, HoldBy::Paused(_))
}

/// Whether the kind keeps its pods from updating by several fields.
pub(super) fn has_several_fields(workload: &Workload) -> bool {
    !workload.kind().plan_fields.is_empty()
}

/// Whether one manager wrote the whole hold. `kubectl rollout undo` brings back an older annotation, which the controller
/// copied to a ReplicaSet; then the strategy is not the one in the annotation, and is a plan's all the same.
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

fn is_as_written(set: Option<&Value>, live: Option<&Value>) -> bool {
    match (set, live.filter(|live| !live.is_null())) {
        (Some(set), Some(live)) => is_contained(set, live),
        (set, live) => set.is_none() && live.is_none(),
    }
}

/// Returns the merge patch that turns one value into another.
fn merge(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
    let removed = from.keys().filter(|name| !to.contains_key(*name)).map(|name| (name, Value::Null));
    let set = to.iter().map(|(name, value)| (name, merge(from.get(name).unwrap_or(&Value::Null), value)));
    Value::Object(removed.chain(set).map(|(name, value)| (name.clone(), value)).collect())
}
