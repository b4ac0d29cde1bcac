//! A signal while a wave of deletions is in flight, or a rollback is about to begin.

use super::failures::broken;
use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use super::observation::template;
use crate::change::written::DeletionResult;
use crate::engine::{LoopEvent, PodRef, StopSignal};
use crate::error::{Error, ErrorKind};
use crate::hold::plan::{Amount, OnFailure};
use crate::step::*;

/// A plan of a DaemonSet that got a signal while a wave of three deletions is in flight.
fn interrupted() -> (StepperFixture, Vec<PodRef>) {
    let mut options = all_by(3);
    options.pace.canary = Some(false);
    options.pace.max_unavailable = Some(Amount::Pods(3));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused_daemon_set(10));
    fixture.holds_deletions = true;
    while fixture.wave.is_empty() {
        fixture.pass(1);
    }
    fixture.see(LoopEvent::Stop(StopSignal::Interrupted));
    assert_eq!((fixture.wave.len(), fixture.stepper.outcome()), (3, None));
    let wave = fixture.wave.clone();
    (fixture, wave)
}

/// Seen on a real control plane: the retry of a refused eviction was later than the time to release the lock, and failed
/// deletions counted as attempts to release it.
#[test]
fn the_lock_is_released_whatever_the_deletions_answer() {
    let error = |kind| Error::new(kind, "no");
    for result in [
        DeletionResult::Disallowed("the budget allows none".to_owned()),
        DeletionResult::Unknown(error(ErrorKind::Unreachable)),
        DeletionResult::Unavailable(error(ErrorKind::Unreachable)),
        DeletionResult::Refused(error(ErrorKind::Refused)),
        DeletionResult::NotSent,
    ] {
        let (mut fixture, wave) = interrupted();
        let results = wave.into_iter().map(|pod| (pod, result.clone())).collect();
        fixture.wave.clear();
        fixture.see(LoopEvent::Answer(Reply::Deleted(results)));
        let outcome = Some(&StepOutcome::Interrupted(StopSignal::Interrupted));
        assert_eq!(fixture.stepper.outcome(), outcome, "{result:?}");
        assert_eq!(fixture.cluster.hold().unwrap().get("lock"), None, "{result:?}");
        assert_eq!(fixture.wave, [], "no new deletion: {result:?}");
    }
}

#[test]
fn deletions_without_an_answer_are_unknown() {
    let (mut fixture, wave) = interrupted();
    fixture.pass(10);
    assert_eq!(fixture.stepper.outcome(), Some(&StepOutcome::Interrupted(StopSignal::Interrupted)));
    let mut names: Vec<_> = wave.iter().map(|pod| pod.name.clone()).collect();
    names.sort();
    assert_eq!(fixture.stepper.unanswered(), names);
}

/// The replacement of a pod of a StatefulSet has the name of the deleted pod.
#[test]
fn a_deletion_without_an_answer_is_not_left_once_the_pod_is_replaced() {
    let mut failed = StepperFixture::of(StepOptions::default(), broken());
    failed.run();
    failed.cluster.change("/spec/template", template(3));
    failed.cluster.tick();
    let mut fixture = failed.then("two", StepOptions { new_plan: true, ..all_by(5) });
    let no_answer = Error::new(ErrorKind::Unreachable, "no answer");
    fixture.removals.push_back(DeletionResult::Unknown(no_answer));
    while !fixture.removals.is_empty() {
        fixture.pass(1);
    }
    assert_eq!(fixture.stepper.unanswered(), ["db-4"]);
    let uid = fixture.cluster.pods[&4].uid.clone();
    fixture.cluster.delete("db-4", &uid);
    fixture.cluster.tick();
    fixture.see(LoopEvent::Stop(StopSignal::Interrupted));
    fixture.pass(10);
    assert_eq!(fixture.stepper.outcome(), Some(&StepOutcome::Interrupted(StopSignal::Interrupted)));
    assert!(fixture.cluster.pods.contains_key(&4));
    assert_eq!(fixture.stepper.unanswered(), [""; 0]);
}

/// The server is unreachable for writes when the batch fails.
#[test]
fn a_failure_is_stored_after_a_signal_before_its_rollback() {
    let mut options = all_by(2);
    options.pace.on_failure = Some(OnFailure::Undo);
    let mut fixture = StepperFixture::of(options, broken());
    fixture.pass(10);
    fixture.is_away = true;
    while fixture.stepper.memory.rollback.failure.is_none() {
        fixture.pass(1);
    }
    fixture.see(LoopEvent::Stop(StopSignal::Terminated));
    fixture.is_away = false;
    fixture.pass(5);
    assert_eq!(fixture.stepper.outcome(), Some(&StepOutcome::Interrupted(StopSignal::Terminated)));
    let hold = fixture.cluster.hold().unwrap();
    assert_eq!((hold.get("lock"), &hold["plan"]["failure"]["id"]), (None, &"crash-loop".into()));
    assert_eq!(fixture.cluster.update(), 2, "nothing is rolled back");
}

/// Each request takes some seconds, and a refresh has several.
#[test]
fn the_lock_is_released_without_a_refresh() {
    let mut options = all_by(2);
    options.pace.soak = Some(seconds(600));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(3));
    fixture.pass(30);
    fixture.refresh_times = [6; 5].into();
    fixture.see(LoopEvent::Stop(StopSignal::Terminated));
    assert_eq!(fixture.stepper.outcome(), Some(&StepOutcome::Interrupted(StopSignal::Terminated)));
    assert_eq!(fixture.cluster.hold().unwrap().get("lock"), None);
}
