//! The event loop of `status`: passes events to the follower, executes its requests and prints its reports.

use std::time::Duration;

use super::undo_on_failure::{delete_stuck, undo_on_failure};
use crate::cluster::live::Cluster;
use crate::cluster::observe::WatchScope;
use crate::command::follow::event_source::{EventSource, Received};
use crate::command::stop_signals;
use crate::exit::Exit;
use crate::model::follow::{
    FollowMode, FollowOptions, Follower, FollowerEvent, FollowerRequest, Now, Outcome, PodRef, Report,
    RollbackResult, RolloutFailure, TargetEvent, TargetId, TargetResult,
};
use crate::model::workload::Workload;
use crate::model::workload::verdict::RolloutState;
use crate::render::screen::Screen;
use crate::world::Signals;

/// Prints the reports of an engine while its event loop runs. `Engine` is a follower or a stepper.
pub(in crate::command) trait Reporter<'w, Engine, Report> {
    /// Returns the screen that the reporter prints on.
    fn screen(&mut self) -> &mut Screen<'w>;

    /// Prints one report.
    fn report(&mut self, engine: &Engine, event: &Report, now: Now);

    /// Prints a note, unless the same note was printed before.
    fn note_once(&mut self, line: &str);

    /// Whether stdout can still be written. False after the reader of a pipe exited.
    fn has_reader(&self) -> bool;

    /// Redraws the frame if a redraw is due. Called after all reports so far were printed.
    fn redraw_if_due(&mut self, _engine: &Engine, _now: Now) {}

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
    reporter: &mut impl Reporter<'w, Follower, Report>,
) -> Follower {
    let scope = match options.mode {
        FollowMode::Native => WatchScope::WithPods,
        FollowMode::Kubectl => WatchScope::WorkloadOnly,
    };
    let source = EventSource::new(cluster, &found, scope, signals);
    let follower = Follower::new(options, found);
    let mut event_loop =
        FollowLoop { cluster, source, follower, to_undo: Vec::new(), to_delete: Vec::new(), reporter };
    event_loop.run().await;
    event_loop.follower
}

struct FollowLoop<'a, T> {
    cluster: &'a Cluster,
    source: EventSource<'a>,
    follower: Follower,
    /// The failed targets to roll back.
    to_undo: Vec<TargetId>,
    /// The pods that block a rollback and are to be deleted.
    to_delete: Vec<(TargetId, PodRef)>,
    reporter: &'a mut T,
}

impl<'w, T: Reporter<'w, Follower, Report>> FollowLoop<'_, T> {
    async fn run(&mut self) {
        while !self.follower.is_finished() && self.reporter.has_reader() {
            let received = self.source.next(self.follower.due(), self.reporter.next_redraw()).await;
            self.receive(received);
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
        if let Some(note) = received.note {
            self.reporter.note_once(note);
        }
        for event in received.events {
            self.apply(event);
        }
    }

    fn apply(&mut self, event: FollowerEvent) {
        let now = self.source.now();
        for report in self.follower.apply(event, now) {
            match &report {
                Report::Request(FollowerRequest::Refresh(target)) => self.source.refresh(*target),
                Report::Request(FollowerRequest::ReadLog(target, place)) => {
                    if let Some(tracker) = self.follower.targets().get(target.0) {
                        self.source.fetch_log(*target, tracker.workload(), place.clone());
                    }
                }
                Report::Request(FollowerRequest::RollBack(target)) => self.to_undo.push(*target),
                Report::Request(FollowerRequest::DeletePod(target, pod)) => {
                    self.to_delete.push((*target, pod.clone()));
                }
                report => self.reporter.report(&self.follower, report, now),
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
        Outcome::Failed(RolloutFailure::Kubectl(_)) | Outcome::Deleted | Outcome::Recreated => Exit::Error,
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
