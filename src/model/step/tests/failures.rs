//! Plans with failures.

use serde_json::json;

use super::observation::template;
use super::play::{Play, all_by, seconds};
use super::world::World;
use crate::error::ErrorKind;
use crate::model::change::hold::{Amount, Batches, OnFailure, Reach};
use crate::model::follow::StopSignal;
use crate::model::step::*;

pub(super) fn broken() -> World {
    let mut world = World::paused(5);
    world.broken.insert(2);
    world
}

pub(super) fn failure(end: &StepOutcome) -> (&BatchFailure, Option<&RollbackOutcome>) {
    match end {
        StepOutcome::Failed { failure, rollback } => (failure, rollback.as_ref()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_canary_that_crashes_fails_the_batch_and_nothing_more_is_released() {
    let mut play = Play::of(all_by(2), broken());
    let end = play.run();
    let (failure, back) = failure(&end);
    assert!(matches!(failure, BatchFailure::Cause { batch: 1, id: "crash-loop", .. }), "{failure:?}");
    assert_eq!((back, play.world.partition()), (None, 4));
    assert!(play.elapsed() < 120, "{}", play.elapsed());
    let hold = play.world.hold().unwrap();
    assert_eq!((hold.get("lease"), &hold["plan"]["reach"]), (None, &json!("all")));
}

#[test]
fn a_failed_batch_is_rolled_back_with_on_failure_undo() {
    let mut request = all_by(2);
    request.pace.on_failure = Some(OnFailure::Undo);
    let mut play = Play::of(request, broken());
    let end = play.run();
    let (_, back) = failure(&end);
    assert_eq!(back, Some(&RollbackOutcome::Done { revision: "1".to_owned() }));
    assert_eq!((play.world.on(1), play.world.unavailable(), play.world.hold()), (5, 0, None));
    assert_eq!(play.world.object["spec"]["updateStrategy"], json!({"type": "RollingUpdate"}));
    assert!(play.reports.contains(&StepReport::ReplacesStuckPod("db-4".to_owned())));
}

#[test]
fn a_slow_batch_times_out_and_soaking_does_not_count() {
    let mut request = all_by(2);
    request.pace.batch_timeout = Some(seconds(20));
    request.pace.soak = Some(seconds(100));
    let mut play = Play::of(request, World::paused(3));
    play.pass(106);
    play.world.controls = false;
    play.bound = None;
    let end = play.run();
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
        let mut play = Play::of(request, World::paused(3));
        play.check = result;
        let end = play.run();
        assert_eq!(failure(&end).0, &BatchFailure::Check { batch: 1, result });
        let mut play = play.then("two", Request::default());
        assert!(matches!(play.run(), StepOutcome::Error(error) if error.kind() == ErrorKind::Usage));
        let skip = PaceOverrides { check: Some(CheckOverride::Skip), ..PaceOverrides::default() };
        let mut play = play.then("three", Request { pace: skip, ..Request::default() });
        assert_eq!(play.run(), StepOutcome::Complete);
    }
}

#[test]
fn a_restarted_pod_restarts_the_soak() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(60));
    let mut play = Play::of(request, World::paused(2));
    play.pass(40);
    let pod = play.world.pods.get_mut(&1).unwrap();
    (pod.restarts, pod.started) = (1, play.world.seconds - 1);
    play.pass(55);
    assert_eq!(play.world.partition(), 1);
    let anew = play
        .reports
        .iter()
        .filter(|event| matches!(event, StepReport::SoakRestarted { pod, .. } if pod == "db-1"));
    assert_eq!(anew.count(), 1);
    assert_eq!(play.run(), StepOutcome::Complete);
}

#[test]
fn unavailable_pods_block_the_next_batch() {
    let mut world = World::paused(5);
    world.pods.get_mut(&1).unwrap().sick_until = 1_000_000;
    world.tick();
    let mut play = Play::of(all_by(2), world);
    let end = play.run();
    let StepOutcome::Stopped(StopReason::Unhealthy { pods, allowed: 1 }) = &end else { panic!("{end:?}") };
    assert_eq!(pods.iter().map(|(pod, _)| pod.as_str()).collect::<Vec<_>>(), ["db-1"]);
    assert_eq!(play.world.on(2), 0);
    assert_eq!(play.world.hold().unwrap()["reason"], "pause");
    // The controller waits until the pod is ready; --force only releases the slot.
    let mut play = play.then("two", Request { force: true, reach: Some(Reach::Next), ..Request::default() });
    play.bound = Some(2);
    play.pass(10);
    assert_eq!(play.world.partition(), 4);
    play.world.pods.get_mut(&1).unwrap().sick_until = 0;
    assert_eq!(play.run(), StepOutcome::Reached { updated: 1, of: 5 });
}

#[test]
fn a_stateful_set_pod_on_an_unready_node_is_not_skipped() {
    let mut world = World::paused(4);
    world.unready_nodes.insert("n1".to_owned());
    let mut play = Play::of(all_by(2), world);
    let pod = ("db-1".to_owned(), "n1".to_owned());
    assert_eq!(play.run(), StepOutcome::Stopped(StopReason::OnUnreadyNode { pod: pod.0, node: pod.1 }));
    assert_eq!((play.world.on(2), play.world.partition()), (2, 2));
    assert!(play.reports.contains(&StepReport::Skipped(vec!["db-1".to_owned()])));
}

#[test]
fn a_timeout_and_a_signal_release_the_lease_and_keep_the_plan() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(600));
    request.timeout = Some(seconds(30));
    let mut play = Play::of(request.clone(), World::paused(3));
    assert_eq!(play.run(), StepOutcome::TimedOut(seconds(30)));
    assert_eq!(play.world.hold().unwrap().get("lease"), None);
    request.timeout = None;
    let mut play = play.then("two", request);
    play.pass(5);
    assert!(play.world.hold().unwrap().get("lease").is_some());
    play.see(StepEvent::Stopped(StopSignal::Terminated));
    assert_eq!(play.stepper.outcome(), Some(&StepOutcome::Interrupted(StopSignal::Terminated)));
    assert_eq!(play.world.hold().unwrap().get("lease"), None);
}

#[test]
fn complete_skips_the_rest_of_the_soak() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(600));
    request.timeout = Some(seconds(30));
    let mut play = Play::of(request, World::paused(2));
    play.run();
    let mut play =
        play.then("two", Request { complete: true, reach: Some(Reach::Next), ..Request::default() });
    assert_eq!(play.run(), StepOutcome::Reached { updated: 1, of: 2 });
    assert!(play.elapsed() < 10);
}

#[test]
fn the_next_process_replaces_a_broken_released_pod() {
    let mut play = Play::of(Request::default(), broken());
    assert!(matches!(play.run(), StepOutcome::Failed { .. }));
    play.world.change("/spec/template", super::observation::template(3));
    play.world.tick();
    let mut play = play.then("two", Request { new_plan: true, ..all_by(5) });
    assert_eq!(play.run(), StepOutcome::Complete);
    assert_eq!(play.world.on(3), 5);
    assert!(play.reports.contains(&StepReport::ReplacesStuckPod("db-4".to_owned())));
}

#[test]
fn a_node_broken_by_the_new_revision_fails_the_batch() {
    let mut request = all_by(2);
    request.pace.ignore_unready_nodes = Some(true);
    request.pace.soak = Some(seconds(60));
    let mut play = Play::of(request, World::paused(5));
    play.pass(10);
    play.world.pods.get_mut(&4).unwrap().sick_until = 1_000_000;
    play.world.unready_nodes.insert("n4".to_owned());
    let end = play.run();
    assert!(matches!(failure(&end).0, BatchFailure::TimedOut { batch: 1, .. }), "{end:?}");
    assert_eq!(play.world.on(2), 1);
}

#[test]
fn max_unavailable_never_covers_all_pods_after_a_scale_down() {
    let mut request = all_by(5);
    request.pace.max_unavailable = Some(Amount::Pods(4));
    request.reach = Some(Reach::Next);
    let mut play = Play::of(request, World::paused(6));
    play.bound = Some(4);
    play.run();
    play.world.change("/spec/replicas", json!(3));
    (0..20).for_each(|_| play.world.tick());
    let mut play = play.then("two", Request { reach: Some(Reach::All), ..Request::default() });
    play.bound = Some(2);
    assert_eq!(play.run(), StepOutcome::Complete);
}

#[test]
fn a_pod_excused_by_force_fails_no_batch() {
    let mut play = Play::of(Request::default(), World::paused(5));
    play.run();
    play.world.crashing.insert(4);
    play.bound = None;
    (0..60).for_each(|_| play.world.tick());
    let mut play = play.then("two", Request::default());
    assert!(matches!(play.run(), StepOutcome::Stopped(StopReason::Unhealthy { .. })));
    let mut play = play.then("three", Request { force: true, ..Request::default() });
    play.bound = None;
    play.pass(60);
    assert_eq!(play.world.partition(), 3);
    assert_eq!(play.stepper.outcome(), None);
}

#[test]
fn a_list_of_batches_that_ends_early_is_refused_for_all() {
    let mut request = all_by(1);
    request.pace.batches = Some(Batches::Until(vec![Amount::Pods(1), Amount::PerCent(50)]));
    let mut play = Play::of(request, World::paused(4));
    assert!(matches!(play.run(), StepOutcome::Error(error) if error.kind() == ErrorKind::Usage));
}

#[test]
fn a_long_outage_does_not_end_a_plan_with_an_acquired_lease() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(60));
    let mut play = Play::of(request, World::paused(2));
    play.pass(30);
    play.is_away = true;
    play.pass(300);
    assert_eq!(play.stepper.outcome(), None);
    play.is_away = false;
    assert_eq!(play.run(), StepOutcome::Complete);
}

/// Releasing a missing pod makes nothing unavailable now, but it may come back outdated and then be replaced.
#[test]
fn no_pod_is_released_while_too_many_are_unavailable() {
    let mut request = all_by(5);
    request.pace.canary = Some(false);
    request.pace.max_unavailable = Some(Amount::Pods(2));
    let mut play = Play::of(request, World::paused(5));
    play.bound = Some(3);
    play.pass(2);
    assert_eq!(play.world.partition(), 3, "two of five");
    let until = play.world.seconds + 20;
    play.world.pods.get_mut(&2).unwrap().sick_until = until;
    play.pass(1);
    assert_eq!(play.world.partition(), 3, "one is on its way, one is to go, and a third is missing");
    assert_eq!(play.run(), StepOutcome::Complete);
}

/// An update failed in its second batch, and another template replaces it. The controller waits for the broken pod,
/// whichever pod is released.
#[test]
fn a_new_plan_replaces_a_pod_that_the_failed_update_broke() {
    let mut play = Play::of(all_by(2), World::paused(5));
    play.bound = None;
    play.pass(12);
    play.world.crashing.insert(3);
    let end = play.run();
    assert!(matches!(end, StepOutcome::Failed { .. }), "{end:?}");
    play.world.change("/spec/template", template(3));
    let mut play = play.then("two", Request { new_plan: true, ..all_by(2) });
    play.pass(10);
    play.world.crashing.clear(); // the old revision works
    assert_eq!(play.run(), StepOutcome::Complete, "{:?}", play.reports);
    assert_eq!(
        play.reports.iter().filter(|event| matches!(event, StepReport::ReplacesStuckPod(_))).count(),
        1
    );
    assert_eq!(play.world.on(3), 5);
}
