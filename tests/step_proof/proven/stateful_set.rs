//! Histories of a StatefulSet of five pods.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{History, check};
use crate::step_proof::command::{Batches, Share, Words};
use crate::step_proof::oracle::judge;
use crate::step_proof::timeline::{By, What};

fn strategy(partition: i64) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}})
}

/// The canary, a batch of two, and another.
const BATCHES: &str = "canary; pass 30; plan 2; go 3; go 2; pass 1; come 3; come 2; pass 30; plan 0; replace 1; \
                       replace 0; pass 30";

impl History {
    /// Five pods that are stepped by two, with a soak of 30 seconds.
    fn new() -> Self {
        let words = Words {
            batches: Some(Batches::By(Share::Pods(2))),
            max_unavailable: Some(Share::Pods(2)),
            soak: Some(30),
            ..Words::default()
        };
        Self::paused([&strategy(0), &strategy(i64::from(i32::MAX))], 5, words)
    }

    pub(super) fn act_of_stateful_set(&mut self, words: &[&str]) {
        match words {
            // A process releases the pods down to a partition, or only writes its lock.
            ["plan"] => self.plan_of(0, &json!({})),
            ["plan", partition] => self.plan(0, partition),
            ["second", "plan", partition] => self.plan(1, partition),
            ["canary"] => self.play("plan; plan 4; replace 4"),
            ["batches"] => self.play(BATCHES),
            // The process ends the plan, and puts a partition in its place.
            ["end", partition] => self.ends(&strategy(partition.parse().unwrap())),
            // The process releases the lock of its plan after the canary.
            ["leave"] => {
                let plan = json!({"batch": {"number": 1, "slots": ["db-4"], "done": true}});
                self.hold(&json!({"version": 1, "set": strategy(4), "plan": plan}), By::Process(0));
            }
            // Another client sets the partition.
            ["partition", partition] => {
                self.set["spec"]["updateStrategy"] = strategy(partition.parse().unwrap());
                self.push(By::Other, What::Set(Arc::new(self.set.clone())));
            }
            _ => unreachable!("{words:?}"),
        }
    }

    fn plan(&mut self, process: usize, partition: &str) {
        let partition: i64 = partition.parse().unwrap();
        self.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = partition.into();
        self.plan_of(process, &json!({}));
    }
}

#[test]
fn histories() {
    check(
        History::new,
        &[
            ("a correct plan", "batches; end 0; exit 0", ""),
            (
                "too many unavailable pods",
                "canary; pass 30; plan 2; go 3; go 2; go 1",
                "are down, 2 may be | db-1 is replaced, and was not released",
            ),
            ("a batch that is too large", "plan; plan 3", "2 pods are released, a batch ends at 1"),
            (
                "a batch before the soak is over",
                "canary; pass 29; plan 2",
                "a batch begins, and [4] have not soaked for 30s",
            ),
            (
                "a pod that started again",
                "canary; pass 20; come 4; pass 15; plan 2",
                "a batch begins, and [4] have not soaked",
            ),
            (
                "without a soak pods settle",
                "soak none; canary; pass 9; plan 2",
                "a batch begins, and [4] have not soaked for 10s",
            ),
            ("pods have settled", "soak none; canary; pass 10; plan 2", ""),
            (
                "a pod in a crash loop settles too",
                "soak 0; canary; restart 4; pass 9; plan 2",
                "a batch begins, and [4] have not soaked for 0s",
            ),
            ("a pod that terminated has settled", "soak 0; canary; restart 4; pass 10; plan 2", ""),
            (
                "too many released pods",
                "canary; pass 30; lose 0; plan 2",
                "1 pods are missing, 2 are released, 2 may be missing",
            ),
            ("an early end", "canary; pass 5; end 0", "the plan ends, and [4] have not soaked"),
            ("another strategy", "batches; end 1", "is put back, it was"),
            (
                "a lock that is taken",
                "canary; pass 60; second plan 2",
                "took the lock of a process that may still run",
            ),
            (
                "a lock from another host",
                "host 1; ended 1; canary; pass 60; second plan 2",
                "took the lock of a process that may still run",
            ),
            ("a lock of a process that ended", "ended 1; canary; pass 60; second plan 2", ""),
            ("a lock that is left", "canary; exit 3", "left its lock"),
            ("a lock that is renewed", "canary; plan", "wrote nothing but its lock"),
            (
                "a released pod that is held again",
                "canary; plan 5",
                "[4] were released, run the new revision, and are held again",
            ),
            (
                "another template",
                "canary; pass 30; image app:3.0; plan 2",
                "app:3.0 is released, the plan is for app:2.0",
            ),
            (
                "exit 0 too early",
                "canary; pass 30; end 0; exit 0",
                "exit 0 without a plan, and pods are outdated",
            ),
            ("another client ends the hold", "canary; pass 30; leave; partition 0; exit 0", ""),
            ("exit 2 after a write", "canary; exit 2", "exit 2 after a write"),
            (
                "pods released while paused",
                "canary; pass 30; pause; plan 2",
                "pods are released while it is paused",
            ),
            (
                "db-3 was updated before",
                "max-unavailable 3; go 3; come 3; pass 30; plan; plan 3; replace 4",
                "",
            ),
            (
                "db-3 counts towards the goal",
                "max-unavailable 3; go 3; come 3; pass 30; plan; plan 3; replace 4; pass 30; plan 0",
                "5 pods are released, a batch ends at 4",
            ),
            // The process sees that another client changed the partition, and the next plan has no soak.
            (
                "a new plan after a change",
                "second soak 0; canary; partition 2; leave; second plan 2; replace 3; replace 2; second plan 1",
                "",
            ),
            (
                "a healthy pod below the partition",
                "canary; delete 0",
                "db-0 is replaced, and was not released",
            ),
            ("a broken pod below the partition", "canary; break 0; delete 0", ""),
        ],
    );
}

#[test]
fn the_final_soak_follows_the_soak_of_the_last_batch() {
    check(
        History::new,
        &[
            (
                "an end before it is over",
                "final soak 40; batches; pass 39; end 0",
                "the plan ends, and [0] have not soaked for 70s",
            ),
            ("an end after it", "final soak 40; batches; pass 40; end 0; exit 0", ""),
        ],
    );
}

#[test]
fn a_batch_ends_at_the_goal_of_the_command() {
    let mut history = History::new();
    history.play("to 2; canary; pass 30; plan 3; replace 3; exit 0; ended; pass 60"); // one pod, though by two
    history.play("second plan 2; replace 2; second plan 1"); // two pods, one after the other: one batch
    assert_eq!(judge(&history.timeline)[1..], [""; 0], "but for the lock that was left");
    history.play("replace 1; second plan 0");
    history.is_wrong("a batch begins, and [1, 2] have not soaked");
}
