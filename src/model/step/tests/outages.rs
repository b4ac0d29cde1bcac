//! A server that is slow or unreachable, or whose responses are lost.

use super::failures::{broken, failure};
use super::play::{Play, all_by};
use super::world::World;
use crate::error::{Error, ErrorKind};
use crate::model::change::hold::OnFailure;
use crate::model::step::*;

/// A rollback in which the first deletions of the broken pod have these results.
fn rolling_back(removals: Vec<DeletionResult>) -> Play {
    let mut request = all_by(2);
    request.pace.on_failure = Some(OnFailure::Undo);
    let mut play = Play::of(request, broken());
    play.removals = removals.into();
    let end = play.run();
    assert!(matches!(failure(&end).1, Some(RollbackOutcome::Done { .. })), "{end:?}");
    play
}

#[test]
fn a_deletion_with_an_unknown_result_is_retried_and_reported_once() {
    let lost = || DeletionResult::Unknown(Error::new(ErrorKind::Unreachable, "500 Internal Server Error"));
    let play = rolling_back(vec![lost(), lost(), lost()]);
    let count = |is: fn(&StepReport) -> bool| play.reports.iter().filter(|event| is(event)).count();
    assert_eq!(count(|event| matches!(event, StepReport::ReplacesStuckPod(_))), 1);
    assert_eq!(count(|event| matches!(event, StepReport::Waiting(why) if why.contains("500"))), 1);
}

#[test]
fn a_short_outage_does_not_end_the_rollback() {
    rolling_back(vec![DeletionResult::Refused(Error::new(ErrorKind::Unreachable, "connection refused"))]);
}

#[test]
fn slow_refreshes_are_reported_and_used_until_the_lease_could_expire() {
    let mut play = Play::of(all_by(2), World::paused(3));
    play.bound = None;
    play.refresh_times = [25; 40].into();
    assert_eq!(play.run(), StepOutcome::Complete);
    assert!(!play.refresh_times.is_empty(), "each look was used");
    assert!(!play.reports.iter().any(|event| matches!(event, StepReport::Waiting(_))));
    let mut play = Play::of(all_by(2), World::paused(3));
    play.bound = None;
    play.refresh_times = [75; 3].into();
    assert_eq!(play.run(), StepOutcome::Complete);
    let why = "a refresh in less than 60s; the last one took longer";
    assert_eq!(play.reports.iter().filter(|event| **event == StepReport::Waiting(why.to_owned())).count(), 1);
}
