//! Tests of the oracles: each one finds its violation in a constructed history, and nothing in a correct one.

mod checks;
mod counted;
mod daemon_set;
mod stateful_set;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::step_proof::command::{Batches, Reach, Share, Words};
use crate::step_proof::kind::Kind;
use crate::step_proof::oracle::judge;
use crate::step_proof::timeline::{By, Change, Process, Timeline, What};
use crate::step_proof::world::{Millis, Pod, World};

/// A second of a history.
const SECOND: Millis = 1000;

/// A history: what it shows, what happens in it, and parts of what is wrong with it, with ` | ` between them. Without a
/// part it is correct.
type Row = (&'static str, &'static str, &'static str);

/// Plays the script of each row, which [`History::act`] defines, and compares the judgement.
fn check(start: impl Fn() -> History, rows: &[Row]) {
    for (shown, script, parts) in rows {
        let mut history = start();
        history.play(script);
        let wrong = judge(&history.timeline);
        let is_expected = |part: &str| wrong.iter().any(|wrong| wrong.contains(part));
        let are_all = parts.split(" | ").filter(|part| !part.is_empty()).all(is_expected);
        assert!(
            are_all && wrong.is_empty() == parts.is_empty(),
            "{shown}: {script}\nnot {parts}: {wrong:#?}"
        );
    }
}

/// What happens to a workload, made by hand.
struct History {
    timeline: Timeline,
    now: Millis,
    set: Value,
    /// Whether another client has paused the plan.
    is_paused: bool,
    /// The revision that the processes read last; none if they read before each change.
    look: Option<u64>,
    /// When they read.
    looked_at: Millis,
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
        let timeline = Timeline::default();
        let mut history = Self { timeline, now: 1_000_000, set, is_paused: false, look: None, looked_at: 0 };
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
        Pod {
            place,
            node: None,
            image: image.to_owned(),
            is_leaving: false,
            ready,
            started,
            has_terminated: false,
        }
    }

    fn push(&mut self, by: By, what: What) {
        let revision = self.timeline.changes.len() as u64 + 1;
        let look = self.look.unwrap_or(revision - 1);
        let read = matches!(by, By::Process(_)).then_some(look);
        let (at, decided, known) = (self.now, self.now, vec![look]);
        let looked_at = Some(if self.look.is_some() { self.looked_at } else { self.now });
        let change = Change { revision, at, by, what, decided, known, read, looked: read, looked_at };
        self.timeline.changes.push(change);
    }

    fn play(&mut self, script: &str) {
        script.split("; ").for_each(|line| self.act(line));
    }

    /// What one line of a script does. A place is an ordinal, or the number of a node.
    fn act(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |text: &str| text.parse::<i64>().unwrap();
        let process = &mut self.timeline.processes[0];
        match words[..] {
            // The options of the first process, and of the second one.
            ["soak", seconds] => process.words.soak = seconds.parse().ok(),
            ["final", "soak", seconds] => process.words.final_soak = seconds.parse().ok(),
            ["to", pods] => process.words.reach = Some(Reach::To(Share::Pods(number(pods)))),
            ["by", pods] => process.words.batches = Some(Batches::By(Share::Pods(number(pods)))),
            ["max-unavailable", pods] => process.words.max_unavailable = Some(Share::Pods(number(pods))),
            ["zone", zone] => process.words.zone = Some(number(zone)),
            ["any", "zone"] => process.words.by_zone = false,
            ["force"] => process.words.force = true,
            ["check", "fails"] => process.words.check = Some(false),
            ["second", "soak", seconds] => self.timeline.processes[1].words.soak = seconds.parse().ok(),
            // The process ended so, at a revision, on a host.
            ["exit", exit] => process.exit = exit.parse().ok(),
            ["ended", revision] => process.ended = revision.parse().unwrap(),
            ["ended"] => process.ended = self.timeline.changes.len() as u64,
            ["host", host] => process.host = host.parse().unwrap(),
            ["pass", seconds] => self.now += number(seconds) * SECOND,
            // The process reads for the last time.
            ["look"] => (self.look, self.looked_at) = (Some(self.timeline.changes.len() as u64), self.now),
            // The process deletes a pod, the controller does, or another client.
            ["delete", place] => self.push(By::Process(0), What::Pod(self.name(place), None)),
            ["go", place] => self.push(By::Cluster, What::Pod(self.name(place), None)),
            ["lose", place] => self.push(By::Other, What::Pod(self.name(place), None)),
            // A pod of the new revision is ready in its place.
            ["come", place] => self.comes(number(place)),
            ["replace", place] => self.play(&format!("go {place}; pass 1; come {place}")),
            ["turn", place] => self.play(&format!("delete {place}; pass 1; come {place}")),
            // A container of the pod has restarted; another client brings a pod that is not ready.
            ["restart", place] => {
                let pod = self.pod(number(place), "app:2.0", Some(self.now));
                self.push(
                    By::Cluster,
                    What::Pod(self.name(place), Some(Pod { has_terminated: true, ..pod })),
                );
            }
            ["break", place] => {
                let pod = self.pod(number(place), "app:1.5", None);
                self.push(By::Other, What::Pod(self.name(place), Some(pod)));
            }
            // A pod of the new revision starts in its place.
            ["start", place] => {
                let pod = self.pod(number(place), "app:2.0", None);
                self.push(By::Cluster, What::Pod(self.name(place), Some(pod)));
            }
            ["unready", node] => self.push(By::Other, What::Node(number(node), Some((false, false)))),
            ["image", image] => {
                self.set["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
                self.push(By::Other, What::Set(Arc::new(self.set.clone())));
            }
            ["pause"] => {
                self.is_paused = true;
                self.rewrite_hold("paused", true.into());
            }
            ["unlock"] => self.rewrite_hold("lock", Value::Null),
            _ => self.act_of_kind(&words),
        }
    }

    /// What a line does that means something else for each kind.
    fn act_of_kind(&mut self, words: &[&str]) {
        match self.timeline.start.kind {
            Kind::StatefulSet => self.act_of_stateful_set(words),
            Kind::DaemonSet => self.act_of_daemon_set(words),
            _ => self.act_of_counted(words),
        }
    }

    /// Returns the name of the pod at a place. The pods of a Deployment that were updated have another name.
    fn name(&self, place: &str) -> String {
        let prefix = if self.timeline.start.kind == Kind::Deployment { "new" } else { "db" };
        format!("{prefix}-{place}")
    }

    /// Another client changes a field of the hold.
    fn rewrite_hold(&mut self, field: &str, value: Value) {
        let text = self.set["metadata"]["annotations"]["kubectl-rollout2/held"].as_str().unwrap();
        let mut hold: Value = serde_json::from_str(text).unwrap();
        hold[field] = value;
        self.hold(&hold, By::Other);
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
        let mut hold = json!({"version": 1, "lock": lock, "set": set, "plan": plan});
        if self.is_paused {
            hold["paused"] = true.into();
        }
        self.hold(&hold, By::Process(process));
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
