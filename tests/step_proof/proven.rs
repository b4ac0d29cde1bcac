//! Each oracle finds what it is for: histories made by hand, a good one and what is wrong with others.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::oracle::judge;
use crate::timeline::{By, Change, Process, Timeline, What};
use crate::words::{Batches, Share, Words};
use crate::world::{Millis, Pod, World};

/// A second of a history.
const SECOND: Millis = 1000;

/// A history of five pods that are stepped by two, with a soak of 30 seconds.
struct History {
    timeline: Timeline,
    now: Millis,
    set: Value,
}

fn lease(holder: &str, turn: u64) -> Value {
    json!({"holder": holder, "turn": turn})
}

fn words() -> Words {
    Words {
        batches: Some(Batches::By(Share::Pods(2))),
        max_unavailable: Some(Share::Pods(2)),
        soak: Some(30),
        ..Words::default()
    }
}

impl History {
    /// Paused, and changed.
    fn new() -> Self {
        let strategy =
            |partition: i64| json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
        let set = json!({
            "metadata": {"annotations": {}},
            "spec": {
                "replicas": 5, "updateStrategy": strategy(0),
                "template": {"spec": {"containers": [{"name": "app", "image": "app:1.0"}]}},
            },
        });
        let mut history = Self { timeline: Timeline::default(), now: 1_000_000, set };
        let process = Process {
            words: words(),
            began: 0,
            ended: u64::MAX,
            exit: None,
            transcript: String::new(),
            is_disturbed: false,
        };
        history.timeline.processes = vec![process.clone(), process];
        history.timeline.start = World { set: Arc::new(history.set.clone()), ..World::default() };
        for ordinal in 0..5 {
            let pod = history.pod(ordinal, "app:1.0", Some(0));
            history.timeline.start.pods.insert(format!("db-{ordinal}"), pod);
        }
        history.set["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2.0".into();
        history.set["spec"]["updateStrategy"] = strategy(i64::from(i32::MAX));
        history.hold(&json!({"reason": "pause"}), By::Other);
        history
    }

    fn pod(&self, place: i64, image: &str, ready: Option<Millis>) -> Pod {
        Pod { place, image: image.to_owned(), is_leaving: false, ready, started: ready.unwrap_or(self.now) }
    }

    fn push(&mut self, by: By, what: What) {
        let revision = self.timeline.changes.len() as u64 + 1;
        let known = vec![revision - 1];
        self.timeline.changes.push(Change {
            revision,
            at: self.now,
            by,
            what,
            decided: self.now,
            known,
            read: None,
        });
    }

    fn pass(&mut self, seconds: i64) {
        self.now += seconds * SECOND;
    }

    fn hold(&mut self, hold: &Value, by: By) {
        self.set["metadata"]["annotations"]["kubectl-rollout2/held"] = hold.to_string().into();
        let set = Arc::new(self.set.clone());
        self.push(by, What::Set(set));
    }

    /// A process lets pods go down to a partition, or only writes its lease.
    fn plan(&mut self, process: usize, partition: Option<i64>, turn: u64) {
        if let Some(partition) = partition {
            self.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = partition.into();
        }
        let lease = lease(&format!("holder {process}"), turn);
        let set = self.set["spec"]["updateStrategy"].clone();
        self.hold(&json!({"reason": "plan", "lease": lease, "set": set}), By::Process(process));
    }

    /// The controller takes down a pod.
    fn goes(&mut self, ordinal: i64) {
        self.push(By::Cluster, What::Pod(format!("db-{ordinal}"), None));
    }

    /// It comes back, and is ready.
    fn comes(&mut self, ordinal: i64) {
        let pod = self.pod(ordinal, "app:2.0", Some(self.now));
        self.push(By::Cluster, What::Pod(format!("db-{ordinal}"), Some(pod)));
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
        self.plan(0, Some(2), 3);
        self.goes(3);
        self.goes(2);
        self.pass(1);
        self.comes(3);
        self.comes(2);
        self.pass(30);
        self.plan(0, Some(0), 4);
        self.replace(1);
        self.replace(0);
        self.pass(30);
        self.end(0);
    }

    fn canary(&mut self) {
        self.plan(0, None, 1);
        self.plan(0, Some(4), 2);
        self.replace(4);
    }

    fn end(&mut self, partition: i64) {
        self.set["metadata"]["annotations"] = json!({});
        self.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = partition.into();
        let set = Arc::new(self.set.clone());
        self.push(By::Process(0), What::Set(set));
    }

    fn ends_with(&mut self, exit: u8) {
        self.timeline.processes[0].exit = Some(exit);
    }

    #[track_caller]
    fn is_wrong(&self, words: &str) {
        let wrong = judge(&self.timeline);
        assert!(wrong.iter().any(|wrong| wrong.contains(words)), "{wrong:#?}");
    }
}

#[test]
fn nothing_is_wrong_with_a_good_one() {
    let mut history = History::new();
    history.good();
    history.ends_with(0);
    assert_eq!(judge(&history.timeline), [""; 0]);
}

#[test]
fn more_pods_down_than_may_be() {
    let mut history = History::new();
    history.canary();
    history.pass(30);
    history.plan(0, Some(2), 3);
    history.goes(3);
    history.goes(2);
    history.goes(1);
    history.is_wrong("are down, 2 may be");
    history.is_wrong("db-1 is replaced, and was not let go");
}

#[test]
fn a_batch_that_is_too_large() {
    let mut history = History::new();
    history.plan(0, None, 1);
    history.plan(0, Some(3), 2);
    history.is_wrong("2 pods are let go, a batch ends at 1");
}

#[test]
fn a_batch_before_the_soak_is_over() {
    let mut early = History::new();
    early.canary();
    early.pass(29);
    early.plan(0, Some(2), 3);
    early.is_wrong("a batch begins, and [4] have not soaked for 30s");
    let mut restarted = History::new();
    restarted.canary();
    restarted.pass(20);
    restarted.comes(4);
    restarted.pass(15);
    restarted.plan(0, Some(2), 3);
    restarted.is_wrong("a batch begins, and [4] have not soaked");
}

#[test]
fn more_let_go_than_may_be_missing() {
    let mut history = History::new();
    history.canary();
    history.pass(30);
    history.push(By::Other, What::Pod("db-0".to_owned(), None));
    history.plan(0, Some(2), 3);
    history.is_wrong("1 pods are missing, 2 are let go, 2 may be missing");
}

#[test]
fn a_plan_that_ends_early_or_with_another_strategy() {
    let mut early = History::new();
    early.canary();
    early.pass(5);
    early.end(0);
    early.is_wrong("the plan ends, and [4] have not soaked");
    let mut other = History::new();
    other.good();
    other.timeline.changes.pop();
    other.plan(0, None, 5);
    other.end(1);
    other.is_wrong("is put back, it was");
}

#[test]
fn a_lease_that_is_taken_or_left() {
    let mut taken = History::new();
    taken.canary();
    taken.pass(40);
    taken.plan(1, Some(2), 1);
    taken.is_wrong("took a lease that was");
    let mut old = History::new();
    old.canary();
    old.pass(60);
    old.plan(1, Some(2), 1);
    assert_eq!(judge(&old.timeline), [""; 0]);
    let mut left = History::new();
    left.canary();
    left.ends_with(3);
    left.is_wrong("left its lease");
}

#[test]
fn what_is_let_go_and_held_again() {
    let mut history = History::new();
    history.canary();
    history.plan(0, Some(5), 3);
    history.is_wrong("[4] were let go, run the new revision, and are held again");
}

#[test]
fn a_plan_that_goes_on_with_another_template() {
    let mut history = History::new();
    history.canary();
    history.pass(30);
    history.set["spec"]["template"]["spec"]["containers"][0]["image"] = "app:3.0".into();
    let set = Arc::new(history.set.clone());
    history.push(By::Other, What::Set(set));
    history.plan(0, Some(2), 3);
    history.is_wrong("app:3.0 is released, the plan is for app:2.0");
}

#[test]
fn endings_that_are_not_so() {
    let mut outdated = History::new();
    outdated.canary();
    outdated.pass(30);
    outdated.end(0);
    outdated.ends_with(0);
    outdated.is_wrong("exit 0 without a plan, and pods are outdated");
    let mut refused = History::new();
    refused.canary();
    refused.ends_with(2);
    refused.is_wrong("exit 2 after a write");
}

#[test]
fn pods_let_go_while_it_is_paused() {
    let mut history = History::new();
    history.canary();
    history.pass(30);
    let paused = json!({"reason": "plan", "paused": true, "lease": lease("holder 0", 3)});
    history.hold(&paused, By::Other);
    history.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 2.into();
    history.hold(&paused, By::Process(0));
    history.is_wrong("pods are let go while it is paused");
}
