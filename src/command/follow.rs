//! Follows rollouts until each has its result, for `status` and for `--wait`. CONTRIBUTING.md shows the way of one event.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use super::context::{CommandOutcome, Context};
use super::event_loop::{Executor, RequestsInFlight, drive};
use super::undo_on_failure::{delete_stuck, undo_on_failure};
use super::writing_verb::Writer;
use crate::cluster::concurrent::with_optional_read;
use crate::cluster::configuration::named_configuration;
use crate::cluster::objects::observer::Observer;
use crate::cluster::source::{Cluster, Source};
use crate::cluster::write::WriteOptions;
use crate::model::engine::{Now, TargetId};
use crate::model::follow::{FollowOptions, FollowRequest, Follower, FollowerAnswer, Report};
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

impl Following<'_> {
    /// Draws the last frame, which stays on the terminal.
    fn draw_last(&self, follower: &Follower, server_time: Timestamp, ui: &mut Ui) {
        let ends = || follower.targets().iter().filter_map(|target| Some((target, target.result()?)));
        let elapsed = ends().map(|(_, result)| result.elapsed).max().unwrap_or_default();
        let now = Now { elapsed, server_time };
        ui.draw_last(|size| Frame::of(follower, now, self.names, self.shows_pods, true, size));
        // The frame is on stdout. Print the failures on stderr too, for logs that keep only stderr.
        for (target, result) in ends() {
            render::print_outcome(target, result, self.names, server_time, false, ui);
        }
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
    ui.messages.lines(render::timeout_before_grace(&following.options));
    let follower = Follower::new(following.options.clone(), found.iter().cloned());
    let (signals, mut executor) = (following.context.world.signals.clone(), following);
    let observer = Observer::of_found(Arc::clone(cluster), &found);
    let ((follower, now), configuration) = with_optional_read(
        drive(follower, &mut executor, Some(observer), following.context.source, signals, ui),
        named_configuration(&following.configuration, following.context.source),
    )
    .await;
    if following.draws {
        following.draw_last(&follower, now.server_time, ui);
    }
    if ui.is_closed() {
        let unfinished = follower.targets().iter().filter(|target| target.result().is_none());
        let is_undo = following.options.undo_on_failure.is_some();
        ui.messages.lines(unfinished.map(|target| render::without_reader(target, is_undo)));
    }
    let summary = job_summary::of_follower(&follower, following.names, now.server_time);
    let outcome = so_far.and(CommandOutcome { summary, ..follower.exit().into() });
    if following.output.is_document() {
        let exit = following.context.exit(outcome.worst_exit()).code();
        ui.out_streamed(&json::summary(&follower, &configuration, exit, now), following.output);
    } else {
        print_remarks(&follower, &configuration, now.server_time, ui);
    }
    outcome
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
        ui.messages.lines(stale_configuration(target.workload(), &stale, now));
    }
}

impl<'a> Executor<'a, Follower> for &'a Following<'a> {
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
            (self.context.source, ui.messages.clone(), requests.must_stop_writing());
        match task {
            FollowRequest::Refresh => observer.refresh(id),
            FollowRequest::WatchWarnings => observer.watch_warnings(),
            FollowRequest::ReadLog(log) => {
                observer.read_log(id, target.workload().object().namespace(), log);
            }
            FollowRequest::RollBack { start, unless_recovered } => {
                let (found, options) = (target.workload().clone(), WriteOptions::by(self.field_manager));
                requests.start(async move {
                    let written = undo_on_failure(
                        &found,
                        &start,
                        unless_recovered,
                        options,
                        source,
                        &messages,
                        stopped,
                    )
                    .await;
                    Some((id, written.map(|written| written.map(Box::new))))
                });
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
        self.draws
    }

    fn report(&mut self, follower: &Follower, (id, report): &(TargetId, Report), now: Now, ui: &mut Ui) {
        let Some(target) = follower.targets().get(id.0) else { return };
        if self.output.is_document() {
            ui.out_streamed(&json::event(target, report, now), self.output);
        } else if self.draws {
            ui.messages.lines(render::above_frame(target, report, self.names));
        } else {
            render::print(target, report, self.names, self.shows_pods, now, ui);
        }
    }

    fn is_result((_, report): &(TargetId, Report)) -> bool {
        matches!(report, Report::Ended(_))
    }

    fn frame(&self, follower: &Follower, now: Now, size: Terminal) -> Frame {
        Frame::of(follower, now, self.names, self.shows_pods, false, size)
    }
}
