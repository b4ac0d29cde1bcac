//! Histories of a StatefulSet of five pods.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{History, lock};
use crate::step_proof::command::{Batches, Reach, Share, Words};
use crate::step_proof::oracle::judge;
use crate::step_proof::timeline::{By, What};

fn strategy(partition: i64) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}})
}

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

    /// A process lets pods go down to a partition, or only writes its lock.
    fn plan(&mut self, process: usize, partition: Option<i64>) {
        if let Some(partition) = partition {
            self.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = partition.into();
        }
        self.plan_of(process, &json!({}));
    }

    /// The controller takes down a pod.
    fn goes(&mut self, ordinal: i64) {
        self.push(By::Cluster, What::Pod(format!("db-{ordinal}"), None));
    }

    fn replace(&mut self, ordinal: i64) {
        self.goes(ordinal);
        self.pass(1);
        self.comes(ordinal);
    }

    /// The canary, a batch of two, another, and the end.
    fn good(&mut self) {
        self.canary();
        self.pass(30);
        self.plan(0, Some(2));
        self.goes(3);
        self.goes(2);
        self.pass(1);
        self.comes(3);
        self.comes(2);
        self.pass(30);
        self.plan(0, Some(0));
        self.replace(1);
        self.replace(0);
        self.pass(30);
        self.ends(&strategy(0));
    }

    fn canary(&mut self) {
        self.plan(0, None);
        self.plan(0, Some(4));
        self.replace(4);
    }
}

#[test]
fn a_correct_plan_has_no_finding() {
    let mut history = History::new();
    history.good();
    history.ends_with(0);
    assert_eq!(judge(&history.timeline), [""; 0]);
}

#[test]
fn too_many_unavailable_pods() {
    let mut history = History::new();
    history.canary();
    history.pass(30);
    history.plan(0, Some(2));
    history.goes(3);
    history.goes(2);
    history.goes(1);
    history.is_wrong("are down, 2 may be");
    history.is_wrong("db-1 is replaced, and was not released");
}

#[test]
fn a_batch_that_is_too_large() {
    let mut history = History::new();
    history.plan(0, None);
    history.plan(0, Some(3));
    history.is_wrong("2 pods are released, a batch ends at 1");
}

#[test]
fn a_batch_before_the_soak_is_over() {
    let mut early = History::new();
    early.canary();
    early.pass(29);
    early.plan(0, Some(2));
    early.is_wrong("a batch begins, and [4] have not soaked for 30s");
    let mut restarted = History::new();
    restarted.canary();
    restarted.pass(20);
    restarted.comes(4);
    restarted.pass(15);
    restarted.plan(0, Some(2));
    restarted.is_wrong("a batch begins, and [4] have not soaked");
}

/// Without a soak pods settle: this was right before there was a settling time.
#[test]
fn a_batch_before_its_pods_have_settled() {
    for (waited, is_wrong) in [(9, true), (10, false)] {
        let mut history = History::new();
        history.timeline.processes[0].words.soak = None;
        history.canary();
        history.pass(waited);
        history.plan(0, Some(2));
        if is_wrong {
            history.is_wrong("a batch begins, and [4] have not soaked for 10s");
        } else {
            assert_eq!(judge(&history.timeline), [""; 0]);
        }
    }
}

/// A crash loop without a readiness probe is ready between two crashes, and `--soak 0s` does not excuse it.
#[test]
fn a_batch_whose_pod_has_terminated() {
    for (waited, is_wrong) in [(9, true), (10, false)] {
        let mut history = History::new();
        history.timeline.processes[0].words.soak = Some(0);
        history.canary();
        let mut pod = history.pod(4, "app:2.0", Some(history.now));
        pod.has_terminated = true;
        history.push(By::Cluster, What::Pod("db-4".to_owned(), Some(pod)));
        history.pass(waited);
        history.plan(0, Some(2));
        if is_wrong {
            history.is_wrong("a batch begins, and [4] have not soaked for 0s");
        } else {
            assert_eq!(judge(&history.timeline), [""; 0]);
        }
    }
}

#[test]
fn too_many_released_pods() {
    let mut history = History::new();
    history.canary();
    history.pass(30);
    history.push(By::Other, What::Pod("db-0".to_owned(), None));
    history.plan(0, Some(2));
    history.is_wrong("1 pods are missing, 2 are released, 2 may be missing");
}

#[test]
fn a_plan_that_ends_early_or_with_another_strategy() {
    let mut early = History::new();
    early.canary();
    early.pass(5);
    early.ends(&strategy(0));
    early.is_wrong("the plan ends, and [4] have not soaked");
    let mut other = History::new();
    other.good();
    other.timeline.changes.pop();
    other.plan(0, None);
    other.ends(&strategy(1));
    other.is_wrong("is put back, it was");
}

#[test]
fn a_lock_taken_from_its_holder_or_not_released() {
    let taken = |ended: u64, host: u64| {
        let mut history = History::new();
        history.canary();
        history.pass(60);
        history.plan(1, Some(2));
        let first = &mut history.timeline.processes[0];
        (first.ended, first.host) = (ended, host);
        history
    };
    taken(u64::MAX, 0).is_wrong("took the lock of a process that may still run");
    taken(1, 1).is_wrong("took the lock of a process that may still run");
    assert_eq!(judge(&taken(1, 0).timeline), [""; 0]);
    let mut left = History::new();
    left.canary();
    left.ends_with(3);
    left.is_wrong("left its lock");
    let mut renewed = History::new();
    renewed.canary();
    renewed.plan(0, None);
    renewed.is_wrong("wrote nothing but its lock");
}

#[test]
fn a_released_pod_that_is_held_again() {
    let mut history = History::new();
    history.canary();
    history.plan(0, Some(5));
    history.is_wrong("[4] were released, run the new revision, and are held again");
}

#[test]
fn a_plan_continued_with_another_template() {
    let mut history = History::new();
    history.canary();
    history.pass(30);
    history.set["spec"]["template"]["spec"]["containers"][0]["image"] = "app:3.0".into();
    let set = Arc::new(history.set.clone());
    history.push(By::Other, What::Set(set));
    history.plan(0, Some(2));
    history.is_wrong("app:3.0 is released, the plan is for app:2.0");
}

#[test]
fn wrong_outcomes() {
    let mut outdated = History::new();
    outdated.canary();
    outdated.pass(30);
    outdated.ends(&strategy(0));
    outdated.ends_with(0);
    outdated.is_wrong("exit 0 without a plan, and pods are outdated");
    // Another client ends the hold after the process released the lock.
    let mut released = History::new();
    released.canary();
    released.pass(30);
    let set = released.set["spec"]["updateStrategy"].clone();
    let plan = json!({"batch": {"number": 1, "slots": ["db-4"], "done": true}});
    released.hold(&json!({"version": 1, "set": set, "plan": plan}), By::Process(0));
    released.set["spec"]["updateStrategy"] = strategy(0);
    let set = Arc::new(released.set.clone());
    released.push(By::Other, What::Set(set));
    released.ends_with(0);
    assert_eq!(judge(&released.timeline), [""; 0]);
    let mut refused = History::new();
    refused.canary();
    refused.ends_with(2);
    refused.is_wrong("exit 2 after a write");
}

#[test]
fn pods_released_while_paused() {
    let mut history = History::new();
    history.canary();
    history.pass(30);
    let paused = json!({"version": 1, "paused": true, "lock": lock("holder 0"), "plan": {}});
    history.hold(&paused, By::Other);
    history.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 2.into();
    history.hold(&paused, By::Process(0));
    history.is_wrong("pods are released while it is paused");
}

#[test]
fn pods_updated_before_the_plan_count_towards_the_goal() {
    let mut history = History::new();
    history.timeline.processes[0].words.max_unavailable = Some(Share::Pods(3));
    history.push(By::Cluster, What::Pod("db-3".to_owned(), None));
    history.comes(3);
    history.pass(30);
    history.plan(0, None);
    history.plan(0, Some(3)); // db-4 and db-3, of which one runs it already, so there is no canary
    history.replace(4);
    assert_eq!(judge(&history.timeline), [""; 0]);
    history.pass(30);
    history.plan(0, Some(0)); // three pods, by two
    history.is_wrong("5 pods are released, a batch ends at 4");
}

#[test]
fn a_batch_ends_at_the_goal_of_the_command() {
    let mut history = History::new();
    history.timeline.processes[0].words.reach = Some(Reach::To(Share::Pods(2)));
    history.canary();
    history.pass(30);
    history.plan(0, Some(3)); // one pod, though by two
    history.replace(3);
    history.ends_with(0);
    history.timeline.processes[0].ended = history.timeline.changes.len() as u64;
    history.pass(60);
    history.plan(1, Some(2));
    history.replace(2);
    history.plan(1, Some(1)); // two pods, one after the other: one batch
    assert_eq!(judge(&history.timeline)[1..], [""; 0], "but for the lock that was left");
    history.replace(1);
    history.plan(1, Some(0));
    history.is_wrong("a batch begins, and [1, 2] have not soaked");
}

#[test]
fn a_released_lease_needs_no_further_report() {
    let mut history = History::new();
    history.timeline.processes[1].words.soak = Some(0);
    history.canary();
    history.set["spec"]["updateStrategy"] = strategy(2);
    let set = Arc::new(history.set.clone());
    history.push(By::Other, What::Set(set));
    let hold = json!({"version": 1, "set": strategy(4), "plan": {}});
    history.hold(&hold, By::Process(0)); // the process sees that, and ends
    history.plan(1, Some(2)); // a new plan without a soak
    history.replace(3);
    history.replace(2);
    history.plan(1, Some(1));
    assert_eq!(judge(&history.timeline), [""; 0]);
}

#[test]
fn a_healthy_pod_deleted_below_the_partition() {
    let mut history = History::new();
    history.canary();
    history.push(By::Process(0), What::Pod("db-0".to_owned(), None));
    history.is_wrong("db-0 is replaced, and was not released");
    let mut healed = History::new();
    healed.canary();
    let broken = healed.pod(0, "app:1.5", None);
    healed.push(By::Other, What::Pod("db-0".to_owned(), Some(broken)));
    healed.push(By::Process(0), What::Pod("db-0".to_owned(), None));
    assert_eq!(judge(&healed.timeline), [""; 0]);
}
