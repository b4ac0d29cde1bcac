//! Reports causes as the follower does, and finds those that fail a batch.

use std::time::Duration;

use super::event::{StepReport, Task};
use crate::model::cause::container_logs::LogLines;
use crate::model::cause::{AllowedRestarts, Cause, CauseId, causes_without_holds, without_secrets_of};
use crate::model::engine::{Effects, Now};
use crate::model::follow::{CauseLedger, CauseUpdate, ProgressClock, is_fatal};
use crate::model::observation::Observation;

/// How long a fatal cause may last, as with `--fail-fast`.
pub(super) const GRACE: Duration = Duration::from_secs(30);

/// The reported causes, and the times at which fatal ones appeared.
#[derive(Debug, Default)]
pub(super) struct Causes {
    ledger: CauseLedger,
    progress: ProgressClock,
}

impl Causes {
    /// Records the causes of an observation. Returns reports of the changes, and tasks that read the logs.
    pub(super) fn observe(&mut self, observed: &Observation, now: Now) -> Effects<StepReport, Task> {
        self.progress.record(&observed.workload, now.elapsed);
        let causes = causes_without_holds(observed, now.server_time);
        let (grace, last_progress) =
            (|cause: &Cause| is_fatal(cause).then_some(GRACE), self.progress.last_progress());
        let CauseUpdate { changes, logs } =
            self.ledger.record(&causes, observed, AllowedRestarts::default(), grace, last_progress, now);
        Effects {
            reports: changes.into_iter().map(|(cause, change)| StepReport::Cause { cause, change }).collect(),
            tasks: logs.into_iter().map(Task::ReadLog).collect(),
        }
    }

    /// Returns the fatal causes that outlasted their grace period, each with its pods.
    pub(super) fn fatal(&self, now: Duration) -> impl Iterator<Item = (CauseId, Vec<String>)> {
        self.ledger.expired(now).map(|(id, _)| {
            let causes = self.ledger.active().filter(|cause| cause.id == id);
            (id, causes.flat_map(|cause| cause.pods.clone()).collect())
        })
    }

    /// Whether a fatal cause is within its grace period.
    pub(super) fn is_pending(&self, now: Duration) -> bool {
        self.ledger.is_pending(now)
    }

    /// Returns the causes that were reported and are not gone.
    pub(super) fn current(&self) -> impl Iterator<Item = &Cause> {
        self.ledger.active()
    }

    /// Returns when elapsed time alone changes the causes.
    pub(super) fn due(&self) -> Option<Duration> {
        self.ledger.dues().min()
    }
}

/// Returns the last lines of a container without secrets.
pub(super) fn redacted(log: LogLines, observed: Option<&Observation>) -> LogLines {
    LogLines { lines: without_secrets_of(observed, &log.lines), ..log }
}
