//! When following ends though the goal is not reached.

use std::time::Duration;

use serde_json::json;

use super::play::*;
use crate::model::follow::*;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn the_time_is_up_when_a_last_look_shows_nothing_better() {
    let options = || Options { timeout: Some(seconds(60)), ..Options::default() };
    let mut play = Play::of(options(), deployment(BEGUN));
    play.pass(59);
    assert_eq!(play.outcome(), None);
    play.pass(1);
    assert_eq!(play.outcome(), Some(&Outcome::TimedOut(Duration::from_secs(60))));

    // What was missed counts.
    let mut play = Play::of(options(), deployment(BEGUN));
    play.truth = deployment(DONE);
    play.pass(60);
    assert_eq!(play.outcome(), Some(&Outcome::Reached));

    // But nobody waits for a cluster that is out of reach.
    let mut play = Play::of(options(), deployment(BEGUN));
    play.in_reach = false;
    play.pass(62);
    assert_eq!(play.outcome(), None);
    play.pass(1);
    assert_eq!(play.outcome(), Some(&Outcome::TimedOut(Duration::from_secs(60))));

    // Nor for one of which nothing was ever seen.
    let mut play = Play::unseen(options(), deployment(BEGUN));
    play.in_reach = false;
    play.pass(70);
    assert_eq!(play.outcome(), Some(&Outcome::TimedOut(Duration::from_secs(60))));
}

#[test]
fn without_a_timeout_it_goes_on_for_ever() {
    let mut play = Play::of(Options::default(), deployment(BEGUN));
    play.pass(100_000);
    assert_eq!(play.outcome(), None);
}

#[test]
fn one_timeout_is_for_all() {
    let options = Options { timeout: Some(seconds(60)), ..Options::default() };
    let mut follower = Follower::new(options, [deployment(DONE).workload(), deployment(BEGUN).workload()]);
    let wall = "2026-11-20T13:00:00Z".parse().unwrap();
    let mut see = |target, truth: &Truth, elapsed| {
        follower.apply(
            Seen::News(TargetId(target), truth.look()),
            Moment { elapsed: Duration::from_secs(elapsed), wall },
        )
    };
    see(0, &deployment(DONE), 1);
    see(1, &deployment(BEGUN), 61);
    see(1, &deployment(BEGUN), 62);
    assert!(follower.is_over());
    let outcomes: Vec<_> =
        follower.tracks().iter().map(|track| track.end().unwrap().outcome.clone()).collect();
    assert_eq!(outcomes, [Outcome::Reached, Outcome::TimedOut(Duration::from_secs(60))]);
}

#[test]
fn a_deadline_is_for_those_whose_controller_has_none() {
    let options = || Options { deadline: Some(seconds(300)), ..Options::default() };
    let failed = Some(Outcome::Failed(Failure::Deadline(Duration::from_secs(300))));
    let mut play = Play::of(options(), stateful_set([3, 1, 2, 2], 0));
    play.pass(299);
    assert_eq!(play.outcome(), None);
    play.pass(1);
    assert_eq!(play.outcome(), failed.as_ref());

    // What gets further begins it anew, what only comes and goes does not.
    let mut play = Play::of(options(), stateful_set([3, 1, 2, 2], 0));
    play.pass(200);
    play.becomes(stateful_set([3, 2, 2, 2], 0));
    for _ in 0..29 {
        play.pass(10);
        play.becomes(stateful_set([3, 2, 3, 3], 0));
        play.becomes(stateful_set([3, 2, 2, 2], 0));
    }
    assert_eq!(play.outcome(), None);
    play.pass(20);
    assert_eq!(play.outcome(), failed.as_ref());

    let mut play = Play::of(options(), deployment(BEGUN));
    play.pass(10_000);
    assert_eq!(play.outcome(), None);
    let without = Truth { spec: json!({"progressDeadlineSeconds": i32::MAX}), ..deployment(BEGUN) };
    let mut play = Play::of(options(), without);
    play.pass(300);
    assert_eq!(play.outcome(), failed.as_ref());
}

#[test]
fn the_controllers_own_deadline_is_believed_if_it_is_this_rollouts() {
    let exceeded = |set: &str| {
        let message = format!("ReplicaSet \"{set}\" has timed out progressing.");
        let condition = json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": message});
        Truth { status: json!({"conditions": [condition]}), ..deployment(BEGUN) }
    };
    let play = Play::of(Options::default(), exceeded("web-2"));
    assert_eq!(play.outcome(), Some(&Outcome::Failed(Failure::ProgressDeadline(Some(600)))));
    let mut play = Play::of(Options::default(), exceeded("web-1"));
    assert_eq!(play.outcome(), None);
    play.becomes(deployment(DONE));
    assert_eq!(play.outcome(), Some(&Outcome::Reached));
}

#[test]
fn what_is_gone_is_gone() {
    let mut play = Play::of(Options::default(), deployment(BEGUN));
    play.news(News::Gone);
    assert_eq!(play.outcome(), Some(&Outcome::Deleted));
    // Its end is final, whatever comes.
    play.becomes(deployment(DONE));
    assert_eq!(play.outcome(), Some(&Outcome::Deleted));

    let mut play = Play::of(Options::default(), deployment(BEGUN));
    play.becomes(Truth { uid: "u2", ..deployment(DONE) });
    assert_eq!(play.outcome(), Some(&Outcome::Recreated));
}

#[test]
fn who_is_stopped_stops_and_keeps_the_ends_there_are() {
    let mut follower =
        Follower::new(Options::default(), [deployment(DONE).workload(), deployment(BEGUN).workload()]);
    let now = Moment { elapsed: Duration::from_secs(1), wall: "2026-11-20T13:00:00Z".parse().unwrap() };
    follower.apply(Seen::News(TargetId(0), deployment(DONE).look()), now);
    follower.apply(Seen::News(TargetId(1), deployment(BEGUN).look()), now);
    follower.apply(Seen::Stopped(Stop::Terminated), now);
    let outcomes: Vec<_> =
        follower.tracks().iter().map(|track| track.end().unwrap().outcome.clone()).collect();
    assert_eq!(outcomes, [Outcome::Reached, Outcome::Terminated]);
}
