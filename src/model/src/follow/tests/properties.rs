//! Missed events never change the outcome.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::fixture::*;
use crate::follow::*;

/// A state during the rollout: its progress, and whether its pod fails.
fn state() -> impl Strategy<Value = Truth> {
    (0..=3_i64, 0..=3_i64, 0..4_usize, any::<bool>()).prop_map(|(updated, available, trouble, observed)| {
        let counts = [updated.max(3), updated, available, available];
        let truth = Truth { observed_generation: if observed { 2 } else { 1 }, ..deployment(counts) };
        match trouble {
            0 => truth.with_pod("a", 2, false, &no_image()),
            1 => truth.with_pod("a", 2, false, &crashing(updated)),
            2 => truth.with_pod("a", 2, true, &running(available)),
            _ => truth,
        }
    })
}

/// A state in which a rollout can stay.
fn end() -> impl Strategy<Value = Truth> {
    let exceeded = json!({"conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded",
        "message": "ReplicaSet \"web-2\" has timed out progressing."}]});
    prop_oneof![
        Just(deployment(DONE).with_pod("a", 2, true, &running(1))),
        Just(Truth { status: exceeded, ..deployment(BEGUN) }),
        Just(Truth { spec: json!({"paused": true}), ..deployment([3, 0, 3, 3]) }),
        Just(deployment(BEGUN).with_pod("a", 2, false, &no_image())),
        Just(deployment(BEGUN).with_pod("a", 2, false, &crashing(5))),
        Just(deployment(BEGUN)),
    ]
}

/// No state during the rollout may look like an outcome, because it would be a correct one.
fn is_no_end(truth: &Truth, options: &FollowOptions) -> bool {
    FollowerFixture::of(options.clone(), truth.clone()).outcome().is_none()
}

fn options() -> impl Strategy<Value = FollowOptions> {
    let goals = [Goal::Success, Goal::Updated, Goal::Available, Goal::Complete, Goal::OldGone];
    (0..goals.len(), any::<bool>(), any::<bool>()).prop_map(move |(goal, stable, fail_fast)| FollowOptions {
        goal: goals[goal],
        stable: stable.then(|| Duration::from_secs(20)),
        fail_fast: fail_fast.then(|| Duration::from_secs(30)),
        timeout: Some(Duration::from_secs(300)),
        ..FollowOptions::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn missed_events_delay_a_verdict_and_never_change_it(
        options in options(),
        way in proptest::collection::vec((state(), any::<bool>(), 0..25_u64), 0..12),
        end in end(),
        end_is_missed in any::<bool>(),
    ) {
        let mut all = FollowerFixture::without_events(options.clone(), deployment(BEGUN));
        let mut some = FollowerFixture::without_events(options.clone(), deployment(BEGUN));
        all.show();
        some.show();
        let way: Vec<_> = way.into_iter().filter(|(truth, ..)| is_no_end(truth, &options)).collect();
        // No cause may outlast its grace period during the rollout, because that would be a correct
        // outcome too.
        for (truth, missed, seconds) in way {
            all.becomes(truth.clone());
            some.truth = truth;
            if !missed {
                some.show();
            }
            all.pass(seconds.min(4));
            some.pass(seconds.min(4));
            prop_assume!(all.outcome().is_none());
        }
        all.becomes(end.clone());
        some.truth = end;
        if end_is_missed {
            some.pass(40); // by then a silent watch is reopened
            // The last state that was observed may have lasted for `--stable` or `--fail-fast`. For
            // a follower that saw no more, that outcome is correct.
            prop_assume!(some.outcome().is_none());
        }
        some.show();
        all.pass(400);
        some.pass(400);
        prop_assert_eq!(all.outcome(), some.outcome());
        prop_assert!(all.outcome().is_some());
    }

    #[test]
    fn any_sequence_of_events_is_accepted(
        facts in proptest::collection::vec((state(), 0..4_usize, 0..100_u64), 0..30),
        options in options(),
    ) {
        let mut fixture = FollowerFixture::without_events(options, deployment(BEGUN));
        for (truth, which, seconds) in facts {
            fixture.truth = truth;
            match which {
                0 => fixture.event(fixture.truth.observed()),
                1 => fixture.event(fixture.truth.observed_with(Vec::new())),
                2 => {
                    fixture.truth.pods_withheld = true;
                    fixture.event(fixture.truth.observed());
                }
                _ => fixture.event(fixture.truth.request_refresh()),
            }
            fixture.pass(seconds);
        }
        let ended = fixture.reported.iter().filter(|event| matches!(event, Report::Ended(_))).count();
        prop_assert!(ended <= 1);
    }
}
