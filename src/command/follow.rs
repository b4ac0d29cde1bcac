//! Follows rollouts until each has its result, for `status` and for `--wait`. CONTRIBUTING.md shows the way of one event.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::FutureExt;
use k8s_openapi::jiff::Timestamp;

use super::context::{CommandOutcome, Context};
use super::event_loop::{EventLoop, Executor, Futures, RequestsInFlight};
use super::undo_on_failure::{delete_stuck, undo_on_failure};
use super::writing_verb::Writer;
use crate::cluster::concurrent::with_optional_read;
use crate::cluster::configuration::named_configuration;
use crate::cluster::objects::observer::Observer;
use crate::cluster::source::{Cluster, Source};
use crate::cluster::write::WriteOptions;
use crate::model::engine::{LoopEvent, Now, TargetId};
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
    pub names: NameContext,
    /// The ConfigMaps and Secrets whose changes are remarks.
    pub configuration: NamedConfiguration,
    /// Whether to show each pod: in a live frame, and after the last line.
    pub shows_pods: bool,
    /// The field manager of a rollback.
    pub field_manager: &'a str,
    /// The source of the objects, and the signals that stop the command.
    pub context: &'a Context<'a>,
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
            render::print_outcome(one, names, server_time, false, ui);
        }
    }

    /// Prints that a rollback begins.
    pub(super) fn print_start(&self, follower: &Follower, id: TargetId, now: Now, ui: &mut Ui) {
        let Some(one) = follower.followed(&self.rollbacks).nth(id.0) else { return };
        if self.following.output.is_document() {
            ui.out_streamed(&json::rollback_started(one, now), self.following.output);
        } else {
            ui.messages.lines(render::rollback_started(one, self.following.names, self.following.draws));
        }
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
    found: Vec<Workload>,
    mut so_far: CommandOutcome,
    cluster: &Arc<Cluster>,
    ui: &mut Ui,
) -> CommandOutcome {
    so_far.print_errors(ui);
    ui.messages.findings(render::timeout_before_grace(&following.options).as_ref());
    let follower = Follower::new(following.options.clone(), found.iter().cloned());
    let signals = following.context.world.signals.clone();
    let mut sequence = FollowSequence { following, rollbacks: Rollbacks::new() };
    let observer = Observer::of_found(Arc::clone(cluster), &found);
    let ((follower, now), configuration) = with_optional_read(
        async {
            let source = following.context.source;
            let mut event_loop = EventLoop::new(follower, &mut sequence, Some(observer), source, signals, ui);
            event_loop.run().await;
            while undo_failed(&mut event_loop).await {
                event_loop.run().await;
            }
            event_loop.end().await
        },
        named_configuration(&following.configuration, following.context.source),
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
    let summary = job_summary::of_follower(&follower, rollbacks, following.names, now.server_time);
    let outcome = so_far.and(CommandOutcome { summary, ..follower.exit(rollbacks).into() });
    if following.output.is_document() {
        let exit = following.context.exit(outcome.worst_exit()).code();
        let summary = json::summary(&follower, rollbacks, &configuration, exit, now);
        ui.out_streamed(&summary, following.output);
    } else {
        print_remarks(&follower, &configuration, now.server_time, ui);
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
    let Following { options, field_manager, context, .. } = event_loop.executor.following;
    // A release does not stay in parts: with `=all` the others are rolled back at the same time.
    let unless_recovered = options.undo_on_failure != Some(UndoScope::All);
    let (mut ids, writes) = (Vec::new(), Futures::new());
    for (id, start, rollback) in due {
        ids.push(id);
        event_loop.executor.rollbacks.insert(id, rollback);
        event_loop.executor.print_start(&event_loop.engine, id, event_loop.now(), event_loop.ui);
        let found = event_loop.engine.targets()[id.0].workload().clone();
        let (messages, stopped) = (event_loop.ui.messages.clone(), event_loop.requests.must_stop_writing());
        let options = WriteOptions::by(field_manager);
        let write = async move {
            let source = context.source;
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
    let (context, request) = (writer.context, writer.request);
    let (Some(options), Source::Cluster(cluster), false) = (wait, context.source, written.is_empty()) else {
        return writer.take_outcome();
    };
    let following = Following {
        options: FollowOptions { expect_found_template: true, ..options },
        output: &OutputForm::Text,
        draws: writer.ui.can_draw() && !plain && request.output == OutputForm::Text,
        names: NameContext::of(&written),
        configuration: NamedConfiguration::default(),
        shows_pods: false,
        field_manager: &request.field_manager,
        context,
    };
    let so_far = writer.take_outcome();
    run(&following, written, so_far, cluster, writer.ui).await
}

/// Prints a note for each ConfigMap or Secret that changed after pods started.
fn print_remarks(follower: &Follower, configuration: &[Configuration], now: Timestamp, ui: &mut Ui) {
    for target in follower.targets() {
        let stale = target.stale_configuration(configuration);
        ui.messages.findings(&stale_configuration(target.workload(), &stale, now));
    }
}

impl<'a> Executor<'a, Follower> for FollowSequence<'a> {
    const AWAITS_REQUESTS: bool = true;

    fn execute(
        &mut self,
        (id, task): (TargetId, FollowRequest),
        follower: &Follower,
        observer: Option<&mut Observer>,
        requests: &mut RequestsInFlight<'a, FollowerAnswer>,
        _now: Now,
        ui: &mut Ui,
    ) {
        let (Some(target), Some(observer)) = (follower.targets().get(id.0), observer) else { return };
        let (source, messages, stopped) =
            (self.following.context.source, ui.messages.clone(), requests.must_stop_writing());
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
        let Some(one) = follower.followed(&self.rollbacks).nth(id.0) else { return };
        let Following { output, draws, names, shows_pods, .. } = *self.following;
        if output.is_document() {
            ui.out_streamed(&json::event(one, report, now), output);
        } else if draws {
            ui.messages.findings(render::note(one, report, names).as_ref());
        } else {
            render::print(one, report, names, shows_pods, now, ui);
        }
    }

    fn is_result((_, report): &(TargetId, Report)) -> bool {
        matches!(report, Report::Ended(_))
    }

    fn frame(&self, follower: &Follower, now: Now, size: Terminal) -> Frame {
        self.frame_of(follower, now, false, size)
    }
}
