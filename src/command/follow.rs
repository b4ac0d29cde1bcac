//! Follows rollouts until each has its result, for `status` and for `--wait`.
//!
//! One event passes these, in this order:
//!
//! 1. `cluster/observe/`: a watch event or a refresh becomes the observation of a target.
//! 2. `event_loop.rs` passes it to the follower, with the time.
//! 3. `model/follow/`: the target evaluates it, and returns reports and tasks.
//! 4. `Following::report` prints each report: the status line, the causes, the result.
//! 5. `Following::execute` executes each task, or starts a request. What that answers is an event again.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::context::{CommandOutcome, Context};
use super::event_loop::{Executor, RequestsInFlight, drive};
use super::patch::{self, PatchTarget};
use super::writing_verb::{FIELD_MANAGER, Output, Writer};
use crate::cluster::concurrent::with_optional_read;
use crate::cluster::configuration::named_configuration;
use crate::cluster::observe::Observer;
use crate::cluster::reader::{Needs, read_one, reread};
use crate::cluster::source::{Cluster, Source};
use crate::cluster::write::WriteOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::patch::Patch;
use crate::model::change::undo::{UndoOptions, undo};
use crate::model::change::write_result::{MAX_CONFLICTS, WriteResult};
use crate::model::engine::{Now, PodRef, TargetId};
use crate::model::follow::{
    FollowOptions, FollowedTarget, Follower, FollowerAnswer, FollowerTask, Report, RollbackResult,
};
use crate::model::kind::Workload;
use crate::model::revision::references::{Configuration, NamedConfiguration};
use crate::render::message_writer::{Frame, MessageWriter};
use crate::render::state_words::NameContext;
use crate::render::status::{ReportFormat, json, stale_configuration};
use crate::render::ui::Ui;
use crate::render::undo::{hold_effect, kept_pods};
use crate::render::{job_summary, owner_warnings, status as render};
use crate::world::Terminal;

/// How to follow workloads and print the reports.
pub struct Following<'a> {
    /// The goal, the deadlines and the timeout.
    pub options: FollowOptions,
    /// The output format.
    pub format: ReportFormat,
    /// What a workload's name in a line must distinguish.
    pub names: NameContext,
    /// The ConfigMaps and Secrets whose changes are remarks.
    pub configuration: NamedConfiguration,
    /// Whether to show each pod: in a live frame, and after the last line.
    pub shows_pods: bool,
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

    /// Prints one report; with frames only what no frame shows, above the frame.
    pub(super) fn report(
        &self,
        follower: &Follower,
        (id, report): &(TargetId, Report),
        now: Now,
        ui: &mut Ui,
    ) {
        let Some(target) = follower.targets().get(id.0) else { return };
        match &self.format {
            ReportFormat::Documents(form) => ui.out_streamed(&json::event(target, report, now), form),
            ReportFormat::Lines => render::print(target, report, self.names, self.shows_pods, now, ui),
            ReportFormat::Frames => ui.err_lines(render::above_frame(target, report, self.names)),
        }
    }

    /// Whether a report is a result.
    pub(super) fn is_result((_, report): &(TargetId, Report)) -> bool {
        matches!(report, Report::Ended { .. })
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
    let (started, names) = (Instant::now(), following.names);
    let follower = Follower::new(following.options.clone(), found.iter().cloned());
    let (signals, mut executor) = (following.context.world.signals.clone(), following);
    let ((follower, _), configuration) = with_optional_read(
        drive(follower, &mut executor, &found, cluster, signals, ui),
        named_configuration(&following.configuration, following.context.source),
    )
    .await;
    if following.format == ReportFormat::Frames {
        following.draw_last(&follower, cluster.now(), ui);
    }
    if ui.is_closed() {
        let unfinished = follower.targets().iter().filter(|target| target.result().is_none());
        ui.err_lines(unfinished.map(render::without_reader));
    }
    let summary = job_summary::of_follower(&follower, names, cluster.now());
    let outcome = so_far.and(CommandOutcome { summary, ..follower.exit().into() });
    match &following.format {
        ReportFormat::Documents(form) => {
            let exit = following.context.exit(outcome.worst_exit()).code();
            let now = Now { elapsed: started.elapsed(), server_time: cluster.now() };
            ui.out_streamed(&json::summary(&follower, &configuration, exit, now), form);
        }
        ReportFormat::Lines | ReportFormat::Frames => {
            print_remarks(&follower, &configuration, cluster.now(), ui);
        }
    }
    outcome
}

/// Ends a verb that wrote: at once, or with `--wait` once every rollout in `written` has ended. A
/// workload in `written` is the object that our write returned; if another client changes its template later, it fails.
pub(super) async fn after_change(writer: &mut Writer<'_>, written: Vec<Workload>) -> CommandOutcome {
    let (context, change) = (writer.context, writer.options);
    let (Some(options), Source::Cluster(cluster), false) = (&change.wait, context.source, written.is_empty())
    else {
        return writer.take_outcome();
    };
    let following = Following {
        options: FollowOptions { expect_found_template: true, ..options.clone() },
        format: ReportFormat::of_text(writer.ui, change.plain || change.output != Output::Text),
        names: NameContext::of(&written),
        configuration: NamedConfiguration::default(),
        shows_pods: false,
        context,
    };
    let so_far = writer.take_outcome();
    run(&following, written, so_far, cluster, writer.ui).await
}

/// Prints a note for each ConfigMap or Secret that changed after pods started.
pub(super) fn print_remarks(
    follower: &Follower,
    configuration: &[Configuration],
    now: Timestamp,
    ui: &mut Ui,
) {
    for target in follower.targets() {
        let stale = target.stale_configuration(configuration);
        ui.err_lines(stale_configuration(target.workload(), &stale, now));
    }
}

impl<'a> Executor<'a, Follower> for &'a Following<'a> {
    const AWAITS_REQUESTS: bool = true;

    fn execute(
        &mut self,
        (id, task): (TargetId, FollowerTask),
        follower: &Follower,
        observer: &mut Observer,
        requests: &mut RequestsInFlight<'a, FollowerAnswer>,
        _now: Now,
        ui: &mut Ui,
    ) {
        let Some(target) = follower.targets().get(id.0) else { return };
        let (source, messages, stopped) = (self.context.source, ui.messages(), requests.must_stop_writing());
        match task {
            FollowerTask::Refresh => observer.refresh(id),
            FollowerTask::WatchWarnings => drop(observer.watch_warnings()),
            FollowerTask::ReadLog(log) => {
                observer.read_log(id, target.workload().object().namespace(), log);
            }
            FollowerTask::RollBack => {
                let target = target.clone();
                requests.start(async move {
                    let written = undo_on_failure(&target, source, &messages, stopped).await;
                    Some((id, written.map(|written| written.map(Box::new))))
                });
            }
            FollowerTask::DeletePod(pod) => {
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

    fn draws(&self) -> bool {
        self.format == ReportFormat::Frames
    }

    fn report(&mut self, follower: &Follower, report: &(TargetId, Report), now: Now, ui: &mut Ui) {
        Following::report(self, follower, report, now, ui);
    }

    fn is_result(report: &(TargetId, Report)) -> bool {
        Following::is_result(report)
    }

    fn frame(&self, follower: &Follower, now: Now, size: Terminal) -> Frame {
        Frame::of(follower, now, self.names, self.shows_pods, false, size)
    }
}

/// How long a rollback that cannot be written now is tried again. An API server restarts in less time.
const ROLLBACK_LIMIT: Duration = Duration::from_secs(60);

/// The first pause before a rollback is tried again. Each further one is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Rolls a target back to the revision that was stable when following began; none if it has recovered. Reads everything again
/// first, also after a conflict, because the patch must match the objects as they are now. It tries again while the API server
/// cannot be reached or is overloaded, until the command is `stopped`, but never after a write that may be stored.
///
/// # Errors
/// When the template is no longer the followed one, when there is no stable revision, and when the write fails or its result
/// is unknown.
async fn undo_on_failure(
    target: &FollowedTarget,
    source: &Source,
    messages: &MessageWriter,
    mut stopped: watch::Receiver<bool>,
) -> Result<Option<Workload>, RollbackResult> {
    let options = WriteOptions { dry_run: false, field_manager: FIELD_MANAGER };
    let (workload, begun) = (target.workload(), Instant::now());
    let (mut pause, mut retries) = (FIRST_PAUSE, 0..MAX_CONFLICTS);
    loop {
        let prepared = tokio::select! {
            biased;
            _ = stopped.wait_for(|is_stopped| *is_stopped) => {
                Err(Error::new(ErrorKind::Conflict, "a signal ended the command before the write"))
            }
            prepared = prepare_rollback(target, source, messages) => prepared,
        };
        let written = match prepared {
            Ok(Some((to, patch))) => {
                patch::apply(&patch, &PatchTarget::of(&to), options, source, messages).await
            }
            Ok(None) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::Unreachable => WriteResult::Unavailable(error),
            Err(error) => WriteResult::Refused(error),
        };
        let unavailable = match written {
            WriteResult::Stored(object) => {
                return Workload::of(object).map(Some).ok_or_else(|| {
                    let name = workload.target();
                    let message =
                        format!("the server answered to the rollback of {name} with another object");
                    RollbackResult::unknown(&Error::new(ErrorKind::Malformed, message))
                });
            }
            WriteResult::Conflict(conflict) if !conflict.is_unanswered && retries.next().is_some() => {
                continue;
            }
            WriteResult::Conflict(conflict) => {
                let error = conflict.error(workload, "its rollback was prepared");
                let is_unknown = conflict.is_unanswered;
                return Err(if is_unknown {
                    RollbackResult::unknown(&error)
                } else {
                    RollbackResult::not_started(&error)
                });
            }
            WriteResult::Refused(error) => return Err(RollbackResult::not_started(&error)),
            WriteResult::Unknown(error) => return Err(RollbackResult::unknown(&error)),
            WriteResult::Unavailable(error) => error,
        };
        if begun.elapsed() + pause > ROLLBACK_LIMIT {
            return Err(RollbackResult::not_started(&unavailable));
        }
        if pause == FIRST_PAUSE {
            let name = workload.target();
            messages.note(&format!("note: {name} cannot be rolled back yet: {unavailable}; trying again"));
        }
        let _ = timeout(pause, stopped.wait_for(|is_stopped| *is_stopped)).await; // whichever is first
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Returns the workload as it is now, and the patch that rolls it back; none if it has recovered.
async fn prepare_rollback(
    target: &FollowedTarget,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Option<(Workload, Patch)>> {
    let found = reread(target.workload(), source).await?;
    let (observed, notes) = read_one(found, Needs::WRITE, source).await;
    for note in &notes {
        messages.note_once(note);
    }
    let observed = observed?;
    let workload = &observed.workload;
    if target.has_recovered(&observed, source.now()) {
        let name = workload.target();
        messages.note(&format!("note: {name}: not rolled back, because it has completed meanwhile"));
        return Ok(None);
    }
    let stable = target.rollback_revision(&observed);
    let stable = stable.map_err(|why| Error::new(ErrorKind::Conflict, why.words()))?;
    let undo = undo(&observed, stable, &UndoOptions::default())?;
    let warnings = owner_warnings::before_an_undo(workload).into_iter();
    let warnings = warnings.chain(owner_warnings::of_apply(workload, stable, &UndoOptions::default()));
    let warnings = warnings.chain(hold_effect(workload, &undo)).chain(kept_pods(&observed, &undo));
    for line in warnings {
        messages.note_once(&line);
    }
    let patch = undo.patch;
    Ok(Some((observed.workload, patch)))
}

/// Deletes a stuck pod that blocks the rollback of a StatefulSet. A failure is a warning: the rollback
/// continues when the user deletes the pod.
async fn delete_stuck(workload: &Workload, pod: &PodRef, source: &Source, messages: &MessageWriter) {
    messages.note(&format!("deleting pod {}: not ready, and not on the current revision", pod.name));
    let namespace = workload.object().namespace();
    // A pod that is gone already and an unknown result are no refusals: the watch shows what happened.
    if let Some(why) = source.remove_pod(namespace, pod, false).await.refusal() {
        messages.note(&format!("warning: stuck pod {} was not deleted: {why}", pod.name));
    }
}
