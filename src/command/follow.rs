//! Follows rollouts until each has its result, for `status` and for `--wait`. CONTRIBUTING.md shows the way of one event.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::FutureExt;
use k8s_openapi::jiff::Timestamp;

use super::context::{CommandOutcome, Context};
use super::event_loop::{EventLoop, Executor, Futures, RequestsInFlight};
use super::undo_on_failure::{delete_stuck, undo_on_failure};
use super::writing_verb::Writer;
use crate::cli::write::WriteArgs;
use crate::cluster::concurrent::{concurrently, with_optional_read};
use crate::cluster::configuration::named_configuration;
use crate::cluster::objects::observer::Observer;
use crate::cluster::source::{ContextSource, Source};
use crate::cluster::write::WriteOptions;
use crate::model::engine::{LoopEvent, Now, TargetContext, TargetId};
use crate::model::follow::{
    FollowOptions, FollowRequest, Follower, FollowerAnswer, NoRollback, Report, Rollbacks, UndoScope,
};
use crate::model::kind::Workload;
use crate::model::revision::references::{Configuration, NamedConfiguration};
use crate::render::message_writer::Frame;
use crate::render::output_form::OutputForm;
use crate::render::state_words::NameContext;
use crate::render::status::{json, stale_configuration};
use crate::render::ui::Ui;
use crate::render::{job_summary, status as render};
use crate::world::Terminal;

/// How to follow workloads and print the reports.
pub struct Following<'a> {
    /// The goal, the deadlines and the timeout.
    pub options: FollowOptions,
    /// The output format.
    pub output: &'a OutputForm,
    /// Whether to draw live frames instead of lines.
    pub draws: bool,
    /// What a workload's name in a line must distinguish.
    pub names: NameContext<'static>,
    /// The clusters with the workloads to follow: that of the command, or one for each context.
    pub clusters: Vec<FollowedCluster<'a>>,
    /// After how much silence of the output a line says what is awaited; `None` for never.
    pub heartbeat: Option<Duration>,
    /// Whether to show each pod: in a live frame, and after the last line.
    pub shows_pods: bool,
    /// The field manager of a rollback.
    pub field_manager: &'a str,
    /// The signals that stop the command.
    pub context: &'a Context<'a>,
}

/// The workloads that were found in a cluster, with its context if there are several.
pub(super) type FoundIn<'a> = (Option<&'a ContextSource>, &'a Source, Vec<Workload>);

/// A cluster whose workloads are followed.
pub struct FollowedCluster<'a> {
    /// Its context, if there are several.
    pub context: Option<&'a ContextSource>,
    /// The source of the objects.
    pub source: &'a Source,
    /// The workloads as they were found.
    pub found: Vec<Workload>,
    /// The ConfigMaps and Secrets whose changes are remarks.
    pub configuration: NamedConfiguration,
}

impl<'a> Following<'a> {
    /// Starts to follow the workloads of all clusters.
    pub(super) fn follower(&self) -> Follower {
        let first = self.source().now();
        let context = |cluster: &FollowedCluster<'_>| TargetContext {
            name: cluster.context.map(|context| context.name.clone()).unwrap_or_default(),
            clock_ahead: cluster.source.now().duration_since(first),
        };
        let of_cluster = |cluster: &FollowedCluster<'_>| {
            (cluster.context.map(|_| context(cluster)), cluster.found.clone())
        };
        Follower::of_contexts(self.options.clone(), self.clusters.iter().map(of_cluster))
    }

    /// Returns the source whose clock is that of the command: the first one.
    pub(super) fn source(&self) -> &'a Source {
        self.clusters.first().map_or(self.context.source, |cluster| cluster.source)
    }

    /// Returns the source of a target.
    pub(super) fn source_of(&self, id: TargetId) -> &'a Source {
        self.clusters.get(id.context).map_or(self.context.source, |cluster| cluster.source)
    }

    /// Returns the context of a target, if there are several.
    fn context_of(&self, id: TargetId) -> Option<&'a ContextSource> {
        self.clusters.get(id.context)?.context
    }

    /// Prints something about a target, with commands that reach its cluster.
    pub(super) fn print_about(&self, id: TargetId, ui: &mut Ui, print: impl FnOnce(&mut Ui)) {
        let Some(context) = self.context_of(id) else { return print(ui) };
        let of_context = ui.messages.with_flags(context.flags.clone());
        let all = std::mem::replace(&mut ui.messages, of_context);
        print(ui);
        ui.messages = all;
    }

    /// Starts to observe the workloads of each cluster.
    fn observers(&self) -> Vec<Observer> {
        let mut first = TargetId::default();
        let observer = |(context, cluster): (usize, &FollowedCluster<'_>)| {
            first.context = context;
            let Source::Cluster(server) = cluster.source else { return None };
            let observer = Observer::of_found(Arc::clone(server), first, &cluster.found);
            first.index += cluster.found.len();
            Some(observer)
        };
        self.clusters.iter().enumerate().filter_map(observer).collect()
    }

    /// Reads the ConfigMaps and Secrets whose changes are remarks, of each cluster.
    pub(super) async fn configuration(&self) -> Vec<Vec<Configuration>> {
        let clusters = self.clusters.iter();
        concurrently(clusters.map(|cluster| named_configuration(&cluster.configuration, cluster.source)))
            .await
    }
}

/// Follows rollouts; rolls back those that failed, if it is to; and follows those that it rolled back.
pub(super) struct FollowSequence<'a> {
    pub(super) following: &'a Following<'a>,
    pub(super) rollbacks: Rollbacks,
}

impl FollowSequence<'_> {
    /// Draws the last frame, which stays on the terminal.
    fn draw_last(&self, follower: &Follower, server_time: Timestamp, ui: &mut Ui) {
        let results = follower.followed(&self.rollbacks).filter_map(|one| one.result());
        let elapsed = results.map(|result| result.elapsed).max().unwrap_or_default();
        let (now, names) = (Now { elapsed, server_time }, self.following.names);
        ui.draw_last(|size| self.frame_of(follower, now, true, size));
        // The frame is on stdout. Print the failures on stderr too, for logs that keep only stderr.
        for one in follower.followed(&self.rollbacks) {
            let server_time = one.target.at(now).server_time;
            self.following.print_about(one.target.id(), ui, |ui| {
                render::print_outcome(one, names, server_time, false, ui);
            });
        }
    }

    /// Prints that a rollback begins.
    pub(super) fn print_start(&self, follower: &Follower, id: TargetId, now: Now, ui: &mut Ui) {
        let Some(one) = follower.followed(&self.rollbacks).nth(id.index) else { return };
        let Following { output, names, draws, .. } = *self.following;
        self.following.print_about(id, ui, |ui| {
            if output.is_document() {
                ui.out_streamed(&json::rollback_started(one, now), output);
            } else {
                ui.messages.lines(render::rollback_started(one, names, draws));
            }
        });
    }

    fn frame_of(&self, follower: &Follower, now: Now, is_last: bool, size: Terminal) -> Frame {
        let Following { names, shows_pods, .. } = *self.following;
        Frame::of(follower, &self.rollbacks, now, names, shows_pods, is_last, size)
    }
}

/// Follows all workloads at once until each has its result. Returns the outcome together with that of the command `so_far`, whose
/// errors it prints first: a user should not wait for them.
pub(super) async fn run(
    following: &Following<'_>,
    mut so_far: CommandOutcome,
    ui: &mut Ui,
) -> CommandOutcome {
    so_far.print_errors(ui);
    ui.messages.findings(render::timeout_before_grace(&following.options).as_ref());
    let follower = following.follower();
    let signals = following.context.world.signals.clone();
    let mut sequence = FollowSequence { following, rollbacks: Rollbacks::new() };
    let observers = following.observers();
    let ((follower, now), configuration) = with_optional_read(
        async {
            let source = following.source();
            let mut event_loop = EventLoop::new(follower, &mut sequence, observers, source, signals, ui);
            event_loop.run().await;
            while undo_failed(&mut event_loop).await {
                event_loop.run().await;
            }
            event_loop.end().await
        },
        following.configuration(),
    )
    .await;
    if following.draws {
        sequence.draw_last(&follower, now.server_time, ui);
    }
    let rollbacks = &sequence.rollbacks;
    if ui.is_closed() {
        let unfinished = follower.followed(rollbacks).filter(|one| one.result().is_none());
        let is_undo = following.options.undo_on_failure.is_some();
        unfinished.for_each(|one| ui.messages.finding(&render::without_reader(one, is_undo)));
    }
    let summary = job_summary::of_follower(&follower, rollbacks, following.names, now);
    let outcome = so_far.and(CommandOutcome { summary, ..follower.exit(rollbacks).into() });
    if following.output.is_document() {
        let exit = following.context.exit(outcome.worst_exit()).code();
        let summary = json::summary(&follower, rollbacks, &configuration, exit, now);
        ui.out_streamed(&summary, following.output);
    } else {
        print_remarks(following, &follower, &configuration, now, ui);
    }
    outcome
}

/// Rolls back the targets whose rollback is due, all at once. The event loop follows again what was written, and what has
/// recovered. Returns whether a rollback was due.
async fn undo_failed<'a>(event_loop: &mut EventLoop<'a, '_, Follower, FollowSequence<'a>>) -> bool {
    let due = event_loop.engine.take_rollbacks();
    if due.is_empty() {
        return false;
    }
    let following = event_loop.executor.following;
    let Following { options, field_manager, .. } = following;
    // A release does not stay in parts: with `=all` the others are rolled back at the same time.
    let unless_recovered = options.undo_on_failure != Some(UndoScope::All);
    let (mut ids, writes) = (Vec::new(), Futures::new());
    for (id, start, rollback) in due {
        ids.push(id);
        event_loop.executor.rollbacks.insert(id, rollback);
        event_loop.executor.print_start(&event_loop.engine, id, event_loop.now(), event_loop.ui);
        let found = event_loop.engine.targets()[id.index].workload().clone();
        let (messages, stopped) = (event_loop.ui.messages.clone(), event_loop.requests.must_stop_writing());
        let messages = match following.context_of(id) {
            Some(context) => messages.in_context(&context.name, context.flags.clone()),
            None => messages,
        };
        let options = WriteOptions::by(field_manager);
        let source = following.source_of(id);
        let write = async move {
            let written =
                undo_on_failure(&found, &start, unless_recovered, options, source, &messages, stopped).await;
            (id, written)
        };
        writes.push(write.boxed_local());
    }
    let mut answers: BTreeMap<_, _> = event_loop.await_writes(writes).await.into_iter().collect();
    for id in ids {
        let unanswered = || {
            let why = "a second signal ended the command before the answer to the write";
            Err(NoRollback::Unknown(why.to_owned()))
        };
        let answer = answers.remove(&id).unwrap_or_else(unanswered);
        let rollbacks = &mut event_loop.executor.rollbacks;
        let Some(rollback) = rollbacks.get_mut(&id) else { continue };
        match answer {
            Ok(Some((written, take_back))) => {
                rollback.written = Some(Ok(take_back));
                event_loop.apply(vec![LoopEvent::Answer((id, Some(Box::new(written))))]);
            }
            Ok(None) => {
                rollbacks.remove(&id);
                event_loop.apply(vec![LoopEvent::Answer((id, None))]);
            }
            Err(why) => {
                rollback.written = Some(Err(why));
                let failed = rollback.failed.clone();
                event_loop.report((id, Report::Ended(failed)));
            }
        }
    }
    if let Some(stop) = event_loop.stopped {
        event_loop.apply(vec![LoopEvent::Stop(stop)]);
    }
    true
}

/// Ends a verb that wrote: at once, or with `wait` once every rollout in `written` has ended. A
/// workload in `written` is the object that our write returned; if another client changes its template later, it fails.
pub(super) async fn after_change(
    writer: &mut Writer<'_>,
    written: Vec<Workload>,
    wait: Option<FollowOptions>,
    plain: bool,
) -> CommandOutcome {
    let (context, request, so_far) = (writer.context, writer.request, writer.take_outcome());
    let written = vec![(None, context.source, written)];
    after_changes(written, request, context, so_far, wait, plain, writer.ui).await
}

/// As [`after_change`], of the workloads of several clusters.
pub(super) async fn after_changes<'a>(
    written: Vec<FoundIn<'a>>,
    request: &'a WriteArgs,
    context: &'a Context<'a>,
    so_far: CommandOutcome,
    wait: Option<FollowOptions>,
    plain: bool,
    ui: &mut Ui,
) -> CommandOutcome {
    let is_empty = written.iter().all(|(.., workloads)| workloads.is_empty());
    let (Some(options), true, false) = (wait, context.source.is_live(), is_empty) else {
        return so_far;
    };
    let names = NameContext::of(written.iter().flat_map(|(.., workloads)| workloads));
    let cluster = |(named, source, found): FoundIn<'a>| {
        let configuration = NamedConfiguration::default();
        FollowedCluster { context: named, source, found, configuration }
    };
    let following = Following {
        options: FollowOptions { expect_found_template: true, ..options },
        output: &OutputForm::Text,
        draws: ui.can_draw() && !plain && request.output == OutputForm::Text,
        names,
        clusters: written.into_iter().map(cluster).collect(),
        heartbeat: None,
        shows_pods: false,
        field_manager: &request.field_manager,
        context,
    };
    run(&following, so_far, ui).await
}

/// Prints a note for each ConfigMap or Secret that changed after pods started.
fn print_remarks(
    following: &Following<'_>,
    follower: &Follower,
    configuration: &[Vec<Configuration>],
    now: Now,
    ui: &mut Ui,
) {
    for target in follower.targets() {
        let id = target.id();
        let stale = configuration.get(id.context).map(|objects| target.stale_configuration(objects));
        let (stale, now) = (stale.unwrap_or_default(), target.at(now).server_time);
        following.print_about(id, ui, |ui| {
            ui.messages.findings(&stale_configuration(target.workload(), &stale, now));
        });
    }
}

impl<'a> Executor<'a, Follower> for FollowSequence<'a> {
    const AWAITS_REQUESTS: bool = true;

    fn execute(
        &mut self,
        (id, task): (TargetId, FollowRequest),
        follower: &Follower,
        observers: &mut [Observer],
        requests: &mut RequestsInFlight<'a, FollowerAnswer>,
        _now: Now,
        ui: &mut Ui,
    ) {
        let target = follower.targets().get(id.index);
        let (Some(target), Some(observer)) = (target, observers.get_mut(id.context)) else { return };
        let source = self.following.source_of(id);
        let (messages, stopped) = (ui.messages.clone(), requests.must_stop_writing());
        match task {
            FollowRequest::Refresh => observer.refresh(id),
            FollowRequest::WatchWarnings => observer.watch_warnings(),
            FollowRequest::ReadLog(log) => {
                observer.read_log(id, target.workload().object().namespace(), log);
            }
            FollowRequest::DeletePod(pod) => {
                let workload = target.workload().clone();
                requests.start(async move {
                    if !*stopped.borrow() {
                        delete_stuck(&workload, &pod, source, &messages).await;
                    }
                    None // the result arrives as ordinary events
                });
            }
        }
    }

    fn must_stop_writing(follower: &Follower) -> bool {
        follower.is_stopped()
    }

    fn draws(&self, _follower: &Follower) -> bool {
        self.following.draws
    }

    fn report(&mut self, follower: &Follower, (id, report): &(TargetId, Report), now: Now, ui: &mut Ui) {
        let Some(one) = follower.followed(&self.rollbacks).nth(id.index) else { return };
        let Following { output, draws, names, shows_pods, .. } = *self.following;
        let now = one.target.at(now);
        self.following.print_about(*id, ui, |ui| {
            if output.is_document() {
                ui.out_streamed(&json::event(one, report, now), output);
            } else if draws {
                ui.messages.findings(render::note(one, report, names).as_ref());
            } else {
                render::print(one, report, names, shows_pods, now, ui);
            }
        });
    }

    fn heartbeat(&self) -> Option<Duration> {
        self.following.heartbeat
    }

    fn print_heartbeat(&mut self, follower: &Follower, now: Now, ui: &mut Ui) {
        let all = follower.followed(&self.rollbacks);
        ui.messages.findings(&render::heartbeat(all, self.following.names, now));
    }

    fn is_result((_, report): &(TargetId, Report)) -> bool {
        matches!(report, Report::Ended(_))
    }

    fn frame(&self, follower: &Follower, now: Now, size: Terminal) -> Frame {
        self.frame_of(follower, now, false, size)
    }
}
