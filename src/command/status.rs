//! `status`: shows or follows rollouts, and why they do not progress.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::CommandOutcome;
use super::follow;
use crate::cluster::concurrently::beside;
use crate::cluster::configuration::named_configuration;
use crate::cluster::reader::{Needs, read_all, without_needless_template};
use crate::cluster::source::Source;
use crate::command::context::Context;
use crate::command::follow::line_reporter::ReportFormat;
use crate::command::stop_signals;
use crate::command::targets::creation::{Awaited, await_creation};
use crate::command::targets::{FoundTargets, KeptFields, TargetScope, find_workloads_with};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::model::api::configuration::Configuration;
use crate::model::change::effect::Effect;
use crate::model::follow::{FollowOptions, Goal};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::revision::RevisionWord;
use crate::model::revision::configuration::NamedConfiguration;
use crate::model::status::verdict::taken_over;
use crate::model::text::yaml::yaml;
use crate::model::view::RolloutView;
use crate::render::frame::pod_tree;
use crate::render::job_summary::{self, Row};
use crate::render::line::Line;
use crate::render::status::{self as render, NameContext};
use crate::render::template_form::TemplateForm;
use crate::render::ui::Ui;

/// The arguments of `status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The workloads to show.
    pub scope: TargetScope,
    /// The expected revision: any other one fails the command.
    pub revision: Option<RevisionWord>,
    /// The output format.
    pub output: Output,
    /// Whether to follow the rollouts. A snapshot never changes, so it is only read once.
    pub watch: bool,
    /// Whether to print lines even on a terminal that can draw frames.
    pub plain: bool,
    /// Whether to show each pod.
    pub pods: bool,
    /// How long to wait for targets that do not exist.
    pub wait_for_creation: Option<Duration>,
    /// The goal, the deadlines and the timeout.
    pub options: FollowOptions,
}

/// The output formats of `status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// kubectl's lines, and a line for each cause.
    #[default]
    Text,
    /// JSON, one line for each workload.
    Json,
    /// YAML, one document for each workload.
    Yaml,
    /// A template of the user, for the documents of all workloads. Only for one evaluation.
    Template(TemplateForm),
}

/// Shows the rollouts one after another, or follows all of them with `--watch`.
pub(super) async fn run(request: &Request, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    let found = match request.wait_for_creation {
        None => find_workloads_with(&request.scope, KeptFields::Unmanaged, source, ui).await?,
        Some(limit) => match await_creation(&request.scope, limit, context, ui).await? {
            Awaited::Found(found) => *found,
            Awaited::Stopped(signal) => {
                ui.note("note: interrupted before the workloads existed");
                return Ok(stop_signals::exit(signal).into());
            }
        },
    };
    let FoundTargets { workloads, mut outcome, .. } = found;
    let names = NameContext { others: workloads.len() > 1, namespaces: request.scope.all_namespaces };
    if let (Source::Cluster(cluster), true, false) = (source, request.watch, workloads.is_empty()) {
        let configuration = request.configuration(&workloads);
        let follow_request = request.follow_request(configuration, names, context, ui);
        let so_far = outcome.all_errors().map(Error::exit).fold(outcome.exit, Exit::worst);
        return Ok(outcome.and(follow::run(&follow_request, workloads, so_far, cluster, ui).await));
    }
    for shown in show_all(workloads, names, request, source, ui).await {
        match shown {
            Ok((exit, row)) => {
                outcome.exit = outcome.exit.worst(exit);
                outcome.summary.push(row);
            }
            Err(error) => outcome.errors.push(error),
        }
    }
    Ok(outcome)
}

impl Request {
    /// Whether kubectl's line of success is all that is printed of a complete rollout.
    fn is_plain(&self) -> bool {
        let is_plain = self.output == Output::Text && self.revision.is_none() && !self.pods;
        is_plain && self.options.goal == Goal::Success
    }

    /// Returns the ConfigMaps and Secrets to read. Only for a few named workloads, because each one is a request.
    fn configuration(&self, workloads: &[Workload]) -> NamedConfiguration {
        let are_few = !self.scope.is_selection() && workloads.len() <= Needs::STATUS.one_by_one;
        if are_few { NamedConfiguration::of(workloads) } else { NamedConfiguration::default() }
    }

    fn follow_request(
        &self,
        configuration: NamedConfiguration,
        names: NameContext,
        context: &Context<'_>,
        ui: &Ui,
    ) -> follow::Request {
        let format = match &self.output {
            Output::Text => ReportFormat::of_text(ui, self.plain),
            Output::Yaml => ReportFormat::Yaml,
            Output::Json | Output::Template(_) => ReportFormat::Json,
        };
        let options = FollowOptions { revision: self.revision.clone(), ..self.options.clone() };
        let signals = context.signals.clone();
        follow::Request { options, format, names, configuration, shows_pods: self.pods, signals }
    }
}

async fn show_all(
    mut workloads: Vec<Workload>,
    names: NameContext,
    request: &Request,
    source: &Source,
    ui: &mut Ui,
) -> Vec<Result<(Exit, Row)>> {
    let to_read = request.configuration(&workloads);
    if request.is_plain() && workloads.len() > Needs::STATUS.one_by_one {
        workloads = workloads.into_iter().map(without_needless_template).collect();
    }
    let (read, configuration) = beside(
        read_all(workloads, request.scope.all_namespaces, Needs::STATUS, source),
        named_configuration(&to_read, source),
    )
    .await;
    ui.notes(&read.notes);
    let mut documents = Vec::new();
    let show = |observed: Result<Observation>| {
        show(&observed?, &configuration, source.now(), names, request, &mut documents, ui)
    };
    let mut shown: Vec<_> = read.observations.into_iter().map(show).collect();
    if let Output::Template(form) = &request.output {
        match form.text_of_all(&documents) {
            Ok(text) => ui.exact(&text),
            Err(error) => shown.push(Err(error)),
        }
    }
    shown
}

fn show(
    observed: &Observation,
    configuration: &[Configuration],
    now: Timestamp,
    names: NameContext,
    request: &Request,
    documents: &mut Vec<Value>,
    ui: &mut Ui,
) -> Result<(Exit, Row)> {
    let view = RolloutView::allowing(observed, request.options.allowed_restarts, now);
    let view = view.with_configuration(observed, configuration);
    let pinned = request.revision.as_ref().map(|word| taken_over(observed, word)).transpose()?.flatten();
    let view = match pinned {
        Some(verdict) => view.taken_over(verdict),
        None => view,
    };
    let document = || render::json(&view, Effect::of_rollout(observed).least_time);
    match &request.output {
        Output::Json => ui.json(&format!("{}\n", document())),
        Output::Yaml => ui.document(&yaml(&document())),
        Output::Template(_) => documents.push(document()),
        Output::Text => {
            print_status(&view, request.pods.then(|| pod_tree(observed, now, ui.terminal())), names, ui);
            ui.notes(render::stale_configuration(&view.workload, &view.stale_configuration, now));
        }
    }
    let row = job_summary::of_status(&view, names);
    let exit = exit_of_state(request.options.goal.rollout_state(observed, &view.verdict));
    if exit == Exit::Done && view.state() != RolloutState::Complete {
        ui.note(&render::reached(&view.workload, names));
    }
    if exit == Exit::Done && request.options.stable.is_some_and(|stable| !stable.is_zero()) {
        ui.note_once("note: --stable needs more than one observation, so stability is not shown");
        return Ok((Exit::Unfinished, row));
    }
    Ok((exit, row))
}

/// Prints a status. kubectl's line goes to stdout, or to stderr for a failure, as in kubectl. The causes go
/// to stdout on a terminal and else to stderr, so that a script reads only kubectl's lines.
fn print_status(view: &RolloutView, pods: Option<Vec<Line>>, names: NameContext, ui: &mut Ui) {
    let (line, workload) = (render::line(&view.workload, &view.verdict, names), &view.workload);
    let terminal = ui.terminal();
    if view.state() == RolloutState::Failed {
        ui.note(&format!("error: {line}"));
    } else {
        ui.lines(&render::colored(&line, view.state(), terminal));
    }
    ui.lines(&pods.unwrap_or_default());
    for cause in &view.causes {
        match terminal {
            Some(size) => ui.lines(&render::cause_lines(cause, workload, names, size)),
            None => ui.note(&render::cause_line(cause, workload, names)),
        }
    }
    print_what_serves(view, ui);
    ui.notes(render::next_change_note(view));
}

/// Prints what still serves, if the rollout needs a user or no pod serves, and then the command that rolls back. There is none
/// from a complete rollout of another revision than the expected one.
fn print_what_serves(view: &RolloutView, ui: &mut Ui) {
    if !view.needs_a_fix && !view.is_outage {
        ui.notes(render::deadlock_hints(view));
        return;
    }
    let line = render::serving_line(view);
    match ui.terminal() {
        Some(_) => ui.line(&line),
        None => ui.note(&line),
    }
    ui.notes(render::rollback_hint(view).filter(|_| view.needs_a_fix));
    ui.notes(render::deadlock_hints(view));
}

/// Returns the exit code for a state.
pub(super) fn exit_of_state(state: RolloutState) -> Exit {
    match state {
        RolloutState::Complete => Exit::Done,
        RolloutState::Progressing | RolloutState::Stuck | RolloutState::Unobserved => Exit::Unfinished,
        RolloutState::Paused | RolloutState::Held => Exit::Held,
        RolloutState::Failed => Exit::Failed,
    }
}
