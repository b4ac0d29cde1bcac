//! `status`: shows or follows rollouts, and why they do not progress.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::CommandOutcome;
use super::context::Context;
use super::follow::{self, Following, print_remarks};
use super::stop_signals::StopSignals;
use super::targets::{FoundTargets, TargetFinder, TargetScope, find_workloads};
use super::undo_on_failure::missing_right;
use super::writing_verb::FIELD_MANAGER;
use crate::cluster::concurrent::with_optional_read;
use crate::cluster::configuration::named_configuration;
use crate::cluster::objects::read::{FEW_WORKLOADS, Parts, Unless, read_all};
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::engine::{Engine, LoopEvent, Now, TargetEvent, TargetId};
use crate::model::follow::{FollowOptions, Follower, FollowerTask, Goal, Outcome};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::references::{Configuration, NamedConfiguration};
use crate::model::text::go_duration;
use crate::render::job_summary;
use crate::render::output_form::OutputForm;
use crate::render::state_words::NameContext;
use crate::render::status::{json, print};
use crate::render::ui::Ui;

/// The arguments of `status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The workloads to show.
    pub scope: TargetScope,
    /// The form of the output: kubectl's lines and a line for each cause, or a document for each workload. A template is for
    /// those of all workloads, and for one evaluation only.
    pub output: OutputForm,
    /// Whether to follow the rollouts. A snapshot never changes, so it is only read once.
    pub watch: bool,
    /// Whether to print lines even on a terminal that can draw frames.
    pub plain: bool,
    /// Whether to show each pod.
    pub pods: bool,
    /// How long to wait for targets that do not exist.
    pub wait_for_creation: Option<Duration>,
    /// The goal, the expected revision, the deadlines and the timeout.
    pub options: FollowOptions,
}

/// Follows all rollouts, or evaluates each one once.
pub(super) async fn run(request: &Request, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let source = context.source;
    // A signal that was handled once ends the process no more, so that each later wait of this command handles it too.
    let signals = request.wait_for_creation.map(|_| context.world.signals.clone());
    let mut stops = StopSignals::new(signals.unwrap_or_default());
    let found = match request.wait_for_creation {
        None => find_workloads(&request.scope, request.keep(), source, ui).await?,
        Some(limit) => {
            tokio::select! {
                biased;
                stop = stops.next() => {
                    ui.err_line("note: interrupted before the workloads existed");
                    return Ok(stop.exit().into());
                }
                found = await_creation(request, limit, source, ui) => found?,
            }
        }
    };
    let FoundTargets { workloads, outcome, .. } = found;
    if request.options.undo_on_failure.is_some()
        && let Some(error) = missing_right(&workloads, FIELD_MANAGER, source).await
    {
        return Ok(outcome.and(error.into()));
    }
    let names = NameContext::of(&workloads);
    let names = NameContext { namespaces: names.namespaces || request.scope.all_namespaces, ..names };
    let following = request.following(&workloads, names, context, ui);
    Ok(match source {
        Source::Cluster(cluster) if !following.options.once => {
            follow::run(&following, workloads, outcome, cluster, ui).await
        }
        _ => outcome.and(tokio::select! {
            biased;
            stop = stops.next() => stop.exit().into(),
            evaluated = evaluate_all(workloads, request, &following, ui) => evaluated,
        }),
    })
}

impl Request {
    /// Whether kubectl's line of success is all that is printed of a complete rollout.
    fn needs_only_lines(&self) -> bool {
        let FollowOptions { revision: None, goal: Goal::Success, .. } = self.options else { return false };
        !self.output.is_document() && !self.pods
    }

    /// Returns what is kept of a workload. `metadata.managedFields` are the largest part of most, and only named workloads
    /// keep them.
    fn keep(&self) -> impl Fn(Workload) -> Workload {
        let is_selection = self.scope.is_selection();
        move |workload| if is_selection { workload.without_managed_fields() } else { workload }
    }

    /// Returns the ConfigMaps and Secrets to read. Only for a few named workloads, because each one is a request.
    fn configuration(&self, workloads: &[Workload]) -> NamedConfiguration {
        let are_few = !self.scope.is_selection() && workloads.len() <= FEW_WORKLOADS;
        if are_few { NamedConfiguration::of(workloads) } else { NamedConfiguration::default() }
    }

    fn following<'a>(
        &'a self,
        workloads: &[Workload],
        names: NameContext,
        context: &'a Context<'a>,
        ui: &Ui,
    ) -> Following<'a> {
        let once = !self.watch || !context.source.is_live() || workloads.is_empty();
        let draws = ui.can_draw() && !self.plain && !once && !self.output.is_document();
        let options = FollowOptions { once, ..self.options.clone() };
        let configuration = self.configuration(workloads);
        Following {
            options,
            output: &self.output,
            draws,
            names,
            configuration,
            shows_pods: self.pods,
            field_manager: FIELD_MANAGER,
            context,
        }
    }
}

/// Evaluates each workload once, one after another.
async fn evaluate_all(
    workloads: Vec<Workload>,
    request: &Request,
    following: &Following<'_>,
    ui: &mut Ui,
) -> CommandOutcome {
    let source = following.context.source;
    let skips_complete = request.needs_only_lines() && workloads.len() > FEW_WORKLOADS;
    let unless = if skips_complete { Unless::Complete } else { Unless::Never };
    let parts = Parts { unless, ..Parts::STATUS };
    let ((observations, notes), configuration) = with_optional_read(
        read_all(workloads, request.scope.all_namespaces, parts, source),
        named_configuration(&following.configuration, source),
    )
    .await;
    ui.err_lines(&notes);
    // Each log of a crashing pod takes a request.
    let reads_logs = observations.len() == 1;
    let mut all = CommandOutcome::default();
    let mut documents = Vec::new();
    for observed in observations {
        let (outcome, document) = match observed {
            Ok(observed) => evaluate_once(following, observed, &configuration, reads_logs, ui).await,
            Err(error) => (error.into(), None),
        };
        all = all.and(outcome);
        let Some(document) = document else { continue };
        match &request.output {
            OutputForm::Template(_) => documents.push(document),
            form => ui.out_streamed(&document, form),
        }
    }
    if let OutputForm::Template(form) = &request.output {
        match form.text_of_all(&documents) {
            Ok(text) => ui.out_exact(&text),
            Err(error) => all.errors.push(error),
        }
    }
    all
}

/// Evaluates one workload once: what a follower does with its first observation, and nothing more. Returns its outcome, and
/// its document if the format has documents and it can be evaluated.
async fn evaluate_once(
    following: &Following<'_>,
    observed: Observation,
    configuration: &[Configuration],
    reads_logs: bool,
    ui: &mut Ui,
) -> (CommandOutcome, Option<Value>) {
    let source = following.context.source;
    let server_time = source.now();
    let now = Now { elapsed: Duration::ZERO, server_time };
    let mut follower = Follower::new(following.options.clone(), [observed.workload.clone()]);
    let event = |change| LoopEvent::Target(TargetId(0), change);
    let first = follower.apply(event(TargetEvent::Refreshed(Box::new(observed))), now);
    let ended = follower.targets().iter().find_map(|target| Some(target.result()?.outcome.clone()));
    if let Some(Outcome::Unreadable(error)) = ended {
        return (error.into(), None);
    }
    for (_, task) in first.tasks {
        if let (FollowerTask::ReadLog(log), Source::Cluster(cluster), [target], true) =
            (task, source, follower.targets(), reads_logs)
        {
            let namespace = target.workload().object().namespace();
            let Some(lines) = cluster.log_lines(namespace, log).await else { continue };
            follower.apply(event(TargetEvent::Log(lines)), now);
        }
    }
    let Some(target) = follower.targets().first() else { return (CommandOutcome::default(), None) };
    let mut document = None;
    if !following.output.is_document() {
        for (_, report) in &first.reports {
            print(target, report, following.names, following.shows_pods, now, ui);
        }
        print_remarks(&follower, configuration, server_time, ui);
    } else if let Some(view) = target.view(server_time) {
        document = Some(json::document(&view, &target.stale_configuration(configuration)));
    }
    let is_stable = following.options.stable.is_some_and(|stable| !stable.is_zero());
    if is_stable && ended == Some(Outcome::Unfinished) {
        ui.err_line_once("note: --stable needs more than one observation, so stability is not shown");
    }
    let summary = job_summary::of_follower(&follower, following.names, server_time);
    (CommandOutcome { summary, ..follower.exit().into() }, document)
}

/// The time between two searches. Most users may read a workload, and fewer may watch.
const SEARCH_INTERVAL: Duration = Duration::from_secs(2);

/// Finds the workloads of a request. Searches again until each named workload exists and at least one is found, for so long
/// at most.
///
/// # Errors
/// As [`find_workloads`], and when the API server does not answer.
async fn await_creation(
    request: &Request,
    limit: Duration,
    source: &Source,
    ui: &mut Ui,
) -> Result<FoundTargets> {
    let (scope, end) = (&request.scope, Instant::now() + limit);
    let awaited = TargetScope { allow_empty: false, ..scope.clone() };
    let finder = TargetFinder::new(scope, source, false)?;
    let mut is_first = true;
    // A search that has begun may end.
    let last = end + SEARCH_INTERVAL;
    let unanswered = |_| {
        let limit = go_duration::write(limit);
        let message =
            format!("timed out after {limit}: the API server does not answer whether the workloads exist");
        Error::new(ErrorKind::Unreachable, message)
    };
    while Instant::now() < end && ui.can_write() {
        let search = timeout_at(last, finder.search(&awaited, request.keep())).await.map_err(unanswered)?;
        let is_missing = |error: &Error| error.kind() == ErrorKind::NotFound;
        if search.outcome.all_errors().next().is_none() || !search.outcome.errors.iter().all(is_missing) {
            ui.err_lines(&search.notes);
            return Ok(search);
        }
        if std::mem::take(&mut is_first) {
            let limit = go_duration::write(limit);
            let wait = |missing| format!("note: {missing} yet; waiting for up to {limit}");
            ui.err_lines(search.outcome.all_errors().map(|missing| wait(missing.to_string())));
        }
        sleep_until(end.min(Instant::now() + SEARCH_INTERVAL)).await;
    }
    timeout_at(last, find_workloads(scope, request.keep(), source, ui)).await.map_err(unanswered)?
}
