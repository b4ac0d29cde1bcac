//! `--check`: runs a command of the user after each batch, with variables that describe the batch.

use std::sync::Arc;
use std::time::Duration;

use crate::model::hold::plan::CheckResult;
use crate::model::kind::Workload;
use crate::model::step::{BatchView, PlanView};
use crate::render::message_writer::MessageWriter;
use crate::render::step::lines;
use crate::world::Environment;
use crate::world::shell::{ShellCommand, ShellOutcome};

/// The time limit of a check. A command with a shorter one begins with `timeout`.
const LIMIT: Duration = Duration::from_secs(600);

/// Runs the command of `--check`.
#[derive(Clone)]
pub(super) struct Checker {
    line: ShellCommand,
    environment: Arc<Environment>,
    messages: MessageWriter,
}

/// The variables of the check. The help of `step` documents them.
pub(super) type CheckVariables = Vec<(&'static str, String)>;

impl Checker {
    pub(super) fn new(command: &str, environment: &Environment, messages: &MessageWriter) -> Self {
        let environment = Arc::new(environment.clone());
        Self { line: ShellCommand::new(command), environment, messages: messages.clone() }
    }

    /// Runs the command once. Its output goes to stderr.
    pub(super) async fn run(&self, facts: &CheckVariables) -> CheckResult {
        let messages = self.messages.clone();
        let say = move |line: &str| messages.note(&lines::check_output(line));
        match self.line.run(&self.environment, facts, LIMIT, say).await {
            Ok(ShellOutcome::Exited(Some(0))) => CheckResult::Passed,
            Ok(ShellOutcome::Exited(code)) => CheckResult::Failed(code),
            Ok(ShellOutcome::TimedOut) => CheckResult::TimedOut,
            Err(error) => {
                self.messages.note(&lines::check_output(&format!("sh cannot be started: {error}")));
                CheckResult::NotRun
            }
        }
    }
}

/// Returns the variables of the check. None is a secret. Names from the cluster are only values of variables, so the
/// shell never reads them as a part of the command.
pub(super) fn variables(workload: &Workload, view: Option<&PlanView>, batch: &BatchView) -> CheckVariables {
    let object = workload.object();
    let slots: Vec<&str> = batch.slots.iter().map(|slot| slot.name.as_str()).collect();
    let known = |fact: fn(&PlanView) -> String| view.map(fact).unwrap_or_default();
    vec![
        ("ROLLOUT2_NAMESPACE", object.namespace().to_owned()),
        ("ROLLOUT2_TYPE", workload.kind().type_().typed().to_owned()),
        ("ROLLOUT2_NAME", workload.name().to_owned()),
        ("ROLLOUT2_FROM", known(|view| view.from.clone().unwrap_or_default())),
        ("ROLLOUT2_TO", known(|view| view.to.clone().unwrap_or_default())),
        ("ROLLOUT2_BATCH", batch.number.to_string()),
        ("ROLLOUT2_PODS", slots.join(" ")),
        ("ROLLOUT2_UPDATED", known(|view| view.updated.to_string())),
        ("ROLLOUT2_TOTAL", known(|view| view.wanted.to_string())),
    ]
}
