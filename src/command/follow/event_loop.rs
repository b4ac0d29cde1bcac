//! The event loop of `status`: passes events to the follower, executes its requests and prints its reports.

use std::collections::BTreeSet;
use std::time::Duration;

use super::undo_on_failure::{delete_stuck, undo_on_failure};
use crate::cluster::live::Cluster;
use crate::command::follow::event_source::{EventSource, Received};
use crate::command::stop_signals::{self, StopSignals};
use crate::exit::Exit;
use crate::model::follow::{
    FollowOptions, Follower, FollowerEvent, FollowerTask, Now, Outcome, Output, PodRef, RollbackResult,
    TargetEvent, TargetId, TargetReport, TargetResult,
};
use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::render::follow::lines;
use crate::render::screen::Screen;
use crate::world::Signals;

/// What an event loop drives: a follower or a stepper.
pub(in crate::command) trait Engine {
    /// A report with its facts.
    type Report<'a>;
}

impl Engine for Follower {
    type Report<'a> = TargetReport<'a>;
}

/// Prints the reports of an engine while its event loop runs.
pub(in crate::command) trait Reporter<'w, E: Engine> {
    /// Returns the screen that the reporter prints on.
    fn screen(&mut self) -> &mut Screen<'w>;

    /// Prints one report.
    fn report(&mut self, report: &E::Report<'_>, now: Now);

    /// Prints a note, unless the same note was printed before.
    fn note_once(&mut self, line: &str);

    /// Whether stdout can still be written. False after the reader of a pipe exited.
    fn has_reader(&self) -> bool;

    /// Redraws the frame if a redraw is due. Called after all reports so far were printed.
    fn redraw_if_due(&mut self, _engine: &E, _now: Now) {}

    /// Returns when the next redraw is due, as the time since the loop started.
    fn next_redraw(&self) -> Option<Duration> {
        None
    }
}

/// Follows workloads until each has its result, and returns the follower with the results.
pub(in crate::command) async fn follow<'w>(
    cluster: &Cluster,
    options: FollowOptions,
    found: Vec<Workload>,
    signals: Signals,
    reporter: &mut impl Reporter<'w, Follower>,
) -> Follower {
    let source = EventSource::new(cluster, &found);
    let stops = StopSignals::new(signals);
    let timeout = options.timeout;
    let follower = Follower::new(options, found);
    let mut event_loop = FollowLoop {
        cluster,
        source,
        stops,
        follower,
        to_undo: Vec::new(),
        to_delete: Vec::new(),
        timeout,
        timed: BTreeSet::new(),
        reporter,
    };
    event_loop.run().await;
    event_loop.follower
}

struct FollowLoop<'a, T> {
    cluster: &'a Cluster,
    source: EventSource<'a>,
    stops: StopSignals,
    follower: Follower,
    /// The failed targets to roll back.
    to_undo: Vec<TargetId>,
    /// The pods that block a rollback and are to be deleted.
    to_delete: Vec<(TargetId, PodRef)>,
    /// The time limit of all targets.
    timeout: Option<Duration>,
    /// The targets that progressed once, so that their least time was printed.
    timed: BTreeSet<usize>,
    reporter: &'a mut T,
}

impl<'w, T: Reporter<'w, Follower>> FollowLoop<'_, T> {
    async fn run(&mut self) {
        while !self.follower.is_finished() && self.reporter.has_reader() {
            tokio::select! {
                biased;
                stop = self.stops.next() => self.apply(FollowerEvent::Stopped(stop)),
                received = self.source.next(self.follower.due(), self.reporter.next_redraw()) => self.receive(received),
            }
            self.note_least_times();
            self.execute_writes().await;
            self.watch_warnings_if_needed();
            let now = self.source.now();
            self.reporter.redraw_if_due(&self.follower, now);
        }
        for received in self.source.drain_logs().await {
            self.receive(received);
        }
    }

    fn receive(&mut self, received: Received) {
        match received {
            Received::Changes(changes) => {
                for (target, event) in changes {
                    self.apply(FollowerEvent::Target(target, event));
                }
            }
            Received::Due { answered } => self.apply(FollowerEvent::Tick { answered }),
            Received::Redraw => {}
            Received::Note(line) => self.reporter.note_once(line),
        }
    }

    fn apply(&mut self, event: FollowerEvent) {
        let now = self.source.now();
        let Output { reports, tasks } = self.follower.apply(event, now);
        for report in reports {
            self.reporter.report(&report, now);
        }
        for (target, task) in tasks {
            match task {
                FollowerTask::Refresh => self.source.refresh(target),
                FollowerTask::ReadLog(place) => {
                    if let Some(tracker) = self.follower.targets().get(target.0) {
                        self.source.fetch_log(target, tracker.workload(), place);
                    }
                }
                FollowerTask::RollBack => self.to_undo.push(target),
                FollowerTask::DeletePod(pod) => self.to_delete.push((target, pod)),
            }
        }
    }

    /// Prints the least time of each rollout that begins to progress.
    fn note_least_times(&mut self) {
        let elapsed = self.source.now().elapsed;
        for (index, tracker) in self.follower.targets().iter().enumerate() {
            if !tracker.is_progressing() || !self.timed.insert(index) {
                continue;
            }
            let Some(least) = tracker.least_time() else { continue };
            for line in lines::least_time(tracker, least, self.timeout, elapsed) {
                self.reporter.note_once(&line);
            }
        }
    }

    /// Executes the writes that the follower requested. Events that arrive meanwhile wait in the source.
    async fn execute_writes(&mut self) {
        for target in std::mem::take(&mut self.to_undo) {
            let Some(tracker) = self.follower.targets().get(target.0) else { continue };
            let written = undo_on_failure(tracker, self.cluster, self.reporter.screen()).await;
            self.apply(FollowerEvent::Target(target, TargetEvent::RolledBack(written.map(Box::new))));
        }
        for (target, pod) in std::mem::take(&mut self.to_delete) {
            let Some(tracker) = self.follower.targets().get(target.0) else { continue };
            delete_stuck(tracker.workload(), &pod, self.cluster, self.reporter.screen()).await;
        }
    }

    /// Starts to watch warning events as soon as one target is neither complete nor unobserved.
    fn watch_warnings_if_needed(&mut self) {
        let unfinished =
            |state: RolloutState| !matches!(state, RolloutState::Complete | RolloutState::Unobserved);
        let mut trackers = self.follower.targets().iter().filter(|tracker| tracker.result().is_none());
        if trackers.any(|tracker| tracker.verdict().is_some_and(|verdict| unfinished(verdict.state))) {
            self.source.watch_warnings();
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
        Outcome::Failed(_) => Exit::Failed,
        Outcome::Unreadable(error) => error.exit(),
        Outcome::TimedOut(_) => Exit::Unfinished,
        Outcome::Interrupted(signal) => stop_signals::exit(*signal),
    }
}

/// Returns the worst exit code of all targets. A target has no result when the reader of stdout exited.
#[must_use]
pub(super) fn worst_exit(follower: &Follower) -> Exit {
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
