//! The exit code of a process is true when the process releases its lock or ends, and a run ends as the rules say.

use std::collections::BTreeSet;

use super::{Oracle, Scene};
use crate::step_proof::command::{Reach, Share};
use crate::step_proof::generator::Draw;
use crate::step_proof::timeline::{By, Process, Timeline};
use crate::step_proof::user::Ending;
use crate::step_proof::world::World;

#[derive(Default)]
pub(super) struct Outcomes {
    /// The processes that let pods go or wrote anything.
    wrote: Vec<usize>,
    /// The processes that took the released pods back.
    back: Vec<usize>,
    /// The processes that released the lock by their last write, after which exit code 0 was true. Such a process only waits
    /// for the controller, and meanwhile another client may change the workload.
    was_true: BTreeSet<usize>,
    now: i64,
}

impl Oracle for Outcomes {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        self.now = scene.now();
        self.wrote.extend(scene.writer());
        if let Some(writer) = scene.writer() {
            self.was_true.remove(&writer);
            let is_true = !scene.after.is_locked() && is_success(scene.after);
            self.was_true.extend(is_true.then_some(writer));
        }
        // The process that completes the rollback of another one also counts as having rolled back.
        if scene.rolls_back() || scene.ends_plan() && scene.before.rolls_back() {
            self.back.extend(scene.writer());
        }
        Ok(())
    }

    fn ended(&mut self, (number, process): (usize, &Process), world: &World) -> Result<(), String> {
        let promise = match process.exit {
            Some(0) => {
                let is_true = is_success(world) || self.was_true.contains(&number);
                (is_true, "exit 0 without a plan, and pods are outdated")
            }
            Some(2) => (!self.wrote.contains(&number), "exit 2 after a write"),
            // Two processes may wait for the same rollback; one of them removes its marker.
            Some(4)
                if self.back.contains(&number) || process.transcript.contains("rolled back to revision") =>
            {
                // Below the set's own partition it holds until they are back, and others may keep them from it.
                let is_said = process.transcript.contains("is not complete");
                (!world.has_plan() || is_said && world.rolls_back(), "undone, and the plan still holds it")
            }
            // A check that fails where no pod is outdated holds nothing.
            Some(4) if process.transcript.contains("the check failed") && !self.wrote.contains(&number) => (
                world.has_plan() || world.is_released_updated(),
                "a check failed, and nothing holds the outdated pods",
            ),
            Some(4) => (world.has_plan(), "a failure is held, and there is no plan"),
            _ => (true, ""),
        };
        if promise.0 { Ok(()) } else { Err(format!("{}: {}", promise.1, process.transcript)) }
    }
}

/// Whether exit code 0 is true: a plan holds what is outdated, or nothing is.
fn is_success(world: &World) -> bool {
    world.is_stepped() || world.is_released_updated()
}

/// Whether a run ended as the rules say.
pub(crate) fn of_run(draw: &Draw, ending: Ending, timeline: &Timeline, end: &World) -> Result<(), String> {
    let lock_is_left = end.hold().is_some_and(|hold| !hold["lock"].is_null());
    let last = timeline.processes.last();
    if ending == Ending::None {
        return Err("it never ends".to_owned());
    }
    let may_be_empty = draw.words.zone.is_some() && !draw.is_quiet(); // its nodes may have gone
    // A scaler may leave fewer pods than the words ask for.
    let may_be_fewer = matches!(draw.words.reach, Some(Reach::To(Share::Pods(_)))) && !draw.is_quiet();
    if matches!(ending, Ending::Exit(1 | 2)) && !may_be_empty && !may_be_fewer {
        return Err("the command was refused".to_owned());
    }
    if !draw.is_calm() {
        return Ok(());
    }
    let own = end.kind.kept(&draw.created.spec["updateStrategy"], end.replicas());
    let is_all_kept = !end.is_daemon_set() && own >= end.replicas();
    if is_all_kept {
        return Ok(()); // its own partition lets no pod go
    }
    let is_refused = |process: &Process| process.transcript.contains("use --take-over"); // another one steps
    let processes = timeline.processes.iter().filter(|process| !is_refused(process));
    let exits: Vec<u8> = processes.filter_map(|process| process.exit).collect();
    // The own partition keeps pods outdated that the command wants to be updated.
    let is_short = match draw.words.reach {
        Some(Reach::To(share)) => share.of(end.replicas()) > end.replicas() - own,
        Some(Reach::All) => own > 0,
        _ => false,
    };
    let is_expected = |exit: &&u8| match exit {
        0 | 4 => true,
        3 => draw.words.timeout.is_some(),
        129 | 130 | 143 => !draw.signals.is_empty(),
        // It was broken before it was held, or another process rolled back.
        5 => {
            // A node was not ready, and the next command continues.
            !draw.is_quiet() || is_short || !draw.is_paused_first || is_all_kept // killed before it wrote how far it goes
                || draw.second.is_some() && draw.is_broken() || draw.words.zone.is_some() // the other zones stay held until they are selected
        }
        _ => false,
    };
    if let Some(odd) = exits.iter().find(|exit| !is_expected(exit)) {
        return Err(format!("nothing happened, and it ended with {odd}"));
    }
    let says_check = last.is_some_and(|last| last.transcript.contains(": the check failed"));
    let has_written = |number: usize| timeline.changes.iter().any(|change| change.by == By::Process(number));
    let last_has_written = timeline.processes.len().checked_sub(1).is_some_and(has_written);
    let says_lock = |last: &Process| last.transcript.contains("its lock was not released");
    if lock_is_left && last.is_some_and(|last| last.exit.is_some() && !says_lock(last)) {
        return Err("a lock is left".to_owned());
    }
    let all_available = end.is_all_available(i64::MAX);
    // The script of the run may fail the batch of a working revision.
    let is_undone = end.image() != draw.image;
    let has_failed = ending == Ending::Exit(4) || ending == Ending::Overruled && is_undone;
    let is_failed_by_script = draw.words.is_scripted && has_failed;
    let is_updated =
        end.hold().is_none() && all_available && end.is_released_updated() && end.image() == draw.image;
    if !draw.is_broken() && !is_failed_by_script {
        let is_complete = is_updated && (ending == Ending::Exit(0) || is_short && ending == Ending::Exit(5));
        return if is_complete { Ok(()) } else { Err(format!("not complete: {ending:?}")) };
    }
    match ending {
        Ending::Exit(4) if is_undone => {
            let is_back = all_available && end.count(false) == 0;
            if is_back { Ok(()) } else { Err("undone, and not back".to_owned()) }
        }
        Ending::Exit(4) if end.has_plan() => Ok(()),
        // A second process repeated the check, which passed.
        Ending::Exit(4) if is_failed_by_script && is_updated && exits.contains(&0) => Ok(()),
        // The check failed where no pod was outdated, which holds nothing; perhaps of pods that were broken before.
        Ending::Exit(4)
            if says_check
                && !last_has_written
                && (is_updated || !draw.is_paused_first && end.is_released_updated()) =>
        {
            Ok(())
        }
        Ending::Exit(0 | 5) if !draw.is_paused_first => Ok(()), // broken before it was held
        Ending::Overruled if is_undone => Ok(()),               // killed during the rollback
        ending => Err(format!("it is broken, and ended: {ending:?}")),
    }
}
