//! `undo`: the patch that rolls a workload back, reasons to doubt that it goes to the right revision, and the command that rolls
//! a failed rollout back.

mod target_revision;

pub use target_revision::{TargetRevision, find_revision};

use serde_json::Value;

use self::target_revision::{is_replaced_by_earlier, is_rollback_from, is_undo};
use crate::api::managed_fields::LAST_APPLIED;
use crate::api::object::Object;
use crate::api::patch::{FieldPath, Patch};
use crate::change::effect::Effect;
use crate::change::last_applied::synced_config;
use crate::change::stuck_pods::stuck_pods;
use crate::error::{Error, ErrorKind, Result};
use crate::hold::plan::{HOLD_ANNOTATION, Hold, is_rolling_back, require_fields};
use crate::hold::{end_pause, lost_hold};
use crate::kind::owners::{driver_command, refuse_driven};
use crate::kind::{Workload, strategy};
use crate::observation::Observation;
use crate::revision::{CHANGE_CAUSE, Revision, RevisionWord};
use crate::status::uses::{UNDONE, Undone};
use crate::text::shell_command::{Word, command};

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
    pub change_cause: Option<String>,
}

/// A rollback before it is written: what is shown, asked about, checked and sent.
#[derive(Clone, Debug)]
pub struct Undo {
    /// The revision to roll back to.
    pub to: Revision,
    /// The patch.
    pub patch: Patch,
    /// The workload as the patch makes it.
    pub after: Workload,
    /// The effect on the pods.
    pub effect: Effect,
    /// The hold that the rollback ends, if any.
    pub ends_hold: Option<Hold>,
    /// The hold that stays until all pods are rolled back, without a lock, where the original partition would keep some.
    pub stays_held: Option<Hold>,
}

/// Whether the live template already equals the revision.
#[must_use]
pub fn is_live(observation: &Observation, revision: &Revision) -> bool {
    observation.workload.template_digest() == revision.digest
}

/// Prepares the rollback to a revision.
///
/// The template is replaced as a whole, because a merge would keep fields of the later revision.
/// Annotations of the workload stay, except the change-cause, which belongs to the revision, and the one about the change that
/// the last undo took back.
///
/// # Errors
/// If the workload is paused and stays so, or by a controller that drives its rollouts, if the revision has no usable template, or if the hold
/// or the last-applied configuration is not readable.
pub fn undo(observation: &Observation, to: &Revision, options: &UndoOptions) -> Result<Undo> {
    let workload = &observation.workload;
    let raw = to.template();
    let template = raw.without_hash_labels();
    if !template.is_object() {
        return Err(no_template(to));
    }
    if options.keep_hold && workload.hold_blocks_availability() && workload.held().in_force().is_some() {
        return Err(no_hold_to_keep(workload));
    }
    let mut patch = Patch::of(workload.object());
    patch.require_unchanged(strategy::hold_path(workload));
    if workload.kind().mechanism().is_ok() {
        patch.require_unchanged(FieldPath::annotation(HOLD_ANNOTATION));
    }
    if workload.is_paused() {
        refuse_driven(workload, "undo")?;
        if !options.resume && workload.held().in_force().is_none() {
            let is_default =
                matches!(TargetRevision::Default.find(observation), Ok(one) if one.name == to.name);
            return Err(refused_while_paused(observation, Some(to).filter(|_| !is_default)));
        }
        end_pause(workload, &mut patch);
    }
    patch.set(FieldPath::template(), template);
    let cause = options.change_cause.as_deref().or(to.change_cause.as_deref());
    patch.set_or_remove(FieldPath::annotation(CHANGE_CAUSE), cause.map(Value::from));
    let hold = if options.keep_hold {
        None
    } else {
        workload.held().readable()?.cloned().or_else(|| lost_hold(observation))
    };
    let stored = workload.held().stored().filter(|_| hold.is_some()); // a lost hold does not stay
    let mut stays_held = stored.and_then(|stored| stored.rolling_back_held(workload, &to.digest));
    if let Some(stays_held) = &mut stays_held {
        (stays_held.lock, stays_held.paused) = (None, false);
        require_fields(workload, &mut patch);
        if hold.as_ref().is_some_and(|hold| hold.set != stays_held.set) {
            stays_held.add_fields_to(workload, &mut patch);
        }
        stays_held.store(workload, &mut patch);
    } else if let Some(hold) = &hold {
        hold.end(workload, &mut patch);
    }
    if options.sync_last_applied
        && let Some(text) = workload.object().annotation(LAST_APPLIED)
    {
        let synced = synced_config(text, &raw, workload)?;
        patch.set(FieldPath::annotation(LAST_APPLIED), synced.into());
    }
    if let Some(undone) = Undone::by_undo(observation) {
        patch.set(FieldPath::annotation(UNDONE), undone.annotation().into());
    }
    let after = Workload::of_json(patch.after()).unwrap_or_else(|| workload.clone());
    let effect = Effect::of(observation, Some(to), patch.after());
    let ends_hold = hold.filter(|_| stays_held.is_none());
    Ok(Undo { to: to.clone(), patch, after, effect, ends_hold, stays_held })
}

/// Returns the patch that records the new use in the change-cause of a ControllerRevision. The
/// Deployment controller copies the change-cause to a ReplicaSet itself. None also for a revision
/// whose whole object was not kept.
#[must_use]
pub fn change_cause_patch(workload: &Workload, to: &Revision, cause: &str) -> Option<(Object, Patch)> {
    if workload.kind().revisions().is_synced() {
        return None;
    }
    let object = Object::read(to.json()).ok()?;
    let before = to.change_cause.as_ref().map(|cause| format!("{cause}; ")).unwrap_or_default();
    let mut patch = Patch::of(&object);
    patch.set(FieldPath::annotation(CHANGE_CAUSE), format!("{before}undo: {cause}").into());
    Some((object, patch))
}

/// Returns the error for a paused workload. The hint names a revision that is not the default.
fn refused_while_paused(observation: &Observation, to: Option<&Revision>) -> Error {
    let workload = &observation.workload;
    let target = workload.target();
    let hint = match to {
        Some(to) => {
            let words = [workload.command_target(), observation.revisions.word_of(to)];
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

fn no_template(revision: &Revision) -> Error {
    Error::new(
        ErrorKind::Malformed,
        format!("revision {} has no pod template: {}", revision.label(), revision.name),
    )
}

/// A reason to ask before a rollback.
#[derive(Clone, Copy, Debug)]
pub enum Doubt<'a> {
    /// The revision has pods, and none of them is ready.
    NotReady {
        /// The number of its pods.
        pods: usize,
    },
    /// An earlier revision replaced the target. If that was a rollback, going there ends it.
    ReplacedByEarlier {
        /// The current revision, which is the earlier one.
        current: &'a Revision,
        /// Its number at that time, if it is recorded.
        was: Option<i64>,
        /// Whether `undo` replaced the target. Otherwise the client that did cannot be known, or not what it was for.
        is_undo: bool,
    },
    /// Every pod runs the current revision, and it is an outage: no pod shows whether the target works.
    Unproven,
    /// The default target is not the stable revision, as when two bad releases follow each other.
    NotStable {
        /// The stable revision.
        stable: &'a Revision,
    },
}

/// Returns the reasons to doubt a rollback from the current revision to `to`. A user who names one revision may want to
/// take a rollback back. A word that counts back is another revision after each rollback.
#[must_use]
pub fn doubts<'a>(observation: &'a Observation, to: &Revision, word: &TargetRevision) -> Vec<Doubt<'a>> {
    let count = observation.pod_count(to).filter(|count| count.total > 0 && count.ready == 0);
    let not_ready = count.map(|count| Doubt::NotReady { pods: count.total });
    let is_previous = matches!(word, TargetRevision::Default | TargetRevision::Named(RevisionWord::Back(1)));
    let is_relative = is_previous || matches!(word, TargetRevision::Named(RevisionWord::Back(_)));
    let current = observation.revisions.current().filter(|_| is_relative);
    let replaced = current.filter(|current| is_replaced_by_earlier(to, current));
    let replaced = replaced.zip(is_undo(&observation.workload, to)).map(|(current, is_undo)| {
        let was = current.past_numbers.last().copied();
        Doubt::ReplacedByEarlier { current, was, is_undo }
    });
    let stable = observation.stable().ok().filter(|_| is_previous);
    let stable = stable.filter(|stable| stable.name != to.name);
    let not_stable = stable.map(|stable| Doubt::NotStable { stable });
    let unproven = is_unproven(observation, to, word).then_some(Doubt::Unproven);
    not_ready.into_iter().chain(replaced).chain(not_stable).chain(unproven).collect()
}

/// Whether `--failed` found a revision of which no pod shows that it works. The oldest revision without a pod is one, although
/// its controller may record it as stable: it also records a first revision that never served.
fn is_unproven(observation: &Observation, to: &Revision, word: &TargetRevision) -> bool {
    let is = |one: Option<&Revision>| one.is_some_and(|one| one.name == to.name);
    let is_unused = || observation.pod_count(to).is_some_and(|count| count.total == 0);
    *word == TargetRevision::StableOrPrevious
        && !observation.revisions.is_current(to)
        && (!is(observation.stable().ok())
            || !observation.may_serve(to)
            || is(observation.revisions.iter().next()) && is_unused())
}

/// Returns why a rollback needs an answer, as the error where nobody can be asked; none if it needs none. `counts_back` says
/// that the user wrote `previous` or `-N`: after an automatic rollback these are what failed. Without such a word `undo` does
/// what kubectl does.
#[must_use]
pub fn unasked_refusal(
    observation: &Observation,
    to: &Revision,
    word: &TargetRevision,
    counts_back: bool,
) -> Option<Error> {
    let (workload, label) = (&observation.workload, to.label());
    let target = workload.target();
    let is_undone =
        || is_rolling_back(workload) || undone(observation).is_some_and(|undone| undone.name == to.name);
    let sentence = doubts(observation, to, word).into_iter().find_map(|doubt| match doubt {
        Doubt::Unproven => {
            Some(format!("no pod of revision {label} of {target} runs, so nothing proves that it works"))
        }
        Doubt::ReplacedByEarlier { current, .. } if counts_back && is_undone() => {
            let current = current.label();
            Some(format!(
                "revision {label} of {target} was rolled back to {current}, and this brings it back"
            ))
        }
        _ => None,
    })?;
    let words = [workload.command_target(), observation.revisions.word_of(to)];
    let hint = command("add --yes, or name the revision: kubectl rollout2 undo {} --to {}", words);
    Some(Error::new(ErrorKind::Refused, sentence + "; nothing was written").hint(hint))
}

/// Returns the revision that `undo` replaced by the current one; none if the present rollout is no `undo`.
#[must_use]
pub fn undone(observation: &Observation) -> Option<&Revision> {
    let (current, previous) =
        (observation.revisions.current()?, TargetRevision::Default.find(observation).ok()?);
    let is_undone = || is_undo(&observation.workload, previous) == Some(true);
    (is_replaced_by_earlier(previous, current) && is_undone()).then_some(previous)
}

/// Returns the current revision if `undo` restored it and stuck pods block it. `undo --replace-stuck-pods` without a
/// revision then completes this rollback, because another one would return to the revision that was undone.
#[must_use]
pub fn blocked_rollback(observation: &Observation) -> Option<&Revision> {
    let current = observation.revisions.current().filter(|_| undone(observation).is_some())?;
    let is_blocked = !stuck_pods(observation, &observation.workload, Some(current)).is_empty();
    is_blocked.then_some(current)
}

/// Returns the command that takes a rollback back. None if the template before it has no revision, and after a hold or a pause:
/// without it, the command would release what was rolled back to all pods.
#[must_use]
pub fn take_back_command(before: &Observation, undo: &Undo) -> Option<String> {
    if undo.ends_hold.is_some() || undo.stays_held.is_some() || before.workload.is_paused() {
        return None;
    }
    let current = before.revisions.current()?;
    Some(command_back(&before.workload, before.revisions.word_of(current)))
}

/// Returns the command that returns a workload to the revision with this word.
#[must_use]
pub fn command_back(workload: &Workload, revision: Word) -> String {
    command("kubectl rollout2 undo {} --to {}", [workload.command_target(), revision])
}

/// Returns the command that rolls a failed rollout back: to the revision that `--failed` finds, or to the previous one if it
/// has ready pods. If this rollout is a rollback that stuck pods block, it is the command that replaces them. None if there is no such revision, or if this rollout is
/// another rollback: going back would end at the revision that was rolled back.
#[must_use]
pub fn rollback_command(observation: &Observation) -> Option<String> {
    if blocked_rollback(observation).is_some() {
        let target = observation.workload.command_target();
        return Some(command("kubectl rollout2 undo {} --to current --replace-stuck-pods", [target]));
    }
    if is_rollback(observation) {
        return None;
    }
    let default = TargetRevision::Default.find(observation).ok();
    let serves = |one: &&Revision| observation.pod_count(one).is_some_and(|count| count.ready > 0);
    let serving = default.filter(serves).filter(|default| !is_rollback_from(observation, default));
    let to = TargetRevision::StableOrPrevious.find(observation).ok().or(serving)?;
    if observation.revisions.is_current(to) {
        return None;
    }
    let is_default = default.is_some_and(|default| default.name == to.name);
    let named = || Word::command(" --to {}", [observation.revisions.word_of(to)]);
    let to_flag = if is_default { Word::command("", []) } else { named() };
    let is_stuck = !stuck_pods(observation, &observation.workload, Some(to)).is_empty();
    let stuck = Word::command(if is_stuck { " --replace-stuck-pods" } else { "" }, []);
    let workload = &observation.workload;
    if let Some(undo) = driver_command(workload, "undo").filter(|_| workload.is_paused()) {
        return Some(command("{}", [undo]));
    }
    let is_refused = workload.is_paused() && workload.held().in_force().is_none();
    let resume = Word::command(if is_refused { " --resume" } else { "" }, []);
    Some(command("kubectl rollout2 undo {}{}{}{}", [workload.command_target(), to_flag, stuck, resume]))
}

/// Whether the rollout returns to the stable revision that the controller names. The default target of `undo` is then
/// the revision that failed.
fn is_rollback(observation: &Observation) -> bool {
    let stable = observation.workload.recorded_stable_revision();
    let current = observation.revisions.current().map(|current| current.name.as_str());
    stable.is_some() && stable == current && observation.workload.counts().outdated() > 0
}

#[cfg(test)]
mod tests;
