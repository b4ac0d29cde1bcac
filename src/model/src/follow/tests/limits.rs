//! How following ends without reaching the goal.

use std::time::Duration;

use k8s_openapi::jiff::SignedDuration;
use serde_json::json;

use super::fixture::*;
use crate::cause::CauseSeverity;
use crate::engine::*;
use crate::follow::*;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn a_timeout_follows_a_final_refresh() {
    let options = || FollowOptions { timeout: Some(seconds(60)), ..FollowOptions::default() };
    let mut fixture = FollowerFixture::of(options(), deployment(BEGUN));
    fixture.pass(59);
    assert_eq!(fixture.outcome(), None);
    fixture.pass(1);
    assert_eq!(fixture.outcome(), Some(&Outcome::TimedOut(Duration::from_secs(60))));

    // The final refresh finds the events that were missed.
    let mut fixture = FollowerFixture::of(options(), deployment(BEGUN));
    fixture.truth = deployment(DONE);
    fixture.pass(60);
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));

    // The follower does not wait for an unreachable API server.
    let mut fixture = FollowerFixture::of(options(), deployment(BEGUN));
    fixture.in_reach = false;
    fixture.pass(60);
    assert_eq!(fixture.outcome(), None);
    fixture.pass(1);
    assert_eq!(fixture.outcome(), Some(&Outcome::TimedOut(Duration::from_secs(60))));

    // Nor does it wait if nothing was ever read.
    let mut fixture = FollowerFixture::without_events(options(), deployment(BEGUN));
    fixture.in_reach = false;
    fixture.pass(70);
    assert_eq!(fixture.outcome(), Some(&Outcome::TimedOut(Duration::from_secs(60))));
}

/// A server that works ends a watch without events after 30 s, so that a longer silence shows that it does not answer.
#[test]
fn a_timeout_says_how_old_the_last_answer_is() {
    let options = FollowOptions { timeout: Some(seconds(60)), ..FollowOptions::default() };
    let since_answer =
        |fixture: &FollowerFixture| fixture.follower.targets()[0].result().map(|result| result.since_answer);
    let mut fixture = FollowerFixture::of(options.clone(), deployment(BEGUN));
    fixture.in_reach = false;
    fixture.pass(60);
    fixture.advance(1);
    fixture.show();
    assert_eq!(since_answer(&fixture), Some(None), "the event is an answer");
    for (silence, expected) in [(30, None), (40, Some(seconds(40)))] {
        let mut fixture = FollowerFixture::of(options.clone(), deployment(BEGUN));
        fixture.in_reach = false;
        fixture.pass(60);
        fixture.advance(1);
        fixture.apply(LoopEvent::Tick { since_answer: vec![seconds(silence)] });
        assert_eq!(since_answer(&fixture), Some(expected));
    }
}

#[test]
fn without_a_timeout_following_does_not_end() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), deployment(BEGUN));
    fixture.pass(100_000);
    assert_eq!(fixture.outcome(), None);
}

#[test]
fn one_timeout_applies_to_all_targets() {
    let options = FollowOptions { timeout: Some(seconds(60)), ..FollowOptions::default() };
    let mut follower = Follower::new(options, [deployment(DONE).workload(), deployment(BEGUN).workload()]);
    let server_time = "2026-11-20T13:00:00Z".parse().unwrap();
    let mut record_present = |target, truth: &Truth, elapsed| {
        follower.apply(
            LoopEvent::Target(TargetId::of(target), truth.request_refresh()),
            Now { elapsed: Duration::from_secs(elapsed), server_time },
        );
    };
    record_present(0, &deployment(DONE), 1);
    record_present(1, &deployment(BEGUN), 61);
    record_present(1, &deployment(BEGUN), 62);
    assert!(follower.is_finished());
    let outcomes: Vec<_> =
        follower.targets().iter().map(|track| track.result().unwrap().outcome.clone()).collect();
    assert_eq!(outcomes, [Outcome::Reached, Outcome::TimedOut(Duration::from_secs(60))]);
}

#[test]
fn the_deadline_applies_to_every_kind() {
    let options = || FollowOptions { deadline: Some(seconds(300)), ..FollowOptions::default() };
    let failed = Some(Outcome::Failed(RolloutFailure::Deadline(Duration::from_secs(300))));
    let mut fixture = FollowerFixture::of(options(), stateful_set([3, 1, 2, 2], 0));
    fixture.pass(299);
    assert_eq!(fixture.outcome(), None);
    fixture.pass(1);
    assert_eq!(fixture.outcome(), failed.as_ref());

    // Progress restarts the deadline; a pod that fails and recovers does not.
    let mut fixture = FollowerFixture::of(options(), stateful_set([3, 1, 2, 2], 0));
    fixture.pass(200);
    fixture.becomes(stateful_set([3, 2, 2, 2], 0));
    for _ in 0..29 {
        fixture.pass(10);
        fixture.becomes(stateful_set([3, 2, 3, 3], 0));
        fixture.becomes(stateful_set([3, 2, 2, 2], 0));
    }
    assert_eq!(fixture.outcome(), None);
    fixture.pass(20);
    assert_eq!(fixture.outcome(), failed.as_ref());

    // An autoscaler restarts it only by pods that make progress, and another spec does.
    for (spec, expected) in [(json!({}), failed.as_ref()), (json!({"minReadySeconds": 1}), None)] {
        let mut fixture = FollowerFixture::of(options(), stateful_set([3, 2, 2, 2], 0));
        for generation in 3..6 {
            fixture.pass(90);
            let mut scaled = Truth {
                generation,
                observed_generation: generation,
                wanted: generation % 2 + 3,
                ..stateful_set([3, 2, 2, 2], 0)
            };
            if generation == 5 {
                scaled.spec.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
            }
            fixture.becomes(scaled);
        }
        fixture.pass(40);
        assert_eq!(fixture.outcome(), expected, "{spec}");
    }

    for seconds in [600, i32::MAX] {
        let with = Truth { spec: json!({"progressDeadlineSeconds": seconds}), ..deployment(BEGUN) };
        let mut fixture = FollowerFixture::of(options(), with);
        fixture.pass(300);
        assert_eq!(fixture.outcome(), failed.as_ref(), "the shorter one decides");
    }
}

/// The stamps of such a node would never be old enough.
#[test]
fn a_node_clock_that_is_ahead_keeps_no_rollout_from_its_end() {
    let ahead = json!({
        "name": "app", "image": "app:2", "ready": true, "started": true, "restartCount": 0,
        "state": {"running": {"startedAt": "2026-11-20T14:00:00Z"}},
    });
    let options = FollowOptions { fail_fast: Some(Duration::from_secs(30)), ..FollowOptions::default() };
    let mut fixture = FollowerFixture::of(options, deployment(DONE).with_pod("new", 2, true, &ahead));
    fixture.pass(10);
    assert_eq!(fixture.outcome(), None);
    fixture.pass(1);
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));
}

#[test]
fn a_progress_deadline_of_another_replica_set_is_ignored() {
    let exceeded = |set: &str| {
        let message = format!("ReplicaSet \"{set}\" has timed out progressing.");
        let condition = json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": message});
        Truth { status: json!({"conditions": [condition]}), ..deployment(BEGUN) }
    };
    let fixture = FollowerFixture::of(FollowOptions::default(), exceeded("web-2"));
    assert_eq!(fixture.outcome(), Some(&Outcome::Failed(RolloutFailure::ProgressDeadline(Some(600)))));
    let mut fixture = FollowerFixture::of(FollowOptions::default(), exceeded("web-1"));
    assert_eq!(fixture.outcome(), None);
    fixture.becomes(deployment(DONE));
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));
}

#[test]
fn a_deleted_target_stays_deleted() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), deployment(BEGUN));
    fixture.event(TargetEvent::Deleted);
    assert_eq!(fixture.outcome(), Some(&Outcome::Deleted));
    // The outcome is final, whatever events follow.
    fixture.becomes(deployment(DONE));
    assert_eq!(fixture.outcome(), Some(&Outcome::Deleted));

    let mut fixture = FollowerFixture::of(FollowOptions::default(), deployment(BEGUN));
    fixture.becomes(Truth { uid: "u2", ..deployment(DONE) });
    assert_eq!(fixture.outcome(), Some(&Outcome::Recreated));
}

#[test]
fn a_stop_signal_keeps_existing_results() {
    let mut follower =
        Follower::new(FollowOptions::default(), [deployment(DONE).workload(), deployment(BEGUN).workload()]);
    let now = Now { elapsed: Duration::from_secs(1), server_time: "2026-11-20T13:00:00Z".parse().unwrap() };
    follower.apply(LoopEvent::Target(TargetId::of(0), deployment(DONE).request_refresh()), now);
    follower.apply(LoopEvent::Target(TargetId::of(1), deployment(BEGUN).request_refresh()), now);
    let later = Now { elapsed: Duration::from_secs(5), ..now };
    follower.apply(LoopEvent::Stop(StopSignal::Terminated), later);
    let results = follower.targets().iter().map(|track| track.result().unwrap());
    let results: Vec<_> = results.map(|result| (result.outcome.clone(), result.elapsed.as_secs())).collect();
    assert_eq!(results, [(Outcome::Reached, 1), (Outcome::Interrupted(StopSignal::Terminated), 5)]);
}

/// A partition is what a user asked for, and does not keep the released pods from progressing.
#[test]
fn a_partition_does_not_hide_the_estimate() {
    let updated = |pods| Truth {
        wanted: 6,
        status: json!({"currentRevision": "web-1", "updateRevision": "web-2"}),
        pods_withheld: true,
        ..stateful_set([6, pods, 6, 6], 1)
    };
    let mut fixture = FollowerFixture::of(FollowOptions::default(), updated(0));
    for pods in 1..=2 {
        fixture.pass(10);
        fixture.becomes(updated(pods));
    }
    let [target] = fixture.follower.targets() else { panic!() };
    assert!(target.causes().any(|cause| cause.severity == CauseSeverity::Hold), "{:?}", fixture.reported);
    assert_eq!(target.time_left(Duration::from_secs(20)), Some(Duration::from_secs(30)), "3 of 5 are left");
}

/// One server is silent, and another one has another clock.
#[test]
fn each_target_has_the_clock_and_the_silence_of_its_context() {
    let context = |name: &str, hours| {
        Some(TargetContext { name: name.to_owned(), clock_ahead: SignedDuration::from_hours(hours) })
    };
    let workloads = || vec![deployment(BEGUN).workload()];
    let options = FollowOptions { timeout: Some(Duration::from_secs(60)), ..FollowOptions::default() };
    let contexts = [(context("eu", 0), workloads()), (context("us", 1), workloads())];
    let mut follower = Follower::of_contexts(options, contexts);
    let now = Now { elapsed: Duration::ZERO, server_time: "2026-11-20T13:00:00Z".parse().unwrap() };
    let ids: Vec<_> = follower.targets().iter().map(FollowedTarget::id).collect();
    assert_eq!(ids, [0, 1].map(|index| TargetId { context: index, index }));
    for id in ids {
        follower.apply(LoopEvent::Target(id, deployment(BEGUN).request_refresh()), now);
    }
    for seconds in [60, 62] {
        let later = Now { elapsed: Duration::from_secs(seconds), ..now };
        let since_answer = [1, 50].map(Duration::from_secs).to_vec();
        follower.apply(LoopEvent::Tick { since_answer }, later);
    }
    let ends = follower.targets().iter().map(|target| {
        let result = target.result().unwrap();
        (target.name(), target.at(now).server_time.to_string(), result.since_answer.is_some())
    });
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [
            ("eu: deployment/web".to_owned(), "2026-11-20T13:00:00Z".to_owned(), false),
            ("us: deployment/web".to_owned(), "2026-11-20T14:00:00Z".to_owned(), true),
        ]
    );
}
