//! `undo` by hand of a plan that went below the partition that a set has itself.

use super::below::{done, is_as_it_was, on_the_way_back, refused_at_2};
use super::play::{identity, seconds};
use super::world::World;
use crate::model::follow::Moment;
use crate::model::hold::Hold;
use crate::model::step::*;
use crate::model::undo::{Goal, Undo, Wishes, is_live, undo};

/// What the verb `undo` writes.
fn undo_by_hand(world: &mut World) {
    let observed = world.observed();
    let target = Goal::Previous.find(&observed).unwrap();
    let Undo { patch, below, ends_hold, .. } = undo(&observed, target, &Wishes::default()).unwrap();
    let below = below.unwrap();
    assert_eq!((below.partition, below.pods, ends_hold), (3, vec!["db-2".to_owned()], None));
    world.write(&patch);
}

#[test]
fn an_undo_by_hand_goes_back_below_the_own_partition_and_a_step_ends_its_hold() {
    for is_paused in [false, true] {
        let mut play = refused_at_2();
        play.stepper = Stepper::new(Request::default(), identity("two"), play.world.workload());
        (0..20).for_each(|_| play.world.tick());
        if is_paused {
            play.world.pause();
        }
        undo_by_hand(&mut play.world);
        let workload = play.world.workload();
        let hold = Hold::of(&workload).unwrap().unwrap();
        assert!(goes_back(&workload) && !hold.is_paused() && hold.member("lease").is_none());
        (0..60).for_each(|_| play.world.tick());
        assert_eq!((play.world.on(1), play.world.partition()), (5, 2), "they go back by themselves");
        let mut play = play.then("three", Request::default());
        assert_eq!(play.run(), End::Failed { failure: Failure::Earlier, back: Some(done()) });
        is_as_it_was(&play.world);
    }
}

#[test]
fn an_undo_by_hand_stops_whoever_steps() {
    let mut play = refused_at_2();
    play.check = Checked::Passed;
    undo_by_hand(&mut play.world);
    let end = play.run();
    assert!(matches!(end, End::Stopped(Why::Changed { .. })), "{end:?}");
    assert!(goes_back(&play.world.workload()));
}

#[test]
fn who_would_only_know_is_told_that_it_goes_back() {
    let play = on_the_way_back();
    let now = Moment { elapsed: seconds(0), wall: play.world.wall() };
    let seen = foresee(&Request::default(), &play.world.observed(), None, now);
    assert!(matches!(seen, Err(End::Failed { failure: Failure::Earlier, .. })), "{seen:?}");
}

#[test]
fn who_died_on_the_way_back_does_not_have_it_turned_round_by_an_undo() {
    let play = on_the_way_back();
    let observed = play.world.observed();
    let target = Goal::Previous.find(&observed).unwrap();
    assert!(is_live(&observed, target));
}
