//! Tests of the oracles: each one finds its violation in a constructed history, and nothing in a correct one.

mod checks;
mod counted;
mod daemon_set;
mod stateful_set;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::step_proof::command::Words;
use crate::step_proof::kind::Kind;
use crate::step_proof::oracle::judge;
use crate::step_proof::timeline::{By, Change, Process, Timeline, What};
use crate::step_proof::world::{Millis, Pod, World};

/// A second of a history.
const SECOND: Millis = 1000;

/// What happens to a workload, made by hand.
struct History {
    timeline: Timeline,
    now: Millis,
    set: Value,
}

fn lock(holder: &str) -> Value {
    json!({"holder": holder})
}

impl History {
    /// So many pods of a workload with an update strategy, paused by another one, and changed. Two processes will
    /// get these options.
    fn paused(strategies: [&Value; 2], count: i64, words: Words) -> Self {
        let mut history = Self::changed(words.kind, strategies, count, words);
        history.hold(&json!({"version": 1}), By::Other);
        history
    }

    /// So many pods of a workload whose template and update strategy change with the next write.
    fn changed(kind: Kind, strategies: [&Value; 2], count: i64, words: Words) -> Self {
        let strategy = if kind == Kind::Deployment { "strategy" } else { "updateStrategy" };
        let set = json!({
            "apiVersion": format!("{}/v1", kind.resource().group),
            "kind": kind.resource().kind,
            "metadata": {"annotations": {}},
            "spec": {
                "replicas": count, strategy: strategies[0],
                "template": {"spec": {"containers": [{"name": "app", "image": "app:1.0"}]}},
            },
        });
        let mut history = Self { timeline: Timeline::default(), now: 1_000_000, set };
        let process = Process {
            words,
            host: 0,
            began: 0,
            ended: u64::MAX,
            exit: None,
            transcript: String::new(),
            is_disturbed: false,
        };
        history.timeline.processes = vec![process.clone(), process];
        history.timeline.start = World { kind, set: Arc::new(history.set.clone()), ..World::default() };
        for place in 0..count {
            let has_place = kind.has_ordinals() || kind.is_on_nodes();
            let pod = history.pod(if has_place { place } else { -1 }, "app:1.0", Some(0));
            history.timeline.start.pods.insert(format!("db-{place}"), pod);
        }
        history.set["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2.0".into();
        history.set["spec"][strategy] = strategies[1].clone();
        history
    }

    fn pod(&self, place: i64, image: &str, ready: Option<Millis>) -> Pod {
        let started = ready.unwrap_or(self.now);
        Pod { place, image: image.to_owned(), is_leaving: false, ready, started, has_terminated: false }
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
            read: matches!(by, By::Process(_)).then(|| revision - 1),
            looked: matches!(by, By::Process(_)).then(|| revision - 1),
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

    /// A process writes its plan: what is in it, and its lock.
    fn plan_of(&mut self, process: usize, plan: &Value) {
        let lock = lock(&format!("holder {process}"));
        let set = self.set["spec"]["updateStrategy"].clone();
        self.hold(&json!({"version": 1, "lock": lock, "set": set, "plan": plan}), By::Process(process));
    }

    /// Adds a ready pod of the new revision to a slot.
    fn comes(&mut self, place: i64) {
        let pod = self.pod(place, "app:2.0", Some(self.now));
        self.push(By::Cluster, What::Pod(format!("db-{place}"), Some(pod)));
    }

    /// A process ends the plan, and puts a strategy in its place.
    fn ends(&mut self, strategy: &Value) {
        self.set["metadata"]["annotations"] = json!({});
        let field = if self.set["kind"] == "Deployment" { "strategy" } else { "updateStrategy" };
        self.set["spec"][field] = strategy.clone();
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
