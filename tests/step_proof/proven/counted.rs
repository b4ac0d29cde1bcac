//! Histories of four pods whose number a plan releases: a CloneSet that updates them in place, and a Deployment.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{History, Row, check};
use crate::step_proof::command::{Batches, Share, Words};
use crate::step_proof::kind::Kind;
use crate::step_proof::oracle::judge;
use crate::step_proof::timeline::{By, What};
use crate::step_proof::world::{Pod, World};

const KINDS: [Kind; 2] = [Kind::CloneSet, Kind::Deployment];

impl History {
    /// Four pods that are stepped by two, with a soak of 5 seconds, while one may be unavailable.
    fn counted(kind: Kind) -> Self {
        let words = Words {
            kind,
            batches: Some(Batches::By(Share::Pods(2))),
            max_unavailable: Some(Share::Pods(1)),
            soak: Some(5),
            no_canary: true,
            ..Words::default()
        };
        let own = if kind == Kind::Deployment {
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}})
        } else {
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2, "partition": "0%"}})
        };
        let mut history = Self::changed(kind, [&own, &own], 4, words);
        history.timeline.is_undisturbed = true;
        history.push(By::Other, What::Set(Arc::new(history.set.clone())));
        history
    }

    /// A process releases so many pods, with the number and the end of a batch.
    fn releases(&mut self, pods: i64, batch: Option<(u64, i64)>) {
        let spec = &mut self.set["spec"];
        if spec.get("strategy").is_some() {
            spec["minReadySeconds"] = 2_147_483_646_i64.into();
            spec["strategy"]["rollingUpdate"]["maxUnavailable"] = format!("{}%", pods * 25).into();
        } else {
            let partition = if batch.is_none() { i64::from(i32::MAX) } else { 4 - pods };
            spec["updateStrategy"]["rollingUpdate"]["partition"] = partition.into();
        }
        let plan = batch.map_or(json!({}), |(number, last)| {
            let first = if number == 1 { 1 } else { 3 };
            let slots: Vec<String> = (first..=last).map(|slot| slot.to_string()).collect();
            json!({"batch": {"number": number, "slots": slots, "of": 4}})
        });
        self.plan_of(0, &plan);
    }

    /// A pod is updated, and is ready after a second.
    fn updates(&mut self, number: i64) {
        let old = format!("db-{number}");
        let name = if self.set["kind"] == "Deployment" {
            self.push(By::Cluster, What::Pod(old, None));
            format!("new-{number}")
        } else {
            old
        };
        let place = if self.timeline.start.kind.has_ordinals() { number } else { -1 };
        let pod = self.pod(place, "app:2.0", None);
        self.push(By::Cluster, What::Pod(name.clone(), Some(pod)));
        self.pass(1);
        let pod = self.pod(place, "app:2.0", Some(self.now));
        self.push(By::Cluster, What::Pod(name, Some(pod)));
    }

    pub(super) fn act_of_counted(&mut self, words: &[&str]) {
        let number = |text: &str| text.parse::<i64>().unwrap();
        match words {
            ["release", pods] => self.releases(number(pods), None),
            // So many pods, in a batch that ends at a number of pods and has a number.
            ["release", pods, "to", last, "in", batch] => {
                self.releases(number(pods), Some((batch.parse().unwrap(), number(last))));
            }
            ["update", pod] => self.updates(number(pod)),
            ["batches"] => self.play(BATCHES),
            // The process ends the plan, and writes back `maxUnavailable`.
            ["end", unavailable] => {
                let is_deployment = self.timeline.start.kind == Kind::Deployment;
                let field = if is_deployment { "strategy" } else { "updateStrategy" };
                let mut own = self.timeline.start.set["spec"][field].clone();
                own["rollingUpdate"]["maxUnavailable"] = number(unavailable).into();
                self.set["spec"].as_object_mut().unwrap().remove("minReadySeconds");
                self.ends(&own);
            }
            _ => unreachable!("{words:?}"),
        }
    }
}

/// Two batches of two pods, each released one by one.
const BATCHES: &str = "release 0; release 1 to 2 in 1; update 3; pass 5; release 2 to 2 in 1; update 2; pass 11; \
                       release 3 to 4 in 2; update 1; pass 5; release 4 to 4 in 2; update 0; pass 11";

#[test]
fn histories() {
    let of_both: [Row; 8] = [
        ("another strategy", "batches; end 3", "is put back, it was"),
        ("a batch that is too large", "release 0; release 1 to 3 in 1", "a batch has 3 pods"),
        (
            "a batch that is too early",
            "release 0; release 1 to 2 in 1; update 3; release 2 to 2 in 1; update 2; pass 2; release 3 to 4 in 2",
            "2 pods have not soaked",
        ),
        (
            "a write that releases too many pods",
            "release 0; release 2 to 2 in 1",
            "a write leaves 2 available pods",
        ),
        (
            "released pods that are held again",
            "batches; release 1 to 4 in 2",
            "4 pods were released, and 1 are",
        ),
        (
            "a pod that the batch does not release",
            "release 0; release 1 to 2 in 1; update 3; update 2; update 1",
            "3 updated pods, and the batch ends at 2",
        ),
        (
            "fewer available pods than allowed",
            "batches; go 0; go 1",
            "2 available pods, and at least 3 have to be",
        ),
        (
            "a batch that its check refused",
            "check fails; release 0; release 1 to 2 in 1; update 3; release 2 to 2 in 1; update 2; pass 6; release 3 to 4 in 2",
            "a batch begins, and the check refused the last batch",
        ),
    ];
    for kind in KINDS {
        check(|| History::counted(kind), &of_both);
    }
    let beyond = "release 0; release 1 to 2 in 1; update 3; release 3 to 2 in 1";
    let of_clone_sets: [Row; 2] = [
        ("a correct plan", "batches; end 2; exit 0", ""),
        ("more than the batch", beyond, "3 pods are released, and the batch ends at 2"),
    ];
    check(|| History::counted(Kind::CloneSet), &of_clone_sets);
    check(|| History::counted(Kind::Deployment), &[("a correct plan", "batches; end 1; exit 0", "")]);
}

/// An Advanced StatefulSet that is scaled down deletes its pods one by one. Those that remain are not of the plan.
#[test]
fn surplus_ordinals_are_not_updated_pods() {
    let mut history = History::counted(Kind::AdvancedStatefulSet);
    for place in [4, 5] {
        let pod = history.pod(place, "app:2.0", Some(0));
        history.timeline.start.pods.insert(format!("db-{place}"), pod);
    }
    history.releases(0, None);
    history.releases(1, Some((1, 2)));
    assert_eq!(judge(&history.timeline), [""; 0]);
}

/// The controller of a DaemonSet deleted two pods before the plan. They come back on the new revision.
#[test]
fn recreated_pods_of_a_daemon_set_are_not_released() {
    let mut history = History::counted(Kind::AdvancedDaemonSet);
    history.timeline.processes[0].words.max_unavailable = Some(Share::Pods(2));
    history.timeline.start.nodes = (0..4).map(|node| (node, true)).collect();
    history.timeline.start.pods.retain(|_, pod| pod.place < 2);
    history.set["status"] = json!({"desiredNumberScheduled": 4});
    history.timeline.start.set = Arc::new(history.set.clone());
    history.releases(0, None);
    history.releases(1, Some((1, 1)));
    for place in [3, 2] {
        history.comes(place);
    }
    assert_eq!(judge(&history.timeline), [""; 0]);
    history.comes(1);
    history.comes(0);
    history.is_wrong("4 updated pods, and the batch ends at 3");
}

/// Of the ordinals 0, 3, 4 and 5 a partition of 3 releases the last one.
#[test]
fn reserved_ordinals_have_no_pods() {
    for (place, wrong) in [(5, None), (4, Some("db-4 is replaced, and was not released"))] {
        let mut history = History::counted(Kind::AdvancedStatefulSet);
        history.set["spec"]["reserveOrdinals"] = json!([1, "2-2"]);
        history.timeline.start.set = Arc::new(history.set.clone());
        let pods = [0, 3, 4, 5].map(|place| (format!("db-{place}"), history.pod(place, "app:1.0", Some(0))));
        history.timeline.start.pods = pods.into();
        history.push(By::Other, What::Set(Arc::new(history.set.clone())));
        history.releases(0, None);
        history.releases(1, Some((1, 1)));
        history.updates(place);
        match wrong {
            None => assert_eq!(judge(&history.timeline), [""; 0]),
            Some(wrong) => history.is_wrong(wrong),
        }
    }
}

/// The controller of a CloneSet updates an unavailable pod first. By the user's priorities it may be an available one.
#[test]
fn an_unavailable_pod_that_is_not_the_next_one() {
    for kind in [Kind::CloneSet, Kind::AdvancedStatefulSet] {
        let mut history = History::counted(kind);
        history.timeline.start.pods.get_mut("db-0").unwrap().ready = None;
        if kind == Kind::AdvancedStatefulSet {
            history.set["spec"]["updateStrategy"]["rollingUpdate"]["unorderedUpdate"] = json!({});
            history.push(By::Other, What::Set(Arc::new(history.set.clone())));
        }
        history.releases(0, None);
        history.releases(1, Some((1, 2)));
        match kind {
            Kind::CloneSet => assert_eq!(judge(&history.timeline), [""; 0]),
            _ => history.is_wrong("a write leaves 2 available pods, at least 3 have to be"),
        }
    }
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

/// A Deployment is held by fields of its own, whatever its annotation says.
#[test]
fn a_deployment_whose_pods_count_as_available_is_not_held() {
    let mut history = History::counted(Kind::Deployment);
    history.releases(1, Some((1, 2)));
    let mut world = World::default();
    world.apply(&What::Set(Arc::new(history.set.clone())));
    assert!(world.is_stepped());
    history.set["spec"]["minReadySeconds"] = Value::Null;
    world.apply(&What::Set(Arc::new(history.set)));
    assert!(!world.is_stepped());
}

/// A Deployment whose strategy another client replaces is still held, and its plan keeps its batches. Seen in the seeds 156
/// and 224 of Deployments.
#[test]
fn a_plan_keeps_its_batches_after_another_client_replaced_the_strategy() {
    for (last, wrong) in [(4, None), (5, Some("a batch has 3 pods"))] {
        let mut history = History::counted(Kind::Deployment);
        let one = &mut history.timeline.processes[1].words;
        (one.batches, one.take_over) = (None, true);
        history
            .play("release 0; release 1 to 2 in 1; update 3; pass 6; release 2 to 2 in 1; update 2; pass 6");
        history.timeline.is_undisturbed = false;
        history.set["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = "75%".into();
        history.push(By::Other, What::Set(Arc::new(history.set.clone())));
        let slots: Vec<String> = (3..=last).map(|slot| slot.to_string()).collect();
        history.plan_of(1, &json!({"batch": {"number": 2, "slots": slots, "of": 4}}));
        match wrong {
            None => assert_eq!(judge(&history.timeline), [""; 0]),
            Some(wrong) => history.is_wrong(wrong),
        }
    }
}

/// A batch of ordinals ends at its last ordinal, also when pods are added above it. Seen in seed 146 of Advanced
/// StatefulSets.
#[test]
fn a_batch_of_ordinals_in_a_workload_that_is_scaled_up() {
    for (replicas, partition, wrong) in [(4, 2, None), (6, 2, None), (6, 1, Some("5 pods are released"))] {
        let mut history = History::counted(Kind::AdvancedStatefulSet);
        history.timeline.is_undisturbed = false;
        history.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = i32::MAX.into();
        history.plan_of(0, &json!({}));
        let plan = json!({"batch": {"number": 1, "slots": ["db-3", "db-2"]}});
        history.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 3.into();
        history.plan_of(0, &plan);
        history.updates(3);
        history.pass(5);
        history.set["spec"]["replicas"] = replicas.into();
        history.push(By::Other, What::Set(Arc::new(history.set.clone())));
        for place in 4..replicas {
            history.comes(place);
        }
        history.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = partition.into();
        history.plan_of(0, &plan);
        match wrong {
            None => assert_eq!(judge(&history.timeline), [""; 0]),
            Some(wrong) => history.is_wrong(wrong),
        }
    }
}

#[test]
fn a_hold_where_every_pod_runs_the_live_template() {
    for kind in KINDS {
        let mut history = History::counted(kind);
        let pods: Vec<_> = history.timeline.start.pods.keys().cloned().collect();
        for name in pods {
            let pod = Pod { place: -1, ..history.pod(0, "app:2.0", Some(0)) };
            history.push(By::Cluster, What::Pod(name, Some(pod)));
        }
        history.pass(60);
        history.push(By::Cluster, What::Pod("none".to_owned(), None));
        history.pass(60);
        history.releases(0, None);
        history.is_wrong("every pod runs the live template");
    }
}
