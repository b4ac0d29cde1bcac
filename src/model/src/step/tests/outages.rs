//! A server that is slow or unreachable, or whose responses are lost.

use super::failures::{broken, failure};
use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use super::observation::template;
use crate::change::written::DeletionResult;
use crate::error::{Error, ErrorKind};
use crate::hold::plan::{BatchFailure, OnFailure};
use crate::kind::Workload;
use crate::step::*;

/// A rollback in which the first deletions of the broken pod have these results.
fn rolling_back(removals: Vec<DeletionResult>) -> StepperFixture {
    let mut options = all_by(2);
    options.pace.on_failure = Some(OnFailure::Undo);
    let mut fixture = StepperFixture::of(options, broken());
    fixture.removals = removals.into();
    let end = fixture.run();
    assert!(matches!(failure(&end).1, Some(RollbackOutcome::Done { .. })), "{end:?}");
    fixture
}

#[test]
fn a_deletion_with_an_unknown_result_is_retried_and_reported_once() {
    let lost = || DeletionResult::Unknown(Error::new(ErrorKind::Unreachable, "500 Internal Server Error"));
    let fixture = rolling_back(vec![lost(), lost(), lost()]);
    let count = |is: fn(&StepReport) -> bool| fixture.reports.iter().filter(|event| is(event)).count();
    assert_eq!(count(|event| matches!(event, StepReport::ReplacesStuckPod(_))), 1);
    assert_eq!(count(|event| matches!(event, StepReport::Waiting(why) if why.contains("500"))), 1);
}

#[test]
fn a_short_outage_does_not_end_the_rollback() {
    rolling_back(vec![DeletionResult::Unavailable(Error::new(ErrorKind::Unreachable, "connection refused"))]);
}

#[test]
fn refreshes_are_used_unless_they_took_longer_than_a_minute() {
    let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(3));
    fixture.bound = None;
    fixture.refresh_times = [25; 40].into();
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert!(!fixture.refresh_times.is_empty(), "each look was used");
    assert!(!fixture.reports.iter().any(|event| matches!(event, StepReport::Waiting(_))));
    let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(3));
    fixture.bound = None;
    fixture.refresh_times = [75; 3].into();
    assert_eq!(fixture.run(), StepOutcome::Complete);
    let why = "a refresh in less than 60s; the last one took longer";
    assert_eq!(
        fixture.reports.iter().filter(|event| **event == StepReport::Waiting(why.to_owned())).count(),
        1
    );
}

/// The time limit of the batch passes while the server is unreachable. It includes `minReadySeconds`.
#[test]
fn the_kubelets_have_a_minute_to_report_after_an_outage() {
    let mut options = StepOptions::default();
    options.pace.batch_timeout = Some(seconds(100));
    let mut cluster = FakeCluster::paused(3);
    cluster.object["spec"]["minReadySeconds"] = 300.into();
    let mut fixture = StepperFixture::of(options, cluster);
    while fixture.cluster.partition() > 2 {
        fixture.pass(1);
    }
    fixture.cluster.controls = false;
    fixture.pass(390);
    fixture.has_no_nodes = true;
    fixture.pass(60);
    fixture.has_no_nodes = false;
    let (ended, end) = (fixture.elapsed(), fixture.run());
    assert!(matches!(failure(&end).0, BatchFailure::TimedOut { .. }), "{end:?}");
    let lasted = fixture.elapsed() - ended;
    assert!((60..70).contains(&lasted), "{lasted}");
}

/// Also after the lock was acquired: the pods of a decision would be older than a minute. The time counts from the end of the
/// first such refresh.
#[test]
fn a_command_without_a_recent_refresh_for_5_minutes_ends() {
    for takes in [0, 75] {
        let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(5));
        fixture.bound = None;
        fixture.pass(2);
        let begun = fixture.elapsed();
        fixture.refresh_times = [takes; 10].into();
        fixture.has_no_nodes = takes == 0;
        assert!(matches!(fixture.run(), StepOutcome::Error(_)));
        let lasted = fixture.elapsed() - begun;
        assert!((300..480).contains(&lasted), "{lasted}");
    }
}

/// The server was unreachable for longer than that while one refresh was in flight.
#[test]
fn a_command_continues_after_one_slow_refresh() {
    let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(5));
    fixture.pass(2);
    fixture.refresh_times = [301].into();
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert!(fixture.elapsed() > 301);
}

/// A command that waits for the controller, and loses the server before it acquires the lock.
fn away_at_the_lock() -> StepperFixture {
    let mut cluster = FakeCluster::paused(5);
    cluster.tick();
    cluster.controls = false;
    cluster.change("/spec/template", template(3));
    let mut fixture = StepperFixture::of(StepOptions::default(), cluster);
    fixture.is_away = true;
    fixture.cluster.controls = true;
    fixture
}

/// The command gives up a minute after the first of several failures in a row, until it has acquired the lock.
#[test]
fn a_failed_write_from_before_a_wait_does_not_count() {
    let mut fixture = away_at_the_lock();
    fixture.pass(1);
    assert!(
        fixture
            .reports
            .iter()
            .any(|event| matches!(event, StepReport::Waiting(why) if why.contains("reach"))),
        "the write that acquires the lock failed: {:?}",
        fixture.reports
    );
    fixture.cluster.controls = false;
    fixture.cluster.change("/spec/template", template(4));
    fixture.pass(90);
    fixture.cluster.controls = true;
    fixture.pass(30);
    assert!(!fixture.is_over(), "{:?}", fixture.stepper.outcome());
    fixture.is_away = false;
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 5 });
}

/// Without an answer for a minute it does give up.
#[test]
fn a_lock_that_cannot_be_acquired_ends_the_command() {
    let mut fixture = away_at_the_lock();
    assert!(matches!(fixture.run(), StepOutcome::Error(_)));
    assert!((60..70).contains(&fixture.elapsed()), "{}", fixture.elapsed());
}

/// etcd was restored from a backup: the server answers with an older state than it has answered before.
#[test]
fn refreshes_that_are_older_than_the_known_state_are_repeated_with_pauses_and_end_the_command() {
    let mut cluster = FakeCluster::paused(5);
    cluster.object["metadata"]["resourceVersion"] = "1".into();
    let mut fixture = StepperFixture::of(all_by(2), cluster);
    fixture.bound = None;
    fixture.pass(2);
    let mut newer = fixture.stepper.workload().object().json().clone();
    newer["metadata"]["resourceVersion"] = "999999".into();
    newer["metadata"]["generation"] = 99.into();
    let newer = Workload::of_json(&newer).unwrap();
    fixture.stepper.cluster.apply_workload(newer);
    let (begun, acts) = (fixture.elapsed(), fixture.acts);
    let end = fixture.run();
    assert!(matches!(end, StepOutcome::Error(_)), "{end:?} {:?}", fixture.reports);
    let (lasted, refreshes) = (fixture.elapsed() - begun, fixture.acts - acts);
    assert!(
        (300..345).contains(&lasted),
        "the first refresh is due after half a minute of waiting: {lasted}"
    );
    assert!(refreshes < 200, "{refreshes}");
}

/// An admission webhook that is down: the server answers every write with 500, and reads work.
#[test]
fn a_command_without_an_accepted_write_for_5_minutes_ends() {
    let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(5));
    fixture.pass(2);
    fixture.fails_writes = true;
    let begun = fixture.elapsed();
    let end = fixture.run();
    assert!(matches!(&end, StepOutcome::Error(error) if error.to_string().contains("500")), "{end:?}");
    let lasted = fixture.elapsed() - begun;
    assert!((300..340).contains(&lasted), "{lasted}");
}

/// A process that ends must say that nothing was rolled back.
#[test]
fn a_rollback_without_an_accepted_write_ends_at_its_limits() {
    for (timeout, expected) in [(None, 300..400), (Some(seconds(100)), 100..106)] {
        let mut options = StepOptions { timeout, ..all_by(2) };
        options.pace.on_failure = Some(OnFailure::Undo);
        let mut fixture = StepperFixture::of(options, broken());
        fixture.pass(10);
        fixture.fails_writes = true;
        let end = fixture.run();
        assert!(matches!(failure(&end).1, Some(RollbackOutcome::NotStarted(_))), "{end:?}");
        assert!(expected.contains(&fixture.elapsed()), "{}", fixture.elapsed());
        assert_eq!(fixture.cluster.update(), 2);
    }
}

/// A watch stays open and delivers no events any more.
#[test]
fn a_command_reads_again_while_it_waits_for_the_controller() {
    let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(5));
    fixture.loses_events = true;
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert!(fixture.elapsed() < 400, "{}", fixture.elapsed());
}

/// The controller has still to remove outdated pods when every batch is done and the strategy is restored.
#[test]
fn a_plan_is_complete_once_its_controller_has_completed_the_update() {
    for works_again in [true, false] {
        let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(3));
        while fixture.cluster.hold().is_some() {
            fixture.pass(1);
        }
        fixture.cluster.controls = false;
        fixture.pass(60);
        assert_eq!(fixture.stepper.outcome(), None);
        fixture.cluster.controls = works_again;
        let end = fixture.run();
        assert_eq!(end == StepOutcome::Complete, works_again, "{end:?}");
    }
}
