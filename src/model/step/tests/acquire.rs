//! Acquiring the lease: what a command finds, continues, replaces or refuses.

use serde_json::{Value, json};

use super::observation::template;
use super::play::{Play, all_by, seconds};
use super::world::World;
use crate::error::ErrorKind;
use crate::model::change::hold::HOLD_ANNOTATION;
use crate::model::change::hold::{Amount, Reach};
use crate::model::change::undo::{TargetRevision, UndoOptions, undo};
use crate::model::step::*;

fn is_usage(end: &StepOutcome) -> bool {
    matches!(end, StepOutcome::Error(error) if error.kind() == ErrorKind::Usage)
}

#[test]
fn nothing_outdated_is_reported_and_nothing_is_written() {
    let mut world = World::paused(3);
    world.change("/spec/template", template(1));
    world.tick();
    let before = world.object.clone();
    let mut play = Play::of(all_by(1), world);
    assert_eq!(play.run(), StepOutcome::NothingOutdated);
    assert_eq!(play.world.object["metadata"], before["metadata"]);
}

#[test]
fn impossible_numbers_are_refused_before_any_write() {
    for (amount, replicas, is_refused) in [
        (Amount::Pods(3), 3, true),
        (Amount::PerCent(100), 3, true),
        (Amount::Pods(2), 3, false),
        (Amount::Pods(1), 1, false),
    ] {
        let mut request = all_by(1);
        request.pace.max_unavailable = Some(amount);
        let mut play = Play::of(request, World::paused(replicas));
        play.bound = None;
        assert_eq!(is_usage(&play.run()), is_refused, "{amount} of {replicas}");
        assert_eq!(play.world.hold().is_some(), is_refused);
    }
    let of_nodes = PaceOverrides { order: Some("zone".to_owned()), ..PaceOverrides::default() };
    assert!(is_usage(&Play::of(Request { pace: of_nodes, ..Request::default() }, World::paused(3)).run()));
}

#[test]
fn step_waits_until_the_controller_observed_the_change() {
    let mut world = World::paused(3);
    world.tick();
    world.controls = false;
    world.change("/spec/template", template(3));
    let mut play = Play::of(Request::default(), world);
    play.pass(30);
    assert_eq!(play.reports, [StepReport::Waiting("the controller to observe the change".to_owned())]);
    play.world.controls = true;
    assert_eq!(play.run(), StepOutcome::Reached { updated: 1, of: 3 });
}

#[test]
fn an_unreadable_plan_is_an_error() {
    for memory in ["{", "{\"reason\": \"plan\"}", "{\"reason\": \"plan\", \"plan\": {\"soak\": 3}}"] {
        let mut world = World::new(3, &json!({"type": "RollingUpdate"}));
        let mut hold: serde_json::Value = serde_json::from_str(memory).unwrap_or(json!("{"));
        if hold.is_object() {
            hold["set"] = json!({"type": "RollingUpdate"});
        }
        world.object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
        let mut play = Play::of(Request::default(), world);
        let end = play.run();
        assert!(
            matches!(&end, StepOutcome::Error(error) if error.kind() == ErrorKind::Malformed),
            "{memory}: {end:?}"
        );
    }
}

#[test]
fn a_paused_plan_or_one_for_another_template_is_not_continued() {
    let mut play = Play::of(Request::default(), World::paused(4));
    play.run();
    play.world.pause();
    let mut play = play.then("two", Request::default());
    assert_eq!(play.run(), StepOutcome::Stopped(StopReason::Paused));

    let mut play = Play::of(Request::default(), World::paused(4));
    play.run();
    play.world.change("/spec/template", template(3));
    (0..10).for_each(|_| play.world.tick());
    let mut play = play.then("two", Request::default());
    assert!(matches!(play.run(), StepOutcome::Stopped(StopReason::Changed { .. })));
    let mut play = play.then("three", Request { new_plan: true, ..all_by(2) });
    assert_eq!(play.run(), StepOutcome::Complete);
    assert_eq!(
        (play.world.on(3), &play.world.object["spec"]["updateStrategy"]),
        (4, &json!({"type": "RollingUpdate"}))
    );
}

/// A new plan withdraws flags that cannot be unset, and keeps released pods released, also one being replaced.
#[test]
fn a_new_plan_for_the_same_template_uses_only_its_own_options() {
    let mut request = all_by(3);
    request.pace.canary = Some(false);
    request.pace.ignore_unready_nodes = Some(true);
    request.pace.soak = Some(seconds(60));
    let mut first = Play::of(request, World::paused(5));
    first.pass(2); // one pod was released, and is not replaced yet
    assert_eq!((first.world.partition(), first.world.on(2)), (4, 0), "{:?}", first.reports);
    let mut play = first.then("two", Request { new_plan: true, take_over: true, ..Request::default() });
    play.pass(1);
    let written = &play.world.hold().unwrap()["plan"];
    assert_eq!(
        (&written["pace"]["by"], &written["pace"]["canary"], &written["pace"]["soak"]),
        (&json!("1"), &json!(true), &json!("10s"))
    );
    assert_eq!(written["pace"].get("ignoreUnreadyNodes"), None);
    assert_eq!(play.world.partition(), 4);
    let began = play.reports.iter().find_map(|event| match event {
        StepReport::Began { how, already_updated } => Some((*how, already_updated.clone())),
        _ => None,
    });
    assert_eq!(began, Some((Beginning::Replaced, vec!["db-4".to_owned()])));
    assert_eq!(play.run(), StepOutcome::Reached { updated: 2, of: 5 });
    assert_eq!(play.begun(), ["1 db-3"]);
}

/// Also below the original partition: the plan waits for the pods that were released there.
#[test]
fn a_new_plan_goes_below_the_original_partition_only_if_pods_were_released_there() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    for (pods, expected) in [(2, Value::Null), (3, json!(true))] {
        let whole = Request { reach: Some(Reach::To(Amount::PerCent(100))), ..Request::default() };
        let mut play = Play::of(whole, World::paused_with(4, &own));
        (0..1000).find(|_| {
            play.pass(1);
            play.world.on(2) == pods
        });
        let mut play = play.then("two", Request { new_plan: true, take_over: true, ..Request::default() });
        play.pass(1);
        assert_eq!(play.world.hold().unwrap()["plan"]["belowPartition"], expected, "{pods}");
    }
}

#[test]
fn a_hold_ended_by_another_client_is_replaced_with_the_present_strategy() {
    let mut world = World::paused(4);
    let theirs = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "mine": 1}});
    world.change("/spec/updateStrategy", theirs.clone());
    let mut play = Play::of(all_by(2), world);
    assert_eq!(play.run(), StepOutcome::Complete);
    assert!(play.reports.iter().any(|event| matches!(event, StepReport::HoldEnded { .. })));
    assert_eq!(play.world.object["spec"]["updateStrategy"], theirs);
}

#[test]
fn a_lease_is_taken_over_after_it_was_unchanged_for_a_minute() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(300));
    let mut first = Play::of(request.clone(), World::paused(3));
    first.pass(50);
    let mut second = first.then("two", Request::default());
    second.pass(58);
    assert!(
        matches!(&second.reports[..], [StepReport::LeaseHeld { lease, .. }] if lease.by.as_deref() == Some("ada@one"))
    );
    second.pass(10);
    assert_eq!(second.world.hold().unwrap()["lease"]["holder"], "two");
    let mut third = second.then("three", Request { take_over: true, ..Request::default() });
    third.pass(1);
    assert_eq!(third.world.hold().unwrap()["lease"]["holder"], "three");
}

#[test]
fn a_lease_in_an_ended_hold_has_no_effect() {
    let mut first = Play::of(all_by(1), World::paused(40));
    first.pass(10);
    let released = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    first.world.change("/spec/updateStrategy", released);
    let mut second = first.then("two", Request::default());
    second.bound = None;
    second.pass(3);
    assert_eq!(second.world.hold().unwrap()["lease"]["holder"], "two");
}

#[test]
fn no_new_plan_begins_after_waiting_for_a_plan_that_ended() {
    let mut first = Play::of(all_by(1), World::paused(40));
    first.pass(10);
    let mut second = first.then("two", Request::default());
    second.pass(10);
    let resume = crate::model::change::hold::resume(&second.world.workload(), true);
    let Ok(crate::model::change::hold::Resume::End(patch)) = resume else { panic!("{resume:?}") };
    second.world.write(&patch);
    assert!(matches!(second.run(), StepOutcome::Stopped(StopReason::Changed { .. })));
    assert_eq!(second.world.hold(), None);
}

/// Seen in a seeded run of a DaemonSet: the command that waited found no outdated pod, and reported success.
#[test]
fn a_plan_that_is_rolled_back_while_a_command_waits_for_its_lease_has_failed() {
    let done = RollbackOutcome::Done { revision: "1".to_owned() };
    let why = "the controller has not replaced every pod yet".to_owned();
    let unfinished = RollbackOutcome::Unfinished { revision: "1".to_owned(), why };
    for (seconds, rollback) in [(60, done), (0, unfinished)] {
        let mut first = Play::of(all_by(1), World::paused(5));
        first.pass(20);
        let mut second = first.then("two", Request::default());
        second.pass(5);
        let observed = second.world.observed();
        let target = TargetRevision::Previous.find(&observed).unwrap();
        second.world.write(&undo(&observed, target, &UndoOptions::default()).unwrap().patch);
        (0..seconds).for_each(|_| second.world.tick());
        let failed = StepOutcome::Failed { failure: BatchFailure::Earlier, rollback: Some(rollback) };
        assert_eq!(second.run(), failed);
    }
}

#[test]
fn a_partition_that_lets_no_pod_update_holds() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
    let mut world = World::new(2, &own);
    world.tick();
    let mut play = Play::of(Request::default(), world);
    assert_eq!(play.run(), StepOutcome::Stopped(StopReason::OwnPartition { partition: 3 }));
}

/// An update failed when most pods ran it, and another template replaces it.
#[test]
fn a_plan_that_replaces_a_failed_update_rolls_back_to_the_revision_before_that_update() {
    let mut world = World::paused(5);
    for index in 2..5 {
        world.pods.get_mut(&index).unwrap().revision = 2;
    }
    world.change("/spec/template", template(3));
    let mut play = Play::of(Request::default(), world);
    play.run();
    assert_eq!(play.world.hold().unwrap()["plan"]["from"], "db-1");
    play.world.object["status"]["currentRevision"] = "db-3".into(); // nothing says any more what was before
    play.world.change("/spec/template", template(4));
    let mut play = play.then("two", Request { new_plan: true, ..Request::default() });
    play.run();
    assert_eq!(play.world.hold().unwrap()["plan"]["from"], "db-1", "as the plan before said");
}
