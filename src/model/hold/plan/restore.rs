//! Ends a hold: restores each original field exactly as it was.

use serde_json::{Map, Value, json};

use super::annotation::Hold;
use super::in_force::is_field_held;
use crate::model::api::object::Object;
use crate::model::api::patch::{FieldPath, Patch};
use crate::model::kind::plan_fields::{self, HOLD_ANNOTATION};
use crate::model::kind::{Workload, strategy};
use crate::model::text::go_json::go_json;
use crate::model::text::shell_command::{Word, command};

impl Hold {
    /// Adds to a patch what ends the hold: restores the original fields and removes the annotation. A field that another
    /// client wrote meanwhile stays.
    pub fn end(&self, workload: &Workload, patch: &mut Patch) {
        self.restore(workload, patch);
        patch.remove(FieldPath::annotation(HOLD_ANNOTATION));
    }

    /// Adds to a patch what restores the original fields.
    pub(super) fn restore(&self, workload: &Workload, patch: &mut Patch) {
        let are_several = plan_fields::are_several(workload);
        let originals = plan_fields::parts(workload, self.original());
        let set = plan_fields::parts(workload, Some(&self.set));
        for ((place, original), (_, set)) in originals.into_iter().zip(set) {
            let is_held = if are_several {
                is_field_held(&place, set.as_ref(), workload)
            } else {
                self.is_in_force(workload)
            };
            if is_held {
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

    /// Returns how long a pod of the workload must be ready before it counts as available, by the original
    /// `minReadySeconds`.
    #[must_use]
    pub fn own_min_ready_seconds(&self, workload: &Workload) -> i64 {
        if !plan_fields::are_several(workload) || !self.is_in_force(workload) {
            return workload.min_ready_seconds();
        }
        let own = self.original().and_then(|original| original.get("minReadySeconds"));
        own.and_then(Value::as_i64).unwrap_or_default()
    }

    /// Returns the same hold with the present originals, after another client wrote a field that it replaced.
    #[must_use]
    pub fn with_present_originals(mut self, workload: &Workload) -> Self {
        self.strategy = Self::originals(workload).map(strategy::without_pause);
        self
    }

    /// Returns the original fields of a workload. Of a hold that another client ended in part, those come from it that
    /// were not restored.
    pub(super) fn originals(workload: &Workload) -> Option<Value> {
        let Some(leftover) = Self::of(workload).ok().flatten().filter(|_| plan_fields::are_several(workload))
        else {
            return plan_fields::live(workload);
        };
        let mut patch = Patch::of(workload.object());
        leftover.end(workload, &mut patch);
        let restored = Object::read(patch.after().clone()).ok().and_then(Workload::of);
        restored.as_ref().and_then(plan_fields::live)
    }

    /// Returns the kubectl command that ends the hold without this program, as `resume --release-all` does. None for a kind whose original strategy is in the annotation alone.
    #[must_use]
    pub fn end_by_hand(&self, workload: &Workload) -> Option<String> {
        if !plan_fields::are_several(workload) || self.set.is_null() {
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
        Some(patch_command(workload, &patch))
    }
}

/// Returns the kubectl command that puts back an update strategy that nothing in the cluster stores any more; none for a
/// kind whose plan replaces several fields.
#[must_use]
pub fn restore_by_hand(workload: &Workload, original: &Value) -> Option<String> {
    let live = strategy::update_strategy(workload).filter(|_| !plan_fields::are_several(workload))?;
    let member = *workload.kind().strategy().last()?;
    let patch = json!({"spec": {member: merge(live, original)}});
    Some(patch_command(workload, &patch))
}

/// Returns the kubectl command that applies a merge patch.
fn patch_command(workload: &Workload, patch: &Value) -> String {
    let words = [workload.command_target(), Word::text(&go_json(patch), "PATCH")];
    command("kubectl patch {} --type=merge -p {}", words)
}

/// Returns how long a pod of a workload must be ready before it counts as available. A plan may have replaced
/// `minReadySeconds`; then it is the original one.
#[must_use]
pub fn own_min_ready_seconds(workload: &Workload) -> i64 {
    let hold = if plan_fields::are_several(workload) { Hold::of(workload).ok().flatten() } else { None };
    hold.map_or_else(|| workload.min_ready_seconds(), |hold| hold.own_min_ready_seconds(workload))
}

/// Returns the merge patch that turns one value into another.
fn merge(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
    let removed = from.keys().filter(|name| !to.contains_key(*name)).map(|name| (name, Value::Null));
    let set = to.iter().map(|(name, value)| (name, merge(from.get(name).unwrap_or(&Value::Null), value)));
    Value::Object(removed.chain(set).map(|(name, value)| (name.clone(), value)).collect())
}
