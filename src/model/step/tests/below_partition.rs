//! Rollbacks of pods below the original partition.

use serde_json::{Value, json};

use super::observation::template;
use super::play::{Play, seconds};
use super::world::World;
use crate::model::change::hold::{Amount, Batches, OnFailure, Reach, is_rollback_held};
use crate::model::change::hold::{Resume, resume};
use crate::model::follow::{Now, StopSignal};
use crate::model::step::*;

fn own() -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}})
}

/// Five pods, of which the original partition holds three, to be stepped with `--to 100%`.
fn world() -> World {
    World::paused_with(5, &own())
}

fn to_the_last(on_failure: OnFailure) -> Request {
    let given = PaceOverrides {
        batches: Some(Batches::By(Amount::Pods(1))),
        on_failure: Some(on_failure),
        batch_timeout: Some(seconds(60)),
        check: Some(CheckOverride::Run("ab".to_owned())),
        ..PaceOverrides::default()
    };
    Request { pace: given, reach: Some(Reach::To(Amount::PerCent(100))), ..Request::default() }
}

/// The same plan up to db-2, whose check fails.
pub(super) fn refused_at_2() -> Play {
    let mut play = Play::of(to_the_last(OnFailure::Undo), world());
    while play.world.partition() > 2 {
        play.pass(1);
    }
    play.check = CheckResult::Failed(Some(1));
    play
}

/// The same plan during its rollback, when db-4 was just deleted.
pub(super) fn during_rollback() -> Play {
    let mut play = refused_at_2();
    while play.world.update() == 2 {
        play.pass(1);
    }
    play.pass(2);
    assert_eq!((play.world.partition(), play.stepper.outcome()), (2, None));
    play
}

fn refused(rollback: RollbackOutcome) -> StepOutcome {
    let failure = BatchFailure::Check { batch: 3, result: CheckResult::Failed(Some(1)) };
    StepOutcome::Failed { failure, rollback: Some(rollback) }
}

pub(super) fn done() -> RollbackOutcome {
    RollbackOutcome::Done { revision: "1".to_owned() }
}

fn unfinished(why: &str) -> RollbackOutcome {
    RollbackOutcome::Unfinished { revision: "1".to_owned(), why: why.to_owned() }
}

#[track_caller]
pub(super) fn is_as_it_was(world: &World) {
    assert_eq!((world.on(1), world.unavailable(), world.hold()), (5, 0, None));
    assert_eq!(world.object["spec"]["updateStrategy"], own());
}

#[test]
fn pods_released_below_the_original_partition_are_rolled_back_too() {
    let mut play = refused_at_2();
    assert_eq!(play.run(), refused(done()));
    is_as_it_was(&play.world);
}

#[test]
fn stuck_pods_below_the_original_partition_are_replaced() {
    let mut play = refused_at_2();
    play.check = CheckResult::Passed;
    play.bound = None;
    while play.world.on(2) < 3 {
        play.pass(1);
    }
    play.world.broken.insert(2); // a leak: all three crash
    let end = play.run();
    let StepOutcome::Failed { failure: BatchFailure::Cause { .. }, rollback: back } = &end else {
        panic!("{end:?}")
    };
    assert_eq!(back.as_ref(), Some(&done()));
    is_as_it_was(&play.world);
    let heals = play.reports.iter().filter_map(|event| match event {
        StepReport::ReplacesStuckPod(pod) => Some(pod.as_str()),
        _ => None,
    });
    assert_eq!(heals.collect::<Vec<_>>(), ["db-2", "db-3", "db-4"]);
}

/// The controller took the failed revision for the current one: every pod ran it.
#[test]
fn a_failure_after_the_last_batch_rolls_back_every_pod() {
    let mut play = refused_at_2();
    play.check = CheckResult::Passed;
    while play.world.partition() > 0 {
        play.pass(1);
    }
    play.check = CheckResult::Failed(Some(1));
    let end = play.run();
    assert!(
        matches!(end, StepOutcome::Failed { rollback: Some(RollbackOutcome::Done { .. }), .. }),
        "{end:?}"
    );
    is_as_it_was(&play.world);
    assert_eq!(play.world.object["status"]["currentRevision"], "db-1");
}

#[test]
fn a_rollback_above_the_original_partition_is_one_patch() {
    let mut play = Play::of(to_the_last(OnFailure::Undo), world());
    while play.world.partition() > 3 {
        play.pass(1);
    }
    play.check = CheckResult::Failed(Some(1));
    while play.world.update() == 2 {
        play.pass(1);
    }
    assert!(
        play.world.partition() == 3 && !is_rollback_held(&play.world.workload()),
        "it goes back without us"
    );
    play.run();
    is_as_it_was(&play.world);
}

#[test]
fn the_lease_is_held_until_every_pod_is_back() {
    let mut play = during_rollback();
    let turn = |play: &Play| play.world.hold().unwrap()["lease"]["turn"].as_u64().unwrap();
    let before = turn(&play);
    play.world.controls = false;
    play.pass(50);
    assert_eq!(turn(&play), before + 2);
    play.world.controls = true;
    assert_eq!(play.run(), refused(done()));
    is_as_it_was(&play.world);
}

#[test]
fn a_rollback_survives_lost_answers_and_an_unreachable_server() {
    let mut play = refused_at_2();
    play.loses_answers = true;
    assert_eq!(play.run(), refused(done()));
    is_as_it_was(&play.world);
    let mut play = during_rollback();
    play.is_away = true;
    play.pass(200);
    assert_eq!((play.world.on(1), play.stepper.outcome()), (5, None));
    play.is_away = false;
    assert_eq!(play.run(), refused(done()));
    is_as_it_was(&play.world);
}

#[test]
fn a_pause_stops_the_rollback_and_the_next_step_completes_it() {
    let mut play = during_rollback();
    play.world.pause();
    assert_eq!(play.run(), refused(unfinished("the plan was paused meanwhile")));
    assert_eq!(play.world.hold().unwrap().get("lease"), None);
    let mut play = play.then("two", Request::default());
    assert_eq!(play.run(), StepOutcome::Stopped(StopReason::Paused));
    let Resume::Continue(patch) = resume(&play.world.workload(), false).unwrap() else { panic!("paused") };
    play.world.write(&patch);
    let mut play = play.then("three", Request::default());
    assert_eq!(play.run(), StepOutcome::Failed { failure: BatchFailure::Earlier, rollback: Some(done()) });
    is_as_it_was(&play.world);
}

#[test]
fn a_process_that_takes_over_completes_the_rollback() {
    let play = during_rollback();
    let Play { world, mut stepper, .. } = play;
    let mut other = Play::by("two", Request { take_over: true, ..Request::default() }, world);
    other.bound = None;
    let now = Now { elapsed: seconds(900), server_time: other.world.wall() };
    stepper.apply(StepEvent::Target(other.world.look()), now); // as a watch shows it, and then as it is
    stepper.apply(StepEvent::Target(other.world.look()), now);
    assert_eq!(stepper.outcome(), Some(&refused(unfinished("ada@two took it over"))));
    assert_eq!(other.run(), StepOutcome::Failed { failure: BatchFailure::Earlier, rollback: Some(done()) });
    is_as_it_was(&other.world);
}

#[test]
fn an_external_change_during_the_rollback_is_kept() {
    let mut play = during_rollback();
    play.bound = None;
    play.world.change("/spec/template", template(3));
    assert_eq!(play.run(), refused(unfinished("another client changed the template meanwhile")));
    let mut play = play.then("two", Request::default());
    assert!(matches!(play.run(), StepOutcome::Stopped(StopReason::Changed { .. })));
    let mut play = during_rollback();
    let Resume::End(patch) = resume(&play.world.workload(), true).unwrap() else { panic!("held") };
    play.world.write(&patch);
    assert_eq!(
        play.run(),
        refused(unfinished("another client changed the strategy or the annotation meanwhile"))
    );
    assert_eq!(play.world.object["spec"]["updateStrategy"], own());
}

#[test]
fn a_step_without_options_continues_an_interrupted_rollback() {
    let mut met = 0;
    for dies_at in 1.. {
        let mut play = refused_at_2();
        play.dies_at = Some(play.acts + dies_at);
        play.pass(1_000);
        if !play.is_dead {
            break;
        }
        if !is_rollback_held(&play.world.workload()) {
            continue;
        }
        met += 1;
        let mut play = play.then("two", Request::default());
        assert_eq!(
            play.run(),
            StepOutcome::Failed { failure: BatchFailure::Earlier, rollback: Some(done()) },
            "{dies_at}"
        );
        assert!(play.elapsed() >= 60, "the lease of the dead is waited for");
        is_as_it_was(&play.world);
    }
    assert_eq!(met, 2, "at the first patch, and at the look before the second");
}

#[test]
fn an_interrupted_rollback_releases_the_lease() {
    let mut play = during_rollback();
    play.see(StepEvent::Stopped(StopSignal::Interrupted));
    assert_eq!(play.stepper.outcome(), Some(&StepOutcome::Interrupted(StopSignal::Interrupted)));
    assert_eq!(play.stepper.rollback().map(|(_, revision)| revision), Some("1"));
    assert!(is_rollback_held(&play.world.workload()) && play.world.hold().unwrap().get("lease").is_none());
}

#[test]
fn a_controller_that_is_not_complete_has_the_same_timeout() {
    let mut play = refused_at_2();
    play.check = CheckResult::Passed;
    while play.world.partition() > 0 {
        play.pass(1);
    }
    play.check = CheckResult::Failed(Some(1));
    while play.world.on(1) < 5 {
        play.pass(1);
    }
    play.world.controls = false;
    play.world.object["status"]["currentRevision"] = "db-2".into();
    play.pass(50);
    assert_eq!((play.world.partition(), play.stepper.outcome()), (0, None));
    let end = play.run();
    let why = "the controller does not report the revision as the current one";
    assert!(
        matches!(&end, StepOutcome::Failed { rollback: Some(back), .. } if *back == unfinished(why)),
        "{end:?}"
    );
}
