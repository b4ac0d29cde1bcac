//! What was reported of a target: which of kubectl's lines to print, when to print one again, and what to print once.

use std::time::Duration;

use super::options::FollowOptions;
use super::output::{Report, RollbackTarget, ShortTimeout, TargetEffects};
use crate::model::change::effect::Effect;
use crate::model::kind::counts::Counts;
use crate::model::kind::verdict::{RolloutState, Verdict};
use crate::model::observation::Observation;

/// A line that returns without progress is printed again after this time. Crashing or rejected pods can change the
/// counters many times a second.
const REPEAT_AFTER: Duration = Duration::from_secs(10);

/// The status of a target that was reported last, and its lines since its last progress.
#[derive(Debug, Default)]
pub(super) struct ReportedStatus {
    verdict: Option<Verdict>,
    counts: Counts,
    /// Whether it is the status of a rollback.
    is_rollback: bool,
    /// What the follower waits for.
    waiting_for: Option<String>,
    /// When each line was printed.
    printed: Vec<(Verdict, Duration)>,
    /// The line that was printed last.
    last_line: Option<Verdict>,
    /// When the rollout last progressed.
    last_progress: Duration,
    /// Whether the present line was not printed yet.
    is_held_back: bool,
    /// When to print the present line, if it does not change until then.
    due: Option<Duration>,
}

impl ReportedStatus {
    /// Starts the status of a rollback.
    pub(super) fn of_rollback() -> Self {
        Self { is_rollback: true, ..Self::default() }
    }

    /// Returns the verdict that was reported last.
    pub(super) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// Records a status whose line is not changed by a cause that shows that the rollout is stuck. Returns a report if
    /// something changed. `line_at` is when the rollout last progressed; none delays the line until the result.
    pub(super) fn record(
        &mut self,
        line: &Verdict,
        verdict: Verdict,
        counts: Counts,
        line_at: Option<Duration>,
        now: Duration,
    ) -> Option<Report> {
        (self.is_held_back, self.due) = (line_at.is_none(), None);
        let line_changed = line_at.is_some_and(|last_progress| self.record_line(line, last_progress, now));
        let has_changed = line_changed || self.verdict.as_ref() != Some(&verdict) || self.counts != counts;
        (self.verdict, self.counts) = (Some(verdict), counts);
        self.report(line_changed).filter(|_| has_changed)
    }

    /// Returns the last verdict with its line, if another line was printed after it.
    pub(super) fn last_line(&self) -> Option<Report> {
        self.report(true).filter(|_| self.is_held_back)
    }

    /// Returns a report of what the follower waits for, unless it was the last one.
    pub(super) fn wait(&mut self, reason: String) -> Option<Report> {
        let is_new = self.waiting_for.as_ref() != Some(&reason);
        self.waiting_for = Some(reason.clone());
        is_new.then_some(Report::Waiting { reason })
    }

    /// Returns when to print the present line, if it was delayed.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    fn report(&self, line_changed: bool) -> Option<Report> {
        let verdict = self.verdict.clone()?;
        Some(Report::Status { verdict, counts: self.counts, line_changed, is_rollback: self.is_rollback })
    }

    /// Returns whether to print a line now.
    fn record_line(&mut self, line: &Verdict, last_progress: Duration, now: Duration) -> bool {
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
                (self.is_held_back, self.due) = (true, Some(*at + REPEAT_AFTER));
                return false;
            }
            Some((_, at)) => *at = now,
            None => self.printed.push((line.clone(), now)),
        }
        self.last_line = Some(line.clone());
        true
    }
}

/// Which of the reports were made that a target has at most once: what a failure would be rolled back to, and the least
/// time of its rollout.
#[derive(Debug, Default)]
pub(super) struct FirstReports {
    rollback_target: bool,
    least_time: bool,
}

impl FirstReports {
    /// Reports what is known of a rollout that is not finished: the rollback target at once, and the least time when it first
    /// progresses.
    pub(super) fn add(
        &mut self,
        observation: &Observation,
        state: Option<RolloutState>,
        options: &FollowOptions,
        elapsed: Duration,
        out: &mut TargetEffects,
    ) {
        if options.undo_on_failure.is_some() && !std::mem::replace(&mut self.rollback_target, true) {
            out.reports.push(Report::RollbackTarget(RollbackTarget::of(observation)));
        }
        let is_progressing = matches!(state, Some(RolloutState::Progressing | RolloutState::Stuck));
        if !is_progressing || std::mem::replace(&mut self.least_time, true) {
            return;
        }
        if let Some(least) = Effect::of_rollout(observation).least_time {
            let timeout = options.timeout.and_then(|timeout| ShortTimeout::of(timeout, least, elapsed));
            out.reports.push(Report::LeastTime { least, timeout });
        }
    }
}
