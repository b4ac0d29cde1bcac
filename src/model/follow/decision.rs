//! Whether a target is at its end.

use std::time::Duration;

use super::end::{Failure, Outcome};
use super::goal::Distance;
use super::options::Options;
use super::track::Track;
use crate::error::{Error, ErrorKind};
use crate::model::observed::Observed;
use crate::model::verdict::{State, Verdict};
use crate::model::workload::Workload;

/// A Deployment whose deadline is this long has none (`MaxInt32`, as the controller compares it).
const NO_DEADLINE: i64 = i32::MAX as i64;

/// What is to become of a target.
#[derive(Debug)]
pub(super) enum Decision {
    /// It goes on.
    GoOn,
    /// It ends: what was seen says so by itself.
    End(Outcome),
    /// It would end if a fresh look shows the same: time or several objects decided, or it failed, and
    /// the cause may not have been seen yet.
    LookFirst(Outcome),
}

/// What a target's facts come to at a time.
pub(super) struct Facts<'a> {
    pub(super) observed: &'a Observed,
    pub(super) verdict: &'a Verdict,
    pub(super) now: Duration,
}

impl Track {
    /// Decides what is to become of the target.
    pub(super) fn decide(&self, facts: &Facts<'_>, options: &Options) -> Decision {
        let Facts { observed, verdict, now } = *facts;
        if verdict.state == State::Failed {
            let seconds = observed.workload.object().int("/spec/progressDeadlineSeconds");
            return Decision::LookFirst(Outcome::Failed(Failure::ProgressDeadline(seconds)));
        }
        match options.goal.distance(observed, verdict) {
            Distance::Reached => return self.when_stable(options, now),
            Distance::Held if !options.wait_held => return Decision::LookFirst(Outcome::Held),
            Distance::Unknown => return Decision::End(Outcome::Unreadable(cannot_tell())),
            Distance::Held | Distance::Ahead => {}
        }
        match self.doom.struck(now).or_else(|| self.out_of_deadline(observed, verdict, options, now)) {
            Some(failure) => Decision::LookFirst(Outcome::Failed(failure)),
            None => Decision::GoOn,
        }
    }

    fn when_stable(&self, options: &Options, now: Duration) -> Decision {
        match &self.stability {
            _ if options.stable.is_zero() => Decision::End(Outcome::Reached),
            Some(stability) if now >= stability.since + options.stable => {
                Decision::LookFirst(Outcome::Reached)
            }
            _ => Decision::GoOn,
        }
    }

    /// Whether nothing moved for the deadline that was given. A hold that is waited for does not move.
    fn out_of_deadline(
        &self,
        observed: &Observed,
        verdict: &Verdict,
        options: &Options,
        now: Duration,
    ) -> Option<Failure> {
        let is_held = matches!(verdict.state, State::Held | State::Paused);
        let deadline = options.deadline_for(&observed.workload).filter(|_| !is_held)?;
        (now >= self.pace.moved() + deadline).then_some(Failure::Deadline(deadline))
    }
}

/// Whether the workload's own controller gives up some time.
pub(super) fn has_deadline(workload: &Workload) -> bool {
    let seconds = workload.object().int("/spec/progressDeadlineSeconds");
    matches!(workload, Workload::Deployment(_)) && seconds.is_some_and(|seconds| seconds < NO_DEADLINE)
}

fn cannot_tell() -> Error {
    Error::new(ErrorKind::Withheld, "pods may not be read, so nobody can tell when the old ones are gone")
        .hint("wait for --until complete, or ask for the right to list pods")
}
