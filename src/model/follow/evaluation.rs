//! Evaluates the rollout of one target: reports what changed, and decides whether it is finished.

use std::time::Duration;

use super::causes::{CauseLedger, CauseUpdate};
use super::decision::{Decider, Judgement, TargetDecision};
use super::expected_revision::{ExpectedRevision, RevisionMatch};
use super::options::FollowOptions;
use super::output::{CauseChange, FollowerTask, Outcome, Report, RolloutFailure, TargetEffects};
use super::progress::{EtaEstimator, ProgressClock};
use super::reported::ReportedStatus;
use crate::model::cause::{Cause, causes_allowing, stuck_if};
use crate::model::engine::Now;
use crate::model::kind::Workload;
use crate::model::kind::counts::Counts;
use crate::model::kind::verdict::{RolloutState, Verdict};
use crate::model::observation::Observation;
use crate::model::status::verdict::verdict;

/// What is known of one rollout besides its present observation. A rollback is another rollout.
#[derive(Debug, Default)]
pub(super) struct RolloutEvaluation {
    expected: Option<ExpectedRevision>,
    pub(super) status: ReportedStatus,
    pub(super) causes: CauseLedger,
    progress: ProgressClock,
    eta: EtaEstimator,
    pub(super) decider: Decider,
    /// Whether a requested refresh has not arrived yet.
    refresh_requested: bool,
}

impl RolloutEvaluation {
    /// Starts with a workload as it was found.
    pub(super) fn new(found: &Workload, options: &FollowOptions) -> Self {
        Self { expected: ExpectedRevision::from_options(options, found), ..Self::default() }
    }

    /// Starts the evaluation of the rollback of this rollout, as it was written.
    pub(super) fn of_rollback(&self, written: Box<Workload>) -> Self {
        Self {
            expected: Some(ExpectedRevision::Written(written)),
            status: ReportedStatus::of_rollback(),
            decider: self.decider.for_rollback(),
            ..Self::default()
        }
    }

    /// Returns the estimated time left; none if the rollout does not progress or there is no estimate.
    pub(super) fn time_left(&self, now: Duration) -> Option<Duration> {
        let is_progressing =
            self.status.verdict().is_some_and(|verdict| verdict.state == RolloutState::Progressing);
        let is_stuck = self.causes.active().any(|cause| !cause.is_transient);
        self.eta.time_left(now).filter(|_| is_progressing && !is_stuck)
    }

    /// Returns when elapsed time alone changes a report or a decision.
    pub(super) fn dues(
        &self,
        workload: &Workload,
        options: &FollowOptions,
    ) -> impl Iterator<Item = Duration> {
        let of_decisions = self.decider.dues(options, workload, &self.progress);
        self.status.due().into_iter().chain(self.causes.dues()).chain(of_decisions)
    }

    /// Records that an observation was read as a whole.
    pub(super) fn note_refresh(&mut self) {
        self.refresh_requested = false;
    }

    /// Requests a refresh, unless one is awaited.
    pub(super) fn request_refresh(&mut self, out: &mut TargetEffects) {
        if !self.refresh_requested {
            self.refresh_requested = true;
            out.tasks.push(FollowerTask::Refresh);
        }
    }

    /// Reports what changed, and returns the decision about an observation. `fresh` says that it was read as a whole just
    /// now.
    pub(super) fn evaluate(
        &mut self,
        observation: &Observation,
        options: &FollowOptions,
        fresh: bool,
        now: Now,
        out: &mut TargetEffects,
    ) -> TargetDecision {
        let compared = self.expected.as_mut().map(|expected| expected.compare(observation, options.once));
        let superseded = match compared {
            None | Some(Ok(RevisionMatch::Expected)) => None,
            Some(Err(error)) => return TargetDecision::Finish(Outcome::Unreadable(error)),
            Some(Ok(RevisionMatch::NotYet(_))) if options.once => None,
            Some(Ok(RevisionMatch::NotYet(reason))) => {
                out.reports.extend(self.status.wait(reason));
                return TargetDecision::Continue;
            }
            Some(Ok(RevisionMatch::Superseded(line))) => {
                Some(TargetDecision::Finish(Outcome::Failed(RolloutFailure::Superseded(line))))
            }
        };
        if let Some(superseded) = superseded {
            if options.once {
                // The only evaluation says how the other revision does, without kubectl's line about it.
                let (verdict, counts) = (verdict(observation), Counts::of(&observation.workload));
                out.reports.extend(self.status.record(&verdict, verdict.clone(), counts, None, now.elapsed));
                self.report_causes(observation, options, now, out);
            }
            return superseded;
        }
        let verdict = &verdict(observation);
        self.progress.record(&observation.workload, now.elapsed);
        self.decider.observe(observation, verdict, options, now);
        self.eta.record(observation, now);
        self.report_status(observation, verdict, now, out);
        let awaits_warnings =
            !options.once && self.decider.awaits_warnings(verdict.state, options, now.elapsed);
        if !awaits_warnings {
            self.report_causes(observation, options, now, out);
            self.report_status(observation, verdict, now, out); // a cause can show that the rollout is stuck
        }
        let remainder = options.goal.remainder(observation, verdict);
        out.reports.extend(remainder.and_then(|remainder| self.status.wait(remainder)));
        if awaits_warnings {
            return TargetDecision::Continue;
        }
        let (causes, progress, now) = (&self.causes, &self.progress, now.elapsed);
        self.decider.decide(&Judgement { options, observation, verdict, causes, progress, fresh, now })
    }

    /// Reports the verdict and the counters if they changed. Scripts wait for kubectl's line of success, so it is
    /// held back until the success is certain.
    fn report_status(
        &mut self,
        observation: &Observation,
        line: &Verdict,
        now: Now,
        out: &mut TargetEffects,
    ) {
        let counts = Counts::of(&observation.workload);
        let verdict = stuck_if(line.clone(), self.causes.active(), now.server_time);
        let is_uncertain = line.state == RolloutState::Complete && self.decider.is_settling(now.elapsed);
        let last_progress = (!is_uncertain).then(|| self.progress.last_progress());
        out.reports.extend(self.status.record(line, verdict, counts, last_progress, now.elapsed));
    }

    /// Reports the causes that changed.
    fn report_causes(
        &mut self,
        observation: &Observation,
        options: &FollowOptions,
        now: Now,
        out: &mut TargetEffects,
    ) {
        let causes = causes_allowing(observation, options.allowed_restarts, now.server_time);
        let (grace, last_progress) = (|cause: &Cause| options.grace(cause), self.progress.last_progress());
        let CauseUpdate { changes, logs } =
            self.causes.record(&causes, observation, options.allowed_restarts, grace, last_progress, now);
        out.reports.extend(changes.into_iter().map(|(cause, change)| Report::Cause { cause, change }));
        out.tasks.extend(logs.into_iter().map(FollowerTask::ReadLog));
    }

    /// Reports what is left to report when the goal is reached: the causes that are gone, and the last line.
    pub(super) fn report_end(&mut self, out: &mut TargetEffects) {
        let gone = self.causes.remove_absent();
        out.reports.extend(gone.map(|cause| Report::Cause { cause, change: CauseChange::Gone }));
        out.reports.extend(self.status.last_line());
    }
}
