//! What was missed on the way changes nothing about the end.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::play::*;
use crate::model::follow::*;

/// A state on the way: how far it is, whether its pod is in trouble.
fn state() -> impl Strategy<Value = Truth> {
    (0..=3_i64, 0..=3_i64, 0..4_usize, any::<bool>()).prop_map(|(updated, available, trouble, observed)| {
        let counts = [updated.max(3), updated, available, available];
        let truth = Truth { observed: if observed { 2 } else { 1 }, ..deployment(counts) };
        match trouble {
            0 => truth.with_pod("a", 2, false, &no_image()),
            1 => truth.with_pod("a", 2, false, &crashing(updated)),
            2 => truth.with_pod("a", 2, true, &running(available)),
            _ => truth,
        }
    })
}

/// A state at which a rollout can stay for ever.
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

/// On the way nothing may look like an end, because an end that was really there is one.
fn is_no_end(truth: &Truth, options: &Options) -> bool {
    Play::of(options.clone(), truth.clone()).outcome().is_none()
}

fn options() -> impl Strategy<Value = Options> {
    let goals = [Goal::Success, Goal::Updated, Goal::Available, Goal::Complete, Goal::OldGone];
    (0..goals.len(), any::<bool>(), any::<bool>()).prop_map(move |(goal, stable, fail_fast)| Options {
        goal: goals[goal],
        stable: Duration::from_secs(if stable { 20 } else { 0 }),
        fail_fast: fail_fast.then(|| Duration::from_secs(30)),
        timeout: Some(Duration::from_secs(300)),
        ..Options::default()
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
        let mut all = Play::unseen(options.clone(), deployment(BEGUN));
        let mut some = Play::unseen(options.clone(), deployment(BEGUN));
        all.show();
        some.show();
        let way: Vec<_> = way.into_iter().filter(|(truth, ..)| is_no_end(truth, &options)).collect();
        // No cause may last its time on the way either: that would be an end too.
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
            some.pass(40); // by then a watch that went silent is opened again
            // What was seen last may have lasted as long as was asked for (`stable`, `fail_fast`): then
            // that is an end, and a true one for who could see no more.
            prop_assume!(some.outcome().is_none());
        }
        some.show();
        all.pass(400);
        some.pass(400);
        prop_assert_eq!(all.outcome(), some.outcome());
        prop_assert!(all.outcome().is_some());
    }

    #[test]
    fn no_sequence_of_facts_is_too_strange(
        facts in proptest::collection::vec((state(), 0..6_usize, 0..100_u64), 0..30),
        options in options(),
    ) {
        let mut play = Play::unseen(options, deployment(BEGUN));
        for (truth, which, seconds) in facts {
            play.truth = truth;
            match which {
                0 => play.news(News::Workload(Box::new(play.truth.workload()))),
                1 => play.news(play.truth.revisions()),
                2 => play.news(News::Pods(play.truth.pods())),
                3 => play.news(News::Revisions(None)),
                4 => play.news(News::Pods(None)),
                _ => play.news(play.truth.look()),
            }
            play.pass(seconds);
        }
        let ended = play.told.iter().filter(|event| matches!(event, Event::Ended { .. })).count();
        prop_assert!(ended <= 1);
    }
}
