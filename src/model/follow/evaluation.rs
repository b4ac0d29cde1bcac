//! Evaluates the rollout of one target: reports what changed, and decides whether it is finished.

use std::time::Duration;

use super::cause_ledger::CauseUpdate;
use super::decision::{Decider, GoalState, TargetDecision};
use super::expected_revision::{ExpectedRevision, RevisionMatch};
use super::options::FollowOptions;
use super::progress::EtaEstimator;
use super::report::{
    CauseChange, FollowerTask, Outcome, Report, RollbackTarget, RolloutFailure, ShortTimeout, TargetEffects,
};
use crate::model::cause::{Cause, causes_allowing, stuck_if};
use crate::model::change::effect::Effect;
use crate::model::engine::Now;
use crate::model::kind::Workload;
use crate::model::kind::verdict::{Counts, RolloutState, Verdict};
use crate::model::observation::Observation;
use crate::model::status::verdict;

/// A line that returns without progress is printed again after this time. Crashing or rejected pods can change the
/// counters many times a second.
const REPEAT_AFTER: Duration = Duration::from_secs(10);

/// What is known of one rollout besides its present observation. A rollback is another rollout.
#[derive(Debug, Default)]
pub(super) struct RolloutEvaluation {
    expected: Option<ExpectedRevision>,
    status: ReportedStatus,
    pub(super) decider: Decider,
    eta: EtaEstimator,
    /// Whether a requested refresh has not arrived yet.
    refresh_requested: bool,
    /// Whether it was reported what a failure would be rolled back to.
    rollback_target_reported: bool,
    /// Whether the least time of the rollout was reported.
    least_time_reported: bool,
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
            decider: self.decider.for_rollback(),
            rollback_target_reported: self.rollback_target_reported,
            least_time_reported: self.least_time_reported,
            ..Self::default()
        }
    }

    /// Returns the verdict that was reported last.
    pub(super) fn verdict(&self) -> Option<&Verdict> {
        self.status.shown.as_ref()
    }

    /// Returns the estimated time left; none if the rollout does not progress or there is no estimate.
    pub(super) fn time_left(&self, now: Duration) -> Option<Duration> {
        let is_progressing = self.verdict().is_some_and(|verdict| verdict.state == RolloutState::Progressing);
        let needs_a_fix = self.decider.causes.active().any(Cause::needs_a_fix);
        self.eta.time_left(now).filter(|_| is_progressing && !needs_a_fix)
    }

    /// Returns when elapsed time alone changes a report or a decision.
    pub(super) fn dues(
        &self,
        workload: &Workload,
        options: &FollowOptions,
    ) -> impl Iterator<Item = Duration> {
        self.status.due.into_iter().chain(self.decider.dues(options, workload))
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
        match compared {
            Some(Err(error)) => return TargetDecision::Finish(Outcome::Unreadable(error)),
            Some(Ok(RevisionMatch::NotYet(reason))) if !options.once => {
                out.reports.extend(self.status.wait(reason));
                return TargetDecision::Continue;
            }
            Some(Ok(RevisionMatch::Superseded(line))) => {
                if options.once {
                    // The only evaluation says how the other revision does, without kubectl's line about it.
                    let (counted, counts) = (verdict(observation), observation.workload.counts());
                    let shown = counted.clone();
                    out.reports.extend(self.status.record(&counted, shown, counts, None, now.elapsed));
                    self.report_causes(observation, options, now, out);
                }
                return TargetDecision::Finish(Outcome::Failed(RolloutFailure::Superseded(line)));
            }
            None | Some(Ok(RevisionMatch::Expected | RevisionMatch::NotYet(_))) => {}
        }
        let counted = &verdict(observation);
        let goal = GoalState::of(options.goal, observation, counted);
        self.decider.progress.record(&observation.workload, now.elapsed);
        self.decider.stability.observe(goal == GoalState::Reached, observation, options, now);
        self.eta.record(observation, now);
        self.report_status(observation, counted, now, out);
        let awaits_warnings =
            !options.once && self.decider.request_warnings(counted.state, options, now.elapsed, out);
        if !awaits_warnings {
            self.report_causes(observation, options, now, out);
            // Once more, because a cause can make the state stuck. The first report puts kubectl's line above its causes.
            self.report_status(observation, counted, now, out);
        }
        if goal == GoalState::Pending {
            let is_success = counted.state == RolloutState::Complete;
            let remainder = options.goal.remainder(observation, is_success);
            out.reports.extend(remainder.and_then(|remainder| self.status.wait(remainder)));
        }
        if awaits_warnings {
            return TargetDecision::Continue;
        }
        self.decider.decide(goal, &observation.workload, counted, options, fresh, now.elapsed)
    }

    /// Reports the verdict and the counters if they changed. `counted` is the verdict by the counters; a cause that shows
    /// that the rollout is stuck changes the one that is shown. Scripts wait for kubectl's line of success, so it is held
    /// back until the success is certain.
    fn report_status(
        &mut self,
        observation: &Observation,
        counted: &Verdict,
        now: Now,
        out: &mut TargetEffects,
    ) {
        let counts = observation.workload.counts();
        let Decider { causes, stability, progress, .. } = &self.decider;
        let shown = stuck_if(counted.clone(), causes.active(), now.server_time);
        let is_uncertain = counted.state == RolloutState::Complete && stability.is_settling(now.elapsed);
        let last_progress = (!is_uncertain).then(|| progress.last_progress());
        out.reports.extend(self.status.record(counted, shown, counts, last_progress, now.elapsed));
    }

    /// Reports the causes that changed.
    fn report_causes(
        &mut self,
        observation: &Observation,
        options: &FollowOptions,
        now: Now,
        out: &mut TargetEffects,
    ) {
        let found = causes_allowing(observation, options.allowed_restarts, now.server_time);
        let Decider { causes, progress, .. } = &mut self.decider;
        let (grace, last_progress) = (|cause: &Cause| options.grace(cause), progress.last_progress());
        let CauseUpdate { changes, logs } =
            causes.record(&found, observation, options.allowed_restarts, grace, last_progress, now);
        out.reports.extend(changes.into_iter().map(|(cause, change)| Report::Cause { cause, change }));
        out.tasks.extend(logs.into_iter().map(FollowerTask::ReadLog));
    }

    /// Reports what is reported once of a target that is not finished: the rollback target at once, and the least time when
    /// the rollout first progresses.
    pub(super) fn report_once(
        &mut self,
        observation: &Observation,
        options: &FollowOptions,
        elapsed: Duration,
        out: &mut TargetEffects,
    ) {
        if options.undo_on_failure.is_some() && !self.rollback_target_reported {
            self.rollback_target_reported = true;
            out.reports.push(Report::RollbackTarget(RollbackTarget::of(observation)));
        }
        let state = self.verdict().map(|verdict| verdict.state);
        let is_progressing = matches!(state, Some(RolloutState::Progressing | RolloutState::Stuck));
        if !is_progressing || self.least_time_reported {
            return;
        }
        self.least_time_reported = true;
        if let Some(least) = Effect::of_rollout(observation).least_time {
            let timeout = options.timeout.and_then(|timeout| ShortTimeout::of(timeout, least, elapsed));
            out.reports.push(Report::LeastTime { least, timeout });
        }
    }

    /// Reports what is left to report when the goal is reached: the causes that are gone, and the last line.
    pub(super) fn report_end(&mut self, out: &mut TargetEffects) {
        let gone = self.decider.causes.remove_absent();
        out.reports.extend(gone.map(|cause| Report::Cause { cause, change: CauseChange::Gone }));
        out.reports.extend(self.status.last_line());
    }
}

/// The status of a target that was reported last, and its lines since its last progress.
#[derive(Debug, Default)]
struct ReportedStatus {
    /// The verdict, as it was shown last.
    shown: Option<Verdict>,
    counts: Counts,
    /// What the follower waits for.
    waiting_for: Option<String>,
    /// When each line was printed.
    printed: Vec<(Verdict, Duration)>,
    /// The line that was printed last.
    last_line: Option<Verdict>,
    /// When the rollout last progressed.
    last_progress: Duration,
    /// Whether the present line was not printed yet.
    is_line_withheld: bool,
    /// When to print the present line, if it does not change until then.
    due: Option<Duration>,
}

impl ReportedStatus {
    /// Records a status, and returns a report if something changed. The line is that of the verdict by the counters.
    /// Without a time at which the rollout last progressed the line is held back until the result.
    fn record(
        &mut self,
        counted: &Verdict,
        shown: Verdict,
        counts: Counts,
        last_progress: Option<Duration>,
        now: Duration,
    ) -> Option<Report> {
        (self.is_line_withheld, self.due) = (last_progress.is_none(), None);
        let prints_line = last_progress.is_some_and(|last| self.is_line_due(counted, last, now));
        let has_changed = prints_line || self.shown.as_ref() != Some(&shown) || self.counts != counts;
        (self.shown, self.counts) = (Some(shown), counts);
        self.report(prints_line).filter(|_| has_changed)
    }

    /// Returns the last verdict with its line, if that was held back.
    fn last_line(&self) -> Option<Report> {
        self.report(true).filter(|_| self.is_line_withheld)
    }

    /// Returns a report of what the follower waits for, unless it was the last one.
    fn wait(&mut self, reason: String) -> Option<Report> {
        let is_new = self.waiting_for.as_ref() != Some(&reason);
        self.waiting_for = Some(reason.clone());
        is_new.then_some(Report::Waiting { reason })
    }

    fn report(&self, prints_line: bool) -> Option<Report> {
        let verdict = self.shown.clone()?;
        Some(Report::Status { verdict, prints_line })
    }

    /// Whether to print a line now, which is then recorded as printed.
    fn is_line_due(&mut self, line: &Verdict, last_progress: Duration, now: Duration) -> bool {
        if last_progress != self.last_progress {
            self.printed.clear();
            self.last_progress = last_progress;
        }
        if self.last_line.as_ref() == Some(line) {
            return false;
        }
        let before = self.printed.iter_mut().find(|(printed, _)| printed == line);
        match before {
            Some((_, at)) if now < *at + REPEAT_AFTER => {
                (self.is_line_withheld, self.due) = (true, Some(*at + REPEAT_AFTER));
                return false;
            }
            Some((_, at)) => *at = now,
            None => self.printed.push((line.clone(), now)),
        }
        self.last_line = Some(line.clone());
        true
    }
}
