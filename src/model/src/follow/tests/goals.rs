//! Goals, and when they are reached.

use std::time::Duration;

use serde_json::json;

use super::fixture::*;
use crate::engine::*;
use crate::follow::*;

fn until(goal: Goal) -> FollowOptions {
    FollowOptions { goal, ..FollowOptions::default() }
}

#[test]
fn each_line_is_reported_once() {
    let mut fixture = FollowerFixture::of(FollowOptions::default(), deployment(BEGUN));
    fixture.becomes(deployment([4, 2, 3, 3]));
    fixture.becomes(deployment([4, 2, 4, 4]));
    fixture.becomes(deployment([4, 3, 4, 4]));
    fixture.becomes(deployment(DONE));
    assert_eq!(
        fixture.lines(),
        [
            "Waiting for deployment \"web\" rollout to finish: 1 out of 3 new replicas have been updated...",
            "Waiting for deployment \"web\" rollout to finish: 2 out of 3 new replicas have been updated...",
            "Waiting for deployment \"web\" rollout to finish: 1 old replicas are pending termination...",
            "deployment \"web\" successfully rolled out",
        ]
    );
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));
    assert!(fixture.follower.is_finished());
    assert_eq!(fixture.follower.due(), None);
}

#[test]
fn goals_are_reached_in_the_right_states_only() {
    use Goal::{Available, Complete, OldGone, Success, Updated};
    let reached = Some(Outcome::Reached);
    let held = Some(Outcome::Held);
    let ready = running(0);
    let old_pod = |truth: Truth| truth.with_pod("old", 1, true, &ready);
    for (truth, goals, expected) in [
        // Three pods are updated. Three are available, but two of those may be outdated ones.
        (deployment([5, 3, 3, 3]), vec![Updated], reached.clone()),
        (deployment([5, 3, 3, 3]), vec![Available, Success, Complete, OldGone], None),
        (deployment([4, 3, 4, 4]), vec![Updated, Available], reached.clone()),
        (deployment([4, 3, 4, 4]), vec![Success, Complete, OldGone], None),
        (deployment([4, 2, 4, 4]), vec![Updated, Available, Success, Complete, OldGone], None),
        (deployment(DONE), vec![Updated, Available, Success, Complete, OldGone], reached.clone()),
        (old_pod(deployment(DONE)), vec![Success, Complete], reached.clone()),
        (old_pod(deployment(DONE)), vec![OldGone], None),
        (Truth { status: json!({"terminatingReplicas": 1}), ..deployment(DONE) }, vec![OldGone], None),
        // A partition of 2 releases one pod.
        (stateful_set([3, 0, 3, 3], 2), vec![Updated, Available, Success], None),
        (stateful_set([3, 1, 3, 3], 2), vec![Updated, Available, Success], reached.clone()),
        (stateful_set([3, 1, 3, 3], 2), vec![Complete, OldGone], held.clone()),
        (stateful_set([3, 0, 3, 3], 3), vec![Success, Updated, Complete], held.clone()),
        (stateful_set([4, 3, 3, 3], 0), vec![Complete], None), // one pod too many after a scale-down
        (stateful_set([4, 4, 4, 4], 0), vec![Complete], None), // one updated pod too many
        (
            Truth { observed_generation: 1, ..deployment(DONE) },
            vec![Updated, Available, Success, Complete],
            None,
        ),
        (
            Truth { spec: json!({"paused": true}), ..deployment([3, 0, 3, 3]) },
            vec![Updated, Available, Success, Complete, OldGone],
            held,
        ),
        (Truth { spec: json!({"paused": true}), ..deployment(DONE) }, vec![Success], reached),
    ] {
        for goal in goals {
            let fixture = FollowerFixture::of(until(goal), truth.clone());
            assert_eq!(fixture.outcome(), expected.as_ref(), "{goal:?} {truth:?}");
        }
    }
}

#[test]
fn a_share_of_the_pods_is_enough() {
    let share = |word: &str| Goal::AvailableShare(word.parse().unwrap());
    let (reached, held) = (Some(Outcome::Reached), Some(Outcome::Held));
    let (ready, broken) = (running(0), crashing(3));
    let with_ready = |truth: Truth, updated: i64| {
        (0..updated).fold(truth, |truth, number| truth.with_pod(&format!("new-{number}"), 2, true, &ready))
    };
    let two = |counts| with_ready(deployment(counts), 2);
    let failed = json!({"conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded",
        "message": "ReplicaSet \"web-2\" has timed out progressing."}]});
    for (truth, goals, expected) in [
        // Two of three pods are updated and available, and one is outdated: ready, not ready, or of unknown readiness.
        (two([3, 2, 3, 3]), vec!["1", "2", "66%"], reached.clone()),
        (two([3, 2, 3, 3]), vec!["67%", "3", "4", "100%"], None),
        (two([3, 2, 2, 2]).with_pod("old", 1, false, &broken), vec!["1", "2", "66%"], reached.clone()),
        (two([3, 2, 2, 2]).with_pod("old", 1, true, &ready), vec!["2", "66%"], None),
        // The available pod was an outdated one, which has just crashed; the controller still counts it.
        (
            Truth { wanted: 2, ..deployment([3, 1, 1, 1]) }.with_pod("old", 1, false, &broken).with_pod(
                "new",
                2,
                false,
                &waiting("ContainerCreating", ""),
            ),
            vec!["1", "50%"],
            None,
        ),
        (Truth { pods_withheld: true, ..deployment([3, 2, 2, 2]) }, vec!["2"], None),
        (Truth { pods_withheld: true, ..deployment([3, 2, 2, 2]) }, vec!["1"], reached.clone()),
        // The pod that let the progress deadline pass is one that the share does not need.
        (Truth { status: failed, ..two([3, 2, 3, 3]) }, vec!["2"], reached.clone()),
        // Pods are updated, but not available.
        (with_ready(deployment([3, 3, 1, 1]), 1), vec!["2", "34%"], None),
        (with_ready(deployment([3, 3, 3, 1]), 3), vec!["33%"], reached.clone()),
        // A number above the wanted pods is all of them.
        (with_ready(deployment(DONE), 3), vec!["5", "100%"], reached.clone()),
        (Truth { wanted: 0, ..deployment([0, 0, 0, 0]) }, vec!["1", "50%"], reached.clone()),
        (Truth { wanted: 0, ..deployment([1, 0, 1, 1]) }, vec!["1", "50%"], None),
        // The controller has not observed the update, or the partition keeps too many pods.
        (Truth { observed_generation: 1, ..deployment(DONE) }, vec!["1"], None),
        (with_ready(stateful_set([3, 1, 3, 3], 2), 1), vec!["1", "33%"], reached),
        (with_ready(stateful_set([3, 1, 3, 3], 2), 1), vec!["2", "34%"], held),
    ] {
        for goal in goals {
            let fixture = FollowerFixture::of(until(share(goal)), truth.clone());
            assert_eq!(fixture.outcome(), expected.as_ref(), "{goal:?} {truth:?}");
        }
    }
}

#[test]
fn a_pod_beyond_the_share_does_not_interrupt_stability() {
    let share = || Goal::AvailableShare("2".parse().unwrap());
    let options = || FollowOptions { stable: Some(Duration::from_secs(30)), ..until(share()) };
    let with = |restarts: [i64; 3], available: i64| {
        let mut truth = deployment([3, 3, available, available]);
        for (name, restarts) in ["a", "b", "c"].into_iter().zip(restarts) {
            truth = truth.with_pod(name, 2, true, &running(restarts));
        }
        truth
    };
    // One pod restarts again and again.
    let mut fixture = FollowerFixture::of(options(), with([0, 0, 0], 3));
    for restarts in 1..6 {
        fixture.pass(5);
        fixture.becomes(with([0, 0, restarts], 3));
    }
    assert_eq!(fixture.outcome(), None);
    fixture.pass(5);
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));

    // A restart of a second pod leaves one that was available all the time, so the period starts again.
    let mut fixture = FollowerFixture::of(options(), with([0, 0, 0], 3));
    fixture.pass(20);
    fixture.becomes(with([0, 0, 1], 3));
    fixture.becomes(with([0, 1, 1], 3));
    fixture.pass(29);
    assert_eq!(fixture.outcome(), None);
    fixture.pass(1);
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));

    // So it does with a new generation.
    let mut fixture = FollowerFixture::of(options(), with([0, 0, 0], 3));
    fixture.pass(20);
    fixture.becomes(Truth { generation: 3, observed_generation: 3, ..with([0, 0, 0], 3) });
    fixture.pass(29);
    assert_eq!(fixture.outcome(), None);
}

#[test]
fn a_crash_loop_beyond_the_share_does_not_fail_a_goal_that_is_reached() {
    let goal = Goal::AvailableShare("2".parse().unwrap());
    let options = FollowOptions { fail_fast: Some(Duration::from_secs(30)), ..until(goal) };
    let pods = |truth: Truth, first: &serde_json::Value| {
        truth.with_pod("a", 2, true, first).with_pod("b", 2, true, &running(0)).with_pod(
            "c",
            2,
            false,
            &crashing(4),
        )
    };
    let mut fixture = FollowerFixture::of(options.clone(), pods(deployment([3, 3, 2, 2]), &running(0)));
    fixture.pass(9);
    assert_eq!(fixture.outcome(), None);
    fixture.pass(1);
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));

    // The controller counts a container as available that has just crashed: the share never settles, and the cause decides.
    let mut restarted = running(4);
    restarted["lastState"] = json!({"terminated": {"exitCode": 1, "startedAt": START, "finishedAt": START}});
    let mut fixture = FollowerFixture::of(options, pods(deployment([3, 3, 2, 2]), &restarted));
    fixture.pass(9);
    assert_eq!(fixture.outcome(), None);
    fixture.pass(21);
    assert!(fixture.outcome().is_some(), "{:?}", fixture.outcome());
}

#[test]
fn old_gone_needs_permission_to_list_pods() {
    let blind = Truth { pods_withheld: true, ..deployment(DONE) };
    assert!(matches!(
        FollowerFixture::of(until(Goal::OldGone), blind.clone()).outcome(),
        Some(Outcome::Unreadable(_))
    ));
    // With `terminatingReplicas` the counters suffice.
    let counted = Truth { status: json!({"terminatingReplicas": 0}), ..blind };
    assert_eq!(FollowerFixture::of(until(Goal::OldGone), counted).outcome(), Some(&Outcome::Reached));
}

/// Which pods of a Deployment are old is not known without its ReplicaSets.
#[test]
fn old_gone_needs_permission_to_list_revisions() {
    for truth in [deployment(DONE), stateful_set(DONE, 0)] {
        let truth = truth.with_pod("old", 1, true, &running(0));
        let mut fixture = FollowerFixture::without_events(until(Goal::OldGone), truth.clone());
        fixture.in_reach = false;
        fixture.event(truth.observed_with(Vec::new()));
        fixture.event(truth.refreshed_with(Vec::new()));
        assert!(matches!(fixture.outcome(), Some(Outcome::Unreadable(_))), "{:?}", fixture.outcome());
    }
}

/// `kubectl delete --cascade=orphan` releases the revisions before the workload is gone.
#[test]
fn a_deleted_workload_whose_revisions_were_released_before_is_deleted() {
    let mut fixture = FollowerFixture::without_events(until(Goal::OldGone), deployment(DONE));
    fixture.in_reach = false;
    fixture.event(deployment(DONE).observed_with(Vec::new()));
    fixture.event(TargetEvent::Deleted);
    assert_eq!(fixture.outcome(), Some(&Outcome::Deleted));
}

/// Which pods are updated, and since when they are ready, is not known without the revisions.
#[test]
fn pods_of_an_unknown_revision_are_ready_since_the_goal_is_reached() {
    let options = FollowOptions { fail_fast: Some(Duration::from_secs(30)), ..FollowOptions::default() };
    let truth = deployment(DONE).with_pod("new", 2, true, &running(0));
    let mut fixture = FollowerFixture::without_events(options, truth.clone());
    fixture.event(truth.observed_with(Vec::new()));
    assert_eq!(fixture.outcome(), None);
    fixture.pass(9);
    assert_eq!(fixture.outcome(), None);
}

#[test]
fn wait_held_waits_for_the_end_of_a_hold() {
    let options = FollowOptions { wait_held: true, ..FollowOptions::default() };
    let mut fixture =
        FollowerFixture::of(options, Truth { spec: json!({"paused": true}), ..deployment([3, 0, 3, 3]) });
    fixture.pass(3_600);
    assert_eq!(fixture.outcome(), None);
    fixture.becomes(deployment(DONE));
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));
}

#[test]
fn stable_is_not_interrupted_by_a_pod_that_ended() {
    let options = FollowOptions { stable: Some(Duration::from_secs(30)), ..FollowOptions::default() };
    let with_pod = || deployment(DONE).with_pod("a", 2, true, &running(0));
    let mut fixture = FollowerFixture::of(options, with_pod());
    fixture.pass(29);
    let mut evicted = with_pod().with_pod("evicted", 2, false, &running(0));
    evicted.pods[1]["status"]["phase"] = "Failed".into();
    fixture.becomes(evicted);
    fixture.pass(2);
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));
}

#[test]
fn stable_is_interrupted_by_missed_restarts_too() {
    let options = || FollowOptions { stable: Some(Duration::from_secs(30)), ..FollowOptions::default() };
    let with_pod = |restarts| deployment(DONE).with_pod("a", 2, true, &running(restarts));
    let mut fixture = FollowerFixture::of(options(), with_pod(0));
    fixture.pass(29);
    assert_eq!(fixture.outcome(), None);
    let left = fixture.follower.targets()[0].time_left(Duration::from_secs(29));
    assert_eq!(left, Some(Duration::from_secs(1)), "what is left of the period is shown");
    fixture.pass(1);
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));

    // The final refresh finds a restart that no event showed, and the period starts again.
    let mut fixture = FollowerFixture::of(options(), with_pod(0));
    fixture.truth = with_pod(1);
    fixture.pass(59);
    assert_eq!((fixture.outcome(), fixture.refreshes()), (None, 1));
    fixture.pass(1);
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));

    // A restart that an event shows starts the period again at once.
    let mut fixture = FollowerFixture::of(options(), with_pod(0));
    fixture.pass(20);
    fixture.becomes(with_pod(1));
    fixture.pass(29);
    assert_eq!((fixture.outcome(), fixture.refreshes()), (None, 0));

    // While the API server is unreachable no goal counts as reached.
    let mut fixture = FollowerFixture::of(options(), with_pod(0));
    fixture.in_reach = false;
    fixture.pass(3_600);
    assert_eq!(fixture.outcome(), None);
    fixture.event(fixture.truth.request_refresh());
    assert_eq!(fixture.outcome(), Some(&Outcome::Reached));
}

#[test]
fn the_deadline_of_another_replica_set_fails_no_rollout() {
    let stale = json!({"conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded",
        "message": "ReplicaSet \"web-1\" has timed out progressing."}]});
    // The condition belongs to the ReplicaSet of the failed rollout.
    let fixture = FollowerFixture::of(FollowOptions::default(), Truth { status: stale, ..deployment(BEGUN) });
    assert_eq!(fixture.outcome(), None);
}

/// The controller of a paused Deployment still removes the old pods once the new ReplicaSet has its full size and is available
/// (`IsSaturated` in its `scale`). Less is a hold.
#[test]
fn a_paused_rollout_is_held_only_if_nothing_moves_any_more() {
    let paused = |counts| Truth { spec: json!({"paused": true}), ..deployment(counts) };
    for (counts, expected) in [
        ([4, 3, 4, 4], None),
        ([4, 3, 3, 3], None),
        ([4, 2, 4, 4], Some(Outcome::Held)),
        (DONE, Some(Outcome::Reached)),
    ] {
        let mut fixture = FollowerFixture::of(FollowOptions::default(), paused(counts));
        fixture.pass(59);
        assert_eq!(fixture.outcome(), expected.as_ref(), "{counts:?}");
    }
    // Pods that never become available keep the old ones.
    let mut fixture = FollowerFixture::of(FollowOptions::default(), paused([4, 3, 3, 3]));
    fixture.pass(61);
    assert_eq!(fixture.outcome(), Some(&Outcome::Held));
}
