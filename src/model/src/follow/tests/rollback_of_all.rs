//! `--undo-on-failure=all`: the failure of one target rolls back the others.

use std::time::Duration;

use super::fixture::*;
use crate::engine::*;
use crate::error::{Error, ErrorKind};
use crate::follow::*;

/// A follower of several targets, and what it reported and requested.
struct Release {
    follower: Follower,
    reported: Vec<(String, Report)>,
    rollbacks: Rollbacks,
    rolled_back: Vec<TargetId>,
    elapsed: Duration,
}

impl Release {
    fn of(scope: UndoScope, truths: &[Truth]) -> Self {
        let options = FollowOptions {
            undo_on_failure: Some(scope),
            fail_fast: Some(Duration::from_secs(30)),
            stable: Some(Duration::ZERO),
            ..FollowOptions::default()
        };
        let follower = Follower::new(options, truths.iter().map(Truth::workload));
        let mut release = Self {
            follower,
            reported: Vec::new(),
            rollbacks: Rollbacks::new(),
            rolled_back: Vec::new(),
            elapsed: Duration::ZERO,
        };
        for (index, truth) in truths.iter().enumerate() {
            release.event(index, truth.observed());
            release.event(index, truth.request_refresh());
        }
        release
    }

    fn event(&mut self, index: usize, event: TargetEvent) {
        self.apply(LoopEvent::Target(TargetId::of(index), event));
    }

    fn apply(&mut self, event: LoopEvent<FollowerAnswer>) {
        let server_time = format!("2026-11-20T13:{:02}:00Z", self.elapsed.as_secs() / 60).parse().unwrap();
        let output = self.follower.apply(event, Now { elapsed: self.elapsed, server_time });
        let uid = |id: TargetId| self.follower.targets()[id.index].workload().object().uid().to_owned();
        self.reported.extend(output.reports.into_iter().map(|(id, report)| (uid(id), report)));
        for (id, _, rollback) in self.follower.take_rollbacks() {
            self.rollbacks.insert(id, rollback);
            self.rolled_back.push(id);
        }
    }

    /// The broken target has been broken for long enough.
    fn pass_the_grace_period(&mut self, index: usize, truth: &Truth) {
        self.apply(LoopEvent::Tick { since_answer: Vec::new() });
        self.elapsed += Duration::from_secs(60);
        self.event(index, truth.request_refresh());
    }

    fn ends_of(&self, uid: &str) -> Vec<&TargetResult> {
        let ends = self.reported.iter().filter_map(|(of, report)| match report {
            Report::Ended(result) if of == uid => Some(result),
            _ => None,
        });
        ends.collect()
    }

    fn write(&mut self, index: usize, truth: &Truth) {
        self.rollbacks.get_mut(&TargetId::of(index)).unwrap().written = Some(Ok(None));
        self.apply(LoopEvent::Answer((TargetId::of(index), Some(Box::new(truth.workload())))));
        self.event(index, truth.request_refresh());
    }
}

fn of(uid: &'static str, truth: Truth) -> Truth {
    Truth { uid, ..truth }
}

fn old(truth: Truth) -> Truth {
    truth.with_pod("old", 1, true, &running(0))
}

/// Revision 2 cannot start, and revision 1 serves.
fn broken(uid: &'static str) -> Truth {
    old(of(uid, deployment(BEGUN)).with_pod("new", 2, false, &no_image()))
}

/// A rollout of revision 2 that goes well.
fn begun(uid: &'static str) -> Truth {
    old(of(uid, deployment([4, 2, 4, 4])).with_pod("new", 2, true, &running(0)))
}

/// Revision 1 was written again, and all pods run it.
fn restored(uid: &'static str) -> Truth {
    let revision = Truth { generation: 3, observed_generation: 3, revision: 1, ..deployment(DONE) };
    old(of(uid, revision))
}

fn done(uid: &'static str) -> Truth {
    of(uid, deployment(DONE)).with_pod("new", 2, true, &running(0))
}

#[test]
fn one_failure_rolls_back_every_rollout_that_was_under_way() {
    // What the second target is when the first one fails, and whether it is rolled back.
    let began = |then: Truth| (begun("b"), then);
    for (name, (first, then), is_rolled_back) in [
        ("progressing", began(begun("b")), true),
        ("complete", began(done("b")), true),
        ("complete from the start", (done("b"), done("b")), false),
        ("complete from the start, beside an old pod", (old(done("b")), old(done("b"))), false),
        ("first revision", (of("b", Truth { revision: 1, ..deployment(BEGUN) }), begun("b")), false),
        (
            "changed by another client",
            began(Truth { generation: 3, observed_generation: 3, revision: 3, ..begun("b") }),
            false,
        ),
    ] {
        for scope in [UndoScope::Failed, UndoScope::All] {
            let mut release = Release::of(scope, &[broken("a"), first.clone()]);
            release.event(1, then.request_refresh());
            assert_eq!(release.rolled_back, [], "{name}");
            release.pass_the_grace_period(0, &broken("a"));
            let others = is_rolled_back && scope == UndoScope::All;
            let expected =
                if others { vec![TargetId::of(0), TargetId::of(1)] } else { vec![TargetId::of(0)] };
            assert_eq!(release.rolled_back, expected, "{name}, {scope:?}");
        }
    }
}

#[test]
fn every_result_is_reported_once_and_says_why() {
    let mut release = Release::of(UndoScope::All, &[broken("a"), begun("b"), begun("c"), done("d")]);
    release.event(1, done("b").request_refresh());
    assert_eq!((release.ends_of("b").len(), release.ends_of("d").len()), (0, 1), "b may be rolled back");
    release.pass_the_grace_period(0, &broken("a"));
    assert_eq!(release.rolled_back, [0, 1, 2].map(TargetId::of));
    release.write(0, &restored("a"));
    release.write(1, &restored("b"));
    let refused = NoRollback::not_written(&Error::new(ErrorKind::Refused, "admission says no"));
    release.rollbacks.get_mut(&TargetId::of(2)).unwrap().written = Some(Err(refused.clone()));
    assert!(release.follower.is_finished());
    let back = || Some(("1", &Outcome::Reached));
    let other = || Outcome::OtherTargetFailed("deployment/web".to_owned());
    let ends = ["a", "b", "c", "d"].map(|uid| release.ends_of(uid).len());
    assert_eq!(ends, [1, 1, 0, 1], "the command reports the end of what is not rolled back");
    let [a, b, c, d] = release.follower.followed(&release.rollbacks).collect::<Vec<_>>()[..] else {
        panic!()
    };
    let [of_a, of_b, of_c, of_d] = [a, b, c, d].map(|one| one.failed_or_result().unwrap().outcome.clone());
    assert!(matches!(of_a, Outcome::Failed(RolloutFailure::Cause { .. })), "{a:?}");
    assert_eq!((a.rolled_back(), of_b, b.rolled_back()), (back(), other(), back()));
    assert_eq!((of_c, c.rolled_back(), c.no_rollback()), (other(), None, Some(&refused)));
    assert_eq!((of_d, d.rolled_back(), d.no_rollback()), (Outcome::Reached, None, None));
}

#[test]
fn results_wait_for_the_others_only_until_they_end() {
    let mut release = Release::of(UndoScope::All, &[begun("a"), begun("b")]);
    release.event(0, done("a").request_refresh());
    assert_eq!(release.ends_of("a").len(), 0);
    release.event(1, done("b").request_refresh());
    assert_eq!((release.ends_of("a").len(), release.ends_of("b").len()), (1, 1));
    assert_eq!(release.ends_of("a")[0].outcome, Outcome::Reached);
}

/// A rollout that another client began is not of this release, so its failure ends only its own target.
#[test]
fn the_failure_of_a_later_rollout_rolls_nothing_back() {
    let mut release = Release::of(UndoScope::All, &[begun("a"), begun("b")]);
    let later = Truth { generation: 3, observed_generation: 3, revision: 3, ..broken("a") };
    let later = later.with_pod("newer", 3, false, &no_image());
    release.event(0, later.request_refresh());
    release.pass_the_grace_period(0, &later);
    assert_eq!((release.rolled_back.len(), release.ends_of("a").len()), (0, 1));
}
