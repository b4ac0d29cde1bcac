//! The annotation is the only memory: a process that loses its timers after each action stays safe, and completes the
//! plan.

use super::failures::broken;
use super::play::{Play, all_by, seconds};
use super::world::World;
use crate::model::change::hold::{Amount, OnFailure};
use crate::model::step::*;

#[test]
fn a_process_that_forgets_its_timers_after_every_action_completes_the_plan() {
    let mut request = all_by(2);
    request.pace.soak = Some(seconds(30));
    request.pace.check = Some(CheckOverride::Run("ab".to_owned()));
    let mut play = Play::of(request, World::paused(5));
    play.forgets = true;
    assert_eq!(play.run(), StepOutcome::Complete);
    assert_eq!(play.begun(), ["1 canary db-4", "2 db-3 db-2", "3 db-1 db-0"]);
    assert_eq!((play.world.on(2), play.world.hold()), (5, None));
    assert!(play.elapsed() > 3 * 30, "every batch soaked: {}", play.elapsed());
}

#[test]
fn a_process_that_forgets_its_timers_after_every_action_completes_a_rollback() {
    let mut request = all_by(2);
    request.pace.on_failure = Some(OnFailure::Undo);
    let mut play = Play::of(request, broken());
    play.forgets = true;
    let rollback = Some(RollbackOutcome::Done { revision: "1".to_owned() });
    assert_eq!(play.run(), StepOutcome::Failed { failure: BatchFailure::Earlier, rollback });
    assert_eq!((play.world.on(1), play.world.unavailable(), play.world.hold()), (5, 0, None));
}

/// Ten nodes, three of which may be without their pod at any moment.
fn daemon_set(request: Request) -> Play {
    let mut play = Play::of(request, World::paused_daemon_set(10));
    (play.forgets, play.bound) = (true, Some(3));
    play
}

#[test]
fn a_process_that_forgets_its_timers_after_every_wave_completes_the_plan_of_a_daemon_set() {
    let mut request = all_by(5);
    request.pace.max_unavailable = Some(Amount::Pods(3));
    request.pace.soak = Some(seconds(30));
    let mut play = daemon_set(request);
    assert_eq!(play.run(), StepOutcome::Complete);
    assert_eq!(play.begun(), ["1 canary n0", "2 n1 n2 n3 n4 n5", "3 n6 n7 n8 n9"]);
    assert_eq!((play.world.on(2), play.world.hold()), (10, None));
    assert!(play.elapsed() > 3 * 30, "every batch soaked: {}", play.elapsed());
    assert_eq!(play.world.object["spec"]["updateStrategy"]["type"], "RollingUpdate");
}

#[test]
fn a_process_that_forgets_its_timers_after_every_wave_completes_the_rollback_of_a_daemon_set() {
    let mut request = all_by(5);
    request.pace.max_unavailable = Some(Amount::Pods(3));
    request.pace.on_failure = Some(OnFailure::Undo);
    request.pace.canary = Some(false);
    let mut play = daemon_set(request);
    play.world.broken.insert(2);
    let rollback = Some(RollbackOutcome::Done { revision: "1".to_owned() });
    assert_eq!(play.run(), StepOutcome::Failed { failure: BatchFailure::Earlier, rollback });
    assert_eq!((play.world.on(1), play.world.unavailable(), play.world.hold()), (10, 0, None));
}

/// A crash loop without a readiness probe is available between two crashes.
#[test]
fn a_pod_that_terminated_since_its_release_settles_even_without_a_soak() {
    for soak in [None, Some(seconds(0))] {
        let mut request = Request::default();
        request.pace.soak = soak;
        let mut play = Play::of(request, World::paused(2));
        let is_updated = |play: &Play| play.world.pods.get(&1).is_some_and(|pod| pod.revision == 2);
        while !is_updated(&play) {
            play.pass(1);
        }
        let restarted = play.world.seconds;
        let pod = play.world.pods.get_mut(&1).expect("the pod is there");
        (pod.restarts, pod.started) = (1, restarted);
        assert_eq!(play.run(), StepOutcome::Reached { updated: 1, of: 2 }, "{soak:?}");
        let settled = play.world.seconds - restarted;
        assert!(settled >= 10, "{soak:?}: {settled}");
    }
}

#[test]
fn a_batch_settles_unless_the_soak_is_zero() {
    let [settling, zero] = [None, Some(seconds(0))].map(|soak| {
        let mut request = Request::default();
        request.pace.soak = soak;
        let mut play = Play::of(request, World::paused(2));
        assert_eq!(play.run(), StepOutcome::Reached { updated: 1, of: 2 });
        play.elapsed()
    });
    assert!((8..=12).contains(&(settling - zero)), "{settling} s, and {zero} s without");
}
