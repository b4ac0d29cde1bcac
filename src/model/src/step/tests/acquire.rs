//! Acquiring the lock: what a command finds, continues, replaces or refuses.

use serde_json::json;

use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use super::observation::template;
use crate::error::ErrorKind;
use crate::hold::plan::{Amount, HOLD_ANNOTATION, PaceFlags};
use crate::step::*;

fn is_usage(end: &StepOutcome) -> bool {
    matches!(end, StepOutcome::Error(error) if error.kind() == ErrorKind::Usage)
}

#[test]
fn nothing_outdated_is_reported_and_nothing_is_written() {
    let mut cluster = FakeCluster::paused(3);
    cluster.change("/spec/template", template(1));
    cluster.tick();
    let before = cluster.object.clone();
    let mut fixture = StepperFixture::of(all_by(1), cluster);
    assert_eq!(fixture.run(), StepOutcome::NothingOutdated);
    assert_eq!(fixture.cluster.object["metadata"], before["metadata"]);
}

#[test]
fn impossible_numbers_are_refused_before_any_write() {
    for (amount, replicas, is_refused) in [
        (Amount::Pods(3), 3, true),
        (Amount::PerCent(100), 3, true),
        (Amount::Pods(2), 3, false),
        (Amount::Pods(1), 1, false),
    ] {
        let mut options = all_by(1);
        options.pace.max_unavailable = Some(amount);
        let mut fixture = StepperFixture::of(options, FakeCluster::paused(replicas));
        fixture.bound = None;
        let is_error = matches!(fixture.run(), StepOutcome::Error(_));
        assert_eq!(is_error, is_refused, "{amount} of {replicas}");
        assert_eq!(fixture.cluster.hold().is_some(), is_refused);
    }
    let of_nodes = PaceFlags { order: Some("zone".to_owned()), ..PaceFlags::default() };
    assert!(is_usage(
        &StepperFixture::of(StepOptions { pace: of_nodes, ..StepOptions::default() }, FakeCluster::paused(3))
            .run()
    ));
}

#[test]
fn step_waits_until_the_controller_observed_the_change() {
    let mut cluster = FakeCluster::paused(3);
    cluster.tick();
    cluster.controls = false;
    cluster.change("/spec/template", template(3));
    let mut fixture = StepperFixture::of(StepOptions::default(), cluster);
    fixture.pass(30);
    assert_eq!(fixture.reports, [StepReport::Waiting("the controller to observe the change".to_owned())]);
    fixture.cluster.controls = true;
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 3 });
}

#[test]
fn an_unreadable_plan_is_an_error() {
    for memory in ["{", "{\"plan\": {}}", "{\"version\": 1, \"plan\": {\"soak\": 3}}"] {
        let mut cluster = FakeCluster::new(3, &json!({"type": "RollingUpdate"}));
        let mut hold: serde_json::Value = serde_json::from_str(memory).unwrap_or(json!("{"));
        if hold.is_object() {
            hold["set"] = json!({"type": "RollingUpdate"});
        }
        cluster.object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
        let mut fixture = StepperFixture::of(StepOptions::default(), cluster);
        let end = fixture.run();
        assert!(
            matches!(&end, StepOutcome::Error(error) if error.kind() == ErrorKind::Malformed),
            "{memory}: {end:?}"
        );
    }
}

#[test]
fn a_paused_plan_or_one_for_another_template_is_not_continued() {
    let mut fixture = StepperFixture::of(StepOptions::default(), FakeCluster::paused(4));
    fixture.run();
    fixture.cluster.pause();
    let mut fixture = fixture.then("two", StepOptions::default());
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::Paused));

    let mut fixture = StepperFixture::of(StepOptions::default(), FakeCluster::paused(4));
    fixture.run();
    fixture.cluster.change("/spec/template", template(3));
    (0..10).for_each(|_| fixture.cluster.tick());
    let mut fixture = fixture.then("two", StepOptions::default());
    assert!(matches!(fixture.run(), StepOutcome::Stopped(StopReason::Changed { .. })));
    let mut fixture = fixture.then("three", StepOptions { new_plan: true, ..all_by(2) });
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!(
        (fixture.cluster.on(3), &fixture.cluster.object["spec"]["updateStrategy"]),
        (4, &json!({"type": "RollingUpdate"}))
    );
}

/// A new plan withdraws flags that cannot be unset, and keeps released pods released, also one being replaced.
#[test]
fn a_new_plan_for_the_same_template_uses_only_its_own_options() {
    let mut options = all_by(3);
    options.pace.canary = Some(false);
    options.pace.ignore_unready_nodes = Some(true);
    options.pace.soak = Some(seconds(60));
    let mut first = StepperFixture::of(options, FakeCluster::paused(5));
    first.pass(2); // one pod was released, and is not replaced yet
    assert_eq!((first.cluster.partition(), first.cluster.on(2)), (4, 0), "{:?}", first.reports);
    let mut fixture =
        first.then("two", StepOptions { new_plan: true, take_over: true, ..StepOptions::default() });
    fixture.pass(1);
    let written = &fixture.cluster.hold().unwrap()["plan"];
    assert_eq!(
        (&written["pace"]["by"], &written["pace"]["canary"], &written["pace"]["soak"]),
        (&json!("1"), &json!(true), &json!("10s"))
    );
    assert_eq!(written["pace"].get("ignoreUnreadyNodes"), None);
    assert_eq!(fixture.cluster.partition(), 4);
    let began = fixture.reports.iter().find_map(|event| match event {
        StepReport::Began { origin, already_updated } => Some((*origin, already_updated.clone())),
        _ => None,
    });
    assert_eq!(began, Some((Origin::Replaced, vec!["db-4".to_owned()])));
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 2, of: 5 });
    assert_eq!(fixture.begun(), ["1 db-3"]);
}

#[test]
fn a_hold_ended_by_another_client_is_replaced_with_the_present_strategy() {
    let mut cluster = FakeCluster::paused(4);
    let theirs = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "mine": 1}});
    cluster.change("/spec/updateStrategy", theirs.clone());
    let mut fixture = StepperFixture::of(all_by(2), cluster);
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert!(fixture.reports.iter().any(|event| matches!(event, StepReport::HoldEnded { .. })));
    assert_eq!(fixture.cluster.object["spec"]["updateStrategy"], theirs);
}

/// A plan whose process soaks.
fn locked() -> StepperFixture {
    let mut options = all_by(1);
    options.pace.soak = Some(seconds(3600));
    let mut first = StepperFixture::of(options, FakeCluster::paused(3));
    first.pass(50);
    first
}

#[test]
fn a_lock_is_replaced_with_take_over_or_after_its_process_ended_on_this_host() {
    let mut other = locked().beside("two", StepOptions::default());
    other.pass(3000);
    let end = other.stepper.outcome().cloned();
    assert!(
        matches!(&end, Some(StepOutcome::Stopped(StopReason::Locked(lock))) if lock.by.as_deref() == Some("ada@one")),
        "{end:?}"
    );
    assert_eq!((other.elapsed(), &other.cluster.hold().unwrap()["lock"]["holder"]), (0, &json!("one")));
    for mut next in [
        locked().beside("two", StepOptions { take_over: true, ..StepOptions::default() }),
        locked().then("two", StepOptions::default()),
    ] {
        next.pass(1);
        assert!(matches!(&next.reports[0], StepReport::ReplacesLock(lock) if lock.holder == "one"));
        assert_eq!(next.cluster.hold().unwrap()["lock"]["holder"], "two");
    }
}

#[test]
fn a_lock_in_an_ended_hold_has_no_effect() {
    let mut first = StepperFixture::of(all_by(1), FakeCluster::paused(40));
    first.pass(10);
    let released = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    first.cluster.change("/spec/updateStrategy", released);
    let mut second = first.beside("two", StepOptions::default());
    second.bound = None;
    second.pass(3);
    assert_eq!(second.cluster.hold().unwrap()["lock"]["holder"], "two");
}

#[test]
fn a_partition_that_lets_no_pod_update_holds() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
    let mut cluster = FakeCluster::new(2, &own);
    cluster.tick();
    let mut fixture = StepperFixture::of(StepOptions::default(), cluster);
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::OwnPartition { partition: 3, outdated: 2 }));
}

/// An update failed when most pods ran it, and another template replaces it.
#[test]
fn a_plan_that_replaces_a_failed_update_rolls_back_to_the_revision_before_that_update() {
    let mut cluster = FakeCluster::paused(5);
    for index in 2..5 {
        cluster.pods.get_mut(&index).unwrap().revision = 2;
    }
    cluster.change("/spec/template", template(3));
    let mut fixture = StepperFixture::of(StepOptions::default(), cluster);
    fixture.run();
    assert_eq!(fixture.cluster.hold().unwrap()["plan"]["from"], "db-1");
}

#[test]
fn two_billion_replicas_are_refused_before_slots_are_allocated() {
    let refusal = |replicas: i64| {
        let set = json!({"kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {"replicas": replicas}});
        mechanism_of(&Workload::of_json(&set).unwrap()).err().map(|error| error.to_string())
    };
    assert_eq!(refusal(100_000), None);
    let expected = "statefulset/db has 2147483647 replicas; step works with at most 100000";
    assert_eq!(refusal(i64::from(i32::MAX)).as_deref(), Some(expected));
}
