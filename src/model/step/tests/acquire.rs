//! Acquiring the lease: what a command finds, continues, replaces or refuses.

use serde_json::{Value, json};

use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, all_by, seconds};
use super::observation::template;
use crate::error::ErrorKind;
use crate::model::change::plan::HOLD_ANNOTATION;
use crate::model::change::plan::{Amount, Reach};
use crate::model::change::undo::{TargetRevision, UndoOptions, undo};
use crate::model::step::*;

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
        let mut request = all_by(1);
        request.pace.max_unavailable = Some(amount);
        let mut fixture = StepperFixture::of(request, FakeCluster::paused(replicas));
        fixture.bound = None;
        let is_error = matches!(fixture.run(), StepOutcome::Error(_));
        assert_eq!(is_error, is_refused, "{amount} of {replicas}");
        assert_eq!(fixture.cluster.hold().is_some(), is_refused);
    }
    let of_nodes = PaceOverrides { order: Some("zone".to_owned()), ..PaceOverrides::default() };
    assert!(is_usage(
        &StepperFixture::of(Request { pace: of_nodes, ..Request::default() }, FakeCluster::paused(3)).run()
    ));
}

#[test]
fn step_waits_until_the_controller_observed_the_change() {
    let mut cluster = FakeCluster::paused(3);
    cluster.tick();
    cluster.controls = false;
    cluster.change("/spec/template", template(3));
    let mut fixture = StepperFixture::of(Request::default(), cluster);
    fixture.pass(30);
    assert_eq!(fixture.reports, [StepReport::Waiting("the controller to observe the change".to_owned())]);
    fixture.cluster.controls = true;
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 1, of: 3 });
}

#[test]
fn an_unreadable_plan_is_an_error() {
    for memory in ["{", "{\"reason\": \"plan\"}", "{\"reason\": \"plan\", \"plan\": {\"soak\": 3}}"] {
        let mut cluster = FakeCluster::new(3, &json!({"type": "RollingUpdate"}));
        let mut hold: serde_json::Value = serde_json::from_str(memory).unwrap_or(json!("{"));
        if hold.is_object() {
            hold["set"] = json!({"type": "RollingUpdate"});
        }
        cluster.object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
        let mut fixture = StepperFixture::of(Request::default(), cluster);
        let end = fixture.run();
        assert!(
            matches!(&end, StepOutcome::Error(error) if error.kind() == ErrorKind::Malformed),
            "{memory}: {end:?}"
        );
    }
}

#[test]
fn a_paused_plan_or_one_for_another_template_is_not_continued() {
    let mut fixture = StepperFixture::of(Request::default(), FakeCluster::paused(4));
    fixture.run();
    fixture.cluster.pause();
    let mut fixture = fixture.then("two", Request::default());
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::Paused));

    let mut fixture = StepperFixture::of(Request::default(), FakeCluster::paused(4));
    fixture.run();
    fixture.cluster.change("/spec/template", template(3));
    (0..10).for_each(|_| fixture.cluster.tick());
    let mut fixture = fixture.then("two", Request::default());
    assert!(matches!(fixture.run(), StepOutcome::Stopped(StopReason::Changed { .. })));
    let mut fixture = fixture.then("three", Request { new_plan: true, ..all_by(2) });
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!(
        (fixture.cluster.on(3), &fixture.cluster.object["spec"]["updateStrategy"]),
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
    let mut first = StepperFixture::of(request, FakeCluster::paused(5));
    first.pass(2); // one pod was released, and is not replaced yet
    assert_eq!((first.cluster.partition(), first.cluster.on(2)), (4, 0), "{:?}", first.reports);
    let mut fixture = first.then("two", Request { new_plan: true, take_over: true, ..Request::default() });
    fixture.pass(1);
    let written = &fixture.cluster.hold().unwrap()["plan"];
    assert_eq!(
        (&written["pace"]["by"], &written["pace"]["canary"], &written["pace"]["soak"]),
        (&json!("1"), &json!(true), &json!("10s"))
    );
    assert_eq!(written["pace"].get("ignoreUnreadyNodes"), None);
    assert_eq!(fixture.cluster.partition(), 4);
    let began = fixture.reports.iter().find_map(|event| match event {
        StepReport::Began { how, already_updated } => Some((*how, already_updated.clone())),
        _ => None,
    });
    assert_eq!(began, Some((Beginning::Replaced, vec!["db-4".to_owned()])));
    assert_eq!(fixture.run(), StepOutcome::Reached { updated: 2, of: 5 });
    assert_eq!(fixture.begun(), ["1 db-3"]);
}

/// Also below the original partition: the plan waits for the pods that were released there.
#[test]
fn a_new_plan_goes_below_the_original_partition_only_if_pods_were_released_there() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    for (pods, expected) in [(2, Value::Null), (3, json!(true))] {
        let whole = Request { reach: Some(Reach::To(Amount::PerCent(100))), ..Request::default() };
        let mut fixture = StepperFixture::of(whole, FakeCluster::paused_with(4, &own));
        (0..1000).find(|_| {
            fixture.pass(1);
            fixture.cluster.on(2) == pods
        });
        let mut fixture =
            fixture.then("two", Request { new_plan: true, take_over: true, ..Request::default() });
        fixture.pass(1);
        assert_eq!(fixture.cluster.hold().unwrap()["plan"]["belowPartition"], expected, "{pods}");
    }
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

#[test]
fn a_lease_is_taken_over_after_it_was_unchanged_for_a_minute() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(300));
    let mut first = StepperFixture::of(request.clone(), FakeCluster::paused(3));
    first.pass(50);
    let mut second = first.then("two", Request::default());
    second.pass(58);
    assert!(
        matches!(&second.reports[..], [StepReport::LeaseHeld { lease, .. }] if lease.by.as_deref() == Some("ada@one"))
    );
    second.pass(10);
    assert_eq!(second.cluster.hold().unwrap()["lease"]["holder"], "two");
    let mut third = second.then("three", Request { take_over: true, ..Request::default() });
    third.pass(1);
    assert_eq!(third.cluster.hold().unwrap()["lease"]["holder"], "three");
}

/// The process that waits was suspended while the other one renewed its lease.
#[test]
fn a_lease_that_was_renewed_unseen_is_not_taken_over() {
    let mut request = all_by(1);
    request.pace.soak = Some(seconds(300));
    let mut first = StepperFixture::of(request, FakeCluster::paused(3));
    first.pass(50);
    let mut second = first.then("two", Request::default());
    second.pass(10);
    let mut hold = second.cluster.hold().unwrap();
    hold["lease"]["turn"] = (hold["lease"]["turn"].as_u64().unwrap() + 5).into();
    second.cluster.object["metadata"]["annotations"]["kubectl-rollout2/held"] = hold.to_string().into();
    second.cluster.seconds += 100;
    second.pass(50);
    assert_eq!(second.cluster.hold().unwrap()["lease"]["holder"], "one");
    second.pass(20);
    assert_eq!(second.cluster.hold().unwrap()["lease"]["holder"], "two");
}

#[test]
fn a_lease_in_an_ended_hold_has_no_effect() {
    let mut first = StepperFixture::of(all_by(1), FakeCluster::paused(40));
    first.pass(10);
    let released = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    first.cluster.change("/spec/updateStrategy", released);
    let mut second = first.then("two", Request::default());
    second.bound = None;
    second.pass(3);
    assert_eq!(second.cluster.hold().unwrap()["lease"]["holder"], "two");
}

#[test]
fn no_new_plan_begins_after_waiting_for_a_plan_that_ended() {
    let mut first = StepperFixture::of(all_by(1), FakeCluster::paused(40));
    first.pass(10);
    let mut second = first.then("two", Request::default());
    second.pass(10);
    let resume = crate::model::change::hold::resume(&second.cluster.workload(), true);
    let Ok(crate::model::change::hold::Resume::End(patch)) = resume else { panic!("{resume:?}") };
    second.cluster.write(&patch);
    assert!(matches!(second.run(), StepOutcome::Stopped(StopReason::Changed { .. })));
    assert_eq!(second.cluster.hold(), None);
}

/// Seen in a seeded run of a DaemonSet: the command that waited found no outdated pod, and reported success.
#[test]
fn a_plan_that_is_rolled_back_while_a_command_waits_for_its_lease_has_failed() {
    let done = RollbackOutcome::Done { revision: "1".to_owned() };
    let why = "the controller has not replaced every pod yet".to_owned();
    let unfinished = RollbackOutcome::Unfinished { revision: "1".to_owned(), why };
    for (seconds, rollback) in [(60, done), (0, unfinished)] {
        let mut first = StepperFixture::of(all_by(1), FakeCluster::paused(5));
        first.pass(20);
        let mut second = first.then("two", Request::default());
        second.pass(5);
        let observed = second.cluster.observed();
        let target = TargetRevision::Previous.find(&observed).unwrap();
        second.cluster.write(&undo(&observed, target, &UndoOptions::default()).unwrap().patch);
        (0..seconds).for_each(|_| second.cluster.tick());
        let failed = StepOutcome::Failed { failure: BatchFailure::Earlier, rollback: Some(rollback) };
        assert_eq!(second.run(), failed);
    }
}

#[test]
fn a_partition_that_lets_no_pod_update_holds() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
    let mut cluster = FakeCluster::new(2, &own);
    cluster.tick();
    let mut fixture = StepperFixture::of(Request::default(), cluster);
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::OwnPartition { partition: 3 }));
}

/// An update failed when most pods ran it, and another template replaces it.
#[test]
fn a_plan_that_replaces_a_failed_update_rolls_back_to_the_revision_before_that_update() {
    let mut cluster = FakeCluster::paused(5);
    for index in 2..5 {
        cluster.pods.get_mut(&index).unwrap().revision = 2;
    }
    cluster.change("/spec/template", template(3));
    let mut fixture = StepperFixture::of(Request::default(), cluster);
    fixture.run();
    assert_eq!(fixture.cluster.hold().unwrap()["plan"]["from"], "db-1");
    fixture.cluster.object["status"]["currentRevision"] = "db-3".into(); // the status no longer shows the revision before
    fixture.cluster.change("/spec/template", template(4));
    let mut fixture = fixture.then("two", Request { new_plan: true, ..Request::default() });
    fixture.run();
    assert_eq!(fixture.cluster.hold().unwrap()["plan"]["from"], "db-1", "as in the plan before");
}
