//! Follows rollouts until each has its result, for `status` and for `--wait`.

mod executor;
pub(in crate::command) mod line_reporter;

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use self::executor::FollowExecutor;
use super::event_loop::drive;
use super::event_loop::frames::{FrameReporter, FrameSource};
use super::writing_verb::{Output, Writer};
use super::{CommandOutcome, stop_signals};
use crate::cluster::concurrently::beside;
use crate::cluster::configuration::named_configuration;
use crate::cluster::live::Cluster;
use crate::cluster::source::Source;
use crate::command::event_loop::{LOG_LINES, Reporter, event_of_log};
use crate::command::follow::line_reporter::{LineReporter, ReportFormat, print_document};
use crate::exit::Exit;
use crate::model::api::configuration::Configuration;
use crate::model::engine::{Engine, Now, TargetEvent, TargetId};
use crate::model::follow::{
    FollowOptions, Follower, FollowerEvent, FollowerTask, Outcome, Report, RollbackResult, TargetReport,
    TargetResult,
};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::configuration::NamedConfiguration;
use crate::render::follow::{json, lines};
use crate::render::frame::{FollowSnapshot, Frame};
use crate::render::job_summary;
use crate::render::status::{NameContext, json as status_json, stale_configuration};
use crate::render::ui::Ui;
use crate::world::{Signals, Terminal};

/// What to follow and how to print it.
#[derive(Clone, Debug)]
pub struct Request {
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
    /// The signals that stop the command.
    pub signals: Signals,
}

impl Request {
    /// Follows workloads until each has its result, and returns the follower with the results, and the ConfigMaps and Secrets
    /// that were read beside it.
    async fn follow(
        &self,
        found: Vec<Workload>,
        cluster: &Cluster,
        reporter: &mut impl Reporter<Follower>,
    ) -> (Follower, Vec<Configuration>) {
        let executor = FollowExecutor::new(cluster);
        let follower = Follower::new(self.options.clone(), found.iter().cloned());
        let source = Source::Cluster(Box::new(cluster.clone()));
        let read = named_configuration(&self.configuration, &source);
        let work = drive(follower, executor, &found, cluster, self.signals.clone(), reporter);
        let ((follower, _), configuration) = beside(work, read).await;
        (follower, configuration)
    }
}

/// Follows all workloads at once until each has its result. `so_far` is the exit code of the targets that are not
/// followed.
pub async fn run(
    request: &Request,
    found: Vec<Workload>,
    so_far: Exit,
    cluster: &Cluster,
    ui: &mut Ui,
) -> CommandOutcome {
    let started = Instant::now();
    if request.format == ReportFormat::Frames {
        return draw(request, found, cluster, ui).await;
    }
    let mut reporter = LineReporter::new(ui, request.format, request.names, request.shows_pods);
    let (follower, configuration) = request.follow(found, cluster, &mut reporter).await;
    let exit = worst_exit(&follower);
    if !ui.is_read() {
        let unfinished = follower.targets().iter().filter(|tracker| tracker.result().is_none());
        ui.notes(unfinished.map(lines::without_reader));
    }
    if matches!(request.format, ReportFormat::Json | ReportFormat::Yaml) {
        let summary = json::summary(&follower, &configuration, exit.worst(so_far).code(), started.elapsed());
        print_document(&summary, request.format, ui);
    } else {
        print_remarks(&follower, &configuration, cluster.now(), ui);
    }
    let summary = job_summary::of_follower(&follower, request.names, cluster.now());
    CommandOutcome { summary, ..exit.into() }
}

/// Evaluates one workload once: what a follower does with its first observation, and nothing more. Logs are read from `logs`.
/// Returns its outcome, and its document if the format has documents and it can be evaluated.
pub(super) async fn evaluate_once(
    request: &Request,
    observed: Observation,
    configuration: &[Configuration],
    (logs, server_time): (Option<&Cluster>, Timestamp),
    ui: &mut Ui,
) -> (CommandOutcome, Option<Value>) {
    let now = Now { elapsed: Duration::ZERO, server_time };
    let mut follower = Follower::new(request.options.clone(), [observed.workload.clone()]);
    let event = |change| FollowerEvent::Target(TargetId(0), change);
    let first = follower.apply(event(TargetEvent::Refreshed(Box::new(observed))), now);
    let ended = first.reports.iter().find_map(|report| Some(report.target.result()?.outcome.clone()));
    if let Some(Outcome::Unreadable(error)) = ended {
        return (error.into(), None);
    }
    let mut reports: Vec<_> = first.reports.into_iter().map(|report| report.report).collect();
    for (_, task) in first.tasks {
        if let (FollowerTask::ReadLog(place), Some(cluster), [target]) = (task, logs, follower.targets()) {
            let namespace = target.workload().object().namespace();
            let lines = cluster.log_tail(namespace, &place, LOG_LINES).await;
            let Some(log) = event_of_log(place, lines, ui) else { continue };
            reports.extend(follower.apply(event(log), now).reports.into_iter().map(|report| report.report));
        }
    }
    if let (ReportFormat::Lines, [target]) = (request.format, follower.targets()) {
        let mut reporter = LineReporter::new(ui, request.format, request.names, request.shows_pods);
        // The logs were read after the end.
        reports.sort_by_key(|report| matches!(report, Report::Ended { .. }));
        for report in reports {
            reporter.report(&TargetReport { target, report }, now);
        }
        print_remarks(&follower, configuration, server_time, ui);
    }
    let is_stable = request.options.stable.is_some_and(|stable| !stable.is_zero());
    if is_stable && ended == Some(Outcome::Unfinished) {
        ui.note_once("note: --stable needs more than one observation, so stability is not shown");
    }
    let summary = job_summary::of_follower(&follower, request.names, server_time);
    let mut documented = follower.targets().iter().filter(|_| request.format != ReportFormat::Lines);
    let document = documented.find_map(|target| {
        let view = target.view(server_time)?.with_configuration(target.observation()?, configuration);
        Some(status_json(&view, target.least_time()))
    });
    (CommandOutcome { summary, ..worst_exit(&follower).into() }, document)
}

/// Ends a verb that wrote: at once, or with `--wait` once every rollout in `written` has ended. A
/// workload in `written` is the object that our write returned; a later template takes over from it.
pub(super) async fn after_change(writer: &mut Writer<'_>, written: Vec<Workload>) -> CommandOutcome {
    let (context, change) = (writer.context, writer.options);
    let (Some(options), Source::Cluster(cluster), false) = (&change.wait, context.source, written.is_empty())
    else {
        return writer.take_outcome();
    };
    let request = Request {
        options: FollowOptions {
            expect_found_template: true,
            replace_stuck_pods: change.replace_stuck_pods,
            ..options.clone()
        },
        format: ReportFormat::of_text(writer.ui, change.plain || change.output != Output::Text),
        names: NameContext { others: written.len() > 1, namespaces: false },
        configuration: NamedConfiguration::default(),
        shows_pods: false,
        signals: context.signals.clone(),
    };
    let followed = run(&request, written, Exit::Done, cluster, writer.ui).await;
    writer.take_outcome().and(followed)
}

/// Follows all workloads in one live frame.
async fn draw(request: &Request, found: Vec<Workload>, cluster: &Cluster, ui: &mut Ui) -> CommandOutcome {
    let names = request.names;
    let shows_pods = request.shows_pods;
    let mut reporter = FrameReporter::new(ui, RolloutFrames { names, shows_pods });
    let (follower, configuration) = request.follow(found, cluster, &mut reporter).await;
    let ends = || follower.targets().iter().filter_map(|tracker| Some((tracker, tracker.result()?)));
    let elapsed = ends().map(|(_, result)| result.elapsed).max().unwrap_or_default();
    let now = Now { elapsed, server_time: cluster.now() };
    let ui = reporter
        .finish(|_, size| Frame::last(FollowSnapshot { follower: &follower, now, names, shows_pods }, size));
    // The frame is on stdout. Print the failures on stderr too, for logs that keep only stderr.
    for (tracker, result) in ends() {
        let has_failed = tracker.rollback().is_some();
        ui.notes(lines::result(tracker, result, has_failed, names, now.server_time).all());
    }
    print_remarks(&follower, &configuration, cluster.now(), ui);
    worst_exit(&follower).into()
}

/// Prints which pods have earlier values of what was read.
fn print_remarks(follower: &Follower, configuration: &[Configuration], now: Timestamp, ui: &mut Ui) {
    for tracker in follower.targets() {
        let stale = tracker.stale_configuration(configuration);
        ui.notes(stale_configuration(tracker.workload(), &stale, now));
    }
}

/// Renders the frames of followed rollouts.
struct RolloutFrames {
    names: NameContext,
    shows_pods: bool,
}

impl FrameSource<Follower> for RolloutFrames {
    fn frame(&self, follower: &Follower, now: Now, size: Terminal) -> Frame {
        Frame::of(FollowSnapshot { follower, now, names: self.names, shows_pods: self.shows_pods }, size)
    }

    /// The last frame shows the rollback, so the causes of the failure have to stay above it.
    fn record(&mut self, report: &TargetReport<'_>, _now: Now) -> Vec<String> {
        let TargetReport { target: tracker, report } = report;
        let names = self.names;
        match report {
            Report::RollbackTarget(target) => vec![lines::rollback_target(tracker, target, names)],
            Report::LeastTime { least, timeout } => lines::least_time(tracker, *least, *timeout, names),
            Report::RollbackStarted { result, revision } => {
                let causes = tracker.causes().flat_map(|cause| lines::cause_with_log(tracker, cause, names));
                causes.chain(lines::rollback_started(tracker, result, revision, names)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the exit code for the outcome of one workload.
#[must_use]
fn exit(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Reached => Exit::Done,
        Outcome::Held => Exit::Held,
        Outcome::Deleted | Outcome::Recreated => Exit::Error,
        Outcome::Failed(_) | Outcome::OtherTargetFailed(_) => Exit::Failed,
        Outcome::Unreadable(error) => error.exit(),
        Outcome::Unfinished | Outcome::TimedOut(_) => Exit::Unfinished,
        Outcome::Interrupted(signal) => stop_signals::exit(*signal),
    }
}

/// Returns the worst exit code of all targets. A target has no result when the reader of stdout exited.
#[must_use]
fn worst_exit(follower: &Follower) -> Exit {
    let ends = follower.targets().iter().map(|tracker| tracker.result());
    ends.map(|result| result.map_or(Exit::Unfinished, exit_of)).fold(Exit::Done, Exit::worst)
}

/// Returns the exit code of one target. A failed rollout stays failed after a successful rollback; an
/// interrupted rollback counts as interrupted.
fn exit_of(result: &TargetResult) -> Exit {
    let back = match &result.rollback {
        Some(RollbackResult::RolledBack { outcome: Outcome::Interrupted(signal), .. }) => {
            stop_signals::exit(*signal)
        }
        _ => Exit::Done,
    };
    exit(&result.outcome).worst(back)
}
