//! The patches that write and end a hold, and the kubectl command that ends one.

use serde_json::{Map, Value, json};

use crate::api::patch::{FieldPath, Patch};
use crate::error::{Error, ErrorKind, Result};
use crate::hold::held::{END_BY_HAND, Hold};
use crate::kind::fields::{HOLD_ANNOTATION, HoldFields, spec_path};
use crate::kind::{Workload, strategy};
use crate::text::json::go_json;
use crate::text::shell_command::{Word, command};

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

    /// Adds to a patch the annotation that stores the hold.
    pub(crate) fn store(&self, workload: &Workload, patch: &mut Patch) {
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), self.annotation(workload).into());
    }

    /// Returns the patch that stores the hold, and the hold as it is then. The patch also writes new values of its fields, if
    /// there are any, such as those that release pods. It tests the uid, the template, all fields of the hold, and the
    /// annotation.
    ///
    /// # Errors
    /// When the reader of the annotation would not read the plan again, for example because a text is too long.
    pub fn into_patch(self, workload: &Workload, fields: Option<HoldFields>) -> Result<(Self, Patch)> {
        let mut patch = guarded(workload);
        let mut hold = self;
        if let Some(fields) = fields {
            hold.set = fields;
            hold.add_fields_to(workload, &mut patch);
        }
        hold.store(workload, &mut patch);
        match Self::read(workload, &hold.annotation(workload)) {
            Ok(_) => Ok((hold, patch)),
            Err(error) => {
                let sentence = format!("the plan of {} cannot be stored", workload.target());
                Err(Error::new(ErrorKind::Refused, sentence).caused_by(error.to_string()))
            }
        }
    }

    /// Adds to a patch the fields that hold.
    pub fn add_fields_to(&self, workload: &Workload, patch: &mut Patch) {
        for name in workload.hold_fields() {
            patch.set_or_remove(spec_path(name), self.set.get(name).cloned());
        }
    }

    /// Returns the patch that ends a hold and restores the original fields.
    #[must_use]
    pub fn ending(&self, workload: &Workload) -> Patch {
        let mut patch = guarded(workload);
        self.end(workload, &mut patch);
        patch
    }

    /// Adds to a patch what ends the hold: restores the original fields and removes the annotation. What another client wrote
    /// meanwhile stays.
    pub fn end(&self, workload: &Workload, patch: &mut Patch) {
        for name in workload.hold_fields() {
            let (field, restored) = (spec_path(name), self.restored(workload, name));
            patch.require_unchanged(field.clone());
            if restored.as_ref() != field.value_in(workload.object().json()) {
                patch.set_or_remove(field, restored);
            }
        }
        patch.remove(FieldPath::annotation(HOLD_ANNOTATION));
    }

    /// Returns the kubectl command that ends the hold without this program, as `resume --release-all` does. None where the
    /// rollout completes without it, at the latest when the strategy is applied again.
    #[must_use]
    pub fn end_by_hand(&self, workload: &Workload) -> Option<String> {
        if !workload.hold_blocks_availability() || self.set.are_absent() {
            return None;
        }
        let null = &Value::Null;
        let merged = |name: &&str| {
            let [held, original] = [&self.set, &self.strategy].map(|one| one.get(name).unwrap_or(null));
            ((*name).to_owned(), merge(held, original))
        };
        let spec: Map<String, Value> = workload.hold_fields().iter().map(merged).collect();
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

/// Adds to a patch the preconditions that the fields of a plan are unchanged, and the ordinals whose pods it releases.
pub(crate) fn require_fields(workload: &Workload, patch: &mut Patch) {
    for name in workload.hold_fields().iter().chain(workload.kind().pods().ordinal_fields()) {
        patch.require_unchanged(spec_path(name));
    }
}

/// Returns the kubectl command that puts back an update strategy that nothing in the cluster stores any more; none if there
/// is no strategy to replace.
#[must_use]
pub fn restore_by_hand(workload: &Workload, original: &Value) -> Option<String> {
    let live = strategy::update_strategy(workload)?;
    let patch = json!({"spec": {workload.kind().strategy(): merge(live, original)}});
    Some(patch_command(workload, &patch))
}

/// Returns the kubectl command that lowers the partition of a workload, so that its controller keeps only this many pods
/// outdated.
#[must_use]
pub fn lower_partition_by_hand(workload: &Workload, kept: usize) -> String {
    let field = strategy::partition_path(workload);
    let patch = field.members().iter().rev().fold(json!(kept), |value, member| json!({member: value}));
    patch_command(workload, &patch)
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
