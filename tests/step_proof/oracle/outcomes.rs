//! The exit code of a process is true when the process ends.

use super::{Oracle, Scene};
use crate::step_proof::timeline::Process;
use crate::step_proof::world::World;

#[derive(Default)]
pub(super) struct Outcomes {
    /// The processes that let pods go or wrote anything.
    wrote: Vec<usize>,
    /// The processes that took the released pods back.
    back: Vec<usize>,
    now: i64,
}

impl Oracle for Outcomes {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        self.now = scene.now();
        self.wrote.extend(scene.writer());
        // The process that completes the rollback of another one also counts as having rolled back.
        if scene.rolls_back() || scene.ends_plan() && scene.before.rolls_back() {
            self.back.extend(scene.writer());
        }
        Ok(())
    }

    fn ended(&mut self, (number, process): (usize, &Process), world: &World) -> Result<(), String> {
        let all_updated = || {
            let places = if world.is_daemon_set() { world.wanted() } else { world.released().collect() };
            places.into_iter().all(|place| world.is_updated(place))
        };
        let promise = match process.exit {
            Some(0) if world.is_stepped() => (true, ""),
            Some(0) => (all_updated(), "exit 0 without a plan, and pods are outdated"),
            Some(2) => (!self.wrote.contains(&number), "exit 2 after a write"),
            // Two processes may wait for the same rollback; one of them removes its marker.
            Some(4)
                if self.back.contains(&number) || process.transcript.contains("rolled back to revision") =>
            {
                // Below the set's own partition it holds until they are back, and others may keep them from it.
                let is_said = process.transcript.contains("is not complete");
                (!world.has_plan() || is_said && world.rolls_back(), "undone, and the plan still holds it")
            }
            Some(4) => (world.has_plan(), "a failure is held, and there is no plan"),
            _ => (true, ""),
        };
        if promise.0 { Ok(()) } else { Err(format!("{}: {}", promise.1, process.transcript)) }
    }
}
