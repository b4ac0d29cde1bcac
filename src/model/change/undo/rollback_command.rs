//! The command that rolls a failed rollout back.

use super::TargetRevision;
use super::doubt::blocked_rollback;
use crate::model::change::stuck_pods::stuck_pods;
use crate::model::hold::plan::Hold;
use crate::model::kind::counts::Counts;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::text::shell_command::{Word, command};

/// Returns the command that rolls a failed rollout back: to the stable revision, or else to the default target of
/// `undo`. If this rollout is a rollback that stuck pods block, it is the command that replaces them. None if no other
/// revision is stored, or if this rollout is another rollback.
#[must_use]
pub fn rollback_command(observation: &Observation) -> Option<String> {
    if blocked_rollback(observation).is_some() {
        let target = observation.workload.command_target();
        return Some(command("kubectl rollout2 undo {} --to current --replace-stuck-pods", [target]));
    }
    if is_rollback(observation) {
        return None;
    }
    let default = TargetRevision::Previous.find(observation).ok();
    let target = observation.stable().or(default)?;
    if observation.revisions.is_current(target) {
        return None;
    }
    let is_default = default.is_some_and(|default| default.name == target.name);
    let to = if is_default { Word::command("", []) } else { Word::command(" --to {}", [revision(target)]) };
    let is_stuck = !stuck_pods(observation, &observation.workload, Some(target)).is_empty();
    let stuck = Word::command(if is_stuck { " --replace-stuck-pods" } else { "" }, []);
    let workload = &observation.workload;
    let is_refused = workload.is_paused() && Hold::in_force(workload).is_none();
    let resume = Word::command(if is_refused { " --resume" } else { "" }, []);
    Some(command("kubectl rollout2 undo {}{}{}{}", [workload.command_target(), to, stuck, resume]))
}

/// Whether the rollout returns to the stable revision that the controller names. The default target of `undo` is then
/// the revision that failed.
fn is_rollback(observation: &Observation) -> bool {
    let stable = observation.workload.recorded_stable_revision();
    let current = observation.revisions.current().map(|current| current.name.as_str());
    stable.is_some() && stable == current && Counts::of(&observation.workload).outdated() > 0
}

/// Returns the word that names a revision: its number, or else its name.
fn revision(revision: &Revision) -> Word {
    let label = revision.number.known().map_or_else(|| revision.name.clone(), |number| number.to_string());
    Word::text(&label, "REVISION")
}
