//! The check of a batch: a batch is only done after a run that passed, and it fails after so many failures in a row, neither
//! earlier nor later.

use std::collections::BTreeMap;

use super::{Oracle, Scene};
use crate::step_proof::timeline::{Checked, Process};
use crate::step_proof::world::World;

#[derive(Default)]
pub(super) struct Checks {
    runs: Vec<Checked>,
    /// After how many failures in a row a batch of a process fails.
    limits: BTreeMap<usize, usize>,
}

impl Checks {
    pub(super) fn of(runs: &[Checked]) -> Self {
        Self { runs: runs.to_vec(), ..Self::default() }
    }

    /// The results of a batch in a process, in order.
    fn results(&self, process: usize, batch: Option<u64>) -> Vec<bool> {
        let is_meant =
            |run: &&Checked| run.process == process && batch.is_none_or(|batch| run.batch == batch);
        self.runs.iter().filter(is_meant).map(|run| run.has_passed).collect()
    }
}

impl Oracle for Checks {
    fn see(&mut self, scene: &Scene<'_>) -> Result<(), String> {
        let Some(process) = scene.writer() else { return Ok(()) };
        if scene.after.is_stepped() {
            self.limits.insert(process, scene.pace.failures);
        }
        let batch = |world: &World| {
            let hold = world.hold().unwrap_or_default();
            let batch = &hold["plan"]["batch"];
            Some((batch["number"].as_u64()?, batch["done"] == true))
        };
        let (Some((number, false)), Some((after, true))) = (batch(scene.before), batch(scene.after)) else {
            return Ok(());
        };
        if number != after || !scene.words.is_some_and(|words| words.is_scripted) {
            return Ok(());
        }
        let results = self.results(process, Some(number));
        let limit = scene.pace.failures;
        if results.last() != Some(&true) {
            return Err(format!("batch {number} is done, and its check did not pass: {results:?}"));
        }
        if most_failures(&results) >= limit {
            return Err(format!("batch {number} is done after {limit} failures in a row: {results:?}"));
        }
        Ok(())
    }

    fn ended(&mut self, (number, process): (usize, &Process), _: &World) -> Result<(), String> {
        let limit = self.limits.get(&number).filter(|_| process.words.is_scripted);
        let Some(limit) = limit.copied() else { return Ok(()) };
        let results = self.results(number, None);
        let last = results.iter().rev().take_while(|passed| !**passed).count();
        if last >= limit && process.exit == Some(0) {
            return Err(format!("exit 0 after {limit} failures in a row: {results:?}"));
        }
        if last > limit {
            return Err(format!("the check runs after {limit} failures in a row: {results:?}"));
        }
        if process.exit == Some(4) && is_the_reason(process) && last != limit {
            return Err(format!("{last} failures in a row failed a batch, {limit} would: {results:?}"));
        }
        Ok(())
    }
}

/// Whether the check of the process is why it ended. One that continues a rollback says why that began.
fn is_the_reason(process: &Process) -> bool {
    let has = |first: &str, then: &str| {
        process.transcript.lines().any(|line| line.starts_with(first) && line.contains(then))
    };
    has("error: ", ": the check of batch") && has("batch ", ": failed")
}

fn most_failures(results: &[bool]) -> usize {
    results.split(|passed| *passed).map(<[bool]>::len).max().unwrap_or_default()
}
