//! Rollbacks.

use super::observation::template;
use super::play::{Play, all_by, seconds};
use super::world::World;
use crate::model::change::hold::{OnFailure, is_rollback_held, is_rolling_back};
use crate::model::step::*;

/// A request with batches of this size and `--on-failure undo`, whose check fails.
fn refused(pods: u32) -> Request {
    let mut request = all_by(pods);
    request.pace.canary = Some(false);
    request.pace.batch_timeout = Some(seconds(20));
    request.pace.on_failure = Some(OnFailure::Undo);
    request.pace.check = Some(CheckOverride::Run("ab".to_owned()));
    request
}

fn plays(request: Request, world: World) -> Play {
    let mut play = Play::of(request, world);
    play.check = CheckResult::Failed(Some(1));
    play
}

fn done() -> RollbackOutcome {
    RollbackOutcome::Done { revision: "1".to_owned() }
}

fn failed_check(batch: usize, rollback: RollbackOutcome) -> StepOutcome {
    let failure = BatchFailure::Check { batch, result: CheckResult::Failed(Some(1)) };
    StepOutcome::Failed { failure, rollback: Some(rollback) }
}

#[test]
fn each_returned_pod_restarts_the_rollback_timeout() {
    let mut world = World::paused(5);
    world.start_up = 15;
    let mut play = plays(refused(4), world);
    assert_eq!(play.run(), failed_check(1, done()));
    assert_eq!((play.world.on(1), play.world.unavailable()), (5, 0));
    assert!(play.elapsed() > 110, "four pods, there and back, take 15s each: {}", play.elapsed());
}

#[test]
fn a_rollback_without_progress_times_out() {
    let mut play = plays(refused(4), World::paused(5));
    while play.world.update() == 2 {
        play.pass(1);
    }
    while play.world.on(1) < 3 {
        play.pass(1);
    }
    play.world.controls = false;
    let stopped = play.elapsed();
    let why = "its pods are not back in time".to_owned();
    assert_eq!(play.run(), failed_check(1, RollbackOutcome::Unfinished { revision: "1".to_owned(), why }));
    let left = play.elapsed() - stopped;
    assert!((15..30).contains(&left), "{left}");
}

/// The process is killed right after it wrote the rollback.
fn killed_during_rollback() -> Play {
    let mut play = plays(refused(3), World::paused(5));
    while play.world.update() == 2 {
        play.pass(1);
    }
    assert!(play.world.on(1) < 5 && play.world.partition() == 0, "it goes back by itself");
    let workload = play.world.workload();
    assert!(is_rolling_back(&workload) && !is_rollback_held(&workload), "nothing holds it");
    play
}

#[test]
fn an_interrupted_rollback_is_continued_and_ends_as_a_failure() {
    let play = killed_during_rollback();
    let mut play = play.then("two", Request::default());
    assert_eq!(play.run(), StepOutcome::Failed { failure: BatchFailure::Earlier, rollback: Some(done()) });
    assert_eq!((play.world.on(1), play.world.hold()), (5, None));
    assert_eq!(play.begun(), [""; 0]);
    let mut play = play.then("three", Request::default());
    assert_eq!(play.run(), StepOutcome::NothingOutdated);
}

#[test]
fn rollback_marker_does_not_block_other_commands() {
    let mut play = killed_during_rollback();
    play.world.change("/spec/template", template(3));
    let mut play = play.then("two", all_by(5));
    assert_eq!(play.run(), StepOutcome::Complete, "of another template");
    assert_eq!((play.world.on(3), play.world.hold()), (5, None));

    let play = killed_during_rollback();
    let mut play = play.then("two", Request { new_plan: true, ..all_by(5) });
    assert_eq!(play.run(), StepOutcome::Complete, "at our own pace");
    assert_eq!((play.world.on(1), play.world.hold()), (5, None));

    let mut play = killed_during_rollback();
    play.world.pause();
    assert_eq!(play.world.hold().unwrap()["reason"], "pause");
}
