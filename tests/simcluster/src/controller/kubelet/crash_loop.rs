//! The states of a container that crashes again and again.
//!
//! It crashes before the kubelet reports that it runs. A kubelet reports `terminated` for most of the back-off, and
//! `waiting: CrashLoopBackOff` only shortly before the restart, as real kubelets do (`tests/data/node`).

use std::time::Duration;

use super::behaviour::Behaviour;
use super::phase::{Phase, Run, Start, State};

/// How often a container is restarted at most, so that a test that waits until nothing is due ends.
const MAX_RESTARTS: u64 = 29;

/// The restart from which a container runs that recovers.
const RECOVERY: u64 = 4;

/// How long before a restart the kubelet reports `CrashLoopBackOff`.
const REPORTED_BACK_OFF: Duration = Duration::from_millis(100);

/// Returns the phase of a container that began to run for the first time `elapsed` ago.
pub(super) fn phase(start: &Start, elapsed: Duration) -> Phase {
    let (exit_code, reason) = start.behaviour.crash();
    let run = |at| Run { began: at, ended: at, exit_code, reason };
    // The first report comes after the second crash.
    let (mut began, mut restarts) = (Duration::ZERO, 1);
    let mut last = run(began);
    loop {
        let phase = |state, last, until| Phase { state, is_ready: false, restarts, last: Some(last), until };
        if start.behaviour == Behaviour::Recovers && restarts >= RECOVERY {
            return Phase { is_ready: !start.is_probed, ..phase(State::Running(began), last, None) };
        }
        let this = run(began);
        if restarts == MAX_RESTARTS {
            return phase(State::Terminated(this), last, None);
        }
        let next = began + back_off(restarts, start.back_off);
        let reported = next.saturating_sub(REPORTED_BACK_OFF);
        if elapsed < reported {
            return phase(State::Terminated(this), last, Some(reported));
        }
        if elapsed < next {
            return phase(State::Waiting("CrashLoopBackOff"), this, Some(next));
        }
        (last, began) = (this, next);
        restarts += 1;
    }
}

/// Returns the time from the end of a container to its next start. It doubles with every restart, up to thirty times
/// the first one.
fn back_off(restarts: u64, base: Duration) -> Duration {
    base * 2_u32.pow(u32::try_from(restarts - 1).unwrap_or(u32::MAX).min(5)).min(30)
}
