//! Two processes never step at the same time: who writes has the lease, and takes that of another
//! only when the lease did not change for a minute, or with `--take-over`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Oracle, Scene};
use crate::step_proof::timeline::Process;
use crate::step_proof::world::{Millis, World};

const LASTS: Millis = 60_000;

#[derive(Default)]
pub(super) struct Leases {
    /// The identities that processes wrote.
    holders: BTreeMap<usize, String>,
    /// The lease that is there, and since when it is as it is.
    last: Option<(Value, Millis)>,
}

impl Oracle for Leases {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        let checked = scene.writer().map_or(Ok(()), |process| self.check(process, scene));
        let lease = lease(scene.after);
        if lease != self.last.as_ref().map(|(lease, _)| lease.clone()) {
            self.last = lease.map(|lease| (lease, scene.now()));
        }
        checked
    }

    /// A process that ended normally left no lease.
    fn ended(&mut self, (number, process): (usize, &Process), world: &World) -> Result<(), String> {
        let (Some(exit), Some(mine)) = (process.exit, self.holders.get(&number)) else { return Ok(()) };
        if process.is_disturbed {
            return Ok(()); // the last write is made as well as it can be
        }
        let left = lease(world).is_some_and(|lease| lease["holder"] == **mine);
        if left { Err(format!("it ended with {exit} and left its lease")) } else { Ok(()) }
    }
}

impl Leases {
    fn check(&mut self, process: usize, scene: &Scene<'_>) -> Result<(), String> {
        let (before, after) = (holder(scene.before), holder(scene.after));
        if let Some(after) = &after {
            if self.holders.iter().any(|(who, theirs)| *who != process && theirs == after) {
                return Err(format!("process {process} wrote the lease of another"));
            }
            let mine = self.holders.entry(process).or_insert_with(|| after.clone());
            if mine != after {
                return Err(format!("process {process} is {after}, and was {mine}"));
            }
        }
        let is_anothers = before.is_some_and(|before| self.holders.get(&process) != Some(&before));
        let takes_over = scene.words.is_some_and(|words| words.take_over);
        let age = self.last.as_ref().map_or(LASTS, |(_, since)| scene.now() - since);
        // After another client ended the hold, no process can write, because each write tests the strategy.
        if is_anothers && !takes_over && age < LASTS && scene.before.is_stepped() {
            return Err(format!("process {process} took a lease that was {age} ms old"));
        }
        if scene.releases() && after.is_none() {
            return Err(format!("process {process} lets pods go without a lease"));
        }
        Ok(())
    }
}

fn lease(world: &World) -> Option<Value> {
    world.hold()?.get("lease").cloned().filter(|lease| !lease.is_null())
}

fn holder(world: &World) -> Option<String> {
    lease(world)?["holder"].as_str().map(str::to_owned)
}
