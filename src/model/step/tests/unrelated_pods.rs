//! Failures of pods and nodes outside the present batch.

use super::failures::failure;
use super::play::{Play, all_by, seconds};
use super::world::World;
use crate::model::change::hold::OnFailure;
use crate::model::step::*;

/// The other pods of the batch, which are not released yet, stay available.
#[test]
fn a_batch_fails_for_its_unavailable_pod_only() {
    let mut request = all_by(3);
    request.pace.canary = Some(false);
    request.pace.batch_timeout = Some(seconds(20));
    let mut play = Play::of(request, World::paused(5));
    while play.world.on(2) == 0 {
        play.pass(1);
    }
    play.world.pods.get_mut(&4).unwrap().sick_until = 1_000_000;
    let end = play.run();
    let (failure, _) = failure(&end);
    let pods = vec!["db-4".to_owned()];
    assert_eq!(*failure, BatchFailure::TimedOut { batch: 1, after: seconds(20), pods });
}

#[test]
fn a_batch_without_room_for_another_pod_has_not_failed() {
    let mut request = all_by(3);
    request.pace.canary = Some(false);
    request.pace.on_failure = Some(OnFailure::Undo);
    let mut play = Play::of(request, World::paused(5));
    while play.world.partition() > 3 {
        play.pass(1);
    }
    assert_eq!(play.world.on(2), 1, "db-3 is released and not yet gone");
    play.world.pods.get_mut(&0).unwrap().sick_until = 1_000_000;
    play.bound = None;
    let end = play.run();
    let StepOutcome::Stopped(StopReason::Unhealthy { pods, allowed: 1 }) = &end else { panic!("{end:?}") };
    assert_eq!(pods.iter().map(|(pod, _)| pod.as_str()).collect::<Vec<_>>(), ["db-0"]);
    assert_eq!((play.world.on(2), play.world.partition()), (1, 3));
    assert!(play.elapsed() > 600, "{}", play.elapsed());
}

/// Makes db-4 and its node fail permanently.
fn lose_the_first(play: &mut Play) {
    play.world.pods.get_mut(&4).unwrap().sick_until = 1_000_000;
    play.world.unready_nodes.insert("n4".to_owned());
    play.bound = None;
}

fn all_but_unready_nodes() -> Request {
    let mut request = all_by(1);
    request.pace.ignore_unready_nodes = Some(true);
    request.pace.soak = Some(seconds(60));
    request.pace.on_failure = Some(OnFailure::Undo);
    request
}

#[test]
fn a_node_that_fails_after_its_batch_counts_as_unavailable_but_fails_no_batch() {
    let mut play = Play::of(all_but_unready_nodes(), World::paused(5));
    play.pass(80);
    assert_eq!(play.world.on(2), 2, "the second batch soaks");
    lose_the_first(&mut play);
    let end = play.run();
    let StepOutcome::Stopped(StopReason::Unhealthy { pods, allowed: 1 }) = &end else { panic!("{end:?}") };
    assert_eq!(pods.iter().map(|(pod, _)| pod.as_str()).collect::<Vec<_>>(), ["db-4"]);
    assert_eq!((play.world.on(2), play.world.partition()), (2, 3));
    assert!(play.reports.contains(&StepReport::Skipped(vec!["db-4".to_owned()])), "{:?}", play.reports);
}

/// The controller does not call a set complete that has a pod that is not ready.
#[test]
fn step_does_not_wait_for_completion_that_an_unready_node_prevents() {
    let mut play = Play::of(all_but_unready_nodes(), World::paused(5));
    while play.world.partition() > 0 {
        play.pass(1);
    }
    play.pass(2); // db-0 is being replaced
    lose_the_first(&mut play);
    assert_eq!(play.run(), StepOutcome::Stopped(StopReason::OnUnreadyNodes(vec!["n4".to_owned()])));
    assert_eq!((play.world.on(2), play.world.partition()), (5, 0));
}
