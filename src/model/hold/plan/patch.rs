//! The patches that write and end a hold, and the kubectl command that ends one.

use serde_json::{Map, Value, json};

use super::hold::{END_BY_HAND, Hold};
use crate::model::api::patch::{FieldPath, Patch};
use crate::model::kind::fields::{HOLD_ANNOTATION, HoldFields};
use crate::model::kind::{Workload, strategy};
use crate::model::text::json::go_json;
use crate::model::text::shell_command::{Word, command};

impl Hold {
    /// Returns the value of the annotation.
    #[must_use]
    pub fn annotation(&self, workload: &Workload) -> String {
        let mut members = serde_json::to_value(self).unwrap_or_default();
        if let Some(command) = self.end_by_hand(workload) {
            members[END_BY_HAND] = command.into();
        }
        go_json(&members)
    }

    /// Returns the patch that stores the hold, and the hold as it is then. The patch also writes new values of its fields, if
    /// there are any, such as those that release pods. It tests the uid, the template, all fields of the hold, and the
    /// annotation.
    #[must_use]
    pub fn into_patch(self, workload: &Workload, fields: Option<HoldFields>) -> (Self, Patch) {
        let mut patch = guarded(workload);
        let mut hold = self;
        if let Some(fields) = fields {
            hold = hold.with_fields(fields);
            hold.add_fields_to(&mut patch);
        }
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), hold.annotation(workload).into());
        (hold, patch)
    }

    /// Adds to a patch the fields that hold.
    pub fn add_fields_to(&self, patch: &mut Patch) {
        for (path, value) in self.fields.iter() {
            patch.set_or_remove(path.clone(), value.cloned());
        }
    }

    /// Returns the patch that ends a hold and restores the original fields.
    #[must_use]
    pub fn ending(&self, workload: &Workload) -> Patch {
        let mut patch = guarded(workload);
        self.end(workload, &mut patch);
        patch
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
}

/// Returns a patch without edits that tests every field that a decision relies on: the uid, the template, each field of a
/// hold, and the annotation with its lock.
#[must_use]
pub fn guarded(workload: &Workload) -> Patch {
    let mut patch = Patch::of(workload.object());
    patch.require_unchanged(FieldPath::template());
    require_fields(workload, &mut patch);
    patch.require_unchanged(FieldPath::annotation(HOLD_ANNOTATION));
    patch
}

/// Adds to a patch the preconditions that the fields of a plan are unchanged.
pub(in crate::model) fn require_fields(workload: &Workload, patch: &mut Patch) {
    for (path, _) in workload.replaceable_fields().iter() {
        patch.require_unchanged(path.clone());
    }
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
