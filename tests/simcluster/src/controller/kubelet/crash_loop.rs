//! The states of a container that crashes again and again.
//!
//! A kubelet reports `terminated` for most of the back-off, and `waiting: CrashLoopBackOff` only shortly before the
//! restart. The first restart has no back-off. Measured on real kubelets (`tests/data/node`).

use std::time::Duration;

use super::behaviour::Behaviour;
use super::phase::{Phase, Run, Start, State};

/// How often a container is restarted at most, so that a test that waits until nothing is due ends.
const MAX_RESTARTS: u64 = 29;

/// The restart from which a container runs that recovers.
const RECOVERY: u64 = 4;

/// How long before a restart the kubelet reports `CrashLoopBackOff`.
const REPORTED_BACK_OFF: Duration = Duration::from_millis(100);

/// The time until the first restart.
const FIRST_RESTART: Duration = Duration::from_millis(500);

/// Returns the phase of a container that began to run for the first time `elapsed` ago.
pub(super) fn phase(start: &Start<'_>, elapsed: Duration) -> Phase {
    let timing = start.timing;
    let run = if start.behaviour == Behaviour::CrashLate { timing.late_run } else { timing.run };
    let (exit_code, reason) =
        if start.behaviour == Behaviour::OutOfMemory { (137, "OOMKilled") } else { (1, "Error") };
    let first = u64::from(run.is_zero()); // then the first report comes after the second crash
    let mut began = Duration::ZERO;
    let mut last = run.is_zero().then_some(Run { began, ended: began, exit_code, reason });
    let mut restarts = first;
    loop {
        let phase = |state: State, last, until| Phase { state, is_ready: false, restarts, last, until };
        if start.behaviour == Behaviour::Recovers && restarts >= RECOVERY {
            let is_ready = !start.is_probed;
            return Phase { is_ready, ..phase(State::Running(began), last, None) };
        }
        let ended = began + run;
        if elapsed < ended {
            let is_ready = !start.is_probed;
            return Phase { is_ready, ..phase(State::Running(began), last, Some(ended)) };
        }
        let this = Run { began, ended, exit_code, reason };
        if restarts == MAX_RESTARTS {
            return phase(State::Terminated(this), last, None);
        }
        let next = ended + back_off(restarts, timing.back_off);
        let reported = if restarts == 0 { next } else { next.saturating_sub(REPORTED_BACK_OFF) };
        if elapsed < reported {
            return phase(State::Terminated(this), last, Some(reported));
        }
        if elapsed < next {
            return phase(State::Waiting("CrashLoopBackOff"), Some(this), Some(next));
        }
        last = Some(this);
        began = next;
        restarts += 1;
    }
}

/// Returns the time from the end of a container to its next start.
fn back_off(restarts: u64, base: Duration) -> Duration {
    let Some(doublings) = restarts.checked_sub(1) else { return FIRST_RESTART };
    base * 2_u32.pow(u32::try_from(doublings).unwrap_or(u32::MAX).min(5)).min(30)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::kubelet::timing::KubeletTiming;

    fn at(seconds: f64, timing: &KubeletTiming) -> String {
        let (behaviour, reason) = (Behaviour::Crash, "ContainerCreating");
        let ready = Duration::ZERO;
        let start =
            Start { behaviour, runs: ready, ready, is_probed: false, is_restart: false, reason, timing };
        let phase = phase(&start, Duration::from_secs_f64(seconds));
        let state = match phase.state {
            State::Waiting(_) => "waiting",
            State::Running(_) => "running",
            State::Terminated(_) => "terminated",
        };
        format!("{state} {}", phase.restarts)
    }

    #[test]
    fn a_container_is_terminated_for_most_of_its_back_off() {
        for (seconds, state) in [
            (0.0, "running 0"),
            (0.4, "terminated 0"),
            (0.9, "running 1"),
            (1.3, "terminated 1"),
            (11.1, "terminated 1"),
            (11.2, "waiting 1"),
            (11.3, "running 2"),
            (11.7, "terminated 2"),
            (31.7, "running 3"),
            (10_000.0, "terminated 29"),
        ] {
            assert_eq!(at(seconds, &KubeletTiming::recorded()), state, "{seconds}");
        }
    }

    #[test]
    fn a_container_that_ends_at_once_is_never_reported_as_running() {
        for (seconds, state) in
            [(0.0, "terminated 1"), (0.9, "waiting 1"), (1.0, "terminated 2"), (3.0, "terminated 3")]
        {
            assert_eq!(at(seconds, &KubeletTiming::default()), state, "{seconds}");
        }
    }
}
