//! `list`: the rollouts of a namespace or a cluster, trouble first.

use super::CommandOutcome;
use super::status::exit_of_state;
use crate::cluster::source::Source;
use crate::command::targets::{BulkReader, ManagedFields, TargetScope, find_workloads_with};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::model::status::list::{ListedRollout, sort};
use crate::model::status::verdict::{RolloutState, verdict};
use crate::model::workload::Workload;
use crate::render::list as render;
use crate::render::list::{ListDocument, TableOptions};
use crate::render::screen::Screen;
use crate::render::template_form::TemplateForm;
use crate::render::yaml;

/// The arguments of `list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The workloads to list.
    pub scope: TargetScope,
    /// The states to show; empty for all.
    pub states: Vec<RolloutState>,
    /// The states that fail the command.
    pub fail_on: Vec<RolloutState>,
    /// The output format.
    pub output: Output,
    /// Whether to leave out the header and the last line of the table.
    pub no_headers: bool,
}

/// The output formats of `list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// A table.
    #[default]
    Text,
    /// A table with images, strategy and the last writer of the template.
    Wide,
    /// `TYPE/NAME` of each workload.
    Name,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// A template of the user, for the document of JSON.
    Template(TemplateForm),
}

/// Lists the rollouts.
pub async fn run(request: &Request, source: &Source, screen: &mut Screen<'_>) -> CommandOutcome {
    let no_message = |_: &_, _: &_| String::new(); // only kubectl's verbs have one
    let fields = request.managed_fields();
    let found = find_workloads_with(&request.scope, fields, no_message, source, screen).await;
    let found = match found {
        Ok(found) => found,
        Err(error) => return error.into(),
    };
    screen.notes(found.nothing_found.as_slice());
    let exit = found.exit(&request.scope, screen.is_compat());
    let mut outcome = CommandOutcome { exit, errors: found.errors };
    let is_empty = found.workloads.is_empty();
    let mut rollouts = evaluate(found.workloads, request, source, screen, &mut outcome.errors).await;
    sort(&mut rollouts);
    let is_nothing = is_empty && matches!(request.output, Output::Text | Output::Wide | Output::Name);
    if !(is_nothing || rollouts.is_empty() && !outcome.errors.is_empty()) {
        outcome.errors.extend(request.print(&rollouts, source, screen).err());
    }
    outcome.exit = outcome.exit.worst(request.exit(&rollouts));
    outcome
}

/// Reads what belongs to the workloads, with one list for each type and namespace scope, and evaluates each.
async fn evaluate(
    workloads: Vec<Workload>,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
    errors: &mut Vec<Error>,
) -> Vec<ListedRollout> {
    let mut reader = match BulkReader::read_for_list(&request.scope, &workloads, source).await {
        Ok(reader) => reader,
        Err(error) => {
            errors.push(error);
            return Vec::new();
        }
    };
    let mut rollouts = Vec::new();
    for workload in workloads {
        match evaluate_one(workload, &mut reader, screen).await {
            Ok(rollout) => rollouts.push(rollout),
            Err(error) if errors.contains(&error) => {} // a failed list fails all workloads
            Err(error) => errors.push(error),
        }
    }
    rollouts
}

async fn evaluate_one(
    workload: Workload,
    reader: &mut BulkReader<'_>,
    screen: &mut Screen<'_>,
) -> Result<ListedRollout> {
    let mut observed = reader.observe_for_status(workload, screen)?;
    if verdict(&observed).state != RolloutState::Complete {
        observed.events = reader.warnings(&observed.workload, screen).await?;
    }
    Ok(ListedRollout::of(&observed, reader.now()))
}

impl Request {
    /// The last writer of the template is in the managed fields, which are large.
    fn managed_fields(&self) -> ManagedFields {
        match self.output {
            Output::Text | Output::Name => ManagedFields::Drop,
            Output::Wide | Output::Json | Output::Yaml | Output::Template(_) => ManagedFields::Keep,
        }
    }

    fn shows(&self, rollout: &ListedRollout) -> bool {
        self.states.is_empty() || self.states.contains(&rollout.state())
    }

    fn print(&self, rollouts: &[ListedRollout], source: &Source, screen: &mut Screen<'_>) -> Result<()> {
        let shown: Vec<_> = rollouts.iter().filter(|rollout| self.shows(rollout)).collect();
        let document = || ListDocument { shown: &shown, all: rollouts }.json();
        match &self.output {
            Output::Text | Output::Wide => {
                let options = self.table_options(source);
                let width = screen.terminal().map(|terminal| usize::from(terminal.width));
                let lines = render::table(&shown, rollouts, options, width);
                screen.styled_lines(&lines);
            }
            Output::Name => {
                for rollout in shown {
                    screen.line(&rollout.workload.reference());
                }
            }
            Output::Json => screen.exact(&format!("{:#}\n", document())),
            Output::Yaml => screen.document(&yaml::yaml(&document())),
            Output::Template(form) => screen.exact(&form.text(&document(), !self.no_headers)?),
        }
        Ok(())
    }

    fn table_options(&self, source: &Source) -> TableOptions {
        TableOptions {
            wide: self.output == Output::Wide,
            namespaces: self.scope.all_namespaces,
            headers: !self.no_headers,
            now: source.now(),
        }
    }

    /// Returns the code of the worst state of `--fail-on-state` that occurs.
    fn exit(&self, rollouts: &[ListedRollout]) -> Exit {
        let states = rollouts.iter().map(ListedRollout::state).filter(|state| self.fail_on.contains(state));
        states.map(exit_of_state).fold(Exit::Done, Exit::worst)
    }
}
