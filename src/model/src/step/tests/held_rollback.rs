//! Rollbacks that stay held: the original partition counts pods, and would keep some on the failed revision.

use serde_json::{Value, json};

use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, seconds};
use super::observation::template;
use crate::engine::{Engine, LoopEvent, Now, StopSignal};
use crate::hold::plan::{
    Amount, BatchFailure, BatchSize, CheckResult, OnFailure, PaceFlags, Reach, is_rollback_held,
};
use crate::hold::{Resume, resume};
use crate::step::*;

fn own() -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3, "unorderedUpdate": {}}})
}

/// Five pods, of which the original partition keeps any three.
fn cluster() -> FakeCluster {
    let mut cluster = FakeCluster::new(5, &own());
    cluster.object["apiVersion"] = "apps.kruise.io/v1beta1".into();
    cluster.pause();
    cluster
}

fn to_the_last(on_failure: OnFailure) -> StepOptions {
    let given = PaceFlags {
        batch_size: Some(BatchSize::By(Amount::Pods(1))),
        on_failure: Some(on_failure),
        batch_timeout: Some(seconds(60)),
        check: Some("ab".to_owned()),
        ..PaceFlags::default()
    };
    StepOptions { pace: given, reach: Some(Reach::All), ..StepOptions::default() }
}

/// Such a plan whose second batch fails its check.
pub(super) fn refused_at_2() -> StepperFixture {
    let mut fixture = StepperFixture::of(to_the_last(OnFailure::Undo), cluster());
    while fixture.begun().len() < 2 {
        fixture.pass(1);
    }
    fixture.check = CheckResult::Failed(Some(1));
    fixture
}

/// The same plan during its rollback, when the first pod was just deleted.
pub(super) fn during_rollback() -> StepperFixture {
    let mut fixture = refused_at_2();
    while fixture.cluster.update() == 2 {
        fixture.pass(1);
    }
    fixture.pass(2);
    assert_eq!((fixture.cluster.partition(), fixture.stepper.outcome()), (0, None));
    fixture
}

fn refused(rollback: RollbackOutcome) -> StepOutcome {
    let failure = BatchFailure::Check { batch: Some(2), result: CheckResult::Failed(Some(1)), failures: 1 };
    StepOutcome::Failed { failure: Some(failure), rollback: Some(rollback) }
}

pub(super) fn done() -> RollbackOutcome {
    RollbackOutcome::Done { revision: "1".to_owned() }
}

fn unfinished(why: &str) -> RollbackOutcome {
    RollbackOutcome::Unfinished { revision: "1".to_owned(), why: why.to_owned() }
}

#[track_caller]
pub(super) fn is_as_it_was(cluster: &FakeCluster) {
    assert_eq!((cluster.on(1), cluster.unavailable(), cluster.hold()), (5, 0, None));
    assert_eq!(cluster.object["spec"]["updateStrategy"], own());
}

#[test]
fn pods_that_the_original_partition_would_keep_are_rolled_back_too() {
    let mut fixture = refused_at_2();
    assert_eq!(fixture.run(), refused(done()));
    is_as_it_was(&fixture.cluster);
}

#[test]
fn stuck_pods_of_a_rollback_are_replaced() {
    let mut fixture = StepperFixture::of(to_the_last(OnFailure::Undo), FakeCluster::paused(5));
    fixture.bound = None;
    while fixture.cluster.on(2) < 3 {
        fixture.pass(1);
    }
    fixture.cluster.broken.insert(2); // a leak: all three crash
    let end = fixture.run();
    let StepOutcome::Failed { failure: Some(BatchFailure::Cause { .. }), rollback: back } = &end else {
        panic!("{end:?}")
    };
    assert_eq!(back.as_ref(), Some(&done()));
    assert_eq!((fixture.cluster.on(1), fixture.cluster.hold()), (5, None));
    let heals = fixture.reports.iter().filter_map(|event| match event {
        StepReport::ReplacesStuckPod(pod) => Some(pod.name.as_str()),
        _ => None,
    });
    assert_eq!(heals.collect::<Vec<_>>(), ["db-2", "db-3", "db-4"]);
}

/// The controller took the failed revision for the current one: every pod ran it.
#[test]
fn a_failure_after_the_last_batch_rolls_back_every_pod() {
    let mut fixture = StepperFixture::of(to_the_last(OnFailure::Undo), FakeCluster::paused(5));
    while fixture.cluster.partition() > 0 {
        fixture.pass(1);
    }
    fixture.check = CheckResult::Failed(Some(1));
    let end = fixture.run();
    assert!(
        matches!(end, StepOutcome::Failed { rollback: Some(RollbackOutcome::Done { .. }), .. }),
        "{end:?}"
    );
    assert_eq!((fixture.cluster.on(1), fixture.cluster.hold()), (5, None));
    assert_eq!(fixture.cluster.object["status"]["currentRevision"], "db-1");
}

#[test]
fn a_rollback_above_a_partition_of_ordinals_is_one_patch() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}});
    let mut fixture = StepperFixture::of(to_the_last(OnFailure::Undo), FakeCluster::paused_with(5, &own));
    while fixture.cluster.partition() > 3 {
        fixture.pass(1);
    }
    fixture.check = CheckResult::Failed(Some(1));
    while fixture.cluster.update() == 2 {
        fixture.pass(1);
    }
    assert!(
        fixture.cluster.partition() == 3 && !is_rollback_held(&fixture.cluster.workload()),
        "the controller rolls the pods back"
    );
    fixture.run();
    assert_eq!((fixture.cluster.on(1), fixture.cluster.hold()), (5, None));
    assert_eq!(fixture.cluster.object["spec"]["updateStrategy"], own);
}

#[test]
fn the_lock_is_held_until_every_pod_is_back() {
    let mut fixture = during_rollback();
    let before = fixture.cluster.hold();
    fixture.cluster.controls = false;
    fixture.pass(50);
    assert_eq!((fixture.cluster.hold(), before.is_some()), (before, true));
    fixture.cluster.controls = true;
    assert_eq!(fixture.run(), refused(done()));
    is_as_it_was(&fixture.cluster);
}

#[test]
fn a_rollback_survives_lost_answers_and_an_unreachable_server() {
    let mut fixture = refused_at_2();
    fixture.loses_answers = true;
    assert_eq!(fixture.run(), refused(done()));
    is_as_it_was(&fixture.cluster);
    let mut fixture = during_rollback();
    fixture.is_away = true;
    fixture.pass(200);
    assert_eq!((fixture.cluster.on(1), fixture.stepper.outcome()), (5, None));
    fixture.is_away = false;
    assert_eq!(fixture.run(), refused(done()));
    is_as_it_was(&fixture.cluster);
}

#[test]
fn a_pause_stops_the_rollback_and_the_next_step_completes_it() {
    let mut fixture = during_rollback();
    fixture.cluster.pause();
    // The partition of a rollback keeps no pod, so that the pause writes the kind's own field.
    let why = "another client changed the strategy or the annotation meanwhile";
    assert_eq!(fixture.run(), refused(unfinished(why)));
    assert_eq!(fixture.cluster.hold().unwrap().get("lock"), None);
    let mut fixture = fixture.then("two", StepOptions::default());
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::Paused));
    let Resume::Continue(patch) = resume(&fixture.cluster.workload(), false).unwrap() else {
        panic!("paused")
    };
    fixture.cluster.write(&patch);
    let mut fixture = fixture.then("three", StepOptions::default());
    assert_eq!(fixture.run(), refused(done()));
    is_as_it_was(&fixture.cluster);
}

#[test]
fn a_process_that_takes_over_completes_the_rollback() {
    let fixture = during_rollback();
    let StepperFixture { cluster, mut stepper, .. } = fixture;
    let mut other =
        StepperFixture::by("two", StepOptions { take_over: true, ..StepOptions::default() }, cluster);
    other.bound = None;
    let now = Now { elapsed: seconds(900), server_time: other.cluster.wall() };
    stepper.apply(other.cluster.look(), now); // as a watch shows it, and then as it is
    stepper.apply(other.cluster.look(), now);
    assert_eq!(stepper.outcome(), Some(&refused(unfinished("ada@two took it over"))));
    assert_eq!(other.run(), refused(done()));
    is_as_it_was(&other.cluster);
}

#[test]
fn an_external_change_during_the_rollback_is_kept() {
    let mut fixture = during_rollback();
    fixture.bound = None;
    fixture.cluster.change("/spec/template", template(3));
    assert_eq!(fixture.run(), refused(unfinished("another client changed the template meanwhile")));
    let mut fixture = fixture.then("two", StepOptions::default());
    assert!(matches!(fixture.run(), StepOutcome::Stopped(StopReason::Changed { .. })));
    let mut fixture = during_rollback();
    let Resume::End(patch) = resume(&fixture.cluster.workload(), true).unwrap() else { panic!("held") };
    fixture.cluster.write(&patch);
    assert_eq!(
        fixture.run(),
        refused(unfinished("another client changed the strategy or the annotation meanwhile"))
    );
    assert_eq!(fixture.cluster.object["spec"]["updateStrategy"], own());
}

#[test]
fn a_step_without_options_continues_an_interrupted_rollback() {
    let mut met = 0;
    for dies_at in 1.. {
        let mut fixture = refused_at_2();
        fixture.dies_at = Some(fixture.acts + dies_at);
        fixture.pass(1_000);
        if !fixture.is_dead {
            break;
        }
        if !is_rollback_held(&fixture.cluster.workload()) {
            continue;
        }
        met += 1;
        let mut fixture = fixture.then("two", StepOptions::default());
        assert_eq!(fixture.run(), refused(done()), "{dies_at}");
        assert!(fixture.elapsed() < 60, "the lock of the dead is replaced directly");
        is_as_it_was(&fixture.cluster);
    }
    assert_eq!(met, 2, "at the first patch, and at the look before the second");
}

#[test]
fn an_interrupted_rollback_releases_the_lock() {
    let mut fixture = during_rollback();
    fixture.see(LoopEvent::Stop(StopSignal::Interrupted));
    assert_eq!(fixture.stepper.outcome(), Some(&StepOutcome::Interrupted(StopSignal::Interrupted)));
    assert_eq!(fixture.stepper.memory.rollback.revision.as_deref(), Some("1"));
    assert!(
        is_rollback_held(&fixture.cluster.workload())
            && fixture.cluster.hold().unwrap().get("lock").is_none()
    );
}

#[test]
fn a_controller_that_is_not_complete_has_the_same_timeout() {
    let mut fixture = during_rollback();
    while fixture.cluster.on(1) < 5 {
        fixture.pass(1);
    }
    fixture.cluster.controls = false;
    fixture.cluster.object["status"]["currentRevision"] = "db-2".into();
    fixture.pass(50);
    assert_eq!((fixture.cluster.partition(), fixture.stepper.outcome()), (0, None));
    let end = fixture.run();
    let why = "the controller does not report the revision as the current one";
    assert!(
        matches!(&end, StepOutcome::Failed { rollback: Some(back), .. } if *back == unfinished(why)),
        "{end:?}"
    );
}
