//! Changes by other clients during a plan.

use k8s_openapi::jiff::SignedDuration;
use serde_json::json;

use super::fake_cluster::FakeCluster;
use super::fixture::{StepperFixture, TARGET, TICK, all_by, lock, seconds};
use super::observation::{refreshed, template, watched};
use crate::api::object::Object;
use crate::change::written::{Conflict, Written};
use crate::engine::{Effects, Engine, LoopEvent, Now, StopSignal};
use crate::error::{Error, ErrorKind};
use crate::hold::plan::HOLD_ANNOTATION;
use crate::hold::slot::tests::NOW;
use crate::kind::Workload;
use crate::observation::Observation;
use crate::step::*;

/// A plan in the soak of its canary.
fn soaking(replicas: i64) -> StepperFixture {
    let mut options = all_by(2);
    options.pace.soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(replicas));
    fixture.pass(30);
    fixture
}

#[test]
fn an_external_change_stops_the_plan() {
    let mut fixture = soaking(4);
    fixture.cluster.change("/spec/template", template(3));
    fixture.bound = None;
    let end = fixture.run();
    let StepOutcome::Stopped(StopReason::Changed { changes, .. }) = &end else { panic!("{end:?}") };
    assert_eq!(changes, &["image x:3"]);
    assert_eq!(fixture.cluster.hold().unwrap().get("lock"), None);

    let mut fixture = soaking(4);
    fixture
        .cluster
        .change("/spec/updateStrategy", json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}));
    assert!(matches!(fixture.run(), StepOutcome::Stopped(StopReason::Changed { .. })));

    let mut fixture = soaking(4);
    fixture.cluster.object["metadata"]["annotations"] = json!({});
    assert!(matches!(fixture.run(), StepOutcome::Stopped(StopReason::Changed { .. })));

    let mut fixture = soaking(4);
    let mut hold = fixture.cluster.hold().unwrap();
    hold["plan"]["pace"]["soak"] = json!("0s");
    fixture.cluster.object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
    assert!(matches!(fixture.run(), StepOutcome::Stopped(StopReason::Changed { .. })));
}

/// The goal is reached, and the pods that remain are not held any more.
#[test]
fn a_hold_that_ends_before_the_lock_is_released_is_an_external_change() {
    let mut fixture = StepperFixture::of(StepOptions::default(), FakeCluster::paused(4));
    fixture.ends_hold_before_release = true;
    let end = fixture.run();
    assert!(matches!(end, StepOutcome::Stopped(StopReason::Changed { .. })), "{end:?}");
    assert_eq!(fixture.cluster.hold().and_then(|hold| hold.get("lock").cloned()), None);
}

/// A write that is tried again would store the change as if this process had made it.
#[test]
fn an_external_change_is_detected_before_a_write_is_tried_again() {
    for change in
        [|cluster: &mut FakeCluster| cluster.change("/spec/template", template(3)), FakeCluster::pause]
    {
        let mut fixture = soaking(4);
        fixture.is_away = true;
        fixture.pass(60); // the batch is done, and storing that fails
        change(&mut fixture.cluster);
        fixture.is_away = false;
        fixture.bound = None;
        let end = fixture.run();
        assert!(
            matches!(end, StepOutcome::Stopped(StopReason::Changed { .. } | StopReason::Paused)),
            "{end:?}"
        );
    }
}

/// A soak writes nothing, however long it takes.
#[test]
fn a_soak_writes_nothing() {
    let mut options = all_by(2);
    options.pace.soak = Some(seconds(600));
    let mut fixture = StepperFixture::of(options, FakeCluster::paused(4));
    fixture.pass(30);
    let object = fixture.cluster.object.clone();
    fixture.pass(540);
    assert_eq!((&fixture.cluster.object, fixture.stepper.outcome()), (&object, None));
}

/// The partition still holds, and the number of pods that the controller updates at a time is another one.
#[test]
fn a_changed_field_of_the_strategy_beside_the_partition_stops_the_plan() {
    let own = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}});
    let mut fixture = StepperFixture::of(all_by(2), FakeCluster::paused_with(4, &own));
    fixture.pass(10);
    fixture.cluster.change("/spec/updateStrategy/rollingUpdate/maxUnavailable", json!(3));
    let end = fixture.run();
    assert!(matches!(end, StepOutcome::Stopped(StopReason::Changed { .. })), "{end:?}");
}

/// The set of a finalizer: it stays, and its controller ignores it.
#[test]
fn a_deletion_stops_the_plan() {
    let mut fixture = soaking(4);
    let released = fixture.cluster.partition();
    fixture.cluster.object["metadata"]["deletionTimestamp"] = json!("2026-11-20T16:00:00Z");
    let end = fixture.run();
    let StepOutcome::Error(error) = &end else { panic!("{end:?}") };
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!((fixture.cluster.partition(), fixture.elapsed()), (released, 31));
    assert_eq!(fixture.cluster.hold().unwrap().get("lock"), None);
}

#[test]
fn a_pause_stops_the_plan_and_resume_continues_it() {
    let mut fixture = soaking(4);
    fixture.cluster.pause();
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::Paused));
    assert_eq!(fixture.cluster.hold().unwrap()["paused"], true);
    assert_eq!(fixture.cluster.on(2), 1);
    let resume = match crate::hold::resume(&fixture.cluster.workload(), false).unwrap() {
        crate::hold::Resume::Continue(patch) => patch,
        other => panic!("{other:?}"),
    };
    fixture.cluster.write(&resume);
    let mut fixture = fixture.then("two", StepOptions::default());
    assert_eq!(fixture.run(), StepOutcome::Complete);
}

#[test]
fn a_process_that_takes_over_is_not_disturbed() {
    let mut fixture = soaking(4);
    let mut hold = fixture.cluster.hold().unwrap();
    hold["lock"] = json!({"holder": "other", "by": "bob@host", "turn": 1});
    fixture.cluster.object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
    assert_eq!(
        fixture.run(),
        StepOutcome::Stopped(StopReason::TakenOver { by: Some("bob@host".to_owned()) })
    );
    assert_eq!(fixture.cluster.hold().unwrap()["lock"]["holder"], "other");
}

#[test]
fn a_plan_without_a_lock_was_taken_over() {
    let mut fixture = soaking(4);
    let mut hold = fixture.cluster.hold().unwrap();
    hold.as_object_mut().unwrap().remove("lock");
    fixture.cluster.object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::TakenOver { by: None }));
}

#[test]
fn pods_added_by_a_scale_up_are_reported_and_soaked() {
    let mut fixture = soaking(4);
    fixture.bound = None;
    fixture.cluster.change("/spec/replicas", json!(6));
    let end = fixture.run();
    assert_eq!((end, fixture.cluster.on(2)), (StepOutcome::Complete, 6));
    let added: Vec<String> = fixture
        .reports
        .iter()
        .filter_map(|event| match event {
            StepReport::AddedByController(added) => Some(added.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(added, ["db-4", "db-5"]);
}

#[test]
fn a_scale_down_of_all_released_pods_returns_to_the_canary() {
    let mut fixture = soaking(4);
    fixture.cluster.change("/spec/replicas", json!(3));
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert_eq!(fixture.begun(), ["1 canary db-3", "2 canary db-2", "3 db-1 db-0"]);
    let done = fixture.reports.iter().filter_map(|report| match report {
        StepReport::Batch(BatchView { number, stage: BatchStage::Done { .. }, .. }) => Some(*number),
        _ => None,
    });
    assert_eq!(done.collect::<Vec<_>>(), [2, 3], "no pod of the first batch is left");
    let shown = fixture.stepper.view(NOW).unwrap().batches;
    assert_eq!(shown.iter().map(|batch| batch.number).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn a_batch_without_remaining_pods_is_done() {
    let mut cluster = FakeCluster::paused(3);
    for index in 0..2 {
        cluster.pods.get_mut(&index).unwrap().revision = 2;
    }
    let mut options = all_by(1);
    options.pace.final_soak = Some(seconds(60));
    let mut fixture = StepperFixture::of(options, cluster);
    fixture.pass(2);
    assert_eq!(fixture.cluster.partition(), 2);
    fixture.cluster.change("/spec/replicas", json!(2));
    assert_eq!(fixture.run(), StepOutcome::Complete);
    assert!(fixture.acts < 60, "{} acts", fixture.acts);
}

#[test]
fn a_plan_taken_over_behind_a_slow_watch_is_not_taken_back() {
    let mut fixture = soaking(4);
    let mut hold = fixture.cluster.hold().unwrap();
    hold["lock"] = json!({"holder": "other", "by": "bob@host"});
    fixture.cluster.object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
    let server_time = fixture.cluster.wall() + SignedDuration::from_secs(60);
    let now = Now { elapsed: seconds(90), server_time };
    assert_eq!(fixture.stepper.apply(TICK, now), only(Request::Refresh));
    fixture.stepper.apply(fixture.cluster.look(), now);
    assert!(matches!(fixture.stepper.outcome(), Some(StepOutcome::Stopped(StopReason::TakenOver { .. }))));
    assert_eq!(fixture.cluster.hold().unwrap()["lock"]["holder"], "other");
}

/// A stepper that was answered up to its first write, and the cluster as it was.
fn first_write(cluster: &mut FakeCluster) -> (Stepper, crate::api::patch::Patch, Now) {
    cluster.tick();
    let now = Now { elapsed: seconds(0), server_time: cluster.wall() };
    let mut stepper = Stepper::new(all_by(1), lock("one"), cluster.workload());
    stepper.apply(TICK, now);
    let output = stepper.apply(cluster.look(), now);
    let patch = output.tasks.into_iter().find_map(|task| match task {
        Request::Patch(write) => Some(write.patch),
        _ => None,
    });
    (stepper, patch.unwrap(), now)
}

fn only(task: Request) -> Effects<StepReport, Request> {
    Effects { reports: Vec::new(), tasks: vec![task] }
}

fn no_answer() -> Error {
    Error::new(ErrorKind::Unreachable, "no answer")
}

#[test]
fn a_write_without_an_answer_is_resolved_and_never_repeated_blindly() {
    for is_made in [true, false] {
        let mut cluster = FakeCluster::paused(3);
        let (mut stepper, patch, now) = first_write(&mut cluster);
        if is_made {
            cluster.write(&patch);
        }
        let output = stepper.apply(LoopEvent::Answer(Reply::Written(Written::Unknown(no_answer()))), now);
        assert_eq!(output.tasks, []);
        let later = Now { elapsed: seconds(2), ..now };
        assert_eq!(stepper.apply(TICK, later), only(Request::Refresh));
        let Effects { reports, tasks } = stepper.apply(cluster.look(), later);
        let has_begun = reports.iter().any(|report| matches!(report, StepReport::Began { .. }));
        assert_eq!(has_begun, is_made);
        assert!(tasks.iter().any(|task| matches!(task, Request::Patch(_))));
    }
}

/// The lock may be stored, although no observation shows it yet.
#[test]
fn a_signal_after_an_unanswered_write_releases_the_lock() {
    let mut cluster = FakeCluster::paused(3);
    let (mut stepper, patch, now) = first_write(&mut cluster);
    cluster.write(&patch);
    stepper.apply(LoopEvent::Answer(Reply::Written(Written::Unknown(no_answer()))), now);
    let stopped = LoopEvent::Stop(StopSignal::Interrupted);
    assert_eq!(stepper.apply(stopped, now).tasks, [Request::Refresh]);
    let tasks = stepper.apply(cluster.look(), now).tasks;
    let [Request::Patch(release)] = &tasks[..] else { panic!("{tasks:?}") };
    cluster.write(&release.patch);
    assert_eq!(cluster.hold().unwrap().get("lock"), None);
}

/// No read succeeds either, so that no observation shows whether the lock is stored.
#[test]
fn a_write_without_an_answer_is_unknown_at_the_end() {
    for is_answered in [false, true] {
        let mut cluster = FakeCluster::paused(3);
        let (mut stepper, _, now) = first_write(&mut cluster);
        if is_answered {
            stepper.apply(LoopEvent::Answer(Reply::Written(Written::Unknown(no_answer()))), now);
        }
        stepper.apply(LoopEvent::Stop(StopSignal::Interrupted), now);
        stepper.apply(TICK, Now { elapsed: seconds(5), ..now });
        assert_eq!(stepper.outcome(), Some(&StepOutcome::Interrupted(StopSignal::Interrupted)));
        assert_eq!(stepper.unanswered_write(), Some("acquire the lock"));
    }
}

/// Seen in seed 228 of the DaemonSets of `tests/step_proof`: the plan continued with another template.
#[test]
fn an_external_change_after_an_unanswered_write_is_detected() {
    let mut cluster = FakeCluster::paused(3);
    let (mut stepper, patch, now) = first_write(&mut cluster);
    cluster.write(&patch);
    cluster.change("/spec/template", template(3));
    stepper.apply(LoopEvent::Answer(Reply::Written(Written::Unknown(no_answer()))), now);
    let later = Now { elapsed: seconds(2), ..now };
    assert_eq!(stepper.apply(TICK, later), only(Request::Refresh));
    let mut fixture =
        StepperFixture { stepper, cluster, ..StepperFixture::of(all_by(1), FakeCluster::paused(3)) };
    fixture.see(fixture.cluster.look());
    let end = fixture.run();
    assert!(matches!(end, StepOutcome::Stopped(StopReason::Changed { .. })), "{end:?}");
}

/// Seen where a controller wrote before the answer to our write arrived: the older answer replaced the newer object, and
/// the process waited for a change that had already happened.
#[test]
fn an_answer_older_than_a_watch_event_is_ignored() {
    let mut cluster = FakeCluster::paused(3);
    let (mut stepper, patch, now) = first_write(&mut cluster);
    let version = |workload: &Workload, version: &str| {
        let mut object = workload.object().json().clone();
        object["metadata"]["resourceVersion"] = version.into();
        Box::new(Workload::of(Object::read(object).unwrap()).unwrap())
    };
    cluster.write(&patch);
    let (answer, newer) = (version(&cluster.workload(), "7"), version(&cluster.workload(), "9"));
    let newer = Observation { workload: *newer, ..cluster.observed() };
    stepper.apply(LoopEvent::Target(TARGET, watched(newer)), now);
    stepper.apply(LoopEvent::Answer(Reply::Written(Written::Stored(answer.object().clone()))), now);
    let known = stepper.workload().object().resource_version().map(str::to_owned);
    assert_eq!(known.as_deref(), Some("9"));
}

/// Seen on a real control plane: the refresh began before the controller observed the change, and ended after that.
#[test]
fn a_refresh_older_than_a_watch_event_does_not_hide_it() {
    let mut cluster = FakeCluster::paused(3);
    let (mut stepper, _, now) = first_write(&mut cluster);
    let at = |version: &str| {
        let mut observed = cluster.observed();
        let mut object = observed.workload.object().json().clone();
        object["metadata"]["resourceVersion"] = version.into();
        observed.workload = Workload::of(Object::read(object).unwrap()).unwrap();
        observed
    };
    stepper.apply(LoopEvent::Target(TARGET, watched(at("9"))), now);
    stepper.apply(refreshed(at("7"), cluster.nodes()), now);
    let known = stepper.workload().object().resource_version().map(str::to_owned);
    assert_eq!(known.as_deref(), Some("9"));
}

#[test]
fn an_unreachable_server_ends_step_before_the_lock_is_acquired() {
    let mut cluster = FakeCluster::paused(3);
    let (mut stepper, _, now) = first_write(&mut cluster);
    for elapsed in (0..).step_by(2) {
        let now = Now { elapsed: seconds(elapsed), ..now };
        if elapsed > 0 {
            stepper.apply(TICK, now);
            stepper.apply(cluster.look(), now);
        }
        stepper.apply(LoopEvent::Answer(Reply::Written(Written::Unavailable(no_answer()))), now);
        if let Some(end) = stepper.outcome() {
            assert!(matches!(end, StepOutcome::Error(_)) && elapsed == 60, "{elapsed}: {end:?}");
            return;
        }
    }
}

/// What the first write of a plan meets, until the command ends.
#[test]
fn a_first_write_that_is_never_stored_ends_step() {
    let conflict =
        |recreated| Conflict { recreated, manager: None, changes: Vec::new(), is_unanswered: false };
    for (conflict, expected, at) in [
        (conflict(true), "recreated", 0),
        (conflict(false), "statefulset/db is being changed all the time", 18),
    ] {
        let mut cluster = FakeCluster::paused(3);
        let (mut stepper, _, now) = first_write(&mut cluster);
        let ended = (0..100).step_by(2).find_map(|elapsed| {
            let now = Now { elapsed: seconds(elapsed), ..now };
            if elapsed > 0 {
                stepper.apply(TICK, now);
                stepper.apply(cluster.look(), now);
            }
            stepper.apply(LoopEvent::Answer(Reply::Written(Written::Conflict(conflict.clone()))), now);
            Some((stepper.outcome()?.clone(), elapsed))
        });
        let (outcome, elapsed) = ended.unwrap();
        let words = match &outcome {
            StepOutcome::Error(error) => error.to_string(),
            outcome => outcome.word().to_owned(),
        };
        assert_eq!((words.as_str(), elapsed), (expected, at));
    }
}

/// Seen on real nodes: the pods that another process released were reported as created by the controller.
#[test]
fn what_another_process_releases_is_not_reported() {
    let mut fixture = soaking(6);
    fixture.bound = None;
    let mut hold = fixture.cluster.hold().unwrap();
    hold["lock"] = json!({"holder": "other", "by": "bob@host"});
    fixture.cluster.object["metadata"]["annotations"] = json!({HOLD_ANNOTATION: hold.to_string()});
    for index in [3, 4] {
        fixture.cluster.pods.get_mut(&index).unwrap().revision = 2;
    }
    assert!(matches!(fixture.run(), StepOutcome::Stopped(StopReason::TakenOver { .. })));
    let is_added = |event: &&StepReport| matches!(event, StepReport::AddedByController(_));
    assert_eq!(fixture.reports.iter().find(is_added), None);
}

/// The controller creates every pod of a later scale-up on the new revision, and the plan has still to be ended.
#[test]
fn a_plan_without_replicas_stops_and_keeps_its_hold() {
    let mut fixture = soaking(4);
    fixture.cluster.change("/spec/replicas", json!(0));
    assert_eq!(fixture.run(), StepOutcome::Stopped(StopReason::NoReplicas));
    assert!(fixture.cluster.hold().unwrap()["plan"].is_object());
}
