//! Histories of a DaemonSet on six nodes in three zones: node-0 and node-3 are in the first.

use std::sync::Arc;

use serde_json::json;

use super::{History, check};
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

    pub(super) fn act_of_daemon_set(&mut self, words: &[&str]) {
        match words {
            // A process writes the nodes of a batch into the plan.
            ["batch", nodes @ ..] => {
                let slots: Vec<String> = nodes.iter().map(|node| format!("node-{node}")).collect();
                self.plan_of(0, &json!({"batch": {"slots": slots}}));
            }
            // The first node of the first zone.
            ["canary"] => self.play("batch 0; turn 0; pass 30"),
            // Nodes 1, 4, 2 and 5 in one batch, where two pods may be missing.
            ["large", "batch"] => self.play("any zone; by 4; canary; batch 1 2 4 5"),
            // The process ends the plan, and puts a strategy in its place.
            ["end", unavailable] => {
                let unavailable: i64 = unavailable.parse().unwrap();
                self.ends(
                    &json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": unavailable}}),
                );
            }
            _ => unreachable!("{words:?}"),
        }
    }
}

#[test]
fn histories() {
    check(
        History::of_nodes,
        &[
            (
                "a correct plan",
                "canary; batch 3; turn 3; pass 30; batch 1 4; turn 1; turn 4; pass 30; batch 2 5; turn 2; turn 5; pass 30; end 1; exit 0",
                "",
            ),
            (
                "a node outside the batch",
                "batch 0; delete 1",
                "node-1 is touched, and is not in the batch {0}",
            ),
            // Seen in seed 4792.
            ("a change of the template during a deletion", "batch 0; look; image app:3.0; delete 0", ""),
            (
                "a deletion after a change of the template",
                "batch 0; image app:3.0; delete 0",
                "app:3.0 is released, the plan is for app:2.0",
            ),
            ("a deletion two minutes after the refresh", "batch 0; look; pass 120; delete 0", ""),
            (
                "a deletion of a process that was suspended",
                "batch 0; look; pass 121; delete 0",
                "node-0 is touched, and the last look is 121s old",
            ),
            ("an unready node", "unready 0; batch 0; delete 0", "node-0 is not ready, and is touched"),
            (
                "two waves, each after one refresh",
                "large batch; look; delete 1; delete 4; pass 1; come 1; come 4; look; delete 2; delete 5",
                "",
            ),
            // The first two pods are available again, but there was no refresh since.
            (
                "a wave larger than --max-unavailable",
                "large batch; look; turn 1; turn 4; turn 2",
                "node-2 is touched, and the last look left 2 free",
            ),
            (
                "a deletion while paused",
                "batch 0; pause; delete 0",
                "node-0 is touched, and what was read shows:",
            ),
            (
                "a deletion without a lock",
                "batch 0; unlock; delete 0",
                "node-0 is touched, and what was read shows:",
            ),
            (
                "too many missing pods",
                "canary; lose 1; lose 2; batch 3; delete 3",
                "node-3 is touched, and too many pods are missing",
            ),
            (
                "too many unavailable pods",
                "force; canary; batch 3; turn 3; pass 30; batch 1 4; delete 1; delete 4; batch 2; delete 2",
                "are down, 2 may be",
            ),
            ("a canary of two nodes", "batch 0 3", "a batch of 2 nodes, 1 may be"),
            ("a batch of two zones", "canary; batch 3 1", "a batch of several zones"),
            ("a zone that is too early", "canary; batch 1 4", "{1, 4} come before an earlier zone is done"),
            ("a node of another zone", "zone 1; batch 0", "node-0 is not selected"),
            (
                "a batch before the soak is over",
                "batch 0; turn 0; pass 29; batch 3",
                "a batch begins, and [0] have not soaked for 30s",
            ),
            (
                "a node that is not ready any more after its pod was replaced",
                "batch 0; turn 0; pass 29; unready 0; pass 60; batch 3",
                "",
            ),
            (
                "a pod that never became ready on a node that is not ready any more",
                "batch 0; delete 0; pass 1; start 0; unready 0; pass 60; batch 3",
                "a batch begins, and [0] have not soaked for 30s",
            ),
            (
                "an end before the soak is over",
                "batch 0; turn 0; pass 5; end 1",
                "the plan ends, and [0] have not soaked for 30s",
            ),
            (
                "a deleted updated pod",
                "canary; delete 0",
                "process 0 removes db-0, which runs the new revision",
            ),
            ("another strategy", "canary; end 2", "is put back, it was"),
        ],
    );
}

#[test]
fn a_deletion_without_a_refresh() {
    let mut history = History::of_nodes();
    history.play("batch 0; delete 0");
    history.timeline.changes.last_mut().unwrap().read = None;
    history.is_wrong("removed without a look at its workload");
}

/// A process that writes the plan during its rollback begins no batch. This was wrong when the batch that the
/// check refused was taken for a new one then.
#[test]
fn a_plan_that_is_written_during_a_rollback() {
    let mut history = History::of_nodes();
    history.play("check fails; canary");
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
    history.play("batch 0; turn 0");
    let [held, rolling] = [json!({"type": "OnDelete"}), json!({"type": "RollingUpdate"})];
    history.set["spec"]["updateStrategy"] = rolling;
    history.push(By::Other, What::Set(Arc::new(history.set.clone())));
    history.set["spec"]["updateStrategy"] = held;
    history.play("batch; batch 3");
    assert_eq!(judge(&history.timeline), [""; 0]);
}
