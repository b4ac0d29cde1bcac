//! The contract of an engine: one event in, reports and tasks out. The follower and the stepper are engines, and one event
//! loop drives both.
//!
//! An engine does no I/O and has no clock. Its driver passes every event with its time, executes each task and applies the
//! result as an event, and applies a tick when the engine is due.

use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::api::pod::Pod;
use crate::cause::container_logs::LogLines;
use crate::error::Error;
use crate::exit::Exit;
use crate::kind::Workload;
use crate::observation::Observation;

/// What an event loop drives: a follower or a stepper.
pub trait Engine {
    /// The answer to a task of its own.
    type Answer;

    /// What to show to the user. The engine has the facts about it.
    type Report;

    /// What the driver must do.
    type Task;

    /// Applies one event and returns the reports and tasks that follow from it.
    fn apply(&mut self, event: LoopEvent<Self::Answer>, now: Now) -> Effects<Self::Report, Self::Task>;

    /// Returns when to apply a tick if no other event arrives earlier, counted from the start. Returns none if only events
    /// matter.
    fn due(&self) -> Option<Duration>;

    /// Whether the engine has its result.
    fn is_finished(&self) -> bool;
}

/// One event: what an engine with these answers receives.
#[derive(Clone, Debug)]
pub enum LoopEvent<A> {
    /// A target changed, or its observer answers a task.
    Target(TargetId, TargetEvent),
    /// Only time passed.
    Tick {
        /// How long ago the server of each context last answered a read; empty if that is not known.
        since_answer: Vec<Duration>,
    },
    /// The user or the system asked the process to stop.
    Stop(StopSignal),
    /// The answer to another task.
    Answer(A),
}

/// What follows from one event, each part in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects<Report, Task> {
    /// What to show to the user.
    pub reports: Vec<Report>,
    /// What the driver must do.
    pub tasks: Vec<Task>,
}

impl<Report, Task> Default for Effects<Report, Task> {
    fn default() -> Self {
        Self { reports: Vec::new(), tasks: Vec::new() }
    }
}

/// One moment, on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The time since the engine started, from a monotonic clock. All waiting is measured by it.
    pub elapsed: Duration,
    /// The API server's time of day. It is only compared with timestamps in objects.
    pub server_time: Timestamp,
}

impl Now {
    /// Returns the moment by a clock that is ahead by this much.
    #[must_use]
    pub fn ahead(self, ahead: SignedDuration) -> Self {
        Self { server_time: self.server_time.checked_add(ahead).unwrap_or(self.server_time), ..self }
    }

    /// Returns the time of day in whole seconds, as the API server writes timestamps.
    #[must_use]
    pub fn stamp(&self) -> String {
        Timestamp::from_second(self.server_time.as_second()).unwrap_or(self.server_time).to_string()
    }
}

/// A target: the index of its context, and its own in the order in which the workloads were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId {
    /// The index of its context; 0 with one context.
    pub context: usize,
    /// The index among the targets of all contexts.
    pub index: usize,
}

impl TargetId {
    /// Returns the id of a target of the only context.
    #[must_use]
    pub const fn of(index: usize) -> Self {
        Self { context: 0, index }
    }
}

/// A context of a command that has several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetContext {
    /// Its name.
    pub name: String,
    /// How far the clock of its server is ahead of that of the first context.
    pub clock_ahead: SignedDuration,
}

/// A change of a target. Each observation is complete, so that none depends on an earlier one.
#[derive(Clone, Debug)]
pub enum TargetEvent {
    /// Something that was observed changed.
    Observed {
        /// Everything as it is known now. Its parts were read one after another.
        observation: Box<Observation>,
        /// Whether the warning events were read, or are forbidden.
        events_answered: bool,
    },
    /// A complete fresh observation, the answer to the task to refresh.
    Refreshed(Box<Observation>),
    /// The workload was deleted.
    Deleted,
    /// The workload cannot be read any more: access was denied, or the API server stays
    /// unreachable.
    Unreadable(Error),
    /// The last log lines of a container, the answer to the task to read them.
    Log(LogLines),
}

impl TargetEvent {
    /// Returns the state of the workload that the event carries.
    pub(crate) fn workload(&self) -> Option<&Workload> {
        match self {
            Self::Observed { observation, .. } | Self::Refreshed(observation) => Some(&observation.workload),
            _ => None,
        }
    }
}

/// The signal that asked the process to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// SIGHUP: the terminal was closed.
    HungUp,
}

impl StopSignal {
    /// Returns the name for JSON.
    #[must_use]
    pub fn json_name(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::Terminated => "terminated",
            Self::HungUp => "hung-up",
        }
    }

    /// Returns the exit code of a command that the signal stopped.
    #[must_use]
    pub fn exit(self) -> Exit {
        match self {
            Self::Interrupted => Exit::Interrupted,
            Self::Terminated => Exit::Terminated,
            Self::HungUp => Exit::HungUp,
        }
    }

    /// Returns the name for text.
    #[must_use]
    pub fn words(self) -> String {
        self.json_name().replace('-', " ")
    }
}

/// One pod, identified by name and uid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodRef {
    /// The name.
    pub name: String,
    /// The uid.
    pub uid: String,
}

impl PodRef {
    /// Returns the reference to a pod.
    #[must_use]
    pub fn of(pod: &Pod) -> Self {
        Self { name: pod.name.clone(), uid: pod.uid.clone() }
    }
}
