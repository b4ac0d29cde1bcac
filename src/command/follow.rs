//! Follows rollouts until each has its result, for `status` and for `--wait`.
//!
//! One event passes these, in this order:
//!
//! 1. `cluster/observe/`: a watch event or a refresh becomes the observation of a target.
//! 2. `event_loop.rs` passes it to the follower, with the time.
//! 3. `model/follow/`: the target evaluates it, and returns reports and tasks.
//! 4. [`Following::report`](Executor::report) prints each report: the status line, the causes, the result.
//! 5. [`Following::execute`](Executor::execute) executes each task. What it answers is an event again.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use tokio::time::Instant;

use super::context::{CommandOutcome, Context};
use super::event_loop::{Executor, drive};
use super::patch::{self, PatchTarget};
use super::targets::read_for_write;
use super::writing_verb::{FIELD_MANAGER, Output, Writer};
use crate::cluster::concurrent::with_optional_read;
use crate::cluster::configuration::named_configuration;
use crate::cluster::observe::Observer;
use crate::cluster::reader::reread;
use crate::cluster::source::{Cluster, Source};
use crate::cluster::write::WriteOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::patch::Patch;
use crate::model::change::undo::{UndoOptions, undo};
use crate::model::change::write_result::WriteResult;
use crate::model::engine::{Now, PodRef, TargetId};
use crate::model::follow::{
    FollowOptions, FollowedTarget, Follower, FollowerAnswer, FollowerTask, Report, RollbackResult,
};
use crate::model::kind::Workload;
use crate::model::revision::references::{Configuration, NamedConfiguration};
use crate::render::message_writer::Frame;
use crate::render::state_words::NameContext;
use crate::render::status::{ReportFormat, json, stale_configuration};
use crate::render::ui::Ui;
use crate::render::undo::hold_effect;
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
    let signals = following.context.world.signals.clone();
    let mut executor = following;
    let ((follower, _), configuration) = with_optional_read(
        drive(follower, &mut executor, &found, cluster, signals, ui),
        named_configuration(&following.configuration, following.context.source),
    )
    .await;
    if following.draws() {
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

/// The executor is a reference, because nothing of how to follow changes meanwhile.
impl Executor<Follower> for &Following<'_> {
    async fn execute(
        &mut self,
        (id, task): (TargetId, FollowerTask),
        follower: &Follower,
        observer: &mut Observer,
        _now: Now,
        ui: &mut Ui,
    ) -> Option<FollowerAnswer> {
        let target = follower.targets().get(id.0)?;
        match task {
            FollowerTask::Refresh => observer.refresh(id),
            FollowerTask::WatchWarnings => drop(observer.watch_warnings()),
            FollowerTask::ReadLog(log) => {
                observer.read_log(id, target.workload().object().namespace(), log);
            }
            FollowerTask::RollBack => {
                let written = undo_on_failure(target, self.context.source, ui).await;
                return vec![FollowerEvent::RolledBack(id, written.map(|written| written.map(Box::new)))];
            }
            FollowerTask::DeletePod(pod) => {
                delete_stuck(target.workload(), &pod, self.context.source, ui).await;
            }
        }
        None
    }

    fn draws(&self) -> bool {
        self.format == ReportFormat::Frames
    }

    fn report(&mut self, follower: &Follower, (id, report): &(TargetId, Report), now: Now, ui: &mut Ui) {
        let Some(target) = follower.targets().get(id.0) else { return };
        match &self.format {
            ReportFormat::Documents(form) => ui.out_streamed(&json::event(target, report, now), form),
            ReportFormat::Lines => render::print(target, report, self.names, self.shows_pods, now, ui),
            ReportFormat::Frames => ui.err_lines(render::above_frame(target, report, self.names)),
        }
    }

    fn is_result((_, report): &(TargetId, Report)) -> bool {
        matches!(report, Report::Ended { .. })
    }

    fn frame(&self, follower: &Follower, now: Now, size: Terminal) -> Frame {
        Frame::of(follower, now, self.names, self.shows_pods, false, size)
    }
}

/// How often a rollback is prepared again after a conflict.
const MAX_CONFLICTS: usize = 5;

/// Rolls a target back to the revision that was stable when following began; none if it has recovered. Reads everything again
/// first, also after a conflict, because the patch must match the objects as they are now.
///
/// # Errors
/// When the template is no longer the followed one, when there is no stable revision, and when the write fails or its result
/// is unknown.
async fn undo_on_failure(
    target: &FollowedTarget,
    source: &Source,
    ui: &mut Ui,
) -> Result<Option<Workload>, RollbackResult> {
    let options = WriteOptions { dry_run: false, field_manager: FIELD_MANAGER };
    let mut retries = 0..MAX_CONFLICTS;
    loop {
        let prepared = prepare_rollback(target, source, ui).await;
        let prepared = prepared.map_err(|error| RollbackResult::not_started(&error))?;
        let Some((workload, patch)) = prepared else { return Ok(None) };
        return match patch::apply(&patch, &PatchTarget::of(&workload), options, source, ui).await {
            WriteResult::Stored(object) => Workload::of(object).map(Some).ok_or_else(|| {
                let name = workload.target();
                let message = format!("the server answered to the rollback of {name} with another object");
                RollbackResult::unknown(&Error::new(ErrorKind::Malformed, message))
            }),
            WriteResult::Conflict(conflict) if !conflict.is_unanswered && retries.next().is_some() => {
                continue;
            }
            WriteResult::Conflict(conflict) => match conflict.error(&workload, "its rollback was prepared") {
                error if conflict.is_unanswered => Err(RollbackResult::unknown(&error)),
                error => Err(RollbackResult::not_started(&error)),
            },
            WriteResult::Refused(error) | WriteResult::Unavailable(error) => {
                Err(RollbackResult::not_started(&error))
            }
            WriteResult::Unknown(error) => Err(RollbackResult::unknown(&error)),
        };
    }
}

/// Returns the workload as it is now, and the patch that rolls it back; none if it has recovered.
async fn prepare_rollback(
    target: &FollowedTarget,
    source: &Source,
    ui: &mut Ui,
) -> Result<Option<(Workload, Patch)>> {
    let found = reread(target.workload(), source).await?;
    let observed = read_for_write(found, source, ui).await?;
    let workload = &observed.workload;
    if target.has_recovered(&observed, source.now()) {
        ui.err_line(&format!(
            "note: {}: not rolled back, because it has completed meanwhile",
            workload.target()
        ));
        return Ok(None);
    }
    let stable = target.rollback_revision(&observed);
    let stable = stable.map_err(|why| Error::new(ErrorKind::Conflict, why.words()))?;
    ui.err_lines_once(owner_warnings::before_an_undo(workload));
    ui.err_lines_once(owner_warnings::of_apply(workload, stable, &UndoOptions::default()));
    let undo = undo(&observed, stable, &UndoOptions::default())?;
    ui.err_lines_once(hold_effect(workload, &undo));
    let patch = undo.patch;
    Ok(Some((observed.workload, patch)))
}

/// Deletes a stuck pod that blocks the rollback of a StatefulSet. A failure is a warning: the rollback
/// continues when the user deletes the pod.
async fn delete_stuck(workload: &Workload, pod: &PodRef, source: &Source, ui: &mut Ui) {
    ui.err_line(&format!("deleting pod {}: not ready, and not on the current revision", pod.name));
    let namespace = workload.object().namespace();
    // A pod that is gone already and an unknown result are no refusals: the watch shows what happened.
    if let Some(why) = source.remove_pod(namespace, pod, false).await.refusal() {
        ui.err_line(&format!("warning: stuck pod {} was not deleted: {why}", pod.name));
    }
}
