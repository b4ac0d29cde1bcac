//! The oracle finds what it is for: histories made by hand, a good one and what is wrong with others.

use std::sync::Arc;

use serde_json::{Value, json};
use simcluster::Verb;

use super::generator::Deployment;
use super::oracle::{check_write, judge};
use crate::step_proof::kill_switch::Death;
use crate::step_proof::seeded::history::By;
use crate::step_proof::seeded::oracle::verdict;
use crate::step_proof::seeded::story::{self, pod};

type Story = story::Story<Deployment>;

impl Story {
    fn new() -> Self {
        let strategy =
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
        let web = json!({"metadata": {"annotations": {}}, "spec": {
            "replicas": 4, "paused": true, "strategy": strategy,
            "template": {"spec": {"containers": [{"image": "app:2.0"}]}},
        }});
        Self::of(Deployment, web, "old")
    }

    /// A process writes the hold, with the last pod of a batch.
    fn holds(&mut self, unavailable: &str, batch: Option<(u64, i64)>) {
        let web = Arc::make_mut(&mut self.now.web);
        let plan = batch.map_or(
            json!({}),
            |(number, last)| json!({"batch": {"number": number, "slots": [last.to_string()]}}),
        );
        web["metadata"]["annotations"]["kubectl-rollout2/held"] =
            json!({"reason": "plan", "plan": plan}).to_string().into();
        if batch.is_some() {
            web["spec"].as_object_mut().unwrap().remove("paused");
        }
        web["spec"]["minReadySeconds"] = 2_147_483_646_i64.into();
        web["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = unavailable.into();
        self.push(By::Step);
    }

    /// The controller removes an old pod and creates a new one, which is ready at once.
    fn replaces(&mut self, number: usize) {
        self.now.pods.remove(&format!("old-{number}"));
        self.push(By::Cluster);
        let since = self.now.at;
        self.now.pods.insert(format!("new-{number}"), pod("app:2.0", Some(since)));
        self.push(By::Cluster);
    }

    /// A process ends the plan with these fields.
    fn ends(&mut self, unavailable: Value) {
        let web = Arc::make_mut(&mut self.now.web);
        web["metadata"]["annotations"] = json!({});
        web["spec"].as_object_mut().unwrap().remove("minReadySeconds");
        web["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = unavailable;
        self.push(By::Step);
    }
}

/// Two batches of two, each walked one by one.
fn stepped() -> Story {
    let mut story = Story::new();
    story.holds("0%", None);
    for (batch, pods) in [(1, [0, 1]), (2, [2, 3])] {
        for number in pods {
            story.holds(
                &format!("{}%", (number + 1) * 25),
                Some((batch, i64::try_from(pods[1]).unwrap() + 1)),
            );
            story.replaces(number);
            story.pass(5);
        }
        story.pass(5);
    }
    story
}

#[test]
fn a_correct_plan_has_no_finding() {
    let mut story = stepped();
    story.ends(json!(1));
    assert_eq!(judge(&story.draw, &story.history), [""; 0]);
}

#[test]
fn another_restored_field() {
    let mut story = stepped();
    story.ends(json!(2));
    story.is_wrong("come back, and these were there");
}

#[test]
fn a_budget_that_takes_too_many_pods() {
    let mut story = Story::new();
    story.holds("0%", None);
    story.holds("50%", Some((1, 2)));
    story.is_wrong("a write leaves Some(2) available pods");
}

#[test]
fn a_batch_that_is_too_large_and_one_that_is_too_early() {
    let mut large = Story::new();
    large.holds("0%", None);
    large.holds("25%", Some((1, 3)));
    large.is_wrong("a batch ends at 3 pods");
    let mut early = Story::new();
    early.holds("0%", None);
    early.holds("25%", Some((1, 1)));
    early.replaces(0);
    early.pass(2);
    early.holds("50%", Some((2, 3)));
    early.is_wrong("1 pods have not soaked");
}

#[test]
fn more_updated_pods_than_the_batch_has() {
    let mut story = Story::new();
    story.holds("0%", None);
    story.holds("25%", Some((1, 1)));
    story.replaces(0);
    story.pass(10);
    story.replaces(1);
    story.is_wrong("2 updated pods, and the batch ends at 1");
}

#[test]
fn a_hold_where_every_pod_runs_the_live_template() {
    let mut story = Story::new();
    for pod in story.now.pods.values_mut() {
        pod.image = "app:2.0".to_owned();
    }
    story.pass(60);
    story.push(By::Cluster);
    story.pass(60);
    story.holds("0%", None);
    story.is_wrong("every pod runs the live template");
}

#[test]
fn a_write_without_its_tests() {
    let test = |path: &str| json!({"op": "test", "path": path, "value": null});
    let paths = [
        "/metadata/uid",
        "/spec/template",
        "/spec/paused",
        "/spec/minReadySeconds",
        "/spec/progressDeadlineSeconds",
        "/spec/strategy",
        "/metadata/annotations",
    ];
    let write = json!({"op": "add", "path": "/spec/paused", "value": true});
    let all: Vec<Value> = paths.iter().map(|path| test(path)).chain([write]).collect();
    let check =
        |operations: &[Value]| check_write(Some(Verb::Patch), json!(operations).to_string().as_bytes());
    assert_eq!(check(&all), Ok(()));
    for (left_out, path) in paths.iter().enumerate() {
        let mut some = all.clone();
        some.remove(left_out);
        assert!(check(&some).is_err(), "{path}");
    }
    assert!(check_write(Some(Verb::Delete), b"{}").is_err());
}

/// Seed 3497 of 10,000: the last write of a rollback ends the plan, and its process was killed after it.
#[test]
fn a_rollback_whose_process_was_killed_is_known_by_its_pods_alone() {
    let mut story = Story::new();
    (story.draw.image, story.draw.words.is_undone) = ("app:2.0-crash", true);
    let verdict = |story: &Story, exit| verdict(&story.draw, exit, Some(&story.now));
    story.draw.deaths.clear();
    assert!(verdict(&story, 0).is_err(), "a process that lives exits with 4");
    story.draw.deaths.push(Death { at: 7, is_done: true });
    assert_eq!(verdict(&story, 0), Ok(()));
    story.now.pods.insert("new-0".to_owned(), pod("app:2.0-crash", None));
    assert!(verdict(&story, 0).is_err(), "a pod of the failed revision remains");
}
