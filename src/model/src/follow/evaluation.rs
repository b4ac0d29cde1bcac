//! Evaluates the rollout of one target: reports what changed, and decides whether it is finished, by its goal, its fatal causes,
//! its deadline and the timeout.

use std::sync::Arc;
use std::time::Duration;

use super::cause_ledger::CauseLedger;
use super::options::{ExpectedRevision, FollowOptions, GoalState, RevisionMatch};
use super::progress::{EtaEstimator, ProgressClock, Stability};
use super::report::{CauseChange, FollowerTask, Outcome, Report, RolloutFailure};
use super::start_state::StartState;
use crate::cause::{Cause, causes_of, stuck_if};
use crate::engine::{Effects, Now};
use crate::error::{Error, ErrorKind};
use crate::kind::Workload;
use crate::kind::verdict::{Counts, RolloutState, Verdict};
use crate::observation::Observation;
use crate::status::verdict;
use crate::text::go_duration;

/// How long to wait for the first list of warnings. Without warnings, some causes cannot be distinguished or have no
/// evidence.
const FIRST_WARNINGS_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the refresh before a timeout may take.
const FINAL_REFRESH_TIMEOUT: Duration = Duration::from_secs(1);

/// How long nothing may move in a paused rollout whose pods are all updated before it counts as held. No deadline of the
/// controller ends it, because the controller does not count the time of a pause.
const PAUSED_STANDSTILL: Duration = Duration::from_secs(60);

/// The first list of warnings, which is requested once a rollout is known to be incomplete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Warnings {
    #[default]
    NotRequested,
    /// The causes wait for it until this time.
    AwaitedUntil(Duration),
    /// It was read, or is forbidden.
    Read,
}

impl Warnings {
    fn awaited_until(self) -> Option<Duration> {
        if let Self::AwaitedUntil(until) = self { Some(until) } else { None }
    }
}

/// What is known of one rollout besides its present observation. A rollback is another rollout.
#[derive(Debug, Default)]
pub(super) struct RolloutEvaluation {
    pub(super) options: Arc<FollowOptions>,
    /// The reports and tasks that the follower has not taken yet.
    pub(super) effects: Effects<Report, FollowerTask>,
    expected: Option<ExpectedRevision>,
    status: ReportedStatus,
    pub(super) causes: CauseLedger,
    progress: ProgressClock,
    stability: Stability,
    eta: EtaEstimator,
    pub(super) warnings: Warnings,
    /// When the refresh before the timeout was requested.
    final_refresh: Option<Duration>,
    /// Whether a requested refresh has not arrived yet.
    pub(super) refresh_requested: bool,
    /// Whether it was reported what a failure would be rolled back to.
    rollback_target_reported: bool,
}

impl RolloutEvaluation {
    /// Starts with a workload as it was found.
    pub(super) fn new(found: &Workload, options: Arc<FollowOptions>) -> Self {
        Self { expected: ExpectedRevision::from_options(&options, found), options, ..Self::default() }
    }

    /// Starts the evaluation of the rollback of this rollout, as it was written.
    pub(super) fn of_rollback(&mut self, written: Box<Workload>) -> Self {
        Self {
            options: self.options.clone(),
            effects: std::mem::take(&mut self.effects),
            expected: Some(ExpectedRevision::Written(written)),
            warnings: self.warnings,
            rollback_target_reported: self.rollback_target_reported,
            ..Self::default()
        }
    }

    /// Returns the verdict that was reported last.
    pub(super) fn verdict(&self) -> Option<&Verdict> {
        self.status.shown_verdict.as_ref()
    }

    /// Returns the time left until the goal was reached for long enough, or an estimate; none if the rollout does not
    /// progress or there is no estimate.
    pub(super) fn time_left(&self, now: Duration) -> Option<Duration> {
        if let Some(left) = self.stability.time_left(now) {
            return Some(left);
        }
        let is_progressing = self.verdict().is_some_and(|verdict| verdict.state == RolloutState::Progressing);
        let needs_a_fix = self.causes.active().any(Cause::needs_a_fix);
        self.eta.time_left(now).filter(|_| is_progressing && !needs_a_fix)
    }

    /// Requests a refresh, unless one is awaited.
    pub(super) fn request_refresh(&mut self) {
        if !std::mem::replace(&mut self.refresh_requested, true) {
            self.effects.tasks.push(FollowerTask::Refresh);
        }
    }

    /// Reports what changed, and returns the outcome that an observation shows. One that
    /// [needs a refresh](Self::needs_refresh) is decided on a refresh.
    pub(super) fn evaluate(&mut self, observation: &Observation, now: Now) -> Option<Outcome> {
        let compared =
            self.expected.as_mut().map(|expected| expected.compare(observation, self.options.once));
        match compared {
            Some(Err(error)) => return Some(Outcome::Unreadable(error)),
            Some(Ok(RevisionMatch::NotYet(reason))) if !self.options.once => {
                // The controller of a paused Deployment numbers no new template.
                let is_named = matches!(self.expected, Some(ExpectedRevision::Named(_)));
                if is_named && observation.workload.is_paused() && !self.options.wait_held {
                    self.report_state(observation, &verdict(observation), true, false, now);
                    return Some(Outcome::Held);
                }
                self.effects.reports.extend(self.status.waiting_report(reason));
                return None;
            }
            Some(Ok(RevisionMatch::Replaced(line))) => {
                if self.options.once {
                    // The only evaluation says how the other revision does, without kubectl's line about it.
                    self.report_state(observation, &verdict(observation), true, true, now);
                }
                return Some(Outcome::Failed(RolloutFailure::Replaced(line)));
            }
            None | Some(Ok(RevisionMatch::Expected | RevisionMatch::NotYet(_))) => {}
        }
        let verdict_by_counters = &verdict(observation);
        let goal = GoalState::of(self.options.goal, observation, verdict_by_counters);
        self.progress.record(&observation.workload, now.elapsed);
        self.stability.observe(goal == GoalState::Reached, observation, &self.options, now);
        self.eta.record(observation, now);
        let awaits_warnings =
            !self.options.once && self.must_await_warnings(verdict_by_counters.state, now.elapsed);
        let withholds_line = verdict_by_counters.state == RolloutState::Complete
            && self.stability.is_not_yet_stable(now.elapsed);
        self.report_state(observation, verdict_by_counters, !awaits_warnings, withholds_line, now);
        let remainder = self.remainder(goal, verdict_by_counters.state, now.elapsed);
        self.effects.reports.extend(remainder.and_then(|remainder| self.status.waiting_report(remainder)));
        if awaits_warnings {
            return None;
        }
        self.decide(goal, &observation.workload, verdict_by_counters, now.elapsed)
    }

    /// Returns what kubectl's line does not say of what is awaited, as a fragment: what the goal needs beyond a success, or that
    /// it must last.
    fn remainder(&self, goal: GoalState, state: RolloutState, now: Duration) -> Option<String> {
        let is_success = state == RolloutState::Complete;
        match goal {
            GoalState::Pending => self.options.goal.remainder(is_success).map(str::to_owned),
            GoalState::Reached if !self.options.once => {
                let stable = self.options.stable.filter(|stable| !stable.is_zero())?;
                let is_stable = self.stability.stable_from.is_some_and(|at| now >= at);
                (!is_stable).then(|| format!("the goal to last for {}", go_duration::short(stable)))
            }
            _ => None,
        }
    }

    /// Whether an outcome is decided on a refresh, because elapsed time or several objects decide, because the rollout
    /// failed and its cause may not have been read yet, or because what seems to be unreadable may have been deleted.
    pub(super) fn needs_refresh(&self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Failed(RolloutFailure::Replaced(_)) => false,
            // Without a time to wait for, the observation alone decides.
            Outcome::Reached => self.options.waits_for_stability(),
            _ => true,
        }
    }

    /// Reports the verdict, the counters and the causes, as far as they changed. A cause that shows that the rollout is stuck
    /// changes the verdict that is shown, but the status is reported first. Scripts wait for kubectl's line of success, so while
    /// a success is uncertain, the line is withheld until the result.
    fn report_state(
        &mut self,
        observation: &Observation,
        verdict_by_counters: &Verdict,
        with_causes: bool,
        withholds_line: bool,
        now: Now,
    ) {
        let state = verdict_by_counters.state;
        let causes = if with_causes { self.record_causes(observation, state, now) } else { Vec::new() };
        let status = self.status.record(
            verdict_by_counters,
            stuck_if(verdict_by_counters.clone(), self.causes.active(), now.server_time),
            observation.workload.counts(),
            self.progress.last_progress(),
            withholds_line,
        );
        self.effects.reports.extend(status.into_iter().chain(causes));
    }

    /// Records the causes, and returns the reports of those that changed.
    fn record_causes(&mut self, observation: &Observation, state: RolloutState, now: Now) -> Vec<Report> {
        let allowed = self.options.allowed_restarts;
        let found = causes_of(observation, state, allowed, now.server_time);
        let (grace, last_progress) =
            (|cause: &Cause| self.options.grace(cause), self.progress.last_progress());
        let Effects { reports, tasks } =
            self.causes.record(&found, observation, allowed, grace, last_progress, now);
        self.effects.tasks.extend(tasks.into_iter().map(FollowerTask::ReadLog));
        reports.into_iter().map(|(cause, change)| Report::Cause { cause, change }).collect()
    }

    /// Reports once what a failure would be rolled back to.
    pub(super) fn report_rollback_target(&mut self, start: Option<&StartState>, observation: &Observation) {
        let start =
            start.filter(|_| self.options.undo_on_failure.is_some() && !self.rollback_target_reported);
        if let Some(start) = start {
            self.rollback_target_reported = true;
            let stable = start.stable_revision(observation).map(|stable| (stable.label(), stable.images()));
            self.effects.reports.push(Report::RollbackTarget(stable));
        }
    }

    /// Reports what is left to report before an outcome. When the goal is reached, these are the causes that are gone, and the
    /// last line; of a failure the causes as they are now.
    pub(super) fn report_end(&mut self, outcome: &Outcome, now: Duration) {
        let (causes, change) = match outcome {
            Outcome::Reached => (self.causes.remove_absent(), CauseChange::Gone),
            Outcome::Failed(_) => (self.causes.take_all_changed(now), CauseChange::Changed),
            _ => return,
        };
        self.effects.reports.extend(causes.into_iter().map(|cause| Report::Cause { cause, change }));
        if *outcome == Outcome::Reached {
            self.effects.reports.extend(self.status.last_line());
        }
    }

    /// Requests the warnings of a rollout that is not complete. Returns whether the causes must wait for them, because they may
    /// show other causes.
    fn must_await_warnings(&mut self, state: RolloutState, now: Duration) -> bool {
        if !state.is_observed_and_incomplete() {
            return false;
        }
        if self.warnings == Warnings::NotRequested {
            self.effects.tasks.push(FollowerTask::WatchWarnings);
            self.warnings = Warnings::AwaitedUntil(now + FIRST_WARNINGS_TIMEOUT);
        }
        self.warnings.awaited_until().is_some_and(|until| now < until)
            && self.options.timeout.is_none_or(|limit| now < limit)
    }

    /// Decides by the goal, the fatal causes and the deadline.
    fn decide(
        &self,
        goal: GoalState,
        workload: &Workload,
        verdict: &Verdict,
        now: Duration,
    ) -> Option<Outcome> {
        if verdict.state == RolloutState::Failed && goal != GoalState::Reached {
            let seconds = workload.object().int("/spec/progressDeadlineSeconds");
            return Some(Outcome::Failed(RolloutFailure::ProgressDeadline(seconds)));
        }
        match goal {
            GoalState::Reached => match self.stability.stable_from {
                Some(at) if now >= at => return Some(Outcome::Reached),
                // Pods beyond the share can crash for as long as the goal is reached, and keep it from settling.
                None if self.options.goal.needed_pods(workload).is_some() => {}
                _ => return None,
            },
            GoalState::Held if !self.options.wait_held || self.options.once => return Some(Outcome::Held),
            GoalState::Unknown => return Some(Outcome::Unreadable(old_pods_not_known(workload))),
            GoalState::Pending if self.is_paused_at_a_standstill(workload, verdict.state, now) => {
                return Some(Outcome::Held);
            }
            GoalState::Held | GoalState::Pending => {}
        }
        let expired = self.causes.expired(now).next();
        let fatal = expired.map(|(cause, grace)| RolloutFailure::Cause { id: cause.id, grace });
        fatal.or_else(|| self.exceeded_deadline(workload, verdict.state, now)).map(Outcome::Failed)
    }

    /// Whether a paused rollout whose pods are all updated has not moved for a while. Until then its pods may become available,
    /// and the controller removes the old ones.
    fn is_paused_at_a_standstill(&self, workload: &Workload, state: RolloutState, now: Duration) -> bool {
        state == RolloutState::Progressing
            && workload.is_paused()
            && workload.counts().outdated() > 0
            && !self.options.wait_held
            && now >= self.progress.last_progress() + PAUSED_STANDSTILL
    }

    /// Returns the failure if nothing progressed for `--deadline`. Time spent in a hold does not count.
    fn exceeded_deadline(
        &self,
        workload: &Workload,
        state: RolloutState,
        now: Duration,
    ) -> Option<RolloutFailure> {
        let is_held = matches!(state, RolloutState::Held | RolloutState::Paused);
        let deadline = self.options.deadline_for(workload).filter(|_| !is_held)?;
        (now >= self.progress.last_progress() + deadline).then_some(RolloutFailure::Deadline(deadline))
    }

    /// Returns the outcome once the timeout passed. The refresh before it has a limit of its own.
    pub(super) fn time_out(&mut self, is_refresh: bool, now: Duration) -> Option<Outcome> {
        let limit = self.options.timeout.filter(|limit| now >= *limit)?;
        let Some(began) = self.final_refresh else {
            self.final_refresh = Some(now);
            self.request_refresh();
            return None;
        };
        (is_refresh || now >= began + FINAL_REFRESH_TIMEOUT).then_some(Outcome::TimedOut(limit))
    }

    /// Returns when elapsed time alone changes a decision.
    pub(super) fn dues(&self, workload: &Workload) -> impl Iterator<Item = Duration> {
        let dues = [
            self.final_refresh.map(|began| began + FINAL_REFRESH_TIMEOUT).or(self.options.timeout),
            self.options.deadline_for(workload).map(|deadline| self.progress.last_progress() + deadline),
            self.warnings.awaited_until(),
        ];
        dues.into_iter().chain(self.stability.dues()).flatten().chain(self.causes.dues())
    }
}

fn old_pods_not_known(workload: &Workload) -> Error {
    let revisions = workload.kind().revisions().type_().plural();
    let message =
        format!("pods or {revisions} cannot be listed, so it is unknown whether outdated pods remain");
    Error::new(ErrorKind::NotReadable, message)
        .hint("wait for --until complete, or request permission to list them")
}

/// The status of a target that was reported last, and its lines since its last progress.
#[derive(Debug, Default)]
struct ReportedStatus {
    /// The verdict, as it was shown last.
    shown_verdict: Option<Verdict>,
    counts: Counts,
    /// What the follower waits for.
    waiting_for: Option<String>,
    /// The lines that were printed since the last progress, and the last one before it.
    printed: Vec<Verdict>,
    /// When the rollout last progressed.
    last_progress: Duration,
    /// Whether the present line is not the one that was printed last.
    is_line_withheld: bool,
}

impl ReportedStatus {
    /// Records a status, and returns a report if something changed. The line is that of the verdict by the counters, and is
    /// printed once after each progress. While a success is uncertain, the line is withheld until the result.
    fn record(
        &mut self,
        verdict_by_counters: &Verdict,
        shown_verdict: Verdict,
        counts: Counts,
        last_progress: Duration,
        withholds_line: bool,
    ) -> Option<Report> {
        let prints_line = !withholds_line && self.is_line_new(verdict_by_counters, last_progress);
        if prints_line {
            self.printed.push(verdict_by_counters.clone());
        }
        self.is_line_withheld = self.printed.last() != Some(verdict_by_counters);
        let has_changed =
            prints_line || self.shown_verdict.as_ref() != Some(&shown_verdict) || self.counts != counts;
        (self.shown_verdict, self.counts) = (Some(shown_verdict), counts);
        self.report(prints_line).filter(|_| has_changed)
    }

    /// Returns the last verdict with its line, if that was withheld.
    fn last_line(&self) -> Option<Report> {
        self.report(true).filter(|_| self.is_line_withheld)
    }

    /// Returns a report of what the follower waits for, unless it was the last one.
    fn waiting_report(&mut self, reason: String) -> Option<Report> {
        let is_new = self.waiting_for.as_ref() != Some(&reason);
        self.waiting_for = Some(reason.clone());
        is_new.then_some(Report::Waiting(reason))
    }

    fn report(&self, prints_line: bool) -> Option<Report> {
        let verdict = self.shown_verdict.clone()?;
        Some(Report::Status { verdict, prints_line })
    }

    /// Whether a line was not printed since the last progress. Crashing or rejected pods can change the counters many times a
    /// second.
    fn is_line_new(&mut self, line: &Verdict, last_progress: Duration) -> bool {
        if last_progress != self.last_progress {
            self.printed.drain(..self.printed.len().saturating_sub(1));
            self.last_progress = last_progress;
        }
        !self.printed.contains(line)
    }
}
