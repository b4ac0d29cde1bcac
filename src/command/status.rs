//! `status`: shows or follows rollouts, and why they do not progress.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use super::CommandOutcome;
use super::context::Context;
use super::contexts::find_in_contexts;
use super::event_loop::{Executor, RequestsInFlight, drive};
use super::follow::{self, FollowedCluster, Following, FoundIn};
use super::inputs::TargetScope;
use super::stop_signals::StopSignals;
use super::targets::{FoundTargets, TargetFinder, find_workloads};
use super::undo_on_failure::missing_right;
use crate::cli::status::StatusArgs;
use crate::cluster::concurrent::with_optional_read;
use crate::cluster::objects::observer::Observer;
use crate::cluster::objects::read::{FEW_WORKLOADS, Parts, Unless, read_all};
use crate::cluster::source::{Source, in_context};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::managed_fields::FIELD_MANAGER;
use crate::model::engine::{Now, TargetEvent, TargetId};
use crate::model::finding::{Finding, Reason};
use crate::model::follow::{
    FollowOptions, FollowRequest, Followed, Follower, FollowerAnswer, Goal, Outcome, Report, Rollbacks,
};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::references::NamedConfiguration;
use crate::model::text::go_duration;
use crate::render::job_summary;
use crate::render::message_writer::Frame;
use crate::render::output_form::OutputForm;
use crate::render::state_words::NameContext;
use crate::render::status::{json, print, stale_configuration};
use crate::render::ui::Ui;
use crate::world::Terminal;

/// Follows all rollouts, or evaluates each one once.
pub(super) async fn run(request: &StatusArgs, context: &Context<'_>, ui: &mut Ui) -> Result<CommandOutcome> {
    let scope = &context.inputs.scope;
    if request.wait_for_creation.is_some() && !context.contexts.is_empty() {
        return Err(Error::usage("--wait-for-creation works on one cluster").hint("choose it with --context"));
    }
    // A signal that was handled once ends the process no more, so that each later wait of this command handles it too.
    let signals = request.wait_for_creation.map(|_| context.world.signals.clone());
    let mut stops = StopSignals::new(signals.unwrap_or_default());
    let (found, outcome) = match request.wait_for_creation {
        None => find(context, ui).await?,
        Some(limit) => {
            tokio::select! {
                biased;
                stop = stops.next() => {
                    let text = "interrupted before the workloads existed";
                    ui.messages.finding(&Finding::note(Reason::Interrupted, text));
                    return Ok(stop.exit().into());
                }
                found = await_creation(request, scope, limit, context.source, ui) => {
                    let FoundTargets { workloads, outcome, .. } = found?;
                    (vec![(None, context.source, workloads)], outcome)
                }
            }
        }
    };
    let options = request.options();
    if options.undo_on_failure.is_some() {
        for (named, source, workloads) in &found {
            if let Some(error) = missing_right(workloads, FIELD_MANAGER, source).await {
                let error = named.map_or(error.clone(), |named| in_context(&named.name, error));
                return Ok(outcome.and(error.into()));
            }
        }
    }
    let names = NameContext::of(found.iter().flat_map(|(.., workloads)| workloads));
    let names = NameContext { namespaces: names.namespaces || scope.all_namespaces, ..names };
    let following = request.following(options, found, names, context, ui);
    Ok(if following.options.once {
        outcome.and(tokio::select! {
            biased;
            stop = stops.next() => stop.exit().into(),
            evaluated = evaluate_all(&following, ui) => evaluated,
        })
    } else {
        follow::run(&following, outcome, ui).await
    })
}

/// Finds the workloads of the command in its cluster, or in the cluster of each context.
async fn find<'a>(context: &'a Context<'_>, ui: &mut Ui) -> Result<(Vec<FoundIn<'a>>, CommandOutcome)> {
    let (source, scope) = (context.source, &context.inputs.scope);
    if context.contexts.is_empty() {
        let FoundTargets { workloads, outcome, .. } = find_workloads(scope, keep(scope), source, ui).await?;
        return Ok((vec![(None, source, workloads)], outcome));
    }
    let (found, outcome) = find_in_contexts(scope, keep(scope), context.contexts, &ui.messages).await;
    let found = found
        .into_iter()
        .filter_map(|(named, found)| Some((Some(named), named.source.as_ref().ok()?, found)));
    Ok((found.collect(), outcome))
}

impl Following<'_> {
    /// Whether kubectl's line of success is all that is printed of a complete rollout.
    fn needs_only_lines(&self) -> bool {
        let FollowOptions { revision: None, goal: Goal::Success, .. } = &self.options else { return false };
        !self.output.is_document() && !self.shows_pods
    }
}

impl StatusArgs {
    fn following<'a>(
        &'a self,
        options: FollowOptions,
        found: Vec<FoundIn<'a>>,
        names: NameContext<'static>,
        context: &'a Context<'a>,
        ui: &Ui,
    ) -> Following<'a> {
        let is_empty = found.iter().all(|(.., workloads)| workloads.is_empty());
        let once = !self.watch || !context.source.is_live() || is_empty;
        let draws = ui.can_draw() && !self.plain && !once && !self.output.is_document();
        let options = FollowOptions { once, ..options };
        let cluster = |(named, source, found): FoundIn<'a>| {
            let configuration = configuration(&context.inputs.scope, &found);
            FollowedCluster { context: named, source, found, configuration }
        };
        let clusters = found.into_iter().map(cluster).collect();
        Following {
            options,
            output: &self.output,
            draws,
            names,
            clusters,
            heartbeat: self.heartbeat(ui.terminal().is_some()),
            shows_pods: self.pods,
            field_manager: FIELD_MANAGER,
            context,
        }
    }
}

/// Returns what is kept of a workload. `metadata.managedFields` are the largest part of most, and only named workloads
/// keep them.
fn keep(scope: &TargetScope) -> impl Fn(Workload) -> Workload + use<> {
    let is_selection = scope.is_selection();
    move |workload| if is_selection { workload.without_managed_fields() } else { workload }
}

/// Returns the ConfigMaps and Secrets to read. Only for a few named workloads, because each one is a request.
fn configuration(scope: &TargetScope, workloads: &[Workload]) -> NamedConfiguration {
    let are_few = !scope.is_selection() && workloads.len() <= FEW_WORKLOADS;
    if are_few { NamedConfiguration::of(workloads) } else { NamedConfiguration::default() }
}

/// Evaluates each workload once: what a follower does with its first observation, and nothing more.
async fn evaluate_all(following: &Following<'_>, ui: &mut Ui) -> CommandOutcome {
    let (source, names, follower) = (following.source(), following.names, following.follower());
    let signals = following.context.world.signals.clone();
    let mut once = Once { following, reports: BTreeMap::new() };
    let ((follower, now), configuration) = with_optional_read(
        drive(follower, &mut once, Vec::new(), source, signals, ui),
        following.configuration(),
    )
    .await;
    let mut all = CommandOutcome::default();
    let mut documents = Vec::new();
    for target in follower.targets() {
        let (id, now) = (target.id(), target.at(now));
        let Some(result) = target.result() else {
            continue;
        };
        if let Outcome::Unreadable(error) = &result.outcome {
            let of_context = target.context().map(|name| in_context(name, error.clone()));
            all.errors.push(of_context.unwrap_or_else(|| error.clone()));
            continue;
        }
        all.exit = all.exit.worst(result.exit());
        let objects = configuration.get(id.context).map_or(&[][..], Vec::as_slice);
        let stale = target.stale_configuration(objects);
        if !following.output.is_document() {
            following.print_about(id, ui, |ui| {
                for report in once.reports.get(&id).into_iter().flatten() {
                    let this = Followed { target, rollback: None };
                    print(this, report, names, following.shows_pods, now, ui);
                }
                ui.messages.findings(&stale_configuration(target.workload(), &stale, now.server_time));
            });
        } else if let Some(view) = target.view(now.server_time) {
            let document = json::document(&view, |cause| target.log_for(cause), &stale);
            let document = json::with_context(target, document);
            match following.output {
                OutputForm::Template(_) => documents.push(document),
                form => ui.out_streamed(&document, form),
            }
        }
        let is_stable = following.options.stable.is_some_and(|stable| !stable.is_zero());
        if is_stable && result.outcome == Outcome::Unfinished {
            let text = "--stable needs more than one observation, so stability is not shown";
            ui.messages.finding_once(&Finding::note(Reason::Incomplete, text));
        }
    }
    if let OutputForm::Template(form) = following.output {
        match form.text_of_all(&documents) {
            Ok(text) => ui.out_exact(&text),
            Err(error) => all.errors.push(error),
        }
    }
    let summary = job_summary::of_follower(&follower, &Rollbacks::new(), names, now);
    CommandOutcome { summary, ..all }
}

/// Reads workloads once for a follower, and keeps its reports: they are printed when the logs that it asks for are read too.
struct Once<'a> {
    following: &'a Following<'a>,
    reports: BTreeMap<TargetId, Vec<Report>>,
}

impl<'a> Executor<'a, Follower> for Once<'a> {
    fn begin(&mut self, requests: &mut RequestsInFlight<'a, FollowerAnswer>, ui: &mut Ui) {
        let mut first = TargetId::default();
        for (context, cluster) in self.following.clusters.iter().enumerate() {
            let FollowedCluster { context: named, source, found, .. } = cluster;
            let messages = match named {
                Some(named) => ui.messages.in_context(&named.name, named.flags.clone()),
                None => ui.messages.clone(),
            };
            let skips_complete = self.following.needs_only_lines() && found.len() > FEW_WORKLOADS;
            let unless = if skips_complete { Unless::Complete } else { Unless::Never };
            let everywhere = self.following.context.inputs.scope.all_namespaces;
            let (parts, begun) = (Parts { unless, ..Parts::STATUS }, TargetId { context, ..first });
            first.index += found.len();
            requests.read(async move {
                let (observations, notes) = read_all(found.clone(), everywhere, parts, source).await;
                messages.findings(&notes);
                let change = |(index, observed): (usize, Result<Observation>)| {
                    let change = match observed {
                        Ok(observed) => TargetEvent::Refreshed(Box::new(observed)),
                        Err(error) => TargetEvent::Unreadable(error),
                    };
                    (TargetId { index: begun.index + index, ..begun }, change)
                };
                observations.into_iter().enumerate().map(change).collect()
            });
        }
    }

    /// Reads the log of a broken pod if there is one target only, because each log takes a request.
    fn execute(
        &mut self,
        (id, task): (TargetId, FollowRequest),
        follower: &Follower,
        _observers: &mut [Observer],
        requests: &mut RequestsInFlight<'a, FollowerAnswer>,
        _now: Now,
        _ui: &mut Ui,
    ) {
        if let (FollowRequest::ReadLog(log), Source::Cluster(cluster), [target]) =
            (task, self.following.source_of(id), follower.targets())
        {
            let namespace = target.workload().object().namespace().to_owned();
            requests.read(async move {
                let lines = cluster.log_lines(&namespace, log).await;
                lines.map(|lines| (id, TargetEvent::Log(lines))).into_iter().collect()
            });
        }
    }

    fn must_stop_writing(_follower: &Follower) -> bool {
        true
    }

    fn draws(&self, _follower: &Follower) -> bool {
        false
    }

    fn report(&mut self, _follower: &Follower, (id, report): &(TargetId, Report), _now: Now, _ui: &mut Ui) {
        self.reports.entry(*id).or_default().push(report.clone());
    }

    fn frame(&self, _follower: &Follower, _now: Now, size: Terminal) -> Frame {
        Frame::new(Vec::new(), size)
    }
}

/// The time between two searches. Most users may read a workload, and fewer may watch.
const SEARCH_INTERVAL: Duration = Duration::from_secs(2);

/// Finds the workloads of a request. Searches again until each named workload exists, at least one is found, and each names the
/// images of `--image`, for so long at most.
///
/// # Errors
/// As [`find_workloads`], and when the API server does not answer.
async fn await_creation(
    request: &StatusArgs,
    scope: &TargetScope,
    limit: Duration,
    source: &Source,
    ui: &mut Ui,
) -> Result<FoundTargets> {
    let end = Instant::now() + limit;
    let awaited = TargetScope { allow_empty: false, ..scope.clone() };
    let finder = TargetFinder::new(scope, source, false)?;
    let (mut is_first, mut awaited_image) = (true, None);
    let heartbeat = request.heartbeat(ui.terminal().is_some());
    let images = request.options().images;
    // A search that has begun may end.
    let last = end + SEARCH_INTERVAL;
    let unanswered = |_| {
        let limit = go_duration::write(limit);
        let message =
            format!("timed out after {limit}: the API server does not answer whether the workloads exist");
        Error::new(ErrorKind::Unreachable, message)
    };
    while Instant::now() < end && ui.can_write() {
        let search = timeout_at(last, finder.search(&awaited, keep(scope))).await.map_err(unanswered)?;
        let is_missing = |error: &Error| error.kind() == ErrorKind::NotFound;
        let has_another_error = !search.outcome.errors.iter().all(is_missing);
        let is_found = has_another_error || search.outcome.all_errors().next().is_none();
        let lacking = search.workloads.iter().find_map(|workload| {
            let mismatch = images.iter().find_map(|image| image.mismatch(workload))?;
            Some(format!("{}: {mismatch}", workload.target()))
        });
        if has_another_error || is_found && lacking.is_none() {
            ui.messages.findings(&search.notes);
            return Ok(search);
        }
        let is_silent = heartbeat.zip(ui.silence()).is_some_and(|(limit, silence)| silence >= limit);
        if is_found && (is_silent || awaited_image != lacking) {
            let wait = |lacking| format!("{lacking}; waiting for up to {}", go_duration::write(limit));
            ui.messages
                .findings(lacking.clone().map(|one| Finding::note(Reason::Waiting, wait(one))).as_ref());
            awaited_image = lacking;
        } else if !is_found && (is_silent || is_first) {
            let limit = go_duration::write(limit);
            let wait =
                |missing| Finding::note(Reason::Waiting, format!("{missing} yet; waiting for up to {limit}"));
            search.outcome.all_errors().for_each(|missing| ui.messages.finding(&wait(missing.to_string())));
            is_first = false;
        }
        sleep_until(end.min(Instant::now() + SEARCH_INTERVAL)).await;
    }
    timeout_at(last, find_workloads(scope, keep(scope), source, ui)).await.map_err(unanswered)?
}
