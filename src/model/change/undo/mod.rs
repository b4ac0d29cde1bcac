//! `undo`: the patch that rolls a workload back.

mod doubt;
mod target_revision;

pub use doubt::{Doubt, blocked_rollback, doubts, is_unproven, rollback_command, unproven_refusal};
pub use target_revision::TargetRevision;

use serde_json::Value;

use self::target_revision::revision_word;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::api::object::Object;
use crate::model::api::patch::{FieldPath, Patch};
use crate::model::change::effect::Effect;
use crate::model::diff;
use crate::model::hold::plan::{HOLD_ANNOTATION, Hold};
use crate::model::hold::{end_pause, lost_hold};
use crate::model::kind::{Workload, strategy};
use crate::model::observation::Observation;
use crate::model::revision::{CHANGE_CAUSE, Revision};
use crate::model::text::go_json::go_json;
use crate::model::text::shell_command::command;

/// The options of an undo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoOptions {
    /// Resume a paused workload in the same patch.
    pub resume: bool,
    /// Keep a hold.
    pub keep_hold: bool,
    /// Align the last-applied configuration with the revision.
    pub sync_last_applied: bool,
    /// The change-cause; by default that of the revision.
    pub cause: Option<String>,
}

/// A prepared rollback.
#[derive(Clone, Debug)]
pub struct Undo<'a> {
    /// The revision to roll back to.
    pub target: &'a Revision,
    /// The patch.
    pub patch: Patch,
    /// The effect on the pods.
    pub effect: Effect,
    /// The hold that the rollback ends, if any.
    pub ends_hold: Option<Hold>,
    /// The hold that stays until the pods below the original partition are rolled back too, without a lock.
    pub below: Option<Hold>,
}

/// Whether `kubectl apply` of the manifest that was applied last changes the template of a revision. A manifest that is not
/// readable may set anything.
#[must_use]
pub fn apply_reverts(workload: &Workload, target: &Revision) -> bool {
    let Some(text) = workload.object().annotation(LAST_APPLIED) else { return false };
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    let synced = synced_config(text, target.template().json(), workload);
    synced.map_or(true, |synced| value(&synced) != value(text))
}

/// Whether the live template already equals the revision.
#[must_use]
pub fn is_live(observation: &Observation, target: &Revision) -> bool {
    observation.workload.template_digest() == target.digest
}

/// Prepares the rollback to a revision.
///
/// The template is replaced as a whole, because a merge would keep fields of the later revision.
/// Annotations of the workload stay, except the change-cause, which belongs to the revision.
///
/// # Errors
/// If the workload is paused and stays so, if the revision has no usable template, or if the hold
/// or the last-applied configuration is not readable.
pub fn undo<'a>(
    observation: &'a Observation,
    target: &'a Revision,
    options: &UndoOptions,
) -> Result<Undo<'a>> {
    let workload = &observation.workload;
    let raw = target.template();
    let template = raw.without_hash_labels();
    if !template.is_object() {
        return Err(no_template(target));
    }
    if options.keep_hold && workload.is_completion_blocked_by_hold() && Hold::in_force(workload).is_some() {
        return Err(no_hold_to_keep(workload));
    }
    let mut patch = Patch::of(workload.object());
    patch.require_unchanged(strategy::hold_path(workload));
    if workload.kind().hold_method().is_ok() {
        patch.require_unchanged(FieldPath::annotation(HOLD_ANNOTATION));
    }
    if workload.is_paused() {
        if !options.resume && Hold::in_force(workload).is_none() {
            let is_default =
                matches!(TargetRevision::Previous.find(observation), Ok(one) if one.name == target.name);
            return Err(refused_while_paused(workload, Some(target).filter(|_| !is_default)));
        }
        end_pause(workload, &mut patch);
    }
    patch.set(FieldPath::template(), template);
    let cause = options.cause.as_deref().or(target.cause.as_deref());
    patch.set_or_remove(FieldPath::annotation(CHANGE_CAUSE), cause.map(Value::from));
    let hold = if options.keep_hold { None } else { Hold::of(workload)?.or_else(|| lost_hold(observation)) };
    let planned = hold.as_ref().and_then(|_| Hold::of_plan(workload).ok().flatten());
    let mut below = planned.and_then(|planned| planned.rolling_back_held(workload, &target.digest));
    if let Some(below) = &mut below {
        (below.lock, below.paused) = (None, false);
    }
    let ends_hold = hold.as_ref().filter(|_| below.is_none());
    match (&below, ends_hold) {
        (Some(below), _) => {
            if hold.as_ref().is_some_and(|hold| hold.fields != below.fields) {
                below.add_fields_to(&mut patch);
            }
            patch.set(FieldPath::annotation(HOLD_ANNOTATION), below.annotation(workload).into());
        }
        (None, Some(hold)) => {
            hold.end(workload, &mut patch);
        }
        (None, None) => {}
    }
    if options.sync_last_applied
        && let Some(text) = workload.object().annotation(LAST_APPLIED)
    {
        let synced = synced_config(text, raw.json(), workload)?;
        patch.set(FieldPath::annotation(LAST_APPLIED), synced.into());
    }
    let effect = Effect::of(observation, Some(target), patch.after());
    let ends_hold = ends_hold.cloned();
    Ok(Undo { target, patch, effect, ends_hold, below })
}

/// Returns the patch that records the new use in the change-cause of a ControllerRevision. The
/// Deployment controller copies the change-cause to a ReplicaSet itself. None also for a revision
/// whose whole object was not kept.
#[must_use]
pub fn change_cause_patch(workload: &Workload, target: &Revision, cause: &str) -> Option<(Object, Patch)> {
    if workload.kind().revisions().is_synced() {
        return None;
    }
    let object = Object::read(target.json()).ok()?;
    let before = target.cause.as_ref().map(|cause| format!("{cause}; ")).unwrap_or_default();
    let mut patch = Patch::of(&object);
    patch.set(FieldPath::annotation(CHANGE_CAUSE), format!("{before}undo: {cause}").into());
    Some((object, patch))
}

/// Returns the error for a paused workload. The hint names a revision that is not the default.
fn refused_while_paused(workload: &Workload, to: Option<&Revision>) -> Error {
    let target = workload.target();
    let hint = match to {
        Some(to) => {
            let words = [workload.command_target(), revision_word(to)];
            command("kubectl rollout2 undo {} --to {} --resume", words)
        }
        None => command("kubectl rollout2 undo {} --resume", [workload.command_target()]),
    };
    Error::new(ErrorKind::Refused, format!("{target} is paused; resume it first")).hint(hint)
}

/// The hold would keep the pods of the target from counting as available, though they serve.
fn no_hold_to_keep(workload: &Workload) -> Error {
    let target = workload.target();
    let sentence =
        format!("the hold of {target} is for its live template, and cannot be kept for another one");
    Error::new(ErrorKind::Refused, sentence)
        .hint(command("to roll back and end the hold: kubectl rollout2 undo {}", [workload.command_target()]))
}

fn no_template(target: &Revision) -> Error {
    Error::new(
        ErrorKind::Malformed,
        format!("revision {} has no pod template: {}", target.label(), target.name),
    )
}

/// Returns the last-applied configuration with the template of the revision (`--sync-last-applied`).
///
/// `kubectl apply` removes fields that the last-applied configuration contains and the manifest
/// lacks. After a rollback it still contains the fields of the later release, so applying the
/// earlier manifest would change the template again. Each field of its template takes the value of
/// the revision, or is removed if the revision lacks it. Nothing is added, because `kubectl apply`
/// ignores fields that it never applied.
///
/// # Errors
/// If it is not a JSON object.
fn synced_config(text: &str, template: &Value, workload: &Workload) -> Result<String> {
    let mut applied_config: Value = serde_json::from_str(text)
        .ok()
        .filter(Value::is_object)
        .ok_or_else(|| unreadable_config(workload))?;
    if let Some(applied) = applied_config.pointer_mut("/spec/template") {
        align("template", applied, template);
    }
    // kubectl ends it with a newline; an unchanged configuration stays equal byte by byte.
    let end = if text.ends_with('\n') { "\n" } else { "" };
    Ok(go_json(&applied_config) + end)
}

fn align(name: &str, applied: &mut Value, revision: &Value) {
    match (&mut *applied, revision) {
        (Value::Object(members), Value::Object(revision_value)) => members.retain(|member, value| {
            let Some(revision_value) = revision_value.get(member) else { return false };
            align(member, value, revision_value);
            true
        }),
        (Value::Array(elements), Value::Array(revision_value)) => match diff::identity_fields(name) {
            Some(fields) => {
                elements.retain_mut(|element| match matching_element(element, revision_value, fields) {
                    Some(revision_value) => {
                        align("", element, revision_value);
                        true
                    }
                    None => false,
                });
            }
            None => *applied = revision.clone(),
        },
        _ => *applied = revision.clone(),
    }
}

/// Returns the element with the same key fields, as far as the configuration contains them.
/// Defaults such as a port's protocol are only in the revision.
fn matching_element<'a>(element: &Value, revision_value: &'a [Value], fields: &[&str]) -> Option<&'a Value> {
    let field = |of: &Value, path: &str| -> Option<Value> {
        path.split('.').try_fold(of, |value, member| value.get(member)).cloned()
    };
    let applied: Vec<(&str, Value)> =
        fields.iter().filter_map(|path| Some((*path, field(element, path)?))).collect();
    let is_same = |other: &&Value| {
        !applied.is_empty() && applied.iter().all(|(path, value)| field(other, path).as_ref() == Some(value))
    };
    revision_value.iter().find(is_same)
}

fn unreadable_config(workload: &Workload) -> Error {
    let message = format!(
        "the last-applied configuration of {} is not readable, so it cannot be synced",
        workload.target()
    );
    Error::new(ErrorKind::Malformed, message).hint("run undo without --sync-last-applied")
}

#[cfg(test)]
mod tests;
