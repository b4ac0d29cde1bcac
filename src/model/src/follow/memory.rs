//! What is known of one rollout besides its present observation, and the reports of what changed.

use std::time::Duration;

use super::cause_ledger::CauseLedger;
use super::options::{ExpectedRevision, FollowOptions, GoalState};
use super::progress::{EtaEstimator, Stability};
use super::report::{CauseChange, FollowRequest, Outcome, Report};
use crate::api::managed_fields::author_of_change;
use crate::api::patch::FieldPath;
use crate::cause::container_logs::LogRef;
use crate::cause::{Cause, causes_of, stuck_if};
use crate::engine::{Effects, Now};
use crate::kind::Workload;
use crate::kind::verdict::{Counts, RolloutState, Verdict};
use crate::observation::Observation;
use crate::settle::ProgressClock;

/// What is known of one rollout besides its present observation. A rollback is another rollout.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) expected: Option<ExpectedRevision>,
    pub(super) causes: CauseLedger,
    pub(super) progress: ProgressClock,
    pub(super) stability: Stability,
    /// The verdict and the counters, as they were reported last.
    pub(super) verdict: Option<Verdict>,
    counts: Counts,
    /// What the follower waits for.
    waiting_for: Option<String>,
    /// The lines that were printed since the last progress, and the last one before it.
    printed: Vec<Verdict>,
    /// Whether the present line is not the one that was printed last.
    is_line_withheld: bool,
    eta: EtaEstimator,
}

impl Memory {
    /// Returns that of a rollout of which only the expected revision is known.
    pub(super) fn of(expected: Option<ExpectedRevision>) -> Self {
        Self { expected, ..Self::default() }
    }

    /// Records an observation. After progress each line may be printed again.
    pub(super) fn observe(
        &mut self,
        observation: &Observation,
        goal: GoalState,
        options: &FollowOptions,
        now: Now,
    ) {
        let before = self.progress.last_progress();
        self.progress.record(&observation.workload, now.elapsed);
        if self.progress.last_progress() != before {
            self.printed.drain(..self.printed.len().saturating_sub(1));
        }
        self.stability.observe(goal == GoalState::Reached, observation, options, now);
        self.eta.record(observation, now);
    }

    /// Returns the time left until the goal was reached for long enough, or an estimate; none if the rollout does not
    /// progress or there is no estimate.
    pub(super) fn time_left(&self, now: Duration) -> Option<Duration> {
        if let Some(left) = self.stability.time_left(now) {
            return Some(left);
        }
        let is_progressing =
            self.verdict.as_ref().is_some_and(|verdict| verdict.state == RolloutState::Progressing);
        let needs_a_fix = self.causes.active().any(Cause::needs_a_fix);
        self.eta.time_left(now).filter(|_| is_progressing && !needs_a_fix)
    }

    /// Reports the verdict, the counters and the causes, as far as they changed. A cause that shows that the rollout is stuck
    /// changes the verdict that is shown, but the status is reported first.
    ///
    /// The line is that of the verdict by the counters. It is printed once after each progress, because crashing or rejected
    /// pods can change the counters many times a second. Scripts wait for kubectl's line of success, so while a success is
    /// uncertain, the line is withheld until the result.
    pub(super) fn report(
        &mut self,
        observation: &Observation,
        verdict_by_counters: &Verdict,
        [with_causes, withholds_line]: [bool; 2],
        options: &FollowOptions,
        now: Now,
    ) -> Effects<Report, FollowRequest> {
        let state = verdict_by_counters.state;
        let causes = if with_causes {
            self.record_causes(observation, state, options, now)
        } else {
            Effects::default()
        };
        let verdict = stuck_if(verdict_by_counters.clone(), self.causes.active(), now.server_time);
        let counts = observation.workload.counts();
        let prints_line = !withholds_line && !self.printed.contains(verdict_by_counters);
        if prints_line {
            self.printed.push(verdict_by_counters.clone());
        }
        self.is_line_withheld = self.printed.last() != Some(verdict_by_counters);
        let has_changed = prints_line || self.verdict.as_ref() != Some(&verdict) || self.counts != counts;
        (self.verdict, self.counts) = (Some(verdict.clone()), counts);
        let status = has_changed.then_some(Report::Status { verdict, prints_line });
        Effects { reports: status.into_iter().chain(causes.reports).collect(), tasks: causes.tasks }
    }

    /// Records the causes, and returns the reports of those that changed.
    fn record_causes(
        &mut self,
        observation: &Observation,
        state: RolloutState,
        options: &FollowOptions,
        now: Now,
    ) -> Effects<Report, FollowRequest> {
        let allowed = options.allowed_restarts;
        let found = causes_of(observation, state, allowed, now.server_time);
        let (grace, last_progress) = (|cause: &Cause| options.grace(cause), self.progress.last_progress());
        let Effects { reports, tasks } =
            self.causes.record(&found, observation, allowed, grace, last_progress, now);
        let reports = reports.into_iter().map(|(cause, change)| Report::Cause { cause, change });
        Effects { reports: reports.collect(), tasks: requests(tasks, options) }
    }

    /// Reports that another number of pods is awaited, if another client changed `spec.replicas`. The `HorizontalPodAutoscaler`,
    /// which KEDA uses too, scales as a part of kube-controller-manager.
    pub(super) fn report_scaling(&mut self, before: &Workload, after: &Workload) -> Option<Report> {
        let (from, to) = (before.wanted(), after.wanted());
        if from == to || after.kind().pods().are_per_node() {
            return None;
        }
        let by = author_of_change(after.object(), &FieldPath::of(["spec", "replicas"]), before.object());
        let by = match by.as_ref().map(|by| by.manager.as_str()) {
            Some("kube-controller-manager") => "an autoscaler",
            Some(manager) => manager,
            None => "another client",
        };
        self.waiting_report(format!("{to} replicas; {by} changed them from {from}"))
    }

    /// Returns what is left to report and to read before an outcome. When the goal is reached, these are the causes that are
    /// gone, and the last line; of a failure the causes as they are now; of one without success the logs that explain it.
    pub(super) fn report_end(
        &mut self,
        outcome: &Outcome,
        options: &FollowOptions,
        now: Duration,
    ) -> Effects<Report, FollowRequest> {
        let (causes, change) = match outcome {
            Outcome::Reached => (self.causes.remove_absent(), CauseChange::Gone),
            Outcome::Failed(_) => (self.causes.take_all_changed(now), CauseChange::Changed),
            Outcome::TimedOut(_) | Outcome::Interrupted(_) | Outcome::Unfinished => {
                (Vec::new(), CauseChange::Changed)
            }
            _ => return Effects::default(),
        };
        let causes = causes.into_iter().map(|cause| Report::Cause { cause, change });
        let verdict = self.verdict.clone().filter(|_| self.is_line_withheld && *outcome == Outcome::Reached);
        let last_line = verdict.map(|verdict| Report::Status { verdict, prints_line: true });
        let logs = if *outcome == Outcome::Reached { Vec::new() } else { self.causes.take_logs_before_due() };
        Effects { reports: causes.chain(last_line).collect(), tasks: requests(logs, options) }
    }

    /// Returns a report of what the follower waits for, unless it was the last one.
    pub(super) fn waiting_report(&mut self, reason: String) -> Option<Report> {
        let is_new = self.waiting_for.as_ref() != Some(&reason);
        self.waiting_for = Some(reason.clone());
        is_new.then_some(Report::Waiting(reason))
    }

    /// Returns when elapsed time alone changes a decision about the rollout.
    pub(super) fn dues(&self) -> impl Iterator<Item = Duration> {
        self.stability.dues().into_iter().flatten().chain(self.causes.dues())
    }
}

/// Returns the requests to read logs; none with `--logs never`.
fn requests(logs: Vec<LogRef>, options: &FollowOptions) -> Vec<FollowRequest> {
    let logs = if options.without_logs { Vec::new() } else { logs };
    logs.into_iter().map(FollowRequest::ReadLog).collect()
}
