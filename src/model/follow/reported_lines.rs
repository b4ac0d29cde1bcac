//! Which of kubectl's lines were printed, and when one is printed again.

use std::time::Duration;

use crate::model::status::verdict::Verdict;

/// A line that comes back while the rollout gets no further is printed again after this long. Pods that crash,
/// or that the kubelet refuses, move the counters to and fro many times a second.
const REPEATED: Duration = Duration::from_secs(10);

/// The lines of a target since it last got further.
#[derive(Debug, Default)]
pub(super) struct ReportedLines {
    printed: Vec<(Verdict, Duration)>,
    last: Option<Verdict>,
    /// When the rollout last got further.
    moved: Duration,
    /// Whether the line that stands now was held back.
    is_held_back: bool,
    /// When to print it, if it is to be printed once it has stood long enough.
    due: Option<Duration>,
}

impl ReportedLines {
    /// Returns whether to print the line of a verdict now. `moved` is when the rollout last got further.
    pub(super) fn record(&mut self, verdict: &Verdict, moved: Duration, now: Duration) -> bool {
        if moved != self.moved {
            self.printed.clear();
            self.moved = moved;
        }
        (self.is_held_back, self.due) = (false, None);
        if self.last.as_ref() == Some(verdict) {
            return false;
        }
        let before = self.printed.iter_mut().find(|(printed, _)| printed == verdict);
        match before {
            Some((_, at)) if now < *at + REPEATED => {
                (self.is_held_back, self.due) = (true, Some(*at + REPEATED));
                return false;
            }
            Some((_, at)) => *at = now,
            None => self.printed.push((verdict.clone(), now)),
        }
        self.last = Some(verdict.clone());
        true
    }

    /// Holds the line that stands now back until the end.
    pub(super) fn hold_back(&mut self) {
        (self.is_held_back, self.due) = (true, None);
    }

    /// Whether the line that stands now was held back.
    pub(super) fn is_held_back(&self) -> bool {
        self.is_held_back
    }

    /// When to print the line that stands now, if it was held back.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }
}
