//! Histories of a DaemonSet on six nodes in three zones: node-0 and node-3 are in the first.

use std::sync::Arc;

use serde_json::json;

use super::History;
use crate::step_proof::command::{Batches, Share, Words};
use crate::step_proof::kind::Kind;
use crate::step_proof::oracle::judge;
use crate::step_proof::timeline::{By, What};

impl History {
    /// Stepped by two, zone by zone, with a soak of 30 seconds.
    fn of_nodes() -> Self {
        let words = Words {
            kind: Kind::DaemonSet,
            batches: Some(Batches::By(Share::Pods(2))),
            max_unavailable: Some(Share::Pods(2)),
            soak: Some(30),
            by_zone: true,
            ..Words::default()
        };
        let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}});
        let mut history = Self::paused([&rolling, &json!({"type": "OnDelete"})], 6, words);
        history.timeline.start.nodes = (0..6).map(|node| (node, true)).collect();
        history
    }

    /// A process writes down the nodes of a batch.
    fn batch(&mut self, nodes: &[i64]) {
        let slots: Vec<String> = nodes.iter().map(|node| format!("node-{node}")).collect();
        self.plan_of(0, &json!({"batch": {"slots": slots}}));
    }

    /// A process removes the pod of a node.
    fn removes(&mut self, node: i64) {
        self.push(By::Process(0), What::Pod(format!("db-{node}"), None));
    }

    fn turn_over(&mut self, node: i64) {
        self.removes(node);
        self.pass(1);
        self.comes(node);
    }

    /// The canary, on the first node of the first zone.
    fn canary_node(&mut self) {
        self.batch(&[0]);
        self.turn_over(0);
        self.pass(30);
    }
}

/// Sets the store revision of the refresh that the last change was decided on.
fn last_look(history: &mut History, look: u64) {
    let change = history.timeline.changes.last_mut().unwrap();
    (change.read, change.looked) = (Some(look), Some(look));
}

fn last_read(history: &mut History, read: Option<u64>) {
    history.timeline.changes.last_mut().unwrap().read = read;
}

#[test]
fn a_correct_plan_has_no_finding() {
    let mut history = History::of_nodes();
    history.canary_node();
    for nodes in [&[3][..], &[1, 4], &[2, 5]] {
        history.batch(nodes);
        for node in nodes {
            history.turn_over(*node);
        }
        history.pass(30);
    }
    history.ends(&json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}));
    history.ends_with(0);
    assert_eq!(judge(&history.timeline), [""; 0]);
}

/// A process that writes the plan during its rollback begins no batch. This was wrong when the batch that the
/// check refused was taken for a new one then.
#[test]
fn a_plan_that_is_written_during_a_rollback() {
    let mut history = History::of_nodes();
    history.timeline.processes[0].words.check = Some(false);
    history.canary_node();
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}});
    history.set["spec"]["updateStrategy"] = rolling.clone();
    history.set["spec"]["template"]["spec"]["containers"][0]["image"] = "app:1.0".into();
    let plan = json!({"rollingBack": true, "batch": {"slots": ["node-0"]}});
    history.plan_of(0, &plan);
    let back = history.pod(0, "app:1.0", Some(history.now));
    history.push(By::Cluster, What::Pod("db-0".to_owned(), Some(back)));
    history.ends(&rolling);
    history.ends_with(4);
    assert_eq!(judge(&history.timeline), [""; 0]);
}

/// The plan that another client ended is over, and so is its batch. This was wrong when the nodes of that batch
/// had to soak for the plan after it.
#[test]
fn a_plan_after_one_that_another_client_ended() {
    let mut history = History::of_nodes();
    history.batch(&[0]);
    history.turn_over(0);
    let [held, rolling] = [json!({"type": "OnDelete"}), json!({"type": "RollingUpdate"})];
    history.set["spec"]["updateStrategy"] = rolling;
    history.push(By::Other, What::Set(Arc::new(history.set.clone())));
    history.set["spec"]["updateStrategy"] = held;
    history.batch(&[]);
    history.batch(&[3]);
    assert_eq!(judge(&history.timeline), [""; 0]);
}

#[test]
fn a_node_outside_the_batch() {
    let mut history = History::of_nodes();
    history.batch(&[0]);
    history.removes(1);
    history.is_wrong("node-1 is touched, and is not in the batch {0}");
}

/// Another client changes the template while a deletion is under way, or before it is sent. Seen in seed 4792.
#[test]
fn a_deletion_during_and_after_a_change_of_the_template() {
    for (sent_before, wrong) in [(true, ""), (false, "app:3.0 is released, the plan is for app:2.0")] {
        let mut history = History::of_nodes();
        history.batch(&[0]);
        let sent = history.timeline.changes.len() as u64;
        history.set["spec"]["template"]["spec"]["containers"][0]["image"] = "app:3.0".into();
        history.push(By::Other, What::Set(Arc::new(history.set.clone())));
        history.removes(0);
        if sent_before {
            history.timeline.changes.last_mut().unwrap().known = vec![sent, sent];
            last_look(&mut history, sent);
        }
        if wrong.is_empty() {
            assert_eq!(judge(&history.timeline), [""; 0]);
        } else {
            history.is_wrong(wrong);
        }
    }
}

#[test]
fn an_unready_node() {
    let mut history = History::of_nodes();
    history.push(By::Other, What::Node(0, Some((false, false))));
    history.batch(&[0]);
    history.removes(0);
    history.is_wrong("node-0 is not ready, and is touched");
}

#[test]
fn a_deletion_without_a_fresh_refresh() {
    let mut never = History::of_nodes();
    never.batch(&[0]);
    never.removes(0);
    last_read(&mut never, None);
    never.is_wrong("removed without a look at its workload");
}

/// Nodes 1, 4, 2 and 5 in one batch, where two pods may be missing.
fn before_waves() -> History {
    let mut history = History::of_nodes();
    history.timeline.processes[0].words.by_zone = false;
    history.timeline.processes[0].words.batches = Some(Batches::By(Share::Pods(4)));
    history.canary_node();
    history.batch(&[1, 2, 4, 5]);
    history
}

/// One refresh may precede a whole wave of deletions.
#[test]
fn two_waves_from_one_refresh() {
    let mut history = before_waves();
    let look = history.timeline.changes.len() as u64;
    for node in [1, 4] {
        history.removes(node);
        last_look(&mut history, look);
    }
    history.pass(1);
    for node in [1, 4] {
        history.comes(node);
    }
    let look = history.timeline.changes.len() as u64;
    for node in [2, 5] {
        history.removes(node);
        last_look(&mut history, look);
    }
    assert_eq!(judge(&history.timeline), [""; 0]);
}

/// The first two pods are available again, but there was no refresh since.
#[test]
fn a_wave_larger_than_max_unavailable() {
    let mut history = before_waves();
    let look = history.timeline.changes.len() as u64;
    for node in [1, 4, 2] {
        history.turn_over(node);
    }
    let removals = history.timeline.changes.iter_mut();
    let removals = removals.filter(|change| matches!(&change.what, What::Pod(_, None)));
    removals.for_each(|change| (change.read, change.looked) = (Some(look), Some(look)));
    history.is_wrong("node-2 is touched, and the last look left 2 free");
}

#[test]
fn a_deletion_while_paused_or_without_a_lock() {
    for hold in [
        json!({"paused": true, "lock": super::lock("holder 0")}),
        json!({"lock": null}), // given up
    ] {
        let mut history = History::of_nodes();
        history.batch(&[0]);
        let batch = json!({"slots": ["node-0"]});
        let set = json!({"type": "OnDelete"});
        let mut whole = json!({"version": 1, "set": set, "plan": {"batch": batch}});
        whole.as_object_mut().unwrap().extend(hold.as_object().unwrap().clone());
        history.hold(&whole, By::Other);
        history.removes(0);
        history.is_wrong("node-0 is touched, and what was read shows:");
    }
}

#[test]
fn too_many_missing_pods() {
    let mut history = History::of_nodes();
    history.canary_node();
    history.push(By::Other, What::Pod("db-1".to_owned(), None));
    history.push(By::Other, What::Pod("db-2".to_owned(), None));
    history.batch(&[3]);
    history.removes(3);
    history.is_wrong("node-3 is touched, and too many pods are missing");
}

#[test]
fn too_many_unavailable_pods() {
    let mut history = History::of_nodes();
    history.canary_node();
    history.batch(&[3]);
    history.turn_over(3);
    history.pass(30);
    history.timeline.processes[0].words.force = true;
    history.batch(&[1, 4]);
    history.removes(1);
    history.removes(4);
    history.batch(&[2]);
    history.removes(2);
    history.is_wrong("are down, 2 may be");
}

#[test]
fn batches_with_wrong_nodes() {
    let mut large = History::of_nodes();
    large.batch(&[0, 3]);
    large.is_wrong("a batch of 2 nodes, 1 may be");
    let mut mixed = History::of_nodes();
    mixed.canary_node();
    mixed.batch(&[3, 1]);
    mixed.is_wrong("a batch of several zones");
    let mut early = History::of_nodes();
    early.canary_node();
    early.batch(&[1, 4]);
    early.is_wrong("{1, 4} come before an earlier zone is done");
    let mut elsewhere = History::of_nodes();
    elsewhere.timeline.processes[0].words.zone = Some(1);
    elsewhere.batch(&[0]);
    elsewhere.is_wrong("node-0 is not selected");
}

#[test]
fn a_batch_or_an_end_before_the_soak_is_over() {
    let mut early = History::of_nodes();
    early.batch(&[0]);
    early.turn_over(0);
    early.pass(29);
    early.batch(&[3]);
    early.is_wrong("a batch begins, and [0] have not soaked for 30s");
    let mut ended = History::of_nodes();
    ended.batch(&[0]);
    ended.turn_over(0);
    ended.pass(5);
    ended.ends(&json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}));
    ended.is_wrong("the plan ends, and [0] have not soaked for 30s");
}

#[test]
fn a_deleted_updated_pod() {
    let mut history = History::of_nodes();
    history.canary_node();
    history.removes(0);
    history.is_wrong("process 0 removes db-0, which runs the new revision");
}

#[test]
fn another_restored_strategy() {
    let mut history = History::of_nodes();
    history.canary_node();
    history.ends(&json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}));
    history.is_wrong("is put back, it was");
}
