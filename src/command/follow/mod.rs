//! Follows rollouts until each has its result, for `status` and for `--wait`.

pub(super) mod event_loop;
pub(super) mod event_source;
pub(super) mod frame_reporter;
pub(in crate::command) mod line_reporter;
mod undo_on_failure;

use tokio::time::Instant;

use self::event_loop::{follow, worst_exit};
use self::frame_reporter::{FrameReporter, FrameSource};
use super::CommandOutcome;
use super::writing_verb::{ChangeOptions, Output, TargetResults};
use crate::cluster::live::Cluster;
use crate::cluster::source::Source;
use crate::command::follow::line_reporter::{LineReporter, ReportFormat, print_document};
use crate::exit::Exit;
use crate::model::follow::{FollowOptions, Follower, Now, Report, TargetReport};
use crate::model::kind::Workload;
use crate::render::follow::{json, lines};
use crate::render::frame::{FollowSnapshot, Frame};
use crate::render::job_summary;
use crate::render::screen::Screen;
use crate::render::status::NameContext;
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
    /// Whether to show each pod: in a live frame, and after the last line.
    pub shows_pods: bool,
    /// The signals that stop the command.
    pub signals: Signals,
}

/// Follows all workloads at once until each has its result. `so_far` is the exit code of the targets that are not
/// followed.
pub async fn run(
    request: &Request,
    found: Vec<Workload>,
    so_far: Exit,
    cluster: &Cluster,
    screen: &mut Screen<'_>,
) -> CommandOutcome {
    let started = Instant::now();
    if request.format == ReportFormat::Frames {
        return draw(request, found, cluster, screen).await;
    }
    let mut reporter = LineReporter::new(screen, request.format, request.names, request.shows_pods);
    let follower =
        follow(cluster, request.options.clone(), found, request.signals.clone(), &mut reporter).await;
    let exit = worst_exit(&follower);
    if !screen.is_read() {
        let unfinished = follower.targets().iter().filter(|tracker| tracker.result().is_none());
        screen.notes(unfinished.map(lines::without_reader));
    }
    if matches!(request.format, ReportFormat::Json | ReportFormat::Yaml) {
        let summary = json::summary(&follower, exit.worst(so_far).code(), started.elapsed());
        print_document(&summary, request.format, screen);
    }
    screen.summarize(job_summary::of_follower(&follower, request.names, cluster.now()));
    exit.into()
}

/// Ends a verb that wrote: at once, or with `--wait` once every rollout in `written` has ended. A
/// workload in `written` is the object that our write returned; a later template takes over from it.
pub(super) async fn after_change(
    results: TargetResults,
    written: Vec<Workload>,
    change: &ChangeOptions,
    source: &Source,
    signals: Signals,
    screen: &mut Screen<'_>,
) -> CommandOutcome {
    let (Some(options), Source::Cluster(cluster), false) = (&change.wait, source, written.is_empty()) else {
        return results.outcome(screen);
    };
    let request = Request {
        options: FollowOptions {
            expect_found_template: true,
            replace_stuck_pods: change.replace_stuck_pods,
            ..options.clone()
        },
        format: ReportFormat::of_text(screen, change.plain || change.output != Output::Text),
        names: NameContext { others: written.len() > 1, namespaces: false },
        shows_pods: false,
        signals,
    };
    let followed = run(&request, written, Exit::Done, cluster, screen).await;
    results.outcome(screen).and(followed)
}

/// Follows all workloads in one live frame.
async fn draw(
    request: &Request,
    found: Vec<Workload>,
    cluster: &Cluster,
    screen: &mut Screen<'_>,
) -> CommandOutcome {
    let names = request.names;
    let shows_pods = request.shows_pods;
    let mut reporter = FrameReporter::new(screen, RolloutFrames { names, shows_pods });
    let follower =
        follow(cluster, request.options.clone(), found, request.signals.clone(), &mut reporter).await;
    let ends = || follower.targets().iter().filter_map(|tracker| Some((tracker, tracker.result()?)));
    let elapsed = ends().map(|(_, result)| result.elapsed).max().unwrap_or_default();
    let now = Now { elapsed, server_time: cluster.now() };
    let screen = reporter
        .finish(|_, size| Frame::last(FollowSnapshot { follower: &follower, now, names, shows_pods }, size));
    // The frame is on stdout. Print the failures on stderr too, for logs that keep only stderr.
    for (tracker, result) in ends() {
        screen.notes(lines::result(tracker, result, tracker.rollback().is_some(), names, now.server_time));
    }
    worst_exit(&follower).into()
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
        let TargetReport { target: tracker, report: Report::RollbackStarted { result, revision } } = report
        else {
            return Vec::new();
        };
        let causes = tracker.causes().flat_map(|cause| lines::cause_with_log(tracker, cause, self.names));
        causes.chain(lines::rollback_started(tracker, result, revision, self.names)).collect()
    }
}
