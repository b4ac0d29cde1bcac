//! Causes over time: which ones are reported, and which ones fail a rollout.

use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::fixture::*;
use crate::cause::container_logs::{LogLines, LogRef};
use crate::cause::{AllowedRestarts, CauseId, CauseSeverity};
use crate::engine::*;
use crate::follow::*;

const GRACE: Duration = Duration::from_secs(30);

fn fail_fast() -> FollowOptions {
    FollowOptions { fail_fast: Some(GRACE), ..FollowOptions::default() }
}

fn with_pod(container: &Value) -> Truth {
    deployment(BEGUN).with_pod("a", 2, false, container)
}

#[test]
fn a_cause_is_reported_when_it_appears_and_when_it_is_gone() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), deployment(BEGUN));
    fixture.pass(5);
    fixture.becomes(with_pod(&no_image()));
    fixture.pass(60);
    fixture.show();
    assert_eq!(fixture.causes().len(), 1);
    fixture.becomes(deployment(BEGUN));
    assert_eq!(fixture.causes().len(), 1, "it may come back");
    fixture.pass(20);
    let reported: Vec<_> = fixture.causes().iter().map(|(step, cause)| (*step, cause.id)).collect();
    assert_eq!(
        reported,
        [(CauseChange::Appeared, CauseId::ImageNotFound), (CauseChange::Gone, CauseId::ImageNotFound)]
    );
}

/// The frame showed `complete` and a cause that was gone, until the rollout had been stable for 10 s.
#[test]
fn a_complete_rollout_contradicts_a_cause_that_is_absent() {
    for (container, shown) in [(no_image(), 0), (crashing(2), 1)] {
        let mut fixture = FollowerFixture::of(fail_fast(), with_pod(&container));
        fixture.pass(5);
        fixture.becomes(deployment(DONE).with_pod("a", 2, true, &running(3)));
        let [target] = fixture.follower.targets() else { panic!() };
        assert_eq!((fixture.outcome(), target.causes().count()), (None, shown), "{container}");
    }
}

#[test]
fn a_crash_loop_is_one_cause_and_its_log_is_requested_once() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with_pod(&crashing(1)));
    for restarts in 2..20 {
        fixture.pass(3);
        fixture.becomes(deployment(BEGUN).with_pod("a", 2, true, &running(restarts)));
        fixture.pass(2);
        fixture.becomes(with_pod(&crashing(restarts)));
    }
    let steps: Vec<_> = fixture.causes().iter().map(|(step, _)| *step).collect();
    assert_eq!(
        steps,
        [CauseChange::Appeared, CauseChange::Changed],
        "it needs a fix from the second restart"
    );
    let logs: Vec<_> =
        fixture.tasks.iter().filter(|task| matches!(task, FollowRequest::ReadLog(..))).collect();
    let place = LogRef { pod: "a".into(), container: "app".into(), previous: false };
    assert_eq!(logs, [&FollowRequest::ReadLog(place)]);
}

fn log_requests(fixture: &FollowerFixture) -> Vec<&LogRef> {
    let logs = fixture.tasks.iter().filter_map(|task| match task {
        FollowRequest::ReadLog(log) => Some(log),
        _ => None,
    });
    logs.collect()
}

/// A container that crashed with an exit code, and is not restarted yet.
fn crashed(exit: i64, restarts: i64) -> Value {
    let terminated = json!({"exitCode": exit, "reason": "Error", "finishedAt": START});
    json!({"name": "app", "image": "app:2", "restartCount": restarts, "state": {"terminated": terminated}})
}

fn lines_of_a_log(lines: &[&str]) -> TargetEvent {
    let lines = lines.iter().map(|&line| line.to_owned()).collect();
    TargetEvent::Log(LogLines { pod: "a".into(), container: "app".into(), lines })
}

/// The kubelet restarts a container at once after its first crash.
#[test]
fn a_log_that_may_be_of_the_run_after_the_crash_is_read_again() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with_pod(&crashed(1, 0)));
    fixture.event(lines_of_a_log(&["starting"]));
    fixture.pass(1);
    let mut restarted = running(1);
    restarted["ready"] = json!(false);
    restarted["lastState"] = crashed(1, 0)["state"].take();
    fixture.becomes(with_pod(&restarted));
    let log = |previous| LogRef { pod: "a".into(), container: "app".into(), previous };
    assert_eq!(log_requests(&fixture), [&log(false), &log(true)]);
    fixture.event(lines_of_a_log(&["panic"]));
    fixture.event(lines_of_a_log(&["panic"]));
    let logs = fixture.reported.iter().filter(|report| matches!(report, Report::Log(_)));
    assert_eq!(logs.count(), 2, "the same lines are reported once");
    fixture.pass(1);
    fixture.becomes(with_pod(&crashing(1)));
    assert_eq!(log_requests(&fixture).len(), 2);
}

/// A container without a probe that has run since the start and is not ready.
fn unready() -> Value {
    let mut container = running(0);
    container["ready"] = json!(false);
    container
}

/// Many containers become ready some seconds after the cause is found.
#[test]
fn the_log_of_a_container_that_is_not_ready_is_read_after_10_s() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with_pod(&unready()));
    fixture.pass(15);
    assert_eq!(fixture.causes().len(), 1);
    assert!(log_requests(&fixture).is_empty());
    fixture.pass(15);
    let log = LogRef { pod: "a".into(), container: "app".into(), previous: false };
    assert_eq!(log_requests(&fixture), [&log]);
    fixture.event(lines_of_a_log(&["x509: unknown authority, error", "GET /healthz 503"]));
    fixture.pass(120);
    assert_eq!(log_requests(&fixture), [&log], "once");
    let [target] = fixture.follower.targets() else { panic!() };
    let evidence: Vec<_> = target.causes().map(|cause| cause.evidence.as_deref()).collect();
    assert_eq!(evidence, [Some("x509: unknown authority, error")]);
}

#[test]
fn an_end_without_success_reads_the_log_of_a_container_that_is_not_ready() {
    let timeout = |seconds| Some(Duration::from_secs(seconds));
    let once = FollowOptions { once: true, ..FollowOptions::default() };
    for (what, options, seconds, logs) in [
        ("timed out", FollowOptions { timeout: timeout(15), ..FollowOptions::default() }, 15, 1),
        ("timed out later", FollowOptions { timeout: timeout(60), ..FollowOptions::default() }, 60, 1),
        (
            "without logs",
            FollowOptions { timeout: timeout(60), without_logs: true, ..FollowOptions::default() },
            60,
            0,
        ),
        ("read once", once, 0, 1),
    ] {
        let mut fixture = FollowerFixture::without_events(options, with_pod(&unready()));
        if what == "read once" {
            fixture.advance(20);
        }
        fixture.show();
        fixture.pass(seconds);
        assert!(fixture.outcome().is_some(), "{what}");
        assert_eq!(log_requests(&fixture).len(), logs, "{what}");
    }
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with_pod(&unready()));
    fixture.pass(15);
    fixture.apply(LoopEvent::Stop(StopSignal::Interrupted));
    assert_eq!(log_requests(&fixture).len(), 1);
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with_pod(&unready()));
    fixture.pass(15);
    fixture.becomes(deployment(DONE).with_pod("a", 2, true, &running(0)));
    assert_eq!((fixture.outcome(), log_requests(&fixture).len()), (Some(&Outcome::Reached), 0));
}

#[test]
fn a_crash_with_another_exit_code_has_a_log_of_its_own() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with_pod(&crashing(1)));
    fixture.pass(20);
    let mut other = crashing(2);
    other["lastState"]["terminated"]["exitCode"] = json!(2);
    fixture.becomes(with_pod(&other));
    assert_eq!(log_requests(&fixture).len(), 2);
}

/// A cause that is absent since its grace period began does not delay the failure by another one.
#[test]
fn a_cause_fails_the_rollout_when_its_grace_period_ends() {
    let options = || FollowOptions { fail_fast: Some(Duration::from_secs(4)), ..FollowOptions::default() };
    let missing = waiting("CreateContainerConfigError", "configmap \"settings\" not found");
    let mut fixture = FollowerFixture::of(options(), with_pod(&no_image()));
    fixture.pass(3);
    fixture.becomes(with_pod(&missing));
    fixture.pass(4);
    assert!(matches!(fixture.outcome(), Some(Outcome::Failed(_))), "{:?}", fixture.follower.due());
}

/// A pod that waits for its image is in one of these states at a time.
#[test]
fn a_pod_is_shown_under_its_present_cause_only() {
    let creating = waiting("ContainerCreating", "");
    let mut creating = with_pod(&creating);
    let ready = json!({"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": START});
    creating.pods[0]["status"]["conditions"].as_array_mut().unwrap().push(ready);
    let unreachable = waiting("ErrImagePull", "failed to do request: dial tcp: lookup r: i/o timeout");
    let mut fixture = FollowerFixture::of(FollowOptions::default(), creating);
    fixture.pass(20);
    fixture.show();
    let shown = |fixture: &FollowerFixture| -> Vec<_> {
        fixture.follower.targets()[0].causes().map(|cause| cause.id).collect()
    };
    assert_eq!(shown(&fixture), [CauseId::ImagePulling]);
    fixture.becomes(with_pod(&unreachable));
    assert_eq!(shown(&fixture), [CauseId::RegistryUnreachable]);
    fixture.becomes(deployment(BEGUN));
    assert_eq!(shown(&fixture).len(), 2, "both may come back");
}

/// The logs follow the causes, so that of one crash is below its own cause.
#[test]
fn a_cause_with_a_log_is_reported_last() {
    let truth = with_pod(&crashing(2)).with_pod("b", 2, false, &waiting("RunContainerError", "no device"));
    let fixture = FollowerFixture::of(FollowOptions::default(), truth);
    let reported: Vec<_> = fixture.causes().iter().map(|(_, cause)| cause.id).collect();
    assert_eq!(reported, [CauseId::ContainerStart, CauseId::CrashLoop]);
}

/// Documents have the line that the text quotes.
#[test]
fn a_log_is_the_evidence_of_its_cause() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with_pod(&crashing(2)));
    fixture.event(lines_of_a_log(&["panic: no database", "goroutine 1 [running]:"]));
    let evidence = |fixture: &FollowerFixture| -> Vec<_> {
        fixture.follower.targets()[0].causes().map(|cause| cause.evidence.clone()).collect()
    };
    assert_eq!(evidence(&fixture), [Some("panic: no database".to_owned())]);
    fixture.pass(20);
    fixture.becomes(with_pod(&crashing(3)));
    assert_eq!(evidence(&fixture), [Some("panic: no database".to_owned())]);
    assert_eq!(fixture.causes().len(), 1, "the log was reported, and the cause is the same");
}

/// A cause that changed a moment ago is reported later, because pods join one by one. A failure reports it at once.
#[test]
fn a_failure_reports_its_cause_as_it_is_then() {
    let options = FollowOptions { fail_fast: Some(Duration::from_secs(5)), ..FollowOptions::default() };
    let mut fixture = FollowerFixture::of(options, with_pod(&crashing(1)));
    fixture.pass(2);
    fixture.becomes(with_pod(&crashing(2)));
    fixture.pass(6);
    assert!(matches!(fixture.outcome(), Some(Outcome::Failed(RolloutFailure::Cause { .. }))));
    let severities: Vec<_> = fixture.causes().iter().map(|(_, cause)| cause.severity).collect();
    assert_eq!(severities, [CauseSeverity::MayPass, CauseSeverity::Fatal]);
    assert!(matches!(fixture.reported.last(), Some(Report::Ended(_))), "{:?}", fixture.reported);
}

#[test]
fn container_logs_are_reported_without_secrets() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with_pod(&crashing(1)));
    let lines = vec!["PASSWORD=hunter2 at db://u:p4ss@h".to_owned(), "no".to_owned()];
    fixture.event(TargetEvent::Log(LogLines { pod: "a".into(), container: "app".into(), lines }));
    let reported = fixture.reported.iter().find_map(|event| match event {
        Report::Log(log) => Some(log.lines.clone()),
        _ => None,
    });
    assert_eq!(reported.unwrap_or_default(), ["PASSWORD=*** at db://u:***@h", "no"]);
}

#[test]
fn fatal_causes_fail_fast() {
    let missing = "configmap \"settings\" not found";
    for (container, fails) in [
        (no_image(), true),
        (waiting("InvalidImageName", "couldn't parse image name \"app:::\""), true),
        (waiting("CreateContainerConfigError", missing), true),
        (waiting("CreateContainerConfigError", "failed to sync configmap cache: timed out"), false),
        (
            waiting("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"),
            true,
        ),
        (crashing(1), false),
        (crashing(2), true),
        (running(0), false),
    ] {
        let mut fixture = FollowerFixture::of(fail_fast(), with_pod(&container));
        fixture.pass(29);
        assert_eq!(fixture.outcome(), None, "{container}");
        fixture.pass(2);
        let failed =
            matches!(fixture.outcome(), Some(Outcome::Failed(RolloutFailure::Cause { grace: GRACE, .. })));
        assert_eq!(failed, fails, "{container}");
        let mut patient = FollowerFixture::of(FollowOptions::default(), with_pod(&container));
        patient.pass(1_000); // longer than every grace period and deadline of a default
        assert_eq!(patient.outcome(), None, "{container}");
    }
}

/// A container waits for its next run with the restarts that it had, and then runs with one more.
#[test]
fn allowed_restarts_are_no_crash_loop() {
    for (allowed, restarts, fails) in [
        (None, 1, false),
        (None, 2, true),
        (Some(0), 0, false),
        (Some(0), 1, true),
        (Some(1), 1, false),
        (Some(1), 2, true),
        (Some(3), 2, false),
        (Some(3), 3, false),
        (Some(3), 4, true),
    ] {
        let options = FollowOptions { allowed_restarts: AllowedRestarts(allowed), ..fail_fast() };
        let mut fixture = FollowerFixture::of(options.clone(), with_pod(&crashing(restarts)));
        fixture.pass(31);
        let failure = RolloutFailure::Cause { id: CauseId::CrashLoop, grace: GRACE };
        let expected = fails.then_some(Outcome::Failed(failure));
        assert_eq!(fixture.outcome(), expected.as_ref(), "{allowed:?} {restarts}");
        assert_eq!(fixture.causes().len(), 1, "it is shown");

        // It runs again, and is ready. Its last run took 60s, so without an option it must run for 60s.
        let mut container = running(restarts);
        let ended = json!({"exitCode": 1, "startedAt": "2026-11-20T12:59:00Z", "finishedAt": START});
        container["lastState"] = json!({"terminated": ended});
        let truth = deployment(DONE).with_pod("a", 2, true, &container);
        let mut fixture = FollowerFixture::of(options, truth);
        fixture.pass(11);
        let is_allowed = allowed.is_some() && !fails;
        let expected = is_allowed.then_some(Outcome::Reached);
        if restarts > 0 {
            assert_eq!(fixture.outcome(), expected.as_ref(), "{allowed:?} {restarts}");
        }
    }
}

#[test]
fn a_cause_that_is_gone_after_its_grace_period_is_not_fatal() {
    let mut fixture = FollowerFixture::of(fail_fast(), with_pod(&no_image()));
    fixture.truth = deployment(BEGUN);
    fixture.pass(31);
    assert_eq!((fixture.outcome(), fixture.refreshes()), (None, 1));
    // A cause that returns soon has lasted without a gap.
    fixture.becomes(with_pod(&no_image()));
    assert_eq!(fixture.refreshes(), 2);
    assert!(matches!(fixture.outcome(), Some(Outcome::Failed(_))));
}

/// A container without a readiness probe is ready while it runs. Between two crashes it has no cause.
#[test]
fn a_container_that_runs_for_15s_between_its_crashes_fails_fast() {
    let at = |seconds: u64| {
        (START.parse::<Timestamp>().unwrap() + SignedDuration::from_secs(i64::try_from(seconds).unwrap()))
            .to_string()
    };
    let ran = |from: u64| json!({"exitCode": 2, "reason": "Error", "startedAt": at(from), "finishedAt": at(from + 15)});
    let mut fixture = FollowerFixture::of(fail_fast(), deployment(BEGUN));
    fixture.pass(15);
    let (mut begins, mut restarts) = (0, 0);
    for back_off in [1, 10, 20, 40] {
        if restarts > 0 {
            let mut running = running(restarts);
            running["state"]["running"]["startedAt"] = at(begins).into();
            running["lastState"] = json!({"terminated": ran(begins)});
            fixture.becomes(deployment(DONE).with_pod("a", 2, true, &running));
            fixture.pass(15);
        }
        let ended = json!({"name": "app", "image": "app:2", "restartCount": restarts, "state": {"terminated": ran(begins)}});
        fixture.becomes(with_pod(&ended));
        fixture.pass(back_off);
        (begins, restarts) = (begins + 15 + back_off, restarts + 1);
    }
    let failure = RolloutFailure::Cause { id: CauseId::CrashLoop, grace: GRACE };
    assert_eq!(fixture.outcome(), Some(&Outcome::Failed(failure)));
    assert_eq!(restarts, 4, "at the first crash that comes 30s after the second restart");
}

#[test]
fn a_new_revision_gets_its_own_grace_period() {
    let mut fixture = FollowerFixture::of(fail_fast(), with_pod(&no_image()));
    fixture.pass(25);
    let next = Truth { generation: 3, observed_generation: 3, revision: 3, ..deployment(BEGUN) };
    fixture.becomes(next.with_pod("b", 3, false, &no_image()));
    fixture.pass(29);
    assert_eq!(fixture.outcome(), None);
    fixture.pass(1);
    assert!(matches!(fixture.outcome(), Some(Outcome::Failed(_))));
}

#[test]
fn a_fail_on_cause_fails_after_its_own_grace_period() {
    let unschedulable = |truth: Truth| {
        let mut truth = truth.with_pod("a", 2, false, &json!({"name": "app"}));
        truth.pods[0]["spec"]["nodeName"] = json!("");
        truth.pods[0]["status"] = json!({"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"},
        ]});
        truth
    };
    let named =
        FollowOptions { fail_on: vec![(CauseId::Unschedulable, Duration::from_secs(120))], ..fail_fast() };
    let mut fixture = FollowerFixture::of(named, unschedulable(deployment(BEGUN)));
    fixture.pass(119);
    assert_eq!(fixture.outcome(), None);
    fixture.pass(1);
    let failure = RolloutFailure::Cause { id: CauseId::Unschedulable, grace: Duration::from_secs(120) };
    assert_eq!(fixture.outcome(), Some(&Outcome::Failed(failure)));
    let mut fixture = FollowerFixture::of(fail_fast(), unschedulable(deployment(BEGUN)));
    fixture.pass(10_000);
    assert_eq!(fixture.outcome(), None);
}

#[test]
fn an_exceeded_quota_is_fatal_only_without_progress_and_terminating_pods() {
    let refused = |counts, terminating: i64| {
        let message = "pods \"web-x\" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3";
        let condition =
            json!({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message});
        let status = json!({"conditions": [condition], "terminatingReplicas": terminating});
        Truth { status, ..deployment(counts) }
    };
    let show = |fixture: &mut FollowerFixture, truth: Truth| {
        // The ReplicaSet of the live template reports the failure, not the Deployment.
        let condition = truth.status["conditions"].clone();
        fixture.truth = truth;
        let mut owned = fixture.truth.owned();
        if let Some(newest) = owned.pop() {
            let mut json = newest.json().clone();
            json["status"] = json!({"conditions": condition});
            owned.push(crate::api::object::Object::read(json).unwrap());
        }
        fixture.event(fixture.truth.observed_with(owned));
    };
    let mut fixture = FollowerFixture::of(fail_fast(), deployment(BEGUN));
    fixture.in_reach = false; // refreshes would replace the revisions of the test
    show(&mut fixture, refused([3, 1, 3, 3], 1));
    fixture.pass(100);
    assert_eq!(fixture.refreshes(), 0);
    show(&mut fixture, refused([3, 1, 3, 3], 0));
    fixture.pass(20);
    show(&mut fixture, refused([3, 2, 3, 3], 0));
    fixture.pass(29);
    assert_eq!(fixture.refreshes(), 0, "it moved");
    fixture.pass(1);
    assert_eq!(fixture.refreshes(), 1);
}

/// The state turns with time alone. It changes no line, no outcome and no exit code.
#[test]
fn a_lasting_cause_makes_a_rollout_stuck() {
    use crate::kind::verdict::RolloutState::{Progressing, Stuck};
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with_pod(&no_image()));
    let states = |fixture: &FollowerFixture| -> Vec<_> {
        let states = fixture.reported.iter().filter_map(|report| match report {
            Report::Status { verdict, .. } => Some(verdict.state),
            _ => None,
        });
        states.collect()
    };
    fixture.pass(29);
    assert_eq!(states(&fixture), [Progressing]);
    fixture.pass(5);
    assert_eq!((states(&fixture), fixture.lines().len()), (vec![Progressing, Stuck], 1));
    fixture.becomes(deployment(BEGUN));
    fixture.pass(20);
    assert_eq!(states(&fixture), [Progressing, Stuck, Progressing]);
    assert_eq!(fixture.outcome(), None);
}

#[test]
fn a_rollout_that_is_stuck_at_the_start_has_one_status() {
    let mut truth = with_pod(&no_image());
    let old = json!("2026-11-20T12:00:00Z");
    truth.pods[0]["metadata"]["creationTimestamp"] = old.clone();
    truth.pods[0]["status"]["conditions"][1]["lastTransitionTime"] = old;
    let fixture = FollowerFixture::of(FollowOptions::default(), truth);
    let kinds = fixture.reported.iter().map(|report| match report {
        Report::Status { verdict, .. } => verdict.state.word(),
        Report::Cause { cause, .. } => cause.id.name(),
        _ => "other",
    });
    assert_eq!(kinds.collect::<Vec<_>>(), ["stuck", "image-not-found"]);
}

/// A container without a readiness probe is ready at once, and crashes a second later.
#[test]
fn a_rollout_whose_pods_have_just_become_ready_is_not_complete() {
    let ready = || deployment(DONE).with_pod("a", 2, true, &running(0));
    let mut fixture = FollowerFixture::of(fail_fast(), ready());
    fixture.pass(9);
    assert_eq!((fixture.outcome(), fixture.lines().len()), (None, 0));
    fixture.becomes(with_pod(&crashing(2)));
    fixture.pass(35);
    let failure = RolloutFailure::Cause { id: CauseId::CrashLoop, grace: GRACE };
    assert_eq!(fixture.outcome(), Some(&Outcome::Failed(failure)));

    let stable = |seconds| Some(Duration::from_secs(seconds));
    for (options, seconds) in [
        (fail_fast(), 10),
        (FollowOptions { fail_fast: None, undo_on_failure: Some(UndoScope::Failed), ..fail_fast() }, 10),
        (FollowOptions { stable: stable(5), ..fail_fast() }, 10),
        (FollowOptions { stable: stable(30), ..fail_fast() }, 30),
        (FollowOptions { stable: stable(0), ..fail_fast() }, 0),
        (FollowOptions { goal: Goal::Updated, ..fail_fast() }, 0),
        (FollowOptions::default(), 0),
    ] {
        let mut fixture = FollowerFixture::of(options.clone(), ready());
        if seconds > 0 {
            fixture.pass(seconds - 1);
            assert_eq!(fixture.outcome(), None, "{options:?}");
            fixture.pass(1);
        }
        assert_eq!(fixture.outcome(), Some(&Outcome::Reached), "{options:?}");
    }
}

#[test]
fn the_stamps_of_the_pods_decide_since_when_they_are_ready() {
    let ready = |since: &str, started: &str| {
        let mut truth = deployment(DONE).with_pod("a", 2, true, &running(0));
        truth.pods[0]["metadata"]["creationTimestamp"] = since.min(started).into();
        truth.pods[0]["status"]["conditions"][1]["lastTransitionTime"] = since.into();
        truth.pods[0]["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = started.into();
        truth
    };
    let old = "2026-11-20T12:00:00Z";
    let fixture = FollowerFixture::of(fail_fast(), ready(old, old));
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached), "a rollout of an hour ago returns at once");
    for (since, started, seconds) in [("2026-11-20T12:59:56Z", old, 6), (old, START, 10)] {
        let mut fixture = FollowerFixture::of(fail_fast(), ready(since, started));
        fixture.pass(seconds - 1);
        assert_eq!(fixture.outcome(), None, "{since} {started}");
        fixture.pass(1);
        assert_eq!(fixture.outcome(), Some(&Outcome::Reached), "{since} {started}");
    }
    // Pods that cannot be read count from when the goal was reached.
    let mut blind = FollowerFixture::of(fail_fast(), Truth { pods_withheld: true, ..ready(old, old) });
    blind.pass(9);
    assert_eq!(blind.outcome(), None);
    blind.pass(1);
    assert_eq!(blind.outcome(), Some(&Outcome::Reached));
    // An updated pod that is not ready contradicts the counters.
    let mut unready =
        FollowerFixture::of(fail_fast(), ready(old, old).with_pod("b", 2, false, &json!({"name": "app"})));
    unready.pass(100);
    assert_eq!(unready.outcome(), None);
}

/// A pod on a node that is not ready has a cause whose text has the node.
fn with_silent_nodes(nodes: &[&str]) -> Truth {
    nodes.iter().fold(deployment(BEGUN), |truth, node| {
        let mut truth = truth.with_pod(&format!("pod-{node}"), 2, false, &json!({}));
        if let Some(pod) = truth.pods.last_mut() {
            pod["spec"]["nodeName"] = (*node).into();
            pod["status"] = json!({"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-20T12:00:00Z"},
            ]});
        }
        truth
    })
}

#[test]
fn a_second_cause_with_the_same_id_does_not_repeat_the_first() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with_silent_nodes(&["n2"]));
    fixture.pass(15);
    fixture.becomes(with_silent_nodes(&["n1", "n2"]));
    fixture.pass(15);
    fixture.becomes(with_silent_nodes(&["n1"]));
    fixture.pass(15);
    let reported: Vec<_> =
        fixture.causes().iter().map(|(change, cause)| (*change, cause.pods.join(","))).collect();
    let expected =
        [(CauseChange::Appeared, "pod-n2"), (CauseChange::Appeared, "pod-n1"), (CauseChange::Gone, "pod-n2")];
    assert_eq!(reported, expected.map(|(change, pod)| (change, pod.to_owned())));
}

#[test]
fn a_cause_that_is_gone_has_the_pod_that_was_reported() {
    let with = |name: &str| deployment(BEGUN).with_pod(name, 2, false, &no_image());
    let mut fixture = FollowerFixture::of(FollowOptions::default(), with("a"));
    fixture.pass(15);
    fixture.becomes(with("b"));
    fixture.pass(15);
    fixture.becomes(deployment(BEGUN));
    fixture.pass(20);
    let reported: Vec<_> =
        fixture.causes().iter().map(|(change, cause)| (*change, cause.pods.join(","))).collect();
    assert_eq!(reported, [(CauseChange::Appeared, "a".to_owned()), (CauseChange::Gone, "a".to_owned())]);
}
