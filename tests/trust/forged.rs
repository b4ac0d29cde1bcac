//! A forged plan: a colleague who may patch a workload, but not delete pods, writes an annotation of their own.
//! Whoever may do more and then steps, undoes or resumes that workload does nothing for the colleague that the
//! program would not have done anyway.
//!
//! The annotation is one that the program wrote, and each of its members is replaced by what does not belong there.

use std::path::{Path, PathBuf};

use harness::lab::{Lab, START};
use harness::{Ended, Run};
use serde_json::{Value, json};
use simcluster::resource::{DAEMONSETS, PODS, STATEFULSETS};
use simcluster::{Key, RecordedRequest, Resource, object};

use crate::files;

const HELD: &str = "kubectl-rollout2/held";

/// No plan needs as many writes for four pods, its leases included.
const MOST_WRITES: usize = 60;

/// What a patch of ours may change.
const CHANGED: [&str; 4] = [
    "/spec/updateStrategy",
    "/spec/template",
    "/metadata/annotations/kubectl-rollout2~1held",
    "/metadata/annotations/kubernetes.io~1change-cause",
];

/// The uid of a pod, and the image of its container.
type PodImage = (String, String);

/// A workload of four pods whose update has one released batch, beside another workload that is held and has
/// outdated pods.
struct Scene {
    lab: Lab,
    key: Key,
    target: &'static str,
    /// A file that a command leaves behind if the program runs one.
    mark: PathBuf,
}

impl Scene {
    async fn new(resource: &'static Resource) -> Self {
        let lab = Lab::new();
        let is_set = resource == &STATEFULSETS;
        let on_delete = json!({"updateStrategy": {"type": "OnDelete"}});
        let (key, target) = if is_set {
            (lab.stateful_set(4, &json!({})), "statefulset/db")
        } else {
            (lab.daemon_set(&json!({})), "daemonset/agent")
        };
        let other = lab.hands().workload(&DAEMONSETS, "other", &on_delete);
        lab.pass(30).await;
        let scene = Self { lab, key, target, mark: files::file("mark", "").with_file_name("was-run") };
        scene.lab.hands().image(&other, "app:2.0");
        assert_eq!(scene.run("pause TARGET").await.exit, 0);
        scene.lab.hands().image(&scene.key, "app:2.0");
        scene.lab.pass(10).await;
        let begun = scene.run("step TARGET --soak 1s").await;
        assert_eq!(begun.exit, 0, "{}", begun.transcript);
        scene
    }

    async fn run(&self, words: &str) -> Ended {
        let client = kube::Client::new(self.lab.cluster.service_for("admin"), "default");
        let words = words.replace("TARGET", self.target);
        let run = Run::of(words.split_whitespace()).env("PATH", "/usr/bin:/bin").at(START.parse().unwrap());
        run.run_through(client).await
    }

    fn object(&self) -> Value {
        self.lab.cluster.store(|store| Value::clone(store.get(&self.key).unwrap()))
    }

    fn annotation(&self) -> Value {
        let text = self.object()["metadata"]["annotations"][HELD].as_str().unwrap_or_default().to_owned();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Writes an annotation as the colleague does.
    fn forge(&self, annotation: &Value) {
        let text = annotation.to_string();
        self.lab.hands().patch(&self.key, &json!({"metadata": {"annotations": {HELD: text}}}));
    }

    /// The pods of the workload and of all others, by uid, with their image.
    fn pods(&self) -> (Vec<PodImage>, Vec<PodImage>) {
        let uid = object::uid(&self.object()).to_owned();
        self.lab.cluster.store(|store| {
            let pods = store.list(&PODS, Some("default")).map(|(_, pod)| {
                let owner = pod["metadata"]["ownerReferences"][0]["uid"].as_str().unwrap_or_default();
                let image = object::text(&pod["spec"]["containers"][0], &["image"]).to_owned();
                (owner == uid, (object::uid(pod).to_owned(), image))
            });
            let (own, others): (Vec<_>, Vec<_>) = pods.partition(|(is_own, _)| *is_own);
            let pods = |all: Vec<(bool, (String, String))>| all.into_iter().map(|(_, pod)| pod).collect();
            (pods(own), pods(others))
        })
    }

    /// Runs a command, and says what it did that it may not have done.
    async fn wrong_with(&self, words: &str) -> (Ended, Vec<String>) {
        let (own, others) = self.pods();
        self.lab.cluster.forget_requests();
        let ended = self.run(words).await;
        let requests = self.lab.cluster.requests();
        let writes: Vec<&RecordedRequest> = requests
            .iter()
            .filter(|request| request.user.as_deref() == Some("admin") && request.method != http::Method::GET)
            .collect();
        let goes_back = writes.iter().any(|write| String::from_utf8_lossy(&write.body).contains("app:1.0"));
        let outdated: Vec<&str> = own
            .iter()
            .filter(|(_, image)| goes_back || image == "app:1.0")
            .map(|(uid, _)| uid.as_str())
            .collect();
        let mut wrong: Vec<String> =
            writes.iter().filter_map(|write| self.wrong_write(write, &outdated)).collect();
        if writes.len() > MOST_WRITES {
            wrong.push(format!("{} writes", writes.len()));
        }
        if self.pods().1 != others {
            wrong.push("the pods of another workload are others now".to_owned());
        }
        if self.mark.exists() {
            wrong.push("a command was run".to_owned());
        }
        let changed = self.object();
        for field in ["replicas", "serviceName", "selector", "podManagementPolicy"] {
            let before = if field == "replicas" && self.target.starts_with("stateful") {
                json!(4)
            } else {
                changed["spec"][field].clone()
            };
            if changed["spec"][field] != before {
                wrong.push(format!("spec.{field} is {}", changed["spec"][field]));
            }
        }
        (ended, wrong)
    }

    fn wrong_write(&self, write: &RecordedRequest, outdated: &[&str]) -> Option<String> {
        let body: Value = serde_json::from_slice(&write.body).unwrap_or_default();
        let is_workload = write.path.ends_with(&self.target.replace("set/", "sets/"));
        let pod_uid = match write.method.as_str() {
            "PATCH" if is_workload => {
                let changes = body.as_array().into_iter().flatten().filter(|change| change["op"] != "test");
                let mut paths = changes.map(|change| change["path"].as_str().unwrap_or_default());
                let is_ours = |path: &str| CHANGED.iter().any(|ours| path.starts_with(ours));
                return paths.find(|path| !is_ours(path)).map(|path| format!("changed {path}: {body}"));
            }
            "DELETE" => &body["preconditions"]["uid"],
            "POST" if write.path.ends_with("/eviction") => &body["deleteOptions"]["preconditions"]["uid"],
            _ => return Some(format!("{}: {body}", write.line())),
        };
        let is_outdated = pod_uid.as_str().is_some_and(|uid| outdated.contains(&uid));
        (!is_outdated).then(|| format!("{}: it is no outdated pod: {body}", write.line()))
    }
}

/// A text that is valid in no member of a plan.
fn values(mark: &Path) -> Vec<Value> {
    let command = format!("touch {0}; $(touch {0})", mark.display());
    vec![
        Value::Null,
        json!(-1),
        json!(u64::MAX),
        json!(command),
        json!(["db-0", "db-9999999999", "other-0", "node-1", "../../nodes/node-1", {"a": 1}]),
        json!({"sha256": command, "holder": 1, "type": command, "number": u64::MAX, "slots": [1], "places": "x"}),
    ]
}

/// The pointers to all members, those of members included.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.replace('/', "~1"), value)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (name, member) in members {
        let pointer = format!("{at}/{name}");
        found.push(pointer.clone());
        pointers(member, &pointer, found);
    }
}

fn run_paused<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(work)
}

async fn try_each_member(resource: &'static Resource) {
    let mut all = Vec::new();
    pointers(&Scene::new(resource).await.annotation(), "", &mut all);
    assert!(all.len() > 10, "{all:?}");
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for pointer in all {
        for index in 0..values(Path::new("")).len() {
            let scene = Scene::new(resource).await;
            let mut forged = scene.annotation();
            let value = values(&scene.mark)[index].clone();
            let Some(member) = forged.pointer_mut(&pointer) else { continue };
            *member = value.clone();
            scene.forge(&forged);
            let (ended, found) = scene.wrong_with("step TARGET --all --timeout 300s --take-over").await;
            refused += usize::from(ended.exit != 0);
            wrong.extend(
                found.into_iter().map(|found| format!("{pointer} = {value}: {found}\n{}", ended.transcript)),
            );
        }
    }
    assert!(wrong.is_empty(), "{} times\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 10, "only {refused} of them were refused");
}

#[test]
fn a_forged_stateful_set_plan_cannot_exceed_its_rights() {
    run_paused(try_each_member(&STATEFULSETS));
}

#[test]
fn a_forged_daemon_set_plan_cannot_exceed_its_rights() {
    run_paused(try_each_member(&DAEMONSETS));
}

/// Strategies of another kind, deep ones and huge ones, each with the name by which it is refused.
fn strategies() -> Vec<(Value, &'static str)> {
    let mut deep = json!({"partition": 1});
    for _ in 0..60 {
        deep = json!({ "rollingUpdate": deep });
    }
    vec![
        (json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxSurge": "x"}}), "maxSurge"),
        (json!({"template": {"spec": {"containers": []}}}), "template"),
        (json!({"type": "RollingUpdate", "replicas": 0}), "replicas"),
        (json!({"type": ["OnDelete"]}), "type"),
        (json!({"rollingUpdate": {"maxUnavailable": {"a": 1}}}), "maxUnavailable"),
        (json!("OnDelete"), "updateStrategy"),
        (deep, "rollingUpdate"),
        (json!({ "x".repeat(60_000): "y".repeat(60_000) }), "xxxx"),
    ]
}

#[test]
fn a_forged_strategy_is_a_strategy_or_is_refused() {
    run_paused(async {
        for resource in [&STATEFULSETS, &DAEMONSETS] {
            for (strategy, name) in strategies() {
                for words in [
                    "step TARGET --all --timeout 300s",
                    "undo TARGET",
                    "resume TARGET --release-all",
                    "pause TARGET",
                ] {
                    let scene = Scene::new(resource).await;
                    let mut forged = scene.annotation();
                    forged["strategy"] = strategy.clone();
                    scene.forge(&forged);
                    let before = scene.object();
                    let (ended, wrong) = scene.wrong_with(words).await;
                    assert_eq!(wrong, [""; 0], "{words}: {strategy:.200}");
                    assert_eq!(scene.object()["spec"], before["spec"], "{words}: {}", ended.transcript);
                    assert!(
                        ended.stderr.contains(name),
                        "{words}: {name:?} is not in {:.2000}",
                        ended.stderr
                    );
                    assert_eq!(ended.exit, 1, "{words}: {:.2000}", ended.transcript);
                    assert!(ended.transcript.len() < 4000, "{words}: {} bytes", ended.transcript.len());
                }
            }
        }
    });
}

/// Adds members to the plan, in each place that the program may read.
#[test]
fn forged_additional_members_have_no_effect() {
    run_paused(async {
        let digest = "b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b"; // of `true`
        for resource in [&STATEFULSETS, &DAEMONSETS] {
            for (name, value) in [
                ("check", json!({"sha256": digest, "timeout": "9000h", "command": "touch MARK"})),
                ("check", json!("touch MARK")),
                ("goesBack", json!(true)),
                ("phase", json!("rollingBack")),
                ("phase", json!("touch MARK")),
                ("from", json!("other-1")),
                ("maxUnavailable", json!("100%")),
                ("evict", json!(true)),
                ("order", json!("touch MARK")),
                ("nodeSelector", json!("a in (b")),
                ("ignoreUnreadyNodes", json!(true)),
                ("paused", json!("yes")),
                ("version", json!(99)),
                ("soak", json!("2562047h")),
                ("done", json!([u64::MAX, u64::MAX])),
                ("batchSizes", json!([u64::MAX, u64::MAX])),
                ("lease", json!({"holder": "touch MARK", "turn": u64::MAX, "by": "x".repeat(9000)})),
            ] {
                for words in
                    ["step TARGET --all --timeout 300s", "undo TARGET", "resume TARGET --release-all"]
                {
                    let scene = Scene::new(resource).await;
                    let mut forged = scene.annotation();
                    let text = value.to_string().replace("MARK", &scene.mark.display().to_string());
                    let value: Value = serde_json::from_str(&text).unwrap();
                    forged[name] = value.clone();
                    for place in ["/plan", "/plan/pace", "/plan/batch"] {
                        if let Some(members) = forged.pointer_mut(place).and_then(Value::as_object_mut) {
                            members.insert(name.to_owned(), value.clone());
                        }
                    }
                    scene.forge(&forged);
                    let (ended, wrong) = scene.wrong_with(words).await;
                    assert_eq!(wrong, [""; 0], "{words}: {name} = {value:.200}\n{:.3000}", ended.transcript);
                    let longest = ended.transcript.lines().map(str::len).max();
                    assert!(longest.unwrap_or_default() < 2000, "{words}: {name}: a line of {longest:?}");
                }
            }
        }
    });
}
