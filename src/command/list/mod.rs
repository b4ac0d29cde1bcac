//! `list`: the rollouts of a namespace or a cluster, trouble first.

mod request;
mod watch;

pub use self::request::{Output, Request};

use super::CommandOutcome;
use crate::cluster::reader::{Needs, read_all};
use crate::cluster::source::Source;
use crate::command::context::Context;
use crate::command::targets::{FoundTargets, find_workloads_with};
use crate::error::Result;
use crate::exit::Exit;
use crate::model::kind::verdict::RolloutState;
use crate::model::view::{RolloutView, sort};
use crate::render::list as render;
use crate::render::list::ListDocument;
use crate::render::ui::Ui;

/// Lists the rollouts.
pub(super) async fn run(request: &Request, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    if let (Source::Cluster(cluster), true) = (source, request.watch) {
        return watch::run(request, cluster, context, ui).await;
    }
    let found = find_workloads_with(&request.scope, request.kept_fields(), source, ui).await?;
    let FoundTargets { workloads, mut outcome, .. } = found;
    let is_empty = workloads.is_empty();
    let needs = Needs { since: request.since.map(|since| since.resolve(source.now())), ..Needs::LIST };
    let read = read_all(workloads, request.scope.all_namespaces, needs, source).await;
    ui.err_lines(&read.notes);
    let (mut rollouts, now) = (Vec::new(), source.now());
    for observed in read.observations {
        match observed {
            Ok(observed) => rollouts.extend(request.view(&observed, now)),
            Err(error) => outcome.errors.push(error),
        }
    }
    sort(&mut rollouts);
    let prints_nothing = is_empty && !matches!(request.output, Output::Document(_));
    if !(prints_nothing || rollouts.is_empty() && !outcome.errors.is_empty()) {
        outcome.errors.extend(print(&rollouts, request, source, ui).err());
    }
    outcome.exit = outcome.exit.worst(state_exit(&rollouts, request));
    Ok(outcome)
}

fn print(rollouts: &[RolloutView], request: &Request, source: &Source, ui: &mut Ui) -> Result<()> {
    let shown: Vec<_> = rollouts.iter().filter(|rollout| request.shows(rollout)).collect();
    match &request.output {
        Output::Text | Output::Wide => {
            let options = request.table_options(source.now());
            let width = ui.terminal().map(|terminal| usize::from(terminal.width));
            let lines = render::table(&shown, rollouts, options, width);
            ui.out_lines(&lines);
        }
        Output::Markdown => {
            ui.out_lines(&render::markdown(&shown, rollouts, request.table_options(source.now())));
        }
        Output::Name => {
            for rollout in shown {
                let workload = &rollout.workload;
                let namespace = workload.object().namespace();
                let flag =
                    if request.scope.all_namespaces { format!(" -n {namespace}") } else { String::new() };
                ui.out_line(&format!("{}{flag}", workload.reference()));
            }
        }
        Output::Document(form) => {
            let document = ListDocument { shown: &shown, all: rollouts }.json();
            ui.out_whole_document(&document, form, !request.no_headers)?;
        }
    }
    Ok(())
}

/// Returns the code of the worst state of `--fail-on-state` that occurs.
fn state_exit(rollouts: &[RolloutView], request: &Request) -> Exit {
    let states = rollouts.iter().map(RolloutView::state).filter(|state| request.fail_on.contains(state));
    states.map(exit_of_state).fold(Exit::Done, Exit::worst)
}

/// Returns the exit code for a state.
fn exit_of_state(state: RolloutState) -> Exit {
    match state {
        RolloutState::Complete => Exit::Done,
        RolloutState::Progressing | RolloutState::Stuck | RolloutState::Unobserved => Exit::Unfinished,
        RolloutState::Paused | RolloutState::Held => Exit::Held,
        RolloutState::Failed => Exit::Failed,
    }
}
