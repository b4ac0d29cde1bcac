//! `--check`: a command of the user's, run between batches with the facts in its environment.

use std::sync::Arc;
use std::time::Duration;

use crate::model::step::{Batch, Checked, View};
use crate::model::workload::Workload;
use crate::render::narrator::Narrator;
use crate::render::step::lines;
use crate::world::Environment;
use crate::world::shell::{Ran, ShellLine};

/// Runs the check.
#[derive(Clone)]
pub(super) struct Checker {
    line: ShellLine,
    environment: Arc<Environment>,
    narrator: Narrator,
}

/// What the check is told, as variables. The help of `step` documents them.
pub(super) type Facts = Vec<(&'static str, String)>;

impl Checker {
    pub(super) fn new(command: &str, environment: &Environment, narrator: &Narrator) -> Self {
        let environment = Arc::new(environment.clone());
        Self { line: ShellLine::new(command), environment, narrator: narrator.clone() }
    }

    /// Runs it; what it prints is said on stderr.
    pub(super) async fn run(&self, facts: &Facts, limit: Duration) -> Checked {
        let narrator = self.narrator.clone();
        let say = move |line: &str| narrator.note(&lines::said_by_check(line));
        match self.line.run(&self.environment, facts, limit, say).await {
            Ok(Ran::Exited(Some(0))) => Checked::Passed,
            Ok(Ran::Exited(code)) => Checked::Failed(code),
            Ok(Ran::TimedOut) => Checked::TimedOut,
            Err(error) => {
                self.narrator.note(&lines::said_by_check(&format!("sh cannot be started: {error}")));
                Checked::NotRun
            }
        }
    }
}

/// Nothing in here is secret, and nothing becomes part of the command: the shell reads what the user
/// typed, and names from the cluster are values of variables.
pub(super) fn facts(workload: &Workload, view: Option<&View>, batch: &Batch) -> Facts {
    let object = workload.object();
    let places: Vec<&str> = batch.places.iter().map(|place| place.name.as_str()).collect();
    let known = |fact: fn(&View) -> String| view.map(fact).unwrap_or_default();
    vec![
        ("ROLLOUT2_NAMESPACE", object.namespace().to_owned()),
        ("ROLLOUT2_TYPE", workload.kind().type_().singular().to_owned()),
        ("ROLLOUT2_NAME", workload.name().to_owned()),
        ("ROLLOUT2_FROM", known(|view| view.from.clone().unwrap_or_default())),
        ("ROLLOUT2_TO", known(|view| view.to.clone().unwrap_or_default())),
        ("ROLLOUT2_BATCH", batch.number.to_string()),
        ("ROLLOUT2_PODS", places.join(" ")),
        ("ROLLOUT2_UPDATED", known(|view| view.updated.to_string())),
        ("ROLLOUT2_TOTAL", known(|view| view.wanted.to_string())),
    ]
}
