//! Going back to an earlier revision: which one, and the one patch that does it.

mod last_applied;
mod target;

pub use target::Goal;

use serde_json::Value;

use super::effect::Effect;
use super::hold::{HELD, Hold};
use super::object::Object;
use super::observed::Observed;
use super::owners::LAST_APPLIED;
use super::patch::{Patch, Place};
use super::revision::{CHANGE_CAUSE, Revision};
use super::step::Below;
use super::strategy;
use super::workload::Workload;
use crate::error::{Error, ErrorKind, Result};

/// What else is wished for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Resume a paused Deployment in the same patch.
    pub resume: bool,
    /// Leave a hold of ours as it is.
    pub keep_hold: bool,
    /// Bring `last-applied-configuration` in line with the revision.
    pub sync_last_applied: bool,
    /// The change-cause, instead of the revision's own.
    pub cause: Option<String>,
}

/// A rollback, ready to be shown and made.
#[derive(Clone, Debug)]
pub struct Undo<'a> {
    /// The revision to go back to.
    pub target: &'a Revision,
    /// What is written.
    pub patch: Patch,
    /// What it will do to the pods.
    pub effect: Effect,
    /// The hold of ours that ends with it, if one does.
    pub ends_hold: Option<Hold>,
    /// What goes back with it below the set's own partition, and the hold that stays for that.
    pub below: Option<Below>,
}

/// Whether the live template is the revision's already: then there is nothing to go back to.
#[must_use]
pub fn is_live(observed: &Observed, target: &Revision) -> bool {
    observed.workload.template().digest() == target.digest
}

/// What to write to go back to a revision.
///
/// The template replaces the live one, raw and whole, for every kind: a merge would keep what the
/// later revision added. Annotations of the workload stay, but for the change-cause, which belongs
/// to the revision.
///
/// # Errors
/// When it is paused and is not to be resumed, when the revision has no usable template, when a hold
/// of ours or the last-applied configuration cannot be read.
pub fn undo<'a>(observed: &'a Observed, target: &'a Revision, wishes: &Wishes) -> Result<Undo<'a>> {
    let workload = &observed.workload;
    let raw = target.template();
    let template = raw.without_hash_labels();
    if !template.is_object() {
        return Err(no_template(target));
    }
    let mut patch = Patch::of(workload.object());
    let paused = Place::of(["spec", "paused"]);
    if matches!(workload, Workload::Deployment(_)) {
        patch.rely_on(paused.clone());
    } else {
        patch.rely_on(strategy::place(workload));
        patch.rely_on(Place::annotation(HELD));
    }
    if workload.is_paused() {
        if !wishes.resume {
            return Err(refused_while_paused(workload));
        }
        patch.remove(paused);
    }
    patch.set(Place::of(["spec", "template"]), template);
    let cause = wishes.cause.as_deref().or(target.cause.as_deref());
    patch.set_or_remove(Place::annotation(CHANGE_CAUSE), cause.map(Value::from));
    let hold = if wishes.keep_hold { None } else { hold(workload)? };
    let below = hold.as_ref().and_then(|_| Below::of(observed, &target.digest));
    let ends_hold = hold.filter(|_| below.is_none());
    match (&below, &ends_hold) {
        (Some(below), _) => patch.set(Place::annotation(HELD), below.hold.annotation().into()),
        (None, Some(hold)) => hold.end(workload, &mut patch),
        (None, None) => {}
    }
    if wishes.sync_last_applied
        && let Some(text) = workload.object().annotation(LAST_APPLIED)
    {
        let synced = last_applied::synced(text, raw.json(), workload)?;
        patch.set(Place::annotation(LAST_APPLIED), synced.into());
    }
    let effect = Effect::of(observed, Some(target), patch.after());
    Ok(Undo { target, patch, effect, ends_hold, below })
}

/// A ControllerRevision that is used again, and what to append to it, so that history tells both uses. A
/// ReplicaSet takes its workload's change-cause by itself.
#[must_use]
pub fn noted_cause(workload: &Workload, target: &Revision, cause: &str) -> Option<(Object, Patch)> {
    if matches!(workload, Workload::Deployment(_)) {
        return None;
    }
    let kept = Object::read(target.json()).ok()?;
    let before = target.cause.as_ref().map(|cause| format!("{cause}; ")).unwrap_or_default();
    let mut patch = Patch::of(&kept);
    patch.set(Place::annotation(CHANGE_CAUSE), format!("{before}undo: {cause}").into());
    Some((kept, patch))
}

fn hold(workload: &Workload) -> Result<Option<Hold>> {
    if matches!(workload, Workload::Deployment(_)) { Ok(None) } else { Hold::of(workload) }
}

/// The refusal of a paused Deployment.
#[must_use]
pub fn refused_while_paused(workload: &Workload) -> Error {
    let target = workload.target();
    Error::new(ErrorKind::Refused, format!("{target} is paused, and nothing would happen until it is resumed"))
        .hint(format!("kubectl rollout2 undo {} --resume", workload.command_target()))
        .in_compat("you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again")
}

fn no_template(target: &Revision) -> Error {
    Error::new(
        ErrorKind::Malformed,
        format!("revision {} has no pod template: {}", target.label(), target.name),
    )
}

#[cfg(test)]
mod tests;
