//! The reports that a target has at most once: what a failure would be rolled back to, and the least time of its rollout.

use std::time::Duration;

use super::evaluation::TargetOutput;
use super::options::FollowOptions;
use super::output::{Report, ShortTimeout};
use super::rollback_target::RollbackTarget;
use crate::model::change::effect::Effect;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;

/// Which of these reports were made.
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
        out: &mut TargetOutput,
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
