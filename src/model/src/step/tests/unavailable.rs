//! Pods that are unavailable before or during a batch, and `--max-unavailable`.

use serde_json::json;

use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use super::observation::template;
use crate::hold::plan::{Amount, Pace, PaceFlags, Reach};
use crate::hold::slot::max_unavailable;
use crate::step::*;

/// `--force` excuses the pods that are unavailable before the batch, and not the new pods of the batch.
#[test]
fn a_pod_tolerated_by_force_must_be_ready_in_its_own_batch() {
    let mut cluster = FakeCluster::paused(5);
    cluster.pods.get_mut(&2).unwrap().sick_until = cluster.seconds + 30;
    cluster.crashing.insert(4);
    cluster.tick();
    let mut options = StepOptions { force: true, ..StepOptions::default() };
    options.pace.batch_timeout = Some(seconds(60));
    let mut fixture = StepperFixture::of(options, cluster);
    fixture.bound = None;
    let end = fixture.run();
    assert!(matches!(&end, StepOutcome::Failed { .. }), "{end:?}");
    assert_eq!(fixture.cluster.pods[&4].revision, 2);
}

/// Its node was drained a moment ago.
#[test]
fn an_outdated_pod_that_is_starting_is_awaited() {
    let mut cluster = FakeCluster::paused(5);
    let now = cluster.seconds;
    let pod = cluster.pods.get_mut(&1).unwrap();
    (pod.created, pod.started, pod.ready, pod.sick_until) = (now, now, None, now + 20);
    let mut fixture = StepperFixture::of(StepOptions::default(), cluster);
    let end = fixture.run();
    assert!(matches!(end, StepOutcome::Reached { .. }), "{end:?}");
}

/// Its node is being drained.
#[test]
fn an_outdated_pod_is_awaited_for_the_grace_period_of_its_deletion() {
    let mut cluster = FakeCluster::paused(5);
    let deadline = cluster.seconds + 30;
    let pod = cluster.pods.get_mut(&1).unwrap();
    (pod.ready, pod.leaves_at) = (None, Some(deadline));
    let mut fixture = StepperFixture::of(StepOptions::default(), cluster);
    let end = fixture.run();
    assert!(matches!(end, StepOutcome::Reached { .. }), "{end:?}");
}

#[test]
fn an_outdated_pod_that_is_replaced_again_and_again_is_not_awaited_without_end() {
    let mut fixture = StepperFixture::of(StepOptions::default(), FakeCluster::paused(5));
    fixture.bound = None;
    for _ in 0..60 {
        let now = fixture.cluster.seconds;
        let pod = fixture.cluster.pods.get_mut(&1).unwrap();
        (pod.created, pod.started, pod.ready, pod.sick_until) = (now, now, None, now + 30);
        fixture.pass(20);
    }
    let end = fixture.stepper.outcome();
    assert!(matches!(end, Some(StepOutcome::Stopped(StopReason::Unhealthy { .. }))), "{end:?}");
}

/// A quota keeps the controller from creating the replacement.
#[test]
fn the_replacement_of_a_stuck_pod_is_not_awaited_without_end() {
    let mut fixture = replaces_a_broken_pod();
    fixture.cluster.controls = false;
    let end = fixture.run();
    let StepOutcome::Stopped(StopReason::Unhealthy { pods, .. }) = &end else { panic!("{end:?}") };
    assert_eq!(pods, &[("db-3".to_owned(), "it does not exist".to_owned())]);
}

#[test]
fn max_unavailable_is_never_all_of_several_pods() {
    let pace = Pace { max_unavailable: Some(Amount::Pods(4)), ..Pace::default() };
    for (wanted, allowed) in [(6, 4), (5, 4), (4, 3), (2, 1), (1, 1)] {
        assert_eq!(max_unavailable(&pace, wanted), allowed, "{wanted}");
    }
}

#[test]
fn unavailable_pods_block_the_next_batch() {
    let mut cluster = FakeCluster::paused(5);
    cluster.pods.get_mut(&1).unwrap().sick_until = 1_000_000;
    cluster.tick();
    let mut fixture = StepperFixture::of(all_by(2), cluster);
    let end = fixture.run();
    let StepOutcome::Stopped(StopReason::Unhealthy { pods, allowed: 1 }) = &end else { panic!("{end:?}") };
    assert_eq!(pods.iter().map(|(pod, _)| pod.as_str()).collect::<Vec<_>>(), ["db-1"]);
    assert_eq!(fixture.cluster.on(2), 0);
    assert_eq!(fixture.cluster.hold().unwrap().get("plan"), None);
    // The controller waits until the pod is ready; --force only releases the slot.
    let mut fixture =
        fixture.then("two", StepOptions { force: true, reach: Some(Reach::Next), ..StepOptions::default() });
    fixture.bound = Some(2);
    fixture.pass(10);
    assert_eq!(fixture.cluster.partition(), 4);
    fixture.cluster.pods.get_mut(&1).unwrap().sick_until = 0;
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 5 });
}

#[test]
fn a_stateful_set_pod_on_an_unready_node_is_not_skipped() {
    let mut cluster = FakeCluster::paused(4);
    cluster.unready_nodes.insert("n1".to_owned());
    let mut fixture = StepperFixture::of(all_by(2), cluster);
    let pod = ("db-1".to_owned(), "n1".to_owned());
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::OnUnreadyNode { pod: pod.0, node: pod.1 }));
    assert_eq!((fixture.cluster.on(2), fixture.cluster.partition()), (2, 2));
    assert!(fixture.reports.contains(&StepReport::Skipped(vec!["db-1".to_owned()])));
}

#[test]
fn max_unavailable_never_covers_all_pods_after_a_scale_down() {
    let mut options = all_by(5);
    options.pace.max_unavailable = Some(Amount::Pods(4));
    options.reach = Some(Reach::Next);
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(6));
    fixture.bound = Some(4);
    fixture.run();
    fixture.cluster.change("/spec/replicas", json!(3));
    (0..20).for_each(|_| fixture.cluster.tick());
    let mut fixture = fixture.then("two", StepOptions { reach: Some(Reach::All), ..StepOptions::default() });
    fixture.bound = Some(2);
    assert_eq!(fixture.run(), StepOutcome::Complete);
}

#[test]
fn a_pod_tolerated_by_force_fails_no_batch() {
    let mut fixture = StepperFixture::of(StepOptions::default(), FakeCluster::paused(5));
    fixture.run();
    fixture.cluster.crashing.insert(4);
    fixture.bound = None;
    (0..60).for_each(|_| fixture.cluster.tick());
    let mut fixture = fixture.then("two", StepOptions::default());
    assert!(matches!(fixture.run(), StepOutcome::Stopped(StopReason::Unhealthy { .. })));
    let mut fixture = fixture.then("three", StepOptions { force: true, ..StepOptions::default() });
    fixture.bound = None;
    fixture.pass(60);
    assert_eq!(fixture.cluster.partition(), 3);
    assert_eq!(fixture.stepper.outcome(), None);
}

/// One more pod may be unavailable, but the new revision has failed.
#[test]
fn no_batch_begins_while_a_released_pod_has_failed() {
    let options = || StepOptions {
        pace: PaceFlags { max_unavailable: Some(Amount::Pods(2)), ..PaceFlags::default() },
        ..StepOptions::default()
    };
    let mut fixture = StepperFixture::of(options(), FakeCluster::paused(5));
    fixture.run();
    fixture.cluster.crashing.insert(4);
    (0..60).for_each(|_| fixture.cluster.tick());
    let mut fixture = fixture.then("two", options());
    let end = fixture.run();
    let StepOutcome::Stopped(StopReason::Unhealthy { pods, allowed: 2 }) = &end else { panic!("{end:?}") };
    assert_eq!(pods.iter().map(|(pod, _)| pod.as_str()).collect::<Vec<_>>(), ["db-4"]);
    assert_eq!((fixture.cluster.partition(), fixture.begun()), (4, Vec::new()));
}

/// Two pods may be unavailable, and one is.
#[test]
fn an_unavailable_pod_is_released_in_addition() {
    let mut cluster = FakeCluster::paused(5);
    cluster.pods.get_mut(&3).unwrap().sick_until = 1_000_000;
    cluster.tick();
    let mut request = all_by(5);
    request.pace.canary = Some(false);
    request.pace.max_unavailable = Some(Amount::Pods(2));
    let mut fixture = StepperFixture::of(request, cluster);
    fixture.bound = Some(2);
    fixture.pass(2);
    assert_eq!(fixture.cluster.partition(), 3, "db-4, which is available, and db-3");
}

/// Releasing a missing pod makes nothing unavailable now, but it may come back outdated and then be replaced.
#[test]
fn no_pod_is_released_while_too_many_are_unavailable() {
    let mut options = all_by(5);
    options.pace.canary = Some(false);
    options.pace.max_unavailable = Some(Amount::Pods(2));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(5));
    fixture.bound = Some(3);
    fixture.pass(2);
    assert_eq!(fixture.cluster.partition(), 3, "two of five");
    let until = fixture.cluster.seconds + 20;
    fixture.cluster.pods.get_mut(&2).unwrap().sick_until = until;
    fixture.pass(1);
    assert_eq!(fixture.cluster.partition(), 3, "one is on its way, one is to go, and a third is missing");
    assert_eq!(fixture.run(), StepOutcome::Complete);
}

/// An update failed in its second batch, and another template replaces it. The controller waits for the broken pod,
/// whichever pod is released. It was just deleted.
fn replaces_a_broken_pod() -> StepperFixture {
    let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(5));
    fixture.bound = None;
    fixture.pass(12);
    fixture.cluster.crashing.insert(3);
    let end = fixture.run();
    assert!(matches!(end, StepOutcome::Failed { .. }), "{end:?}");
    fixture.cluster.change("/spec/template", template(3));
    let mut fixture = fixture.then("two", StepOptions { new_plan: true, ..all_by(2) });
    while replaced(&fixture) == 0 {
        fixture.pass(1);
    }
    assert!(fixture.elapsed() > 30, "it may only be starting");
    fixture
}

fn replaced(fixture: &StepperFixture) -> usize {
    fixture.reports.iter().filter(|event| matches!(event, StepReport::ReplacesStuckPod(_))).count()
}

#[test]
fn a_new_plan_replaces_a_pod_that_the_failed_update_broke() {
    let mut fixture = replaces_a_broken_pod();
    fixture.cluster.crashing.clear(); // the old revision works
    assert_eq!(fixture.run(), StepOutcome::Complete, "{:?}", fixture.reports);
    assert_eq!((replaced(&fixture), fixture.cluster.on(3)), (1, 5));
}

/// No ready pod runs the revision before it any more. Its pod returns to that one until a batch releases it.
#[test]
fn a_new_plan_replaces_the_pod_that_the_last_batch_of_an_update_broke() {
    let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(3));
    fixture.bound = None;
    while fixture.cluster.on(2) < 3 {
        fixture.pass(1);
    }
    fixture.cluster.crashing.insert(0);
    let end = fixture.run();
    assert!(matches!(end, StepOutcome::Failed { .. }), "{end:?}");
    fixture.cluster.change("/spec/template", template(3));
    let mut fixture = fixture.then("two", StepOptions { new_plan: true, ..all_by(2) });
    fixture.pass(40);
    fixture.cluster.crashing.clear();
    assert_eq!(fixture.run(), StepOutcome::Complete, "{:?}", fixture.reports);
    assert_eq!((replaced(&fixture), fixture.cluster.on(3)), (1, 3));
}

/// A pod is missing on one node of ten when `--force` begins a batch of eight.
fn forced_past_a_missing_pod() -> StepperFixture {
    let mut cluster = FakeCluster::paused_daemon_set(10);
    cluster.closed_nodes.insert(9);
    cluster.pods.remove(&9);
    cluster.tick();
    let mut options = StepOptions { force: true, ..all_by(8) };
    options.pace.canary = Some(false);
    let mut fixture = StepperFixture::of(options, cluster);
    fixture.bound = None;
    fixture
}

/// Later releases of the batch wait until the missing pod is back.
#[test]
fn force_ignores_a_missing_pod_once() {
    let mut fixture = forced_past_a_missing_pod();
    fixture.pass(60);
    assert_eq!(fixture.cluster.on(2), 1, "{:?}", fixture.reports);
    assert_eq!(fixture.stepper.outcome(), None);
    fixture.cluster.closed_nodes.clear();
    assert_eq!(fixture.run(), StepOutcome::Complete);
}

/// The missing pod is back while the pod of the batch is down.
#[test]
fn force_makes_room_only_for_pods_that_were_unavailable() {
    let mut fixture = forced_past_a_missing_pod();
    while fixture.cluster.on(2) < 1 {
        fixture.pass(1);
    }
    let until = fixture.cluster.seconds + 60;
    for pod in fixture.cluster.pods.values_mut().filter(|pod| pod.revision == 2) {
        pod.sick_until = until;
    }
    fixture.cluster.closed_nodes.clear();
    fixture.pass(10);
    for _ in 0..30 {
        fixture.pass(1);
        assert_eq!(fixture.cluster.unavailable(), 1, "{:?}", fixture.reports);
    }
}
