//! What the kubelet reports of one container, as a function of the time since it began to start the container.

use std::time::Duration;

use super::behaviour::Behaviour;
use super::crash_loop;

/// A state of a container, for as long as the kubelet reports it. Times count from the start of the container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) state: State,
    pub(super) is_ready: bool,
    /// How often the container was restarted because it ended.
    pub(super) restarts: u64,
    /// The run before the present one (`lastState`).
    pub(super) last: Option<Run>,
    /// When the phase ends; `None` if it lasts.
    pub(super) until: Option<Duration>,
}

/// `state` of a container status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// With this reason.
    Waiting(&'static str),
    /// Since this time.
    Running(Duration),
    Terminated(Run),
}

/// A run of a container that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) began: Duration,
    pub(super) ended: Duration,
    pub(super) exit_code: i64,
    pub(super) reason: &'static str,
}

impl Phase {
    /// A phase of the first run.
    pub(super) fn first(state: State, is_ready: bool, until: Option<Duration>) -> Self {
        Self { state, is_ready, restarts: 0, last: None, until }
    }

    /// The same phase, later by this time.
    pub(super) fn later(mut self, by: Duration) -> Self {
        let shift = |run: &mut Run| {
            run.began += by;
            run.ended += by;
        };
        match &mut self.state {
            State::Running(since) => *since += by,
            State::Terminated(run) => shift(run),
            State::Waiting(_) => {}
        }
        self.last.as_mut().map(shift);
        self.until = self.until.map(|until| until + by);
        self
    }
}

/// What decides the phases of a container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) behaviour: Behaviour,
    /// When the container runs.
    pub(super) runs: Duration,
    /// When the readiness probe succeeds if the container is healthy.
    pub(super) ready: Duration,
    /// Whether the container has a readiness probe.
    pub(super) is_probed: bool,
    /// Whether this is a restart, which is reported as a container that runs and is not ready yet.
    pub(super) is_restart: bool,
    /// The back-off before the second restart.
    pub(super) back_off: Duration,
    /// How long the container runs if it completes.
    pub(super) work: Duration,
    /// Which ends of its containers the pod survives.
    pub(super) restarts: Restarts,
}

/// `spec.restartPolicy`: which containers are restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restarts {
    Always,
    OnFailure,
    Never,
}

/// Returns the phase of a container that ended and is not restarted.
fn ended(began: Duration, ended: Duration, exit_code: i64, reason: &'static str) -> Phase {
    Phase::first(State::Terminated(Run { began, ended, exit_code, reason }), false, None)
}

/// Returns the phase of a container.
pub(super) fn of_container(start: &Start, elapsed: Duration) -> Phase {
    let runs = if start.is_restart { Duration::ZERO } else { start.runs };
    if elapsed < runs {
        return Phase::first(State::Waiting("ContainerCreating"), false, Some(runs));
    }
    let begins = if start.is_restart { start.ready } else { runs };
    let ready = if start.is_probed || start.is_restart { start.ready } else { runs };
    match start.behaviour {
        Behaviour::BadImage => Phase::first(State::Waiting("ImagePullBackOff"), false, None),
        Behaviour::BadConfig => Phase::first(State::Waiting("CreateContainerConfigError"), false, None),
        Behaviour::Completes if start.restarts != Restarts::Always && elapsed >= ready + start.work => {
            ended(runs, ready + start.work, 0, "Completed")
        }
        behaviour if behaviour.crashes() && start.restarts == Restarts::Never && elapsed >= begins => {
            let (exit_code, reason) = behaviour.crash();
            ended(runs, begins, exit_code, reason)
        }
        Behaviour::Completes if start.restarts != Restarts::Always && elapsed >= ready => {
            Phase::first(State::Running(runs), true, Some(ready + start.work))
        }
        behaviour if behaviour.crashes() && elapsed >= begins => {
            crash_loop::phase(start, elapsed.saturating_sub(begins)).later(begins)
        }
        Behaviour::NotReady => Phase::first(State::Running(runs), false, None),
        _ if elapsed < ready => Phase::first(State::Running(runs), false, Some(ready)),
        _ => Phase::first(State::Running(runs), true, None),
    }
}
