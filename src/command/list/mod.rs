//! `list`: the rollouts of a namespace or a cluster, trouble first.

mod request;
mod watch;

pub use self::request::{Output, Request};

use super::CommandOutcome;
use super::status::exit_of_state;
use crate::cluster::source::Source;
use crate::command::targets::{BulkReader, find_workloads_with};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::model::status::list::{ListedRollout, sort};
use crate::model::status::verdict::verdict;
use crate::model::workload::Workload;
use crate::model::workload::verdict::RolloutState;
use crate::render::list as render;
use crate::render::list::ListDocument;
use crate::render::screen::Screen;
use crate::render::yaml;
use crate::world::Signals;

/// Lists the rollouts.
pub(super) async fn run(
    request: &Request,
    source: &Source,
    signals: Signals,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome> {
    if let (Source::Cluster(cluster), true) = (source, request.watch) {
        return watch::run(request, cluster, signals, screen).await;
    }
    let no_message = |_: &_, _: &_| String::new(); // only kubectl's verbs have one
    let fields = request.managed_fields();
    let found = find_workloads_with(&request.scope, fields, no_message, source, screen).await?;
    let (workloads, mut outcome) = found.report(&request.scope, screen);
    let is_empty = workloads.is_empty();
    let mut rollouts = evaluate(workloads, request, source, screen, &mut outcome.errors).await;
    sort(&mut rollouts);
    let prints_nothing = is_empty && matches!(request.output, Output::Text | Output::Wide | Output::Name);
    if !(prints_nothing || rollouts.is_empty() && !outcome.errors.is_empty()) {
        outcome.errors.extend(print(&rollouts, request, source, screen).err());
    }
    outcome.exit = outcome.exit.worst(state_exit(&rollouts, request));
    Ok(outcome)
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

fn print(
    rollouts: &[ListedRollout],
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<()> {
    let shown: Vec<_> = rollouts.iter().filter(|rollout| request.shows(rollout)).collect();
    let document = || ListDocument { shown: &shown, all: rollouts }.json();
    match &request.output {
        Output::Text | Output::Wide => {
            let options = request.table_options(source.now());
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
        Output::Template(form) => screen.exact(&form.text(&document(), !request.no_headers)?),
    }
    Ok(())
}

/// Returns the code of the worst state of `--fail-on-state` that occurs.
fn state_exit(rollouts: &[ListedRollout], request: &Request) -> Exit {
    let states = rollouts.iter().map(ListedRollout::state).filter(|state| request.fail_on.contains(state));
    states.map(exit_of_state).fold(Exit::Done, Exit::worst)
}
