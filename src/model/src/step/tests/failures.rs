//! Plans with failures.

use serde_json::json;

use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::engine::{LoopEvent, StopSignal};
use crate::error::ErrorKind;
use crate::hold::hold_words;
use crate::hold::plan::{Amount, BatchFailure, BatchSize, OnFailure, Reach};
use crate::hold::slot::SlotState;
use crate::hold::slot::tests::{NOW, slot};
use crate::step::*;

pub(super) fn broken() -> FakeCluster {
    let mut cluster = FakeCluster::paused(5);
    cluster.broken.insert(2);
    cluster
}

pub(super) fn failure(end: &StepOutcome) -> (&BatchFailure, Option<&RollbackOutcome>) {
    match end {
        StepOutcome::Failed { failure: Some(failure), rollback } => (failure, rollback.as_ref()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_canary_that_crashes_fails_the_batch_and_nothing_more_is_released() {
    let mut fixture = StepperFixture::of(all_by(2), broken());
    let end = fixture.run();
    let (failure, back) = failure(&end);
    assert!(
        matches!(failure, BatchFailure::Cause { batch: Some(1), id, .. } if id == "crash-loop"),
        "{failure:?}"
    );
    assert_eq!((back, fixture.cluster.partition()), (None, 4));
    assert!(fixture.elapsed() < 120, "{}", fixture.elapsed());
    let hold = fixture.cluster.hold().unwrap();
    assert_eq!((hold.get("lock"), &hold["plan"]["reach"]), (None, &json!("all")));
    let stored = json!({"reason": "cause", "batch": 1, "id": "crash-loop", "pods": ["db-4"]});
    assert_eq!(hold["plan"]["failure"], stored);
    let words = hold_words(&fixture.cluster.workload()).unwrap();
    assert!(words.contains(", batch 1 failed: crash-loop, until kubectl rollout2 step"), "{words}");
}

#[test]
fn the_next_command_tries_a_failed_batch_again() {
    let mut fixture = StepperFixture::of(all_by(2), broken());
    fixture.run();
    fixture.cluster.broken.clear();
    let mut fixture = fixture.then("two", StepOptions::default());
    fixture.pass(1);
    assert_eq!(fixture.cluster.hold().unwrap()["plan"].get("failure"), None);
}

#[test]
fn a_failed_batch_is_rolled_back_with_on_failure_undo() {
    let mut options = all_by(2);
    options.pace.on_failure = Some(OnFailure::Undo);
    let mut fixture = StepperFixture::of(options, broken());
    let end = fixture.run();
    let (_, back) = failure(&end);
    assert_eq!(back, Some(&RollbackOutcome::Done { revision: "1".to_owned() }));
    assert_eq!((fixture.cluster.on(1), fixture.cluster.unavailable(), fixture.cluster.hold()), (5, 0, None));
    assert_eq!(fixture.cluster.object["spec"]["updateStrategy"], json!({"type": "RollingUpdate"}));
    let is_replaced =
        |event: &StepReport| matches!(event, StepReport::ReplacesStuckPod(pod) if pod.name == "db-4");
    assert!(fixture.reports.iter().any(is_replaced));
}

#[test]
fn a_slow_batch_times_out_and_soaking_does_not_count() {
    let mut options = all_by(2);
    options.pace.batch_timeout = Some(seconds(20));
    options.pace.soak = Some(seconds(100));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(3));
    fixture.pass(106);
    fixture.cluster.controls = false;
    fixture.bound = None;
    let end = fixture.run();
    let (failure, _) = failure(&end);
    assert_eq!(
        *failure,
        BatchFailure::TimedOut {
            batch: 2,
            after: seconds(20),
            pods: vec!["db-1".to_owned(), "db-0".to_owned()]
        }
    );
}

#[test]
fn min_ready_seconds_do_not_count_as_waiting() {
    let mut options = StepOptions::default();
    options.pace.batch_timeout = Some(seconds(20));
    let mut cluster = FakeCluster::paused(3);
    cluster.object["spec"]["minReadySeconds"] = 30.into();
    let mut fixture = StepperFixture::of(options, cluster);
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 3 });
    assert_eq!(fixture.stepper.view(NOW).unwrap().batch_limit, seconds(50));
}

#[test]
fn a_rollback_is_done_when_its_pods_are_available_for_min_ready_seconds() {
    let mut options = all_by(2);
    options.pace.on_failure = Some(OnFailure::Undo);
    let mut cluster = broken();
    cluster.object["spec"]["minReadySeconds"] = 30.into();
    let mut fixture = StepperFixture::of(options, cluster);
    let end = fixture.run();
    let (_, back) = failure(&end);
    assert_eq!(back, Some(&RollbackOutcome::Done { revision: "1".to_owned() }));
    let ready = fixture.cluster.pods[&4].ready.unwrap();
    assert!(fixture.cluster.seconds >= ready + 30, "{} {ready}", fixture.cluster.seconds);
}

#[test]
fn a_restarted_pod_restarts_the_soak() {
    let mut options = all_by(1);
    options.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(2));
    fixture.pass(40);
    let pod = fixture.cluster.pods.get_mut(&1).unwrap();
    (pod.restarts, pod.started) = (1, fixture.cluster.seconds - 1);
    fixture.pass(55);
    assert_eq!(fixture.cluster.partition(), 1);
    let restarted_soaks = fixture
        .reports
        .iter()
        .filter(|event| matches!(event, StepReport::SoakRestarted { pod, .. } if pod == "db-1"));
    assert_eq!(restarted_soaks.count(), 1);
    assert_eq!(fixture.run(), StepOutcome::Complete);
}

/// The clock of the node is behind, so that its timestamps hide the restart.
#[test]
fn a_restart_without_a_later_timestamp_restarts_the_soak() {
    let mut options = all_by(1);
    options.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(2));
    fixture.pass(40);
    fixture.cluster.pods.get_mut(&1).unwrap().restarts = 1;
    fixture.pass(55);
    assert_eq!(fixture.cluster.partition(), 1);
    let restarted = StepReport::SoakRestarted { pod: "db-1".to_owned(), why: "it restarted".to_owned() };
    assert!(fixture.reports.contains(&restarted), "{:?}", fixture.reports);
}

#[test]
fn a_timeout_and_a_signal_release_the_lock_and_keep_the_plan() {
    let mut options = all_by(1);
    options.pace.soak = Some(seconds(600));
    options.timeout = Some(seconds(30));
    let mut fixture = StepperFixture::of(options.clone(), FakeCluster::paused(3));
    assert_eq!(fixture.run(), StepOutcome::TimedOut(seconds(30)));
    assert_eq!(fixture.cluster.hold().unwrap().get("lock"), None);
    options.timeout = None;
    let mut fixture = fixture.then("two", options);
    fixture.pass(5);
    assert!(fixture.cluster.hold().unwrap().get("lock").is_some());
    fixture.see(LoopEvent::Stop(StopSignal::Terminated));
    assert_eq!(fixture.stepper.outcome(), Some(&StepOutcome::Interrupted(StopSignal::Terminated)));
    assert_eq!(fixture.cluster.hold().unwrap().get("lock"), None);
}

#[test]
fn the_next_command_waits_for_the_soak_of_a_pod_that_restarted() {
    let mut options = StepOptions { reach: Some(Reach::Next), ..all_by(1) };
    options.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(options.clone(), FakeCluster::paused(3));
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 3 });
    let now = fixture.cluster.seconds;
    let pod = fixture.cluster.pods.get_mut(&2).unwrap();
    (pod.restarts, pod.started, pod.ready) = (1, now, None);
    let mut fixture = fixture.then("two", options);
    fixture.pass(40);
    assert_eq!(fixture.cluster.partition(), 2, "no batch begins");
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 2, of: 3 });
}

/// The first batch is done, and the command waits for an outdated pod before it begins the next one.
#[test]
fn a_pod_that_restarts_between_two_batches_soaks_again() {
    let mut options = all_by(1);
    options.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(3));
    fixture.bound = None;
    fixture.pass(55);
    let now = fixture.cluster.seconds;
    let outdated = fixture.cluster.pods.get_mut(&0).unwrap();
    (outdated.created, outdated.started, outdated.ready, outdated.sick_until) = (now, now, None, now + 25);
    fixture.pass(15);
    assert!(fixture.stepper.memory.batch.is_finished_here);
    let now = fixture.cluster.seconds;
    let pod = fixture.cluster.pods.get_mut(&2).unwrap();
    (pod.restarts, pod.started, pod.ready) = (1, now, None);
    fixture.pass(40);
    assert_eq!(fixture.cluster.partition(), 2, "no batch begins");
    assert_eq!(fixture.run(), StepOutcome::Complete);
}

#[test]
fn complete_skips_the_rest_of_the_soak() {
    let mut options = all_by(1);
    options.pace.soak = Some(seconds(600));
    options.timeout = Some(seconds(30));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(2));
    fixture.run();
    let mut fixture = fixture
        .then("two", StepOptions { skip_soak: true, reach: Some(Reach::Next), ..StepOptions::default() });
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 2 });
    assert!(fixture.elapsed() < 10);
}

#[test]
fn a_soak_that_has_not_begun_is_not_skipped() {
    let mut options = StepOptions::default();
    options.pace.soak = Some(seconds(600));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(2));
    while fixture.cluster.on(2) == 0 {
        fixture.pass(1);
    }
    assert_eq!(fixture.cluster.unavailable(), 1);
    let mut fixture = fixture.then("two", StepOptions { skip_soak: true, ..StepOptions::default() });
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 2 });
    assert!(fixture.elapsed() >= 600, "{}", fixture.elapsed());
}

#[test]
fn the_next_process_replaces_a_broken_released_pod() {
    let mut fixture = StepperFixture::of(StepOptions::default(), broken());
    assert!(matches!(fixture.run(), StepOutcome::Failed { .. }));
    fixture.cluster.change("/spec/template", super::observation::template(3));
    fixture.cluster.tick();
    let mut fixture = fixture.then("two", StepOptions { new_plan: true, ..all_by(5) });
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!(fixture.cluster.on(3), 5);
    let is_replaced =
        |event: &StepReport| matches!(event, StepReport::ReplacesStuckPod(pod) if pod.name == "db-4");
    assert!(fixture.reports.iter().any(is_replaced));
}

#[test]
fn a_node_broken_by_the_new_revision_fails_the_batch() {
    let mut options = all_by(2);
    options.pace.ignore_unready_nodes = Some(true);
    options.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(5));
    fixture.pass(10);
    fixture.cluster.pods.get_mut(&4).unwrap().sick_until = 1_000_000;
    fixture.cluster.unready_nodes.insert("n4".to_owned());
    let end = fixture.run();
    assert!(matches!(failure(&end).0, BatchFailure::TimedOut { batch: 1, .. }), "{end:?}");
    assert_eq!(fixture.cluster.on(2), 1);
}

#[test]
fn a_list_of_batches_that_ends_early_is_refused_for_all() {
    let mut options = all_by(1);
    options.pace.batch_size = Some(BatchSize::Until(vec![Amount::Pods(1), Amount::PerCent(50)]));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(4));
    assert!(matches!(fixture.run(), StepOutcome::Error(error) if error.kind() == ErrorKind::Usage));
}

#[test]
fn a_long_outage_does_not_end_a_plan_with_an_acquired_lock() {
    let mut options = all_by(1);
    options.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(2));
    fixture.pass(30);
    fixture.is_away = true;
    fixture.pass(300);
    assert_eq!(fixture.stepper.outcome(), None);
    fixture.is_away = false;
    assert_eq!(fixture.run(), StepOutcome::Complete);
}

/// An update in place keeps the restarts of the outdated container.
#[test]
fn a_container_that_ended_before_its_update_in_place_has_not_failed() {
    for (started, has_terminated) in [("2026-11-20T13:00:00Z", false), ("2026-11-20T13:10:05Z", true)] {
        let state = json!({"updateTimestamp": "2026-11-20T13:10:00Z"}).to_string();
        let container = json!({"name": "c", "restartCount": 2, "state": {"running": {"startedAt": "2026-11-20T13:11:00Z"}},
            "lastState": {"terminated": {"exitCode": 0, "startedAt": started, "finishedAt": "2026-11-20T13:10:30Z"}}});
        let pod = json!({"kind": "Pod", "metadata": {"name": "w-1",
            "annotations": {"apps.kruise.io/inplace-update-state": state}},
            "status": {"containerStatuses": [container], "conditions": [{"type": "InPlaceUpdateReady", "status": "True"}]}});
        let pod = Pod::read(&Object::read(pod).unwrap());
        assert_eq!(slot(Some(&pod), SlotState::Starting).has_terminated(), has_terminated, "{started}");
    }
}
