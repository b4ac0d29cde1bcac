//! Failures of pods and nodes outside the present batch.

use serde_json::json;

use super::failures::failure;
use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use crate::hold::plan::{BatchFailure, OnFailure, Reach};
use crate::hold::slot::tests::NOW;
use crate::step::*;

/// The other pods of the batch, which are not released yet, stay available.
#[test]
fn a_batch_fails_for_its_unavailable_pod_only() {
    let mut options = all_by(3);
    options.pace.canary = Some(false);
    options.pace.batch_timeout = Some(seconds(20));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(5));
    while fixture.cluster.on(2) == 0 {
        fixture.pass(1);
    }
    fixture.cluster.pods.get_mut(&4).unwrap().sick_until = 1_000_000;
    let end = fixture.run();
    let (failure, _) = failure(&end);
    let pods = vec!["db-4".to_owned()];
    assert_eq!(*failure, BatchFailure::TimedOut { batch: 1, after: seconds(20), pods });
}

#[test]
fn a_batch_without_room_for_another_pod_has_not_failed() {
    let mut options = all_by(3);
    options.pace.canary = Some(false);
    options.pace.on_failure = Some(OnFailure::Undo);
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(5));
    while fixture.cluster.partition() > 3 {
        fixture.pass(1);
    }
    assert_eq!(fixture.cluster.on(2), 1, "db-3 is released and not yet gone");
    fixture.cluster.pods.get_mut(&0).unwrap().sick_until = 1_000_000;
    fixture.bound = None;
    let end = fixture.run();
    assert_eq!(unhealthy(&end), ["db-0"]);
    assert_eq!((fixture.cluster.on(2), fixture.cluster.partition()), (1, 3));
    assert!(fixture.elapsed() > 600, "{}", fixture.elapsed());
}

/// The pods that stopped the plan.
fn unhealthy(end: &StepOutcome) -> Vec<&str> {
    let StepOutcome::Stopped(StopReason::Unhealthy { pods, allowed: 1 }) = end else { panic!("{end:?}") };
    pods.iter().map(|(pod, _)| pod.as_str()).collect()
}

/// Makes db-4 and its node fail permanently.
fn lose_the_first(fixture: &mut StepperFixture) {
    fixture.cluster.pods.get_mut(&4).unwrap().sick_until = 1_000_000;
    fixture.cluster.unready_nodes.insert("n4".to_owned());
    fixture.bound = None;
}

fn all_but_unready_nodes() -> StepOptions {
    let mut options = all_by(1);
    options.pace.ignore_unready_nodes = Some(true);
    options.pace.soak = Some(seconds(60));
    options.pace.on_failure = Some(OnFailure::Undo);
    options
}

#[test]
fn a_node_that_fails_after_its_batch_counts_as_unavailable_but_fails_no_batch() {
    let mut fixture = StepperFixture::of(all_but_unready_nodes(), FakeCluster::paused(5));
    fixture.pass(80);
    assert_eq!(fixture.cluster.on(2), 2, "the second batch soaks");
    lose_the_first(&mut fixture);
    let end = fixture.run();
    assert_eq!(unhealthy(&end), ["db-4"]);
    assert_eq!((fixture.cluster.on(2), fixture.cluster.partition()), (2, 3));
    assert!(fixture.reports.contains(&StepReport::Skipped(vec!["db-4".to_owned()])), "{:?}", fixture.reports);
}

/// Without `--force` its pod is awaited, and it is no fault of the batch that soaks.
#[test]
fn a_pod_of_an_earlier_batch_that_is_late_stops_the_plan() {
    let mut options = all_but_unready_nodes();
    options.pace.ignore_unready_nodes = None;
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(5));
    fixture.pass(80);
    assert_eq!(fixture.cluster.on(2), 2, "the second batch soaks");
    lose_the_first(&mut fixture);
    let end = fixture.run();
    assert_eq!(unhealthy(&end), ["db-4"]);
    assert!(fixture.stepper.view(NOW).unwrap().ignoring_nodes_helps, "as the hint says");
    assert!(fixture.elapsed() > 680, "{}", fixture.elapsed());
    assert_eq!((fixture.cluster.on(2), fixture.cluster.partition()), (2, 3));
}

/// They leave no room for the rest of their own batch, and run the old revision.
#[test]
fn outdated_pods_of_the_batch_that_are_unavailable_stop_the_plan() {
    let mut options = all_by(5);
    options.pace.canary = Some(false);
    options.pace.on_failure = Some(OnFailure::Undo);
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(5));
    while fixture.cluster.on(2) == 0 {
        fixture.pass(1);
    }
    for index in [0, 1] {
        fixture.cluster.pods.get_mut(&index).unwrap().sick_until = 1_000_000;
    }
    fixture.bound = None;
    let end = fixture.run();
    assert_eq!(unhealthy(&end), ["db-1", "db-0"]);
    assert_eq!(fixture.cluster.update(), 2);
}

/// A pod takes 90s to be ready, and the controller creates one after the other.
#[test]
fn the_pods_of_a_scale_up_may_take_longer_together_than_the_batch_timeout() {
    let mut cluster = FakeCluster::paused(5);
    cluster.start_up = 90;
    let options = StepOptions { reach: Some(Reach::Next), ..all_but_unready_nodes() };
    let mut fixture = StepperFixture::of(options, cluster);
    while !(fixture.cluster.on(2) == 1 && fixture.cluster.unavailable() == 0) {
        fixture.pass(1);
    }
    fixture.cluster.change("/spec/replicas", json!(15));
    fixture.bound = None;
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 11, of: 15 });
    assert!(fixture.elapsed() > 10 * 90, "{}", fixture.elapsed());
}

#[test]
fn a_pod_of_a_scale_up_that_is_not_created_stops_the_plan() {
    let mut fixture = StepperFixture::of(all_but_unready_nodes(), FakeCluster::paused(5));
    fixture.pass(30);
    fixture.cluster.change("/spec/replicas", json!(6));
    fixture.cluster.controls = false;
    fixture.bound = None;
    let end = fixture.run();
    assert_eq!(unhealthy(&end), ["db-5"]);
    assert_eq!(fixture.cluster.update(), 2);
}

/// The controller does not call a set complete that has a pod that is not ready.
#[test]
fn step_does_not_wait_for_completion_that_an_unready_node_prevents() {
    let mut fixture = StepperFixture::of(all_but_unready_nodes(), FakeCluster::paused(5));
    while fixture.cluster.partition() > 0 {
        fixture.pass(1);
    }
    fixture.pass(2); // db-0 is being replaced
    lose_the_first(&mut fixture);
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::OnUnreadyNodes(vec!["n4".to_owned()])));
    assert_eq!((fixture.cluster.on(2), fixture.cluster.partition()), (5, 0));
}

/// The pod on a node that is not ready is ignored, and crashes too.
#[test]
fn only_required_pods_fail_outside_a_batch() {
    let options = StepOptions { reach: Some(Reach::Next), ..all_but_unready_nodes() };
    let mut fixture = StepperFixture::of(options.clone(), FakeCluster::paused(5));
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 5 });
    let mut fixture = fixture.then("two", options.clone());
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 2, of: 5 });
    fixture.cluster.crashing.extend([3, 4]);
    fixture.cluster.unready_nodes.insert("n4".to_owned());
    let mut fixture = fixture.then("three", options);
    fixture.bound = None;
    let end = fixture.run();
    let (failure, _) = failure(&end);
    let pods = vec!["db-3".to_owned()];
    assert_eq!(*failure, BatchFailure::Cause { batch: None, id: "crash-loop".to_owned(), pods });
}

/// An earlier plan released db-4, and its node fails before the pod is gone.
#[test]
fn the_node_of_an_outdated_pod_is_reported_and_not_the_pod() {
    let mut cluster = FakeCluster::paused(5);
    let never = cluster.seconds + 1_000_000;
    for (index, pod) in &mut cluster.pods {
        match index {
            4 => (pod.ready, pod.leaves_at) = (None, Some(never)),
            _ => pod.revision = 2,
        }
    }
    let mut fixture = StepperFixture::of(StepOptions::default(), cluster);
    fixture.bound = None;
    fixture.pass(5);
    assert_eq!(fixture.cluster.partition(), 4);
    fixture.cluster.unready_nodes.insert("n4".to_owned());
    let mut fixture = fixture.then("two", StepOptions { new_plan: true, ..all_but_unready_nodes() });
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::OnUnreadyNodes(vec!["n4".to_owned()])));
}
