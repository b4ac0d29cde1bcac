//! Decides which of kubectl's lines to print, and when to print one again.

use std::time::Duration;

use crate::model::workload::verdict::Verdict;

/// A line that returns without progress is printed again after this time. Crashing or rejected pods can change the
/// counters many times a second.
const REPEAT_AFTER: Duration = Duration::from_secs(10);

/// The lines of a target since its last progress.
#[derive(Debug, Default)]
pub(super) struct ReportedLines {
    printed: Vec<(Verdict, Duration)>,
    last: Option<Verdict>,
    /// When the rollout last progressed.
    last_progress: Duration,
    /// Whether the present line was not printed yet.
    is_held_back: bool,
    /// When to print the present line, if it does not change until then.
    due: Option<Duration>,
}

impl ReportedLines {
    /// Returns whether to print the line of a verdict now. `last_progress` is when the rollout last progressed.
    pub(super) fn record(&mut self, verdict: &Verdict, last_progress: Duration, now: Duration) -> bool {
        if last_progress != self.last_progress {
            self.printed.clear();
            self.last_progress = last_progress;
        }
        (self.is_held_back, self.due) = (false, None);
        if self.last.as_ref() == Some(verdict) {
            return false;
        }
        let before = self.printed.iter_mut().find(|(printed, _)| printed == verdict);
        match before {
            Some((_, at)) if now < *at + REPEAT_AFTER => {
                (self.is_held_back, self.due) = (true, Some(*at + REPEAT_AFTER));
                return false;
            }
            Some((_, at)) => *at = now,
            None => self.printed.push((verdict.clone(), now)),
        }
        self.last = Some(verdict.clone());
        true
    }

    /// Delays the present line until the result.
    pub(super) fn hold_back(&mut self) {
        (self.is_held_back, self.due) = (true, None);
    }

    /// Whether the present line was not printed yet.
    pub(super) fn is_held_back(&self) -> bool {
        self.is_held_back
    }

    /// Returns when to print the present line, if it was delayed.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }
}
