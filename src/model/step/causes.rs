//! Reports causes as the follower does, finds those that fail a batch, and explains each unavailable pod.

use std::time::Duration;

use super::report::StepReport;
use super::slot::{PlanContext, PodSlot};
use super::task::{StepperOutput, Task};
use crate::model::follow::{
    self, CauseReporter, FatalCauses, FollowOptions, FollowerRequest, LogLines, Now, ProgressClock, TargetId,
};
use crate::model::status::cause::{Cause, CauseId, causes_without_holds, without_secrets_of};
use crate::model::status::observation::Observation;
use crate::model::status::pod_stage::PodStage;

/// How long a fatal cause may last, as with `--fail-fast`.
pub(super) const GRACE: Duration = Duration::from_secs(30);

/// The reported causes, and the times at which fatal ones appeared.
#[derive(Debug, Default)]
pub(super) struct Causes {
    reporter: CauseReporter,
    fatal: FatalCauses,
    progress: ProgressClock,
    revision: Option<String>,
}

impl Causes {
    /// Records the causes of an observation, and reports the changes.
    pub(super) fn observe(&mut self, observed: &Observation, now: Now, out: &mut Vec<StepperOutput>) {
        let revision = observed.revisions.current().map(|current| current.name.clone());
        if revision != self.revision {
            self.fatal.reset();
            self.revision = revision;
        }
        self.progress.record(&observed.workload, now.elapsed);
        let causes = causes_without_holds(observed, now.server_time);
        let mut events = Vec::new();
        self.reporter.record(TargetId(0), &causes, now.elapsed, &mut events);
        out.extend(events.into_iter().filter_map(output));
        let options = FollowOptions { fail_fast: Some(GRACE), ..FollowOptions::default() };
        self.fatal.record(&causes, observed, &options, self.progress.last_progress(), now);
    }

    /// Returns the fatal causes that outlasted their grace period, each with its pods.
    pub(super) fn fatal(&self, now: Duration) -> impl Iterator<Item = (CauseId, Vec<String>)> {
        self.fatal.all_expired(now).map(|id| {
            let causes = self.reporter.active().filter(|cause| cause.id == id);
            (id, causes.flat_map(|cause| cause.pods.clone()).collect())
        })
    }

    /// Returns the causes that were reported and are not gone.
    pub(super) fn current(&self) -> impl Iterator<Item = &Cause> {
        self.reporter.active()
    }

    /// Returns when elapsed time alone changes the causes.
    pub(super) fn due(&self) -> Option<Duration> {
        self.reporter.due().into_iter().chain(self.fatal.due()).min()
    }
}

/// Returns why each of these slots has no available pod, as a clause.
pub(super) fn reasons<'s>(
    slots: impl IntoIterator<Item = &'s PodSlot<'s>>,
    context: &PlanContext<'_>,
) -> Vec<(String, String)> {
    let causes = causes_without_holds(context.observed, context.now.server_time);
    slots.into_iter().map(|slot| (slot.label(), reason(slot, &causes, context))).collect()
}

fn reason(slot: &PodSlot<'_>, causes: &[Cause], context: &PlanContext<'_>) -> String {
    let Some(pod) = slot.pod else { return "it does not exist".to_owned() };
    let cause = causes.iter().find(|cause| cause.pods.contains(&pod.name));
    if slot.is_available && slot.awaits_deletion {
        return "it is about to be replaced".to_owned();
    }
    match (cause, &slot.unready_node) {
        (Some(cause), _) => cause.summary.clone(),
        (None, Some(node)) => format!("its node {node} is not ready"),
        (None, None) => {
            PodStage::of(pod, context.own_min_ready_seconds, context.now.server_time).word().to_owned()
        }
    }
}

/// Returns the last lines of a container without secrets.
pub(super) fn redacted(log: LogLines, observed: Option<&Observation>) -> LogLines {
    LogLines { lines: without_secrets_of(observed, &log.lines), ..log }
}

fn output(report: follow::Report) -> Option<StepperOutput> {
    Some(match report {
        follow::Report::Cause { cause, change, .. } => {
            StepperOutput::Report(StepReport::Cause { cause, change })
        }
        follow::Report::Request(FollowerRequest::ReadLog(_, place)) => {
            StepperOutput::Perform(Task::ReadLog(place))
        }
        _ => return None,
    })
}
