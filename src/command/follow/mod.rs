//! Follows rollouts until each has its result, for `status` and for `--wait`.

mod executor;

use k8s_openapi::jiff::Timestamp;
use tokio::time::Instant;

use self::executor::FollowExecutor;
use super::CommandOutcome;
use super::event_loop::frames::{FrameReporter, FrameSource};
use super::event_loop::{Reporter, drive};
use super::writing_verb::{Output, Writer};
use crate::cluster::configuration::named_configuration;
use crate::cluster::source::{Cluster, Source, beside};
use crate::model::api::configuration::Configuration;
use crate::model::engine::Now;
use crate::model::follow::{FollowOptions, Follower, TargetReport};
use crate::model::kind::Workload;
use crate::model::revision::references::{Configuration, NamedConfiguration};
use crate::render::follow::{ReportFormat, json, lines};
use crate::render::frame::{FollowMoment, Frame};
use crate::render::job_summary;
use crate::render::status::{NameContext, stale_configuration};
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

    /// Follows all workloads in one live frame.
    async fn draw(
        &self,
        found: Vec<Workload>,
        cluster: &Cluster,
        ui: &mut Ui,
    ) -> (Follower, Vec<Configuration>) {
        let mut reporter = FrameReporter::new(ui, RolloutFrames(self));
        let (follower, configuration) = self.follow(found, cluster, &mut reporter).await;
        let ends = || follower.targets().iter().filter_map(|target| Some((target, target.result()?)));
        let elapsed = ends().map(|(_, result)| result.elapsed).max().unwrap_or_default();
        let now = Now { elapsed, server_time: cluster.now() };
        let ui = reporter.finish(|frames, size| Frame::last(frames.moment(&follower, now), size));
        // The frame is on stdout. Print the failures on stderr too, for logs that keep only stderr.
        for (target, result) in ends() {
            ui.notes(lines::below_frame(target, result, self.names, now.server_time));
        }
        (follower, configuration)
    }
}

/// Follows all workloads at once until each has its result. Returns the outcome together with that of the command `so_far`.
pub(super) async fn run(
    request: &Request,
    found: Vec<Workload>,
    so_far: CommandOutcome,
    cluster: &Cluster,
    ui: &mut Ui,
) -> CommandOutcome {
    let started = Instant::now();
    let names = request.names;
    let (follower, configuration) = if request.format == ReportFormat::Frames {
        request.draw(found, cluster, ui).await
    } else {
        request.follow(found, cluster, &mut FollowReporter { ui, request }).await
    };
    if !ui.is_read() {
        let unfinished = follower.targets().iter().filter(|target| target.result().is_none());
        ui.notes(unfinished.map(lines::without_reader));
    }
    let summary = job_summary::of_follower(&follower, names, cluster.now());
    let outcome = so_far.and(CommandOutcome { summary, ..follower.exit().into() });
    match request.format {
        ReportFormat::Documents(format) => {
            let exit = outcome.worst_exit().code();
            ui.document(
                &json::summary(&follower, &configuration, exit, (started.elapsed(), cluster.now())),
                format,
            );
        }
        ReportFormat::Lines | ReportFormat::Frames => {
            print_remarks(&follower, &configuration, cluster.now(), ui);
        }
    }
    outcome
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
    let so_far = writer.take_outcome();
    run(&request, written, so_far, cluster, writer.ui).await
}

/// Prints which pods have earlier values of what was read.
pub(super) fn print_remarks(
    follower: &Follower,
    configuration: &[Configuration],
    now: Timestamp,
    ui: &mut Ui,
) {
    for target in follower.targets() {
        let stale = target.stale_configuration(configuration);
        ui.notes(stale_configuration(target.workload(), &stale, now));
    }
}

/// Prints the reports of a follower as lines or as documents.
pub(super) struct FollowReporter<'a> {
    pub(super) ui: &'a mut Ui,
    pub(super) request: &'a Request,
}

impl Reporter<Follower> for FollowReporter<'_> {
    fn ui(&mut self) -> &mut Ui {
        self.ui
    }

    fn report(&mut self, report: &TargetReport<'_>, now: Now) {
        let Request { format, names, shows_pods, .. } = self.request;
        match format {
            ReportFormat::Documents(format) => self.ui.document(&json::event(report, now.elapsed), *format),
            ReportFormat::Lines | ReportFormat::Frames => {
                lines::print(report, *names, *shows_pods, now, self.ui);
            }
        }
    }
}

/// Renders the frames of followed rollouts.
struct RolloutFrames<'a>(&'a Request);

impl RolloutFrames<'_> {
    fn moment<'a>(&self, follower: &'a Follower, now: Now) -> FollowMoment<'a> {
        FollowMoment { follower, now, names: self.0.names, shows_pods: self.0.shows_pods }
    }
}

impl FrameSource<Follower> for RolloutFrames<'_> {
    fn frame(&self, follower: &Follower, now: Now, size: Terminal) -> Frame {
        Frame::of(self.moment(follower, now), size)
    }

    fn record(&mut self, report: &TargetReport<'_>, _now: Now) -> Vec<String> {
        lines::above_frame(report, self.0.names)
    }
}
