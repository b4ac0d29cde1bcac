//! Plans with failures.

use serde_json::json;

use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use super::observation::template;
use crate::error::ErrorKind;
use crate::model::change::plan::{Amount, Batches, OnFailure, Reach};
use crate::model::follow::StopSignal;
use crate::model::step::*;

pub(super) fn broken() -> FakeCluster {
    let mut cluster = FakeCluster::paused(5);
    cluster.broken.insert(2);
    cluster
}

pub(super) fn failure(end: &StepOutcome) -> (&BatchFailure, Option<&RollbackOutcome>) {
    match end {
        StepOutcome::Failed { failure, rollback } => (failure, rollback.as_ref()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_canary_that_crashes_fails_the_batch_and_nothing_more_is_released() {
    let mut fixture = StepperFixture::of(all_by(2), broken());
    let end = fixture.run();
    let (failure, back) = failure(&end);
    assert!(matches!(failure, BatchFailure::Cause { batch: 1, id: "crash-loop", .. }), "{failure:?}");
    assert_eq!((back, fixture.cluster.partition()), (None, 4));
    assert!(fixture.elapsed() < 120, "{}", fixture.elapsed());
    let hold = fixture.cluster.hold().unwrap();
    assert_eq!((hold.get("lease"), &hold["plan"]["reach"]), (None, &json!("all")));
}

#[test]
fn a_failed_batch_is_rolled_back_with_on_failure_undo() {
    let mut request = all_by(2);
    request.pace.on_failure = Some(OnFailure::Undo);
    let mut fixture = StepperFixture::of(request, broken());
    let end = fixture.run();
    let (_, back) = failure(&end);
    assert_eq!(back, Some(&RollbackOutcome::Done { revision: "1".to_owned() }));
    assert_eq!((fixture.cluster.on(1), fixture.cluster.unavailable(), fixture.cluster.hold()), (5, 0, None));
    assert_eq!(fixture.cluster.object["spec"]["updateStrategy"], json!({"type": "RollingUpdate"}));
    assert!(fixture.reports.contains(&StepReport::ReplacesStuckPod("db-4".to_owned())));
}

#[test]
fn a_slow_batch_times_out_and_soaking_does_not_count() {
    let mut request = all_by(2);
    request.pace.batch_timeout = Some(seconds(20));
    request.pace.soak = Some(seconds(100));
    let mut fixture = StepperFixture::of(request, FakeCluster::paused(3));
    fixture.pass(106);
    fixture.cluster.controls = false;
    fixture.bound = None;
    let end = fixture.run();
    let (failure, _) = failure(&end);
    assert_eq!(
        *failure,
        BatchFailure::NotReplaced {
            batch: 2,
            after: seconds(20),
            pods: vec!["db-1".to_owned(), "db-0".to_owned()]
        }
    );
}

#[test]
fn a_failing_check_fails_the_batch() {
    for result in [CheckResult::Failed(Some(1)), CheckResult::TimedOut, CheckResult::NotRun] {
        let mut request = all_by(2);
        request.pace.check = Some(CheckOverride::Run("ab".to_owned()));
        let mut fixture = StepperFixture::of(request, FakeCluster::paused(3));
        fixture.check = result;
        let end = fixture.run();
        assert_eq!(failure(&end).0, &BatchFailure::Check { batch: 1, result });
        let mut fixture = fixture.then("two", Request::default());
        assert!(matches!(fixture.run(), StepOutcome::Error(error) if error.kind() == ErrorKind::Usage));
        let skip = PaceOverrides { check: Some(CheckOverride::Skip), ..PaceOverrides::default() };
        let mut fixture = fixture.then("three", Request { pace: skip, ..Request::default() });
        assert_eq!(fixture.run(), StepOutcome::Complete);
    }
}

#[test]
fn a_restarted_pod_restarts_the_soak() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(request, FakeCluster::paused(2));
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
    assert_eq!(fixture.cluster.hold().unwrap()["reason"], "pause");
    // The controller waits until the pod is ready; --force only releases the slot.
    let mut fixture =
        fixture.then("two", Request { force: true, reach: Some(Reach::Next), ..Request::default() });
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
fn a_timeout_and_a_signal_release_the_lease_and_keep_the_plan() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(600));
    request.timeout = Some(seconds(30));
    let mut fixture = StepperFixture::of(request.clone(), FakeCluster::paused(3));
    assert_eq!(fixture.run(), StepOutcome::TimedOut(seconds(30)));
    assert_eq!(fixture.cluster.hold().unwrap().get("lease"), None);
    request.timeout = None;
    let mut fixture = fixture.then("two", request);
    fixture.pass(5);
    assert!(fixture.cluster.hold().unwrap().get("lease").is_some());
    fixture.see(StepEvent::Stopped(StopSignal::Terminated));
    assert_eq!(fixture.stepper.outcome(), Some(&StepOutcome::Interrupted(StopSignal::Terminated)));
    assert_eq!(fixture.cluster.hold().unwrap().get("lease"), None);
}

#[test]
fn complete_skips_the_rest_of_the_soak() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(600));
    request.timeout = Some(seconds(30));
    let mut fixture = StepperFixture::of(request, FakeCluster::paused(2));
    fixture.run();
    let mut fixture =
        fixture.then("two", Request { complete: true, reach: Some(Reach::Next), ..Request::default() });
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 2 });
    assert!(fixture.elapsed() < 10);
}

#[test]
fn the_next_process_replaces_a_broken_released_pod() {
    let mut fixture = StepperFixture::of(Request::default(), broken());
    assert!(matches!(fixture.run(), StepOutcome::Failed { .. }));
    fixture.cluster.change("/spec/template", super::observation::template(3));
    fixture.cluster.tick();
    let mut fixture = fixture.then("two", Request { new_plan: true, ..all_by(5) });
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!(fixture.cluster.on(3), 5);
    assert!(fixture.reports.contains(&StepReport::ReplacesStuckPod("db-4".to_owned())));
}

#[test]
fn a_node_broken_by_the_new_revision_fails_the_batch() {
    let mut request = all_by(2);
    request.pace.ignore_unready_nodes = Some(true);
    request.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(request, FakeCluster::paused(5));
    fixture.pass(10);
    fixture.cluster.pods.get_mut(&4).unwrap().sick_until = 1_000_000;
    fixture.cluster.unready_nodes.insert("n4".to_owned());
    let end = fixture.run();
    assert!(matches!(failure(&end).0, BatchFailure::TimedOut { batch: 1, .. }), "{end:?}");
    assert_eq!(fixture.cluster.on(2), 1);
}

#[test]
fn max_unavailable_never_covers_all_pods_after_a_scale_down() {
    let mut request = all_by(5);
    request.pace.max_unavailable = Some(Amount::Pods(4));
    request.reach = Some(Reach::Next);
    let mut fixture = StepperFixture::of(request, FakeCluster::paused(6));
    fixture.bound = Some(4);
    fixture.run();
    fixture.cluster.change("/spec/replicas", json!(3));
    (0..20).for_each(|_| fixture.cluster.tick());
    let mut fixture = fixture.then("two", Request { reach: Some(Reach::All), ..Request::default() });
    fixture.bound = Some(2);
    assert_eq!(fixture.run(), StepOutcome::Complete);
}

#[test]
fn a_pod_excused_by_force_fails_no_batch() {
    let mut fixture = StepperFixture::of(Request::default(), FakeCluster::paused(5));
    fixture.run();
    fixture.cluster.crashing.insert(4);
    fixture.bound = None;
    (0..60).for_each(|_| fixture.cluster.tick());
    let mut fixture = fixture.then("two", Request::default());
    assert!(matches!(fixture.run(), StepOutcome::Stopped(StopReason::Unhealthy { .. })));
    let mut fixture = fixture.then("three", Request { force: true, ..Request::default() });
    fixture.bound = None;
    fixture.pass(60);
    assert_eq!(fixture.cluster.partition(), 3);
    assert_eq!(fixture.stepper.outcome(), None);
}

#[test]
fn a_list_of_batches_that_ends_early_is_refused_for_all() {
    let mut request = all_by(1);
    request.pace.batches = Some(Batches::Until(vec![Amount::Pods(1), Amount::PerCent(50)]));
    let mut fixture = StepperFixture::of(request, FakeCluster::paused(4));
    assert!(matches!(fixture.run(), StepOutcome::Error(error) if error.kind() == ErrorKind::Usage));
}

#[test]
fn a_long_outage_does_not_end_a_plan_with_an_acquired_lease() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(request, FakeCluster::paused(2));
    fixture.pass(30);
    fixture.is_away = true;
    fixture.pass(300);
    assert_eq!(fixture.stepper.outcome(), None);
    fixture.is_away = false;
    assert_eq!(fixture.run(), StepOutcome::Complete);
}

/// Releasing a missing pod makes nothing unavailable now, but it may come back outdated and then be replaced.
#[test]
fn no_pod_is_released_while_too_many_are_unavailable() {
    let mut request = all_by(5);
    request.pace.canary = Some(false);
    request.pace.max_unavailable = Some(Amount::Pods(2));
    let mut fixture = StepperFixture::of(request, FakeCluster::paused(5));
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
/// whichever pod is released.
#[test]
fn a_new_plan_replaces_a_pod_that_the_failed_update_broke() {
    let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused(5));
    fixture.bound = None;
    fixture.pass(12);
    fixture.cluster.crashing.insert(3);
    let end = fixture.run();
    assert!(matches!(end, StepOutcome::Failed { .. }), "{end:?}");
    fixture.cluster.change("/spec/template", template(3));
    let mut fixture = fixture.then("two", Request { new_plan: true, ..all_by(2) });
    fixture.pass(10);
    fixture.cluster.crashing.clear(); // the old revision works
    assert_eq!(fixture.run(), StepOutcome::Complete, "{:?}", fixture.reports);
    assert_eq!(
        fixture.reports.iter().filter(|event| matches!(event, StepReport::ReplacesStuckPod(_))).count(),
        1
    );
    assert_eq!(fixture.cluster.on(3), 5);
}
