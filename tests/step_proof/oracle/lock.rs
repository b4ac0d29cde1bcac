//! Two processes never step at the same time: who writes has the lock. It replaces that of another process only with
//! `--take-over`, or when that process has ended on the same host. Nothing renews it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Oracle, Scene};
use crate::step_proof::timeline::Process;
use crate::step_proof::world::World;

pub(super) struct Locks {
    /// The host of each process, and the revision at which it ended.
    processes: Vec<(u64, u64)>,
    /// The identities that processes wrote.
    holders: BTreeMap<usize, String>,
}

impl Oracle for Locks {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        scene.writer().map_or(Ok(()), |process| self.check(process, scene))
    }

    /// A process that ended normally left no lock.
    fn ended(&mut self, (number, process): (usize, &Process), world: &World) -> Result<(), String> {
        let (Some(exit), Some(mine)) = (process.exit, self.holders.get(&number)) else { return Ok(()) };
        if process.is_disturbed {
            return Ok(()); // the last write is made as well as it can be
        }
        let left = holder(world).is_some_and(|holder| holder == *mine);
        if left { Err(format!("it ended with {exit} and left its lock")) } else { Ok(()) }
    }
}

impl Locks {
    pub(super) fn of(processes: &[Process]) -> Self {
        let processes = processes.iter().map(|process| (process.host, process.ended)).collect();
        Self { processes, holders: BTreeMap::new() }
    }

    fn check(&mut self, process: usize, scene: &Scene<'_>) -> Result<(), String> {
        let (before, after) = (holder(scene.before), holder(scene.after));
        if let Some(after) = &after {
            if self.holders.iter().any(|(who, theirs)| *who != process && theirs == after) {
                return Err(format!("process {process} wrote the lock of another"));
            }
            let mine = self.holders.entry(process).or_insert_with(|| after.clone());
            if mine != after {
                return Err(format!("process {process} is {after}, and was {mine}"));
            }
        }
        if before.is_some() && before == after && besides_lock(scene.before) == besides_lock(scene.after) {
            return Err(format!("process {process} wrote nothing but its lock"));
        }
        let others = before.filter(|before| self.holders.get(&process) != Some(before));
        let takes_over = scene.words.is_some_and(|words| words.take_over);
        // After another client ended the hold, no process can write, because each write tests the strategy.
        if let Some(holder) = others.filter(|_| !takes_over && scene.before.is_stepped())
            && !self.may_replace(process, &holder, scene.change.revision)
        {
            return Err(format!("process {process} took the lock of a process that may still run"));
        }
        if scene.releases() && after.is_none() {
            return Err(format!("process {process} lets pods go without a lock"));
        }
        Ok(())
    }

    /// Whether the process of a holder had ended on the host of another process.
    fn may_replace(&self, process: usize, holder: &str, revision: u64) -> bool {
        let holder = self.holders.iter().find(|(_, theirs)| *theirs == holder).map(|(number, _)| *number);
        let host = |number: usize| self.processes.get(number).map(|(host, _)| *host);
        holder.is_some_and(|holder| {
            host(holder) == host(process)
                && self.processes.get(holder).is_some_and(|(_, ended)| *ended < revision)
        })
    }
}

/// What a process writes, apart from its lock.
fn besides_lock(world: &World) -> (Option<Value>, Value) {
    let mut hold = world.hold();
    if let Some(members) = hold.as_mut().and_then(Value::as_object_mut) {
        members.remove("lock");
    }
    (hold, world.set["spec"].clone())
}

fn holder(world: &World) -> Option<String> {
    world.hold()?["lock"]["holder"].as_str().map(str::to_owned)
}
