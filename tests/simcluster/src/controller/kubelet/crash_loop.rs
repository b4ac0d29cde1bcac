//! The states of a container that crashes again and again, as recorded from real kubelets (`tests/data/node`).
//!
//! A kubelet reports `terminated` for most of the back-off, and `waiting: CrashLoopBackOff` only shortly before the
//! restart. The first restart is immediate.

use std::time::Duration;

/// How often a crashing container is restarted at most.
const MOST_RESTARTS: u64 = 29;

/// How long before a restart the kubelet reports `CrashLoopBackOff`.
const REPORTED_BACK_OFF: Duration = Duration::from_millis(200);

/// How long the first restart takes.
const FIRST_RESTART: Duration = Duration::from_millis(500);

/// What a crashing container does at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is created.
    Creating,
    /// It runs.
    Running,
    /// It ended, and the kubelet waits for the end of the back-off.
    Terminated,
    /// It is restarted in a moment.
    BackOff,
}

/// A crash loop at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CrashLoop {
    pub(super) phase: Phase,
    pub(super) restarts: u64,
    /// When the phase ends, counted as the elapsed time.
    pub(super) until: Option<Duration>,
}

impl CrashLoop {
    /// The state of a container that was created `elapsed` ago, starts after `start`, and runs for `run` each time.
    ///
    /// A container with `run` zero ends before the kubelet reports that it runs, and has crashed twice when it is
    /// reported first.
    pub(super) fn after(elapsed: Duration, start: Duration, run: Duration) -> Self {
        if elapsed < start {
            return Self { phase: Phase::Creating, restarts: 0, until: Some(start) };
        }
        let first = u64::from(run.is_zero());
        let mut begins = start;
        for restarts in first..MOST_RESTARTS {
            let ends = begins + run;
            if elapsed < ends {
                return Self { phase: Phase::Running, restarts, until: Some(ends) };
            }
            let next = ends + back_off(restarts);
            let reported = if restarts == 0 { next } else { next.saturating_sub(REPORTED_BACK_OFF) };
            if elapsed < reported {
                return Self { phase: Phase::Terminated, restarts, until: Some(reported) };
            }
            if elapsed < next {
                return Self { phase: Phase::BackOff, restarts, until: Some(next) };
            }
            begins = next;
        }
        Self { phase: Phase::Terminated, restarts: MOST_RESTARTS, until: None }
    }
}

/// The back-off after so many restarts: 2, 4, 6 seconds and so on, at most 20. A real kubelet waits for 10, 20, 40
/// seconds.
fn back_off(restarts: u64) -> Duration {
    if restarts == 0 { FIRST_RESTART } else { Duration::from_secs((2 * restarts).min(20)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64, run: u64) -> (Phase, u64) {
        let start = Duration::from_millis(300);
        let state = CrashLoop::after(Duration::from_secs_f64(seconds), start, Duration::from_secs(run));
        (state.phase, state.restarts)
    }

    #[test]
    fn a_container_that_ends_at_once_is_terminated_for_most_of_its_back_off() {
        for (seconds, phase, restarts) in [
            (0.0, Phase::Creating, 0),
            (0.3, Phase::Terminated, 1),
            (2.0, Phase::Terminated, 1),
            (2.2, Phase::BackOff, 1),
            (2.3, Phase::Terminated, 2),
            (6.2, Phase::BackOff, 2),
            (6.3, Phase::Terminated, 3),
            (1000.0, Phase::Terminated, 29),
        ] {
            assert_eq!(at(seconds, 0), (phase, restarts), "{seconds}");
        }
    }

    #[test]
    fn a_container_that_runs_for_a_while_restarts_at_once_the_first_time() {
        for (seconds, phase, restarts) in [
            (0.3, Phase::Running, 0),
            (15.3, Phase::Terminated, 0),
            (15.8, Phase::Running, 1),
            (30.8, Phase::Terminated, 1),
            (32.7, Phase::BackOff, 1),
            (32.8, Phase::Running, 2),
        ] {
            assert_eq!(at(seconds, 15), (phase, restarts), "{seconds}");
        }
    }
}
