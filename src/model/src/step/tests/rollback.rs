//! Rollbacks.

use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, TARGET, all_by, seconds};
use super::observation::template;
use crate::engine::{LoopEvent, TargetEvent};
use crate::error::{Error, ErrorKind};
use crate::hold::plan::{BatchFailure, CheckResult, OnFailure, is_rollback_held, is_rolling_back};
use crate::step::*;

/// A request with batches of this size and `--on-failure undo`, whose check fails.
fn refused(pods: u32) -> StepOptions {
    let mut options = all_by(pods);
    options.pace.canary = Some(false);
    options.pace.batch_timeout = Some(seconds(20));
    options.pace.on_failure = Some(OnFailure::Undo);
    options.pace.check = Some("ab".to_owned());
    options
}

fn plays(options: StepOptions, cluster: FakeCluster) -> StepperFixture {
    let mut fixture = StepperFixture::of(options, cluster);
    fixture.check = CheckResult::Failed(Some(1));
    fixture
}

fn done() -> RollbackOutcome {
    RollbackOutcome::Done { revision: "1".to_owned() }
}

fn failed_check(batch: usize, rollback: RollbackOutcome) -> StepOutcome {
    let failure =
        BatchFailure::Check { batch: Some(batch), result: CheckResult::Failed(Some(1)), failures: 1 };
    StepOutcome::Failed { failure: Some(failure), rollback: Some(rollback) }
}

#[test]
fn each_returned_pod_restarts_the_rollback_timeout() {
    let mut cluster = FakeCluster::paused(5);
    cluster.start_up = 15;
    let mut fixture = plays(refused(4), cluster);
    assert_eq!(fixture.run(), failed_check(1, done()));
    assert_eq!((fixture.cluster.on(1), fixture.cluster.unavailable()), (5, 0));
    assert!(fixture.elapsed() > 110, "four pods, there and back, take 15s each: {}", fixture.elapsed());
}

#[test]
fn a_rollback_without_progress_times_out() {
    let mut fixture = plays(refused(4), FakeCluster::paused(5));
    while fixture.cluster.update() == 2 {
        fixture.pass(1);
    }
    while fixture.cluster.on(1) < 3 {
        fixture.pass(1);
    }
    fixture.cluster.controls = false;
    let stopped = fixture.elapsed();
    let why = "its pods are not back in time".to_owned();
    assert_eq!(fixture.run(), failed_check(1, RollbackOutcome::Unfinished { revision: "1".to_owned(), why }));
    let left = fixture.elapsed() - stopped;
    assert!((15..30).contains(&left), "{left}");
}

/// The process is killed right after it wrote the rollback.
fn killed_during_rollback() -> StepperFixture {
    let mut fixture = plays(refused(3), FakeCluster::paused(5));
    while fixture.cluster.update() == 2 {
        fixture.pass(1);
    }
    assert!(
        fixture.cluster.on(1) < 5 && fixture.cluster.partition() == 0,
        "the controller rolls the pods back"
    );
    let workload = fixture.cluster.workload();
    assert!(is_rolling_back(&workload) && !is_rollback_held(&workload), "nothing holds it");
    fixture
}

/// The server refuses every read from then on, as after the end of a token.
#[test]
fn a_rollback_whose_cluster_becomes_unreadable_is_an_unfinished_one() {
    let mut fixture = killed_during_rollback();
    let error = Error::new(ErrorKind::Refused, "Unauthorized");
    for _ in 0..2 {
        fixture.see(LoopEvent::Target(TARGET, TargetEvent::Unreadable(error.clone())));
    }
    let why = "Unauthorized".to_owned();
    assert_eq!(fixture.run(), failed_check(1, RollbackOutcome::Unfinished { revision: "1".to_owned(), why }));
}

/// Nobody knows whether the rollback began.
#[test]
fn a_command_does_not_time_out_while_the_write_of_its_rollback_has_no_answer() {
    let limit = seconds(100);
    let mut options = refused(3);
    options.timeout = Some(limit);
    let mut fixture = plays(options, FakeCluster::paused(5));
    fixture.holds_rollback = true;
    while fixture.elapsed() < 200 {
        fixture.pass(1);
    }
    assert_eq!(fixture.stepper.outcome(), None);
}

#[test]
fn an_interrupted_rollback_is_continued_and_ends_as_a_failure() {
    let fixture = killed_during_rollback();
    let mut fixture = fixture.then("two", StepOptions::default());
    assert_eq!(fixture.run(), failed_check(1, done()));
    assert_eq!((fixture.cluster.on(1), fixture.cluster.hold()), (5, None));
    assert_eq!(fixture.begun(), [""; 0]);
    let mut fixture = fixture.then("three", StepOptions::default());
    assert_eq!(fixture.run(), StepOutcome::NothingOutdated);
}

#[test]
fn rollback_marker_does_not_block_other_commands() {
    let mut fixture = killed_during_rollback();
    fixture.cluster.change("/spec/template", template(3));
    let mut fixture = fixture.then("two", all_by(5));
    assert_eq!(fixture.run(), StepOutcome::Complete, "of another template");
    assert_eq!((fixture.cluster.on(3), fixture.cluster.hold()), (5, None));

    let fixture = killed_during_rollback();
    let mut fixture = fixture.then("two", StepOptions { new_plan: true, ..all_by(5) });
    assert_eq!(fixture.run(), StepOutcome::Complete, "at our own pace");
    assert_eq!((fixture.cluster.on(1), fixture.cluster.hold()), (5, None));

    let mut fixture = killed_during_rollback();
    fixture.cluster.pause();
    assert_eq!(fixture.cluster.hold().unwrap().get("plan"), None);
}
