//! The oracle finds what it is for: histories made by hand, a good one and what is wrong with others.

use std::sync::Arc;

use serde_json::{Value, json};
use simcluster::Verb;

use super::generator::Kruise;
use super::oracle::{check_write, judge};
use crate::step_proof::command::Share;
use crate::step_proof::seeded::history::By;
use crate::step_proof::seeded::story::{self, pod};
use crate::step_proof::world::Pod;

type Story = story::Story<Kruise>;

impl Story {
    fn new() -> Self {
        let web = json!({"kind": "CloneSet", "metadata": {"annotations": {}}, "spec": {
            "replicas": 4, "updateStrategy": strategy(&json!("0%"), true),
            "template": {"spec": {"containers": [{"image": "app:2.0"}]}},
        }});
        Self::of(Kruise::CloneSet, web, "pod")
    }

    /// A process writes a partition, with the last slot of a batch.
    fn holds(&mut self, partition: i64, batch: Option<(u64, i64)>) {
        let web = Arc::make_mut(&mut self.now.web);
        let plan = batch.map_or(json!({}), |(number, last)| {
            let first = if number == 1 { 3 } else { 1 };
            let slots: Vec<String> = (last..=first).rev().map(|slot| (4 - slot).to_string()).collect();
            json!({"batch": {"number": number, "slots": slots}})
        });
        let set = strategy(&partition.into(), false);
        web["metadata"]["annotations"]["kubectl-rollout2/held"] =
            json!({"reason": "plan", "plan": plan, "set": set}).to_string().into();
        web["spec"]["updateStrategy"] = set;
        self.push(By::Step);
    }

    /// The controller updates a pod in place.
    fn updates(&mut self, number: usize) {
        self.now.pods.insert(format!("pod-{number}"), pod("app:2.0", None));
        self.push(By::Cluster);
        self.pass(1);
        let since = self.now.at;
        self.now.pods.insert(format!("pod-{number}"), pod("app:2.0", Some(since)));
        self.push(By::Cluster);
    }

    /// A process ends the plan with this partition.
    fn ends(&mut self, partition: &Value) {
        let web = Arc::make_mut(&mut self.now.web);
        web["metadata"]["annotations"] = json!({});
        web["spec"]["updateStrategy"] = strategy(partition, false);
        self.push(By::Step);
    }
}

fn strategy(partition: &Value, is_paused: bool) -> Value {
    let mut limits = json!({"maxUnavailable": 2, "partition": partition});
    if is_paused {
        limits["paused"] = true.into();
    }
    json!({"type": "RollingUpdate", "rollingUpdate": limits})
}

/// Two batches of two, each walked one by one.
fn stepped() -> Story {
    let mut story = Story::new();
    story.holds(i64::from(i32::MAX), None);
    for (batch, last, pods) in [(1, 2, [3, 2]), (2, 0, [1, 0])] {
        for number in pods {
            story.holds(i64::try_from(number).unwrap(), Some((batch, last)));
            story.updates(number);
        }
        story.pass(6);
    }
    story
}

#[test]
fn a_correct_plan_has_no_finding() {
    let mut story = stepped();
    story.ends(&json!("0%"));
    assert_eq!(judge(&story.draw, &story.history), [""; 0]);
}

#[test]
fn another_partition_than_the_original_one_comes_back() {
    let mut story = stepped();
    story.ends(&json!(0));
    story.is_wrong("comes back, and this was there");
}

#[test]
fn a_batch_that_is_too_large() {
    let mut story = Story::new();
    story.holds(i64::from(i32::MAX), None);
    story.holds(3, Some((1, 1)));
    story.is_wrong("a batch has 3 pods");
}

#[test]
fn too_many_released_pods() {
    let mut story = Story::new();
    story.holds(i64::from(i32::MAX), None);
    story.holds(2, Some((1, 2)));
    story.is_wrong("a write leaves Some(2) available pods");
    let mut beyond = Story::new();
    beyond.holds(i64::from(i32::MAX), None);
    beyond.holds(3, Some((1, 2)));
    beyond.updates(3);
    beyond.holds(1, Some((1, 2)));
    beyond.is_wrong("the partition is 1, and the batch ends at 2");
}

#[test]
fn a_partition_that_rises() {
    let mut story = stepped();
    story.holds(3, Some((2, 0)));
    story.is_wrong("the partition rises from 0 to 3");
}

#[test]
fn a_batch_before_the_soak_is_over() {
    let mut story = Story::new();
    story.holds(i64::from(i32::MAX), None);
    for number in [3, 2] {
        story.holds(i64::try_from(number).unwrap(), Some((1, 2)));
        story.updates(number);
    }
    story.pass(2);
    story.holds(1, Some((2, 0)));
    story.is_wrong("2 pods have not soaked");
}

#[test]
fn a_pod_that_the_batch_does_not_release() {
    let mut story = Story::new();
    story.holds(i64::from(i32::MAX), None);
    story.holds(3, Some((1, 2)));
    for number in [3, 2, 1] {
        story.updates(number);
    }
    story.is_wrong("3 updated pods, and the batch ends at 2");
}

#[test]
fn fewer_available_pods_than_allowed() {
    let mut story = stepped();
    for number in [0, 1] {
        story.now.pods.remove(&format!("pod-{number}"));
        story.push(By::Cluster);
    }
    story.is_wrong("2 available pods, and at least 3 have to be");
}

/// An Advanced `StatefulSet` that is scaled down deletes its pods one by one. Those that remain are not of the plan.
#[test]
fn surplus_ordinals_are_not_updated_pods() {
    let mut story = Story::new();
    story.draw.kind = Kruise::StatefulSet;
    Arc::make_mut(&mut story.now.web)["kind"] = "StatefulSet".into();
    story.now.pods = (0..6).map(|number| (format!("web-{number}"), ordinal("app:1.0", number))).collect();
    for number in [4, 5] {
        story.now.pods.insert(format!("web-{number}"), ordinal("app:2.0", number));
    }
    story.history = vec![story.now.clone()];
    story.holds(i64::from(i32::MAX), None);
    story.holds(3, Some((1, 2)));
    assert_eq!(judge(&story.draw, &story.history), [""; 0]);
}

/// The controller of a `DaemonSet` deleted two pods before the plan. They come back on the new revision.
#[test]
fn recreated_pods_of_a_daemon_set_are_not_released() {
    let mut story = Story::new();
    (story.draw.kind, story.draw.words.max_unavailable) = (Kruise::DaemonSet, Some(Share::Pods(2)));
    let web = Arc::make_mut(&mut story.now.web);
    (web["kind"], web["status"]) = ("DaemonSet".into(), json!({"desiredNumberScheduled": 4}));
    story.now.pods.retain(|name, _| name != "pod-2" && name != "pod-3");
    story.history = vec![story.now.clone()];
    story.holds(i64::from(i32::MAX), None);
    story.holds(3, Some((1, 3)));
    for number in [3, 2] {
        story.updates(number);
    }
    assert_eq!(judge(&story.draw, &story.history), [""; 0]);
    story.updates(1);
    story.updates(0);
    story.is_wrong("4 updated pods, and the batch ends at 3");
}

/// The controller creates a missing pod on the new revision after the batch of its slot was chosen.
#[test]
fn a_batch_of_a_missing_pod_that_is_updated_meanwhile() {
    let mut story = Story::new();
    story.now.pods = (0..3).map(|number| (format!("pod-{number}"), pod("app:2.0", Some(0)))).collect();
    story.history = vec![story.now.clone()];
    story.holds(i64::from(i32::MAX), None);
    story.updates(3);
    story.holds(3, Some((1, 3)));
    story.pass(6);
    story.ends(&json!("0%"));
    assert_eq!(judge(&story.draw, &story.history), [""; 0]);
}

#[test]
fn a_node_that_the_plan_does_not_select() {
    let mut story = Story::new();
    story.holds(i64::from(i32::MAX), None);
    let web = Arc::make_mut(&mut story.now.web);
    let hold = &mut web["metadata"]["annotations"]["kubectl-rollout2/held"];
    let mut record: Value = serde_json::from_str(hold.as_str().unwrap()).unwrap();
    record["plan"]["pace"]["nodeSelector"] = "topology.kubernetes.io/zone=z1".into();
    *hold = record.to_string().into();
    story.push(By::Step);
    let updated = |place| Pod { place, ..pod("app:2.0", None) };
    story.now.pods.insert("pod-1".to_owned(), updated(4));
    story.push(By::Cluster);
    assert_eq!(judge(&story.draw, &story.history), [""; 0]);
    story.now.pods.insert("pod-2".to_owned(), updated(2));
    story.push(By::Cluster);
    story.is_wrong("node-2 is updated, and is not in zone z1");
}

/// In the grace period before its update in place, a pod is one of the revision that it will run.
#[test]
fn a_pod_in_its_grace_period() {
    let grace = json!({"revision": "2", "containerImages": {"app": "app:2.0"}}).to_string();
    let pod = json!({
        "metadata": {"annotations": {"apps.kruise.io/inplace-update-grace": grace}},
        "spec": {"containers": [{"name": "app", "image": "app:1.0"}]},
    });
    assert_eq!(Pod::of(&pod).image, "app:2.0");
}

fn ordinal(image: &str, place: i64) -> Pod {
    Pod { place, ..pod(image, Some(0)) }
}

#[test]
fn a_write_without_its_tests() {
    let patch =
        json!([{"op": "test", "path": "/metadata/uid", "value": "u"}, {"op": "remove", "path": "/spec"}]);
    assert!(check_write(Some(Verb::Patch), patch.to_string().as_bytes()).is_err());
    assert!(check_write(Some(Verb::Delete), b"{}").is_err());
}
