//! Follows one target: applies its events, evaluates it, and reports what changed.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::judge::{Judgement, judge};
use super::memory::Memory;
use super::options::{ExpectedRevision, FollowOptions, GoalState, RevisionMatch};
use super::report::{FollowRequest, Outcome, Report, RolloutFailure, TargetResult};
use super::start_state::StartState;
use crate::cause::container_logs::{ContainerLogs, LogLines};
use crate::cause::{Cause, by_importance, last_lines_without_secrets};
use crate::change::stuck_pods::StuckPodDeletions;
use crate::engine::{Effects, Now, StopSignal, TargetContext, TargetEvent, TargetId};
use crate::kind::Workload;
use crate::kind::verdict::{RolloutState, Verdict};
use crate::observation::Observation;
use crate::revision::references::Configuration;
use crate::status::stale_configuration::{StaleConfiguration, stale_configuration};
use crate::status::verdict;
use crate::view::RolloutView;

/// Some causes appear without an event: a container that stays unready for too long, or a pod that
/// outlives its grace period.
const EVALUATION_INTERVAL: Duration = Duration::from_secs(5);

/// The longest silence of a server that answers: it ends a watch without events after 30 s, and 5 s are for the next request.
const LONGEST_SILENCE: Duration = Duration::from_secs(35);

/// How long to wait for the first list of warnings. Without warnings, some causes cannot be distinguished or have no
/// evidence.
const FIRST_WARNINGS_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the refresh before a timeout may take.
const FINAL_REFRESH_TIMEOUT: Duration = Duration::from_secs(1);

/// The first list of warnings, which is requested once a rollout is known to be incomplete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Warnings {
    #[default]
    NotRequested,
    /// The causes wait for it until this time.
    AwaitedUntil(Duration),
    /// It was read, or is forbidden.
    Read,
}

impl Warnings {
    /// Requests the first list of warnings once a rollout is not complete. Returns whether the causes must wait for it, because
    /// the warnings may show other causes.
    fn request_once(
        &mut self,
        state: RolloutState,
        options: &FollowOptions,
        now: Duration,
        requests: &mut Vec<FollowRequest>,
    ) -> bool {
        if options.once || !state.is_observed_and_incomplete() {
            return false;
        }
        if *self == Self::NotRequested {
            requests.push(FollowRequest::WatchWarnings);
            *self = Self::AwaitedUntil(now + FIRST_WARNINGS_TIMEOUT);
        }
        self.awaited_until().is_some_and(|until| now < until)
            && options.timeout.is_none_or(|limit| now < limit)
    }

    fn awaited_until(self) -> Option<Duration> {
        if let Self::AwaitedUntil(until) = self { Some(until) } else { None }
    }
}

/// One target: the rollout that is followed, and its result.
#[derive(Debug)]
pub struct FollowedTarget {
    pub(super) options: Arc<FollowOptions>,
    id: TargetId,
    /// Its context, if there are several.
    context: Option<Arc<TargetContext>>,
    /// The workload as it was found, or as this process wrote it.
    pub(super) found_workload: Workload,
    /// The state at the start.
    pub(super) start_state: Option<StartState>,
    /// The last observation.
    pub(super) observation: Option<Observation>,
    pub(super) memory: Memory,
    pub(super) result: Option<TargetResult>,
    /// Whether nothing replaces the result any more: it was reported, or the command rolls the target back.
    pub(super) is_over: bool,
    /// The start state to roll back to, and the label of its revision, until the command takes them.
    pub(super) due_rollback: Option<(StartState, String)>,
    pub(super) stuck_pods: StuckPodDeletions,
    logs: ContainerLogs,
    warnings: Warnings,
    /// When the target was last evaluated.
    evaluated_at: Duration,
    /// How long before its last evaluation the server last answered a read, if it does not answer.
    since_answer: Option<Duration>,
    /// Whether a requested refresh has not arrived yet.
    pub(super) refresh_requested: bool,
    /// When the refresh before the timeout was requested.
    pub(super) final_refresh: Option<Duration>,
    /// Whether it was reported what a failure would be rolled back to.
    rollback_target_reported: bool,
    /// The reports and requests that the follower has not taken yet.
    pub(super) effects: Effects<Report, FollowRequest>,
}

impl FollowedTarget {
    pub(super) fn new(
        options: Arc<FollowOptions>,
        id: TargetId,
        context: Option<Arc<TargetContext>>,
        found: Workload,
    ) -> Self {
        Self {
            id,
            context,
            memory: Memory::of(ExpectedRevision::from_options(&options, &found)),
            options,
            found_workload: found,
            start_state: None,
            observation: None,
            result: None,
            is_over: false,
            due_rollback: None,
            stuck_pods: StuckPodDeletions::default(),
            logs: ContainerLogs::default(),
            warnings: Warnings::default(),
            evaluated_at: Duration::ZERO,
            since_answer: None,
            refresh_requested: false,
            final_refresh: None,
            rollback_target_reported: false,
            effects: Effects::default(),
        }
    }

    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> TargetId {
        self.id
    }

    /// Returns the name of its context, if there are several.
    #[must_use]
    pub fn context(&self) -> Option<&str> {
        self.context.as_ref().map(|context| context.name.as_str())
    }

    /// Returns the name of the workload, after that of its context if there are several.
    #[must_use]
    pub fn name(&self) -> String {
        let target = self.workload().target();
        self.context().map(|context| format!("{context}: {target}")).unwrap_or(target)
    }

    /// Returns a moment by the clock of its server. `now` is by that of the first context.
    #[must_use]
    pub fn at(&self, now: Now) -> Now {
        self.context.as_ref().map_or(now, |context| now.ahead(context.clock_ahead))
    }

    /// Returns the workload as last observed, or as it was found.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        self.observation().map_or(&self.found_workload, |observation| &observation.workload)
    }

    /// Returns the observation, once revisions and pods were read.
    #[must_use]
    pub fn observation(&self) -> Option<&Observation> {
        self.observation.as_ref()
    }

    /// Returns what is stale of the ConfigMaps and Secrets that the template names.
    #[must_use]
    pub fn stale_configuration(&self, objects: &[Configuration]) -> Vec<StaleConfiguration> {
        self.observation().map(|observed| stale_configuration(observed, objects)).unwrap_or_default()
    }

    /// Returns the verdict that was reported last.
    #[must_use]
    pub fn verdict(&self) -> Option<&Verdict> {
        self.memory.verdict.as_ref()
    }

    /// Returns the causes that were reported, are not gone and that its verdict does not contradict, most important first.
    pub fn causes(&self) -> impl Iterator<Item = &Cause> {
        let is_complete = self.verdict().is_some_and(|verdict| verdict.state == RolloutState::Complete);
        let mut causes: Vec<_> = self.memory.causes.shown(is_complete).collect();
        causes.sort_by(|a, b| by_importance(a, b));
        causes.into_iter()
    }

    /// Returns the view of the target as last evaluated, once revisions and pods were read. `now` is the server's time.
    #[must_use]
    pub fn view(&self, now: Timestamp) -> Option<RolloutView> {
        let observed = self.observation()?;
        if let Some(Outcome::Failed(RolloutFailure::Replaced(line))) = self.result().map(|one| &one.outcome) {
            // The causes that were reported are of the revision before.
            return Some(RolloutView::of(observed, now).replaced(line.clone()));
        }
        Some(RolloutView::with(observed, self.verdict()?.clone(), self.causes().cloned().collect(), now))
    }

    /// Returns the last log lines of the container that the cause is about, if they were read.
    #[must_use]
    pub fn log_for(&self, cause: &Cause) -> Option<&LogLines> {
        self.logs.of(cause)
    }

    /// Returns the state at the start, once the first observation is complete.
    #[must_use]
    pub fn start_state(&self) -> Option<&StartState> {
        self.start_state.as_ref()
    }

    /// Returns the time left, mostly an estimate; none if the rollout does not progress or nothing is known of it.
    #[must_use]
    pub fn time_left(&self, now: Duration) -> Option<Duration> {
        self.memory.time_left(now).filter(|_| self.result().is_none())
    }

    /// Returns the result, once there is one.
    #[must_use]
    pub fn result(&self) -> Option<&TargetResult> {
        self.result.as_ref()
    }

    /// Returns what it waits for.
    #[must_use]
    pub fn options(&self) -> &FollowOptions {
        &self.options
    }

    /// Applies an event of the target.
    pub(super) fn apply(&mut self, event: TargetEvent, now: Now) {
        self.since_answer = None;
        let event = match event {
            TargetEvent::Log(log) => return self.add_log(log), // useful even after the end
            _ if self.is_over => return,
            event if self.result.is_some() => {
                let _ = self.observe(event); // its rollback is evaluated from the present state
                return;
            }
            TargetEvent::Deleted if self.was_complete() => {
                if self.observation.is_none() {
                    self.observation = Some(Observation::of_alone(self.found_workload.clone()));
                    let _ = self.evaluate(now); // reports that it is complete
                }
                return self.finish(Outcome::Reached, now.elapsed);
            }
            TargetEvent::Deleted => return self.finish(Outcome::Deleted, now.elapsed),
            TargetEvent::Unreadable(error) => {
                return self.finish(Outcome::Unreadable(error), now.elapsed);
            }
            // Another object has taken the name. A uid is never reused.
            event
                if event.workload().is_some_and(|workload| {
                    workload.object().uid() != self.found_workload.object().uid()
                }) =>
            {
                return self.finish(Outcome::Recreated, now.elapsed);
            }
            event => event,
        };
        if let Some(is_refresh) = self.observe(event) {
            self.advance(now, is_refresh);
        }
    }

    /// Records an observation, and returns whether it is that of a refresh; none if there is none to evaluate. A workload
    /// from before a rollback would be judged as failed again, and is not taken.
    fn observe(&mut self, event: TargetEvent) -> Option<bool> {
        let (mut observation, is_refresh) = match event {
            TargetEvent::Observed { observation, events_answered } => {
                if events_answered {
                    self.warnings = Warnings::Read;
                }
                (*observation, false)
            }
            TargetEvent::Refreshed(observation) => (*observation, true),
            _ => return None,
        };
        let is_older = observation.workload.object().generation() < self.found_workload.object().generation();
        if is_older && !is_refresh {
            observation.replace_workload(self.workload().clone());
        } else if is_older && self.options().expect_found_template {
            return None; // from before the write; without one, the server was restored from a backup
        }
        if let Some(before) = &self.observation {
            self.effects.reports.extend(self.memory.report_scaling(&before.workload, &observation.workload));
        }
        self.observation = Some(observation);
        Some(is_refresh)
    }

    /// Evaluates the target because time passed. The server last answered a read `since_answer` ago.
    pub(super) fn tick(&mut self, since_answer: Duration, now: Now) {
        self.since_answer = Some(since_answer).filter(|silence| *silence > LONGEST_SILENCE);
        if self.result().is_none() {
            self.advance(now, false);
        }
    }

    /// Finishes the target because the process was asked to stop.
    pub(super) fn stop(&mut self, stop: StopSignal, now: Now) {
        if self.result().is_none() {
            self.finish(Outcome::Interrupted(stop), now.elapsed);
        }
    }

    /// Follows a target again that has recovered since its failure.
    pub(super) fn resume(&mut self) {
        (self.result, self.is_over) = (None, false);
    }

    /// Returns the target as its rollback was written. What is known of the rollout before is of no use, and a rollback that
    /// fails is not rolled back.
    pub(super) fn as_written(&mut self, written: Workload) -> Self {
        let options = FollowOptions {
            revision: None,
            expect_found_template: true,
            deadline: self.options().deadline_for(&written),
            undo_on_failure: None,
            undo_to: None,
            images: Vec::new(),
            // The time for the rollout has passed: the rollback has as much again.
            timeout: self
                .options()
                .timeout
                .map(|limit| if self.options().undo_on_timeout { limit * 2 } else { limit }),
            ..self.options().clone()
        };
        let mut observation = self.observation.take();
        if let Some(observation) = &mut observation {
            observation.replace_workload(written.clone());
        }
        let (logs, warnings) = (std::mem::take(&mut self.logs), self.warnings);
        Self {
            observation,
            logs,
            warnings,
            ..Self::new(Arc::new(options), self.id, self.context.take(), written)
        }
    }

    /// Returns when to evaluate the target again if no event arrives. Whatever was due at the last
    /// evaluation is done.
    pub(super) fn due(&self) -> Option<Duration> {
        if self.result().is_some() {
            return None;
        }
        let last_progress = self.memory.progress.last_progress();
        let deadline = self.options.deadline_for(self.workload()).map(|deadline| last_progress + deadline);
        let limit = self.final_refresh.map(|began| began + FINAL_REFRESH_TIMEOUT).or(self.options.timeout);
        let interval = Some(self.evaluated_at + EVALUATION_INTERVAL);
        let dues = [self.stuck_pods.due(), interval, limit, deadline, self.warnings.awaited_until()];
        let dues = dues.into_iter().flatten().chain(self.memory.dues());
        dues.filter(|due| *due > self.evaluated_at).min()
    }

    /// Whether the target was seen complete, and is of a kind that is deleted after its end (`ttlSecondsAfterFinished` of a Job).
    fn was_complete(&self) -> bool {
        let workload = self.workload();
        workload.kind().runs_to_completion()
            && verdict(&Observation::of_alone(workload.clone())).state == RolloutState::Complete
    }

    fn add_log(&mut self, log: LogLines) {
        if log.lines.is_empty() {
            return self.memory.causes.note_missing_log(&log.pod, &log.container);
        }
        let log = LogLines { lines: last_lines_without_secrets(self.observation(), &log.lines), ..log };
        self.memory.causes.explain(&log);
        if self.logs.keep(log.clone()) {
            self.effects.reports.push(Report::Log(log));
        }
    }

    /// Evaluates the observation, and finishes the target if it is done. `is_refresh` says that everything was read again just
    /// now. Otherwise an outcome that needs a refresh becomes one: it is decided again on the refresh.
    pub(super) fn advance(&mut self, now: Now, is_refresh: bool) {
        self.evaluated_at = now.elapsed;
        self.refresh_requested &= !is_refresh;
        if let Some(observation) = &self.observation {
            if !self.options.once && self.start_state.is_none() {
                match StartState::of(&self.found_workload, observation, &self.options, now.server_time) {
                    Ok(start) => self.start_state = Some(start),
                    Err(error) => return self.finish(Outcome::Unreadable(error), now.elapsed),
                }
            }
            match self.evaluate(now) {
                Judgement::Decided(outcome) if is_refresh || !self.needs_refresh(&outcome) => {
                    return self.finish(outcome, now.elapsed);
                }
                _ if self.options.once => return self.finish(Outcome::Unfinished, now.elapsed),
                Judgement::Decided(_) => self.request_refresh(),
                Judgement::Waiting(_) => self.report_rollback_target(),
            }
        }
        self.delete_stuck_pod(is_refresh, now.elapsed);
        if let Some(outcome) = self.time_out(is_refresh, now.elapsed) {
            self.finish(outcome, now.elapsed);
        }
    }

    /// Records the observation, reports what changed, and judges it. While the causes wait for warnings, nothing is decided.
    fn evaluate(&mut self, now: Now) -> Judgement {
        let Self { observation, memory, options, warnings, effects, .. } = self;
        let Some(observation) = observation else { return Judgement::Waiting(None) };
        let compared = memory.expected.as_mut().map(|expected| expected.compare(observation, options.once));
        let lacking = options.images.iter().find_map(|image| image.mismatch(&observation.workload));
        let revision = match compared.unwrap_or(Ok(RevisionMatch::Expected)) {
            Ok(revision) => lacking.map_or(revision, RevisionMatch::Replaced),
            Err(error) => return Judgement::Decided(Outcome::Unreadable(error)),
        };
        let verdict = verdict(observation);
        let is_expected = match &revision {
            RevisionMatch::Expected => true,
            RevisionMatch::NotYet(_) => options.once,
            RevisionMatch::Replaced(_) => false,
        };
        let goal = is_expected.then(|| GoalState::of(options.goal, observation, &verdict, now.server_time));
        let mut awaits_warnings = false;
        let shown = if let Some(goal) = goal {
            memory.observe(observation, goal, options, now);
            awaits_warnings = warnings.request_once(verdict.state, options, now.elapsed, &mut effects.tasks);
            let withholds_line =
                verdict.state == RolloutState::Complete && memory.stability.is_not_yet_stable(now.elapsed);
            Some([!awaits_warnings, withholds_line])
        } else {
            // The only evaluation says how the other revision does, without kubectl's line about it.
            matches!(revision, RevisionMatch::Replaced(_)).then_some([true, true]).filter(|_| options.once)
        };
        let mut report = |memory: &mut Memory, shown| {
            let Effects { reports, tasks } = memory.report(observation, &verdict, shown, options, now);
            effects.reports.extend(reports);
            effects.tasks.extend(tasks);
        };
        if let Some(shown) = shown {
            report(memory, shown);
        }
        let judgement = judge(&observation.workload, goal, &verdict, revision, memory, options, now.elapsed);
        if !is_expected && judgement == Judgement::Decided(Outcome::Held) {
            report(memory, [true, false]);
        }
        if let Judgement::Waiting(Some(why)) = &judgement {
            effects.reports.extend(memory.waiting_report(why.clone()));
        }
        if awaits_warnings { Judgement::Waiting(None) } else { judgement }
    }

    /// Requests a refresh, unless one is awaited.
    pub(super) fn request_refresh(&mut self) {
        if !std::mem::replace(&mut self.refresh_requested, true) {
            self.effects.tasks.push(FollowRequest::Refresh);
        }
    }

    /// Whether an outcome is decided on a refresh, because elapsed time or several objects decide, because the rollout
    /// failed and its cause may not have been read yet, or because what seems to be unreadable may have been deleted.
    fn needs_refresh(&self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Failed(RolloutFailure::Replaced(_)) => false,
            // Without a time to wait for, the observation alone decides.
            Outcome::Reached => self.options.waits_for_stability(),
            _ => true,
        }
    }

    /// Reports once what a failure would be rolled back to.
    fn report_rollback_target(&mut self) {
        if self.options.undo_on_failure.is_none() || self.rollback_target_reported {
            return;
        }
        if let (Some(start), Some(observation)) = (&self.start_state, &self.observation) {
            self.rollback_target_reported = true;
            let stable = start.stable_revision(observation).map(|stable| (stable.label(), stable.images()));
            self.effects.reports.push(Report::RollbackTarget(stable));
        }
    }

    /// Returns the outcome once the timeout passed. The refresh before it has a limit of its own.
    fn time_out(&mut self, is_refresh: bool, now: Duration) -> Option<Outcome> {
        let limit = self.options.timeout.filter(|limit| now >= *limit)?;
        let Some(began) = self.final_refresh else {
            self.final_refresh = Some(now);
            self.request_refresh();
            return None;
        };
        (is_refresh || now >= began + FINAL_REFRESH_TIMEOUT).then_some(Outcome::TimedOut(limit))
    }

    /// Ends the target. The command goes on if a rollback is due, or if the failure of another target may still replace the
    /// result.
    pub(super) fn finish(&mut self, outcome: Outcome, elapsed: Duration) {
        let rollback = self.rollback_after_failure(&outcome).transpose();
        let Effects { reports, tasks } = self.memory.report_end(&outcome, &self.options, elapsed);
        self.effects.reports.extend(reports);
        self.effects.tasks.extend(tasks);
        let (due, no_rollback) = match rollback {
            Ok(due) => (due, None),
            Err(why) => (None, Some(why)),
        };
        let may_change = due.is_some() || self.is_to_follow_a_failure(&outcome);
        let result = self.result_with(outcome, elapsed);
        self.result = Some(TargetResult { since_answer: self.since_answer, no_rollback, ..result });
        self.due_rollback = due;
        if !may_change {
            self.end();
        }
    }

    pub(super) fn result_with(&self, outcome: Outcome, elapsed: Duration) -> TargetResult {
        let line = self.verdict().map(|verdict| verdict.line.clone()).unwrap_or_default();
        TargetResult { outcome, line, elapsed, since_answer: None, no_rollback: None }
    }

    /// Reports the result, which nothing replaces any more.
    pub(super) fn end(&mut self) {
        if let Some(result) = self.result.clone().filter(|_| !self.is_over) {
            self.is_over = true;
            self.effects.reports.push(Report::Ended(result));
        }
    }
}
