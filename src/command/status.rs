//! `status`: shows or follows rollouts, and why they do not progress.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::CommandOutcome;
use super::follow;
use crate::cluster::source::Source;
use crate::command::follow::line_reporter::ReportFormat;
use crate::command::targets::{BulkReader, ManagedFields, TargetScope, find_workloads_with};
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::api::resource_type::ResourceType;
use crate::model::follow::{FollowMode, FollowOptions};
use crate::model::revision::RevisionWord;
use crate::model::status::cause::causes;
use crate::model::status::observation::Observation;
use crate::model::status::serving::is_outage;
use crate::model::status::verdict::{kubectl_status, taken_over, verdict};
use crate::model::workload::Workload;
use crate::model::workload::verdict::{RolloutState, Verdict};
use crate::render::frame::pod_tree;
use crate::render::job_summary;
use crate::render::screen::Screen;
use crate::render::status::{self as render, NameContext, RolloutStatus};
use crate::render::template_form::TemplateForm;
use crate::render::yaml;
use crate::world::Signals;

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
pub(super) async fn run(
    request: &Request,
    source: &Source,
    signals: Signals,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome> {
    let found =
        find_workloads_with(&request.scope, ManagedFields::Drop, unsupported_message, source, screen).await?;
    let (workloads, mut outcome) = found.report(&request.scope, screen);
    let names = NameContext { others: workloads.len() > 1, namespaces: request.scope.all_namespaces };
    if let (Source::Cluster(cluster), true, false) = (source, request.watch, workloads.is_empty()) {
        let follow_request = request.follow_request(names, signals, screen);
        let so_far = outcome.errors.iter().map(Error::exit).fold(outcome.exit, Exit::worst);
        return Ok(outcome.and(follow::run(&follow_request, workloads, so_far, cluster, screen).await));
    }
    let shown = if screen.is_compat() {
        workloads.iter().map(|workload| show_as_kubectl(workload, request, screen)).collect()
    } else {
        show_all(workloads, names, request, source, screen).await
    };
    for shown in shown {
        match shown {
            Ok(exit) => outcome.exit = outcome.exit.worst(exit),
            Err(error) => outcome.errors.push(error),
        }
    }
    Ok(outcome)
}

impl Request {
    fn follow_request(&self, names: NameContext, signals: Signals, screen: &Screen<'_>) -> follow::Request {
        let (mode, format) = match &self.output {
            _ if screen.is_compat() => (FollowMode::Kubectl, ReportFormat::Kubectl),
            Output::Text => (FollowMode::Native, ReportFormat::of_text(screen, self.plain)),
            Output::Yaml => (FollowMode::Native, ReportFormat::Yaml),
            Output::Json | Output::Template(_) => (FollowMode::Native, ReportFormat::Json),
        };
        let options = FollowOptions { mode, revision: self.revision.clone(), ..self.options.clone() };
        follow::Request { options, format, names, shows_pods: self.pods, signals }
    }
}

fn unsupported_message(type_: &ResourceType, _name: &str) -> String {
    format!("no status viewer has been implemented for {}", type_.group_kind())
}

async fn show_all(
    workloads: Vec<Workload>,
    names: NameContext,
    request: &Request,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Vec<Result<Exit>> {
    let read = BulkReader::read_for_status(&request.scope, &workloads, source).await;
    let mut reader = match read {
        Ok(reader) => reader,
        Err(error) => return vec![Err(error)],
    };
    let (mut shown, mut documents) = (Vec::new(), Vec::new());
    for workload in workloads {
        shown.push(show(workload, &mut reader, names, request, &mut documents, screen).await);
    }
    if let Output::Template(form) = &request.output {
        match form.text_of_all(&documents) {
            Ok(text) => screen.exact(&text),
            Err(error) => shown.push(Err(error)),
        }
    }
    shown
}

async fn show(
    workload: Workload,
    reader: &mut BulkReader<'_>,
    names: NameContext,
    request: &Request,
    documents: &mut Vec<Value>,
    screen: &mut Screen<'_>,
) -> Result<Exit> {
    let mut observed = reader.observe_for_status(workload, screen)?;
    let verdict = verdict_of(&observed, request.revision.as_ref())?;
    if verdict.state != RolloutState::Complete {
        observed.events = reader.warnings(&observed.workload, screen).await?;
    }
    let causes = causes(&observed, reader.now());
    let status = RolloutStatus { observed: &observed, verdict: &verdict, causes: &causes };
    match &request.output {
        Output::Json => screen.exact(&format!("{}\n", render::json(&status))),
        Output::Yaml => screen.document(&yaml::yaml(&render::json(&status))),
        Output::Template(_) => documents.push(render::json(&status)),
        Output::Text => {
            let now = request.pods.then(|| reader.now());
            print_status(&status, names, now, screen);
        }
    }
    screen.summarize([job_summary::of_status(&status, names)]);
    let exit = exit_of_state(request.options.goal.rollout_state(&observed, &verdict));
    if exit == Exit::Done && !request.options.stable.is_zero() {
        screen.note_once("note: --stable needs more than one observation, so stability is not shown");
        return Ok(Exit::Unfinished);
    }
    Ok(exit)
}

fn verdict_of(observed: &Observation, revision: Option<&RevisionWord>) -> Result<Verdict> {
    let pinned = revision.map(|word| taken_over(observed, word)).transpose()?.flatten();
    Ok(pinned.unwrap_or_else(|| verdict(observed)))
}

/// Prints a status. kubectl's line goes to stdout, or to stderr for a failure, as in kubectl. The causes go
/// to stdout on a terminal and else to stderr, so that a script reads only kubectl's lines. `pods_at` is the moment at
/// which the pods are shown; none if they are not.
fn print_status(
    status: &RolloutStatus<'_>,
    names: NameContext,
    pods_at: Option<Timestamp>,
    screen: &mut Screen<'_>,
) {
    let (line, state) =
        (render::line(&status.observed.workload, status.verdict, names), status.verdict.state);
    let terminal = screen.terminal();
    if state == RolloutState::Failed {
        screen.note(&format!("error: {line}"));
    } else {
        screen.styled(&render::colored(&line, state, terminal));
    }
    if let Some(now) = pods_at {
        screen.styled_lines(&pod_tree(status.observed, now, terminal));
    }
    for cause in status.causes {
        let line = render::cause_line(cause, &status.observed.workload, names, terminal);
        match terminal {
            Some(_) => screen.styled(&render::colored_cause(line, cause)),
            None => screen.note(&line),
        }
    }
    print_what_serves(status, screen);
    screen.notes(render::next_change_note(&status.observed.workload, state));
}

/// Prints what still serves, if the rollout needs a user or no pod serves, and then the command that rolls back. There is none
/// from a complete rollout of another revision than the expected one.
fn print_what_serves(status: &RolloutStatus<'_>, screen: &mut Screen<'_>) {
    let observed = status.observed;
    let state = verdict(observed).state;
    let needs_a_fix = render::needs_a_fix(state, status.causes);
    if !needs_a_fix && !is_outage(observed, state) {
        return;
    }
    let line = render::serving_line(observed, state);
    match screen.terminal() {
        Some(_) => screen.line(&line),
        None => screen.note(&line),
    }
    screen.notes(render::rollback_command_hint(observed).filter(|_| needs_a_fix).as_slice());
}

/// Returns the exit code for a state.
pub(super) fn exit_of_state(state: RolloutState) -> Exit {
    match state {
        RolloutState::Complete => Exit::Done,
        RolloutState::Progressing | RolloutState::Unobserved => Exit::Unfinished,
        RolloutState::Paused | RolloutState::Held => Exit::Held,
        RolloutState::Failed => Exit::Failed,
    }
}

/// Shows a workload of a snapshot with kubectl's line. kubectl would wait until the rollout is complete; a
/// snapshot never changes, so an incomplete one ends with kubectl's timeout error.
fn show_as_kubectl(workload: &Workload, request: &Request, screen: &mut Screen<'_>) -> Result<Exit> {
    let revision = match request.revision {
        Some(RevisionWord::Number(number)) => Some(number),
        _ => None,
    };
    let reported = kubectl_status(workload, revision).map_err(|text| Error::new(ErrorKind::Failed, text))?;
    screen.line(&reported.line);
    if request.watch && !reported.done {
        return Err(Error::new(ErrorKind::Failed, "timed out waiting for the condition"));
    }
    Ok(Exit::Done)
}
