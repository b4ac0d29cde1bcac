//! A forged plan: a user who may patch a workload but not delete pods writes the annotation of a plan. Another user with
//! more rights then runs `step`, `undo` or `resume`. The program must do nothing that it would not do for a plan of its
//! own.
//!
//! The tests take an annotation that the program wrote, and replace each of its members by invalid values.

use std::path::{Path, PathBuf};

use harness::cluster::SavedCluster;
use harness::prelude::*;
use simcluster::{RecordedRequest, object};

use crate::kruise::cluster::{KINDS, create};
use harness::files;

const HELD: &str = "kubectl-rollout2/held";

/// More writes than any plan for four pods needs.
const MAX_WRITES: usize = 60;

/// The fields of a Deployment that a patch of the program may change. The template is none of them: no plan here asks
/// for a rollback.
const ALLOWED_FIELDS_OF_A_DEPLOYMENT: [&str; 5] = [
    "/spec/strategy",
    "/spec/minReadySeconds",
    "/spec/progressDeadlineSeconds",
    "/spec/paused",
    "/metadata/annotations/kubectl-rollout2~1held",
];

/// The fields of another kind that a patch of the program may change.
const ALLOWED_FIELDS: [&str; 5] = [
    "/spec/updateStrategy",
    "/spec/template",
    "/metadata/annotations/kubectl-rollout2~1held",
    "/metadata/annotations/kubernetes.io~1change-cause",
    "/metadata/annotations/kubectl-rollout2~1undone",
];

/// The uid of a pod, and the image of its container.
type PodImage = (String, String);

/// A cluster with a workload of four pods whose first batch is released, and another workload with outdated pods.
struct SteppedWorkload {
    cluster: Cluster,
    key: Key,
    target: &'static str,
    /// A file that exists if the program executed a command of the annotation.
    mark: PathBuf,
}

/// A stepped workload, to start any number of clusters with it.
struct SavedWorkload {
    cluster: SavedCluster,
    key: Key,
    target: &'static str,
}

impl SavedWorkload {
    async fn new(resource: &'static Resource) -> Self {
        let cluster = Cluster::simulated().start();
        let is_set = resource == &STATEFULSETS;
        let on_delete = json!({"updateStrategy": {"type": "OnDelete"}});
        let (key, target) = if is_set {
            (cluster.stateful_set(4, &json!({})), "statefulset/db")
        } else if resource == &DEPLOYMENTS {
            (deployment_with_an_unsafe_revision(&cluster).await, "deployment/web")
        } else {
            (cluster.daemon_set(&json!({})), "daemonset/agent")
        };
        let other = cluster.editor().create_workload(&DAEMONSETS, "other", &on_delete);
        cluster.advance(30).await;
        let workload = SteppedWorkload { cluster, key, target, mark: unused_path() };
        workload.cluster.editor().set_image(&other, "app:2.0");
        workload.run("pause TARGET").await.ends(0);
        workload.cluster.editor().set_image(&workload.key, "app:2.0");
        workload.cluster.advance(10).await;
        workload.run("step TARGET --soak 1s").await.ends(0);
        Self { cluster: workload.cluster.saved(), key: workload.key, target }
    }

    fn start(&self) -> SteppedWorkload {
        SteppedWorkload {
            cluster: self.cluster.start(),
            key: self.key.clone(),
            target: self.target,
            mark: unused_path(),
        }
    }
}

impl SteppedWorkload {
    async fn run(&self, args: &str) -> Output {
        let args = args.replace("TARGET", self.target);
        let run = self.cluster.command(args.split_whitespace()).env("PATH", "/usr/bin:/bin");
        run.run_async().await
    }

    fn object(&self) -> Value {
        self.cluster.object(&self.key)
    }

    fn annotation(&self) -> Value {
        self.cluster.hold(&self.key).unwrap_or_default()
    }

    /// Writes an annotation as another user.
    fn forge(&self, annotation: &Value) {
        let text = annotation.to_string();
        self.cluster.editor().patch(&self.key, &json!({"metadata": {"annotations": {HELD: text}}}));
    }

    /// Returns the pods of the workload and all other pods.
    fn pods(&self) -> (Vec<PodImage>, Vec<PodImage>) {
        let mut uids = vec![object::uid(&self.object()).to_owned()];
        self.cluster.sim.store(|store| {
            let sets = store.list(&REPLICASETS, Some("default")); // of the only Deployment
            uids.extend(sets.map(|(_, set)| object::uid(set).to_owned()));
            let pods = store.list(&PODS, Some("default")).map(|(_, pod)| {
                let owner = pod["metadata"]["ownerReferences"][0]["uid"].as_str().unwrap_or_default();
                let image = object::text(&pod["spec"]["containers"][0], &["image"]).to_owned();
                (uids.iter().any(|uid| uid == owner), (object::uid(pod).to_owned(), image))
            });
            let (own, others): (Vec<_>, Vec<_>) = pods.partition(|(is_own, _)| *is_own);
            let pods = |all: Vec<(bool, (String, String))>| all.into_iter().map(|(_, pod)| pod).collect();
            (pods(own), pods(others))
        })
    }

    /// Runs a command. Returns its output and what it did without permission of a valid plan.
    async fn run_and_find_violations(&self, args: &str) -> (Output, Vec<String>) {
        let before = self.object();
        let (own, others) = self.pods();
        self.cluster.sim.forget_requests();
        let output = self.run(args).await;
        let requests = self.cluster.sim.requests();
        let writes: Vec<&RecordedRequest> = requests
            .iter()
            .filter(|request| request.user.as_deref() == Some("admin") && request.method != http::Method::GET)
            .collect();
        let rolls_back = writes.iter().any(|write| String::from_utf8_lossy(&write.body).contains("app:1.0"));
        let outdated: Vec<&str> = own
            .iter()
            .filter(|(_, image)| rolls_back || image == "app:1.0")
            .map(|(uid, _)| uid.as_str())
            .collect();
        let mut wrong: Vec<String> =
            writes.iter().filter_map(|write| self.violation(write, &outdated)).collect();
        if writes.len() > MAX_WRITES {
            wrong.push(format!("{} writes", writes.len()));
        }
        if self.pods().1 != others {
            wrong.push("pods of another workload were replaced".to_owned());
        }
        if self.mark.exists() {
            wrong.push("a command was executed".to_owned());
        }
        let after = self.object();
        for field in ["replicas", "serviceName", "selector", "podManagementPolicy"] {
            if after["spec"][field] != before["spec"][field] {
                wrong.push(format!("spec.{field} is {}", after["spec"][field]));
            }
        }
        (output, wrong)
    }

    fn violation(&self, write: &RecordedRequest, outdated: &[&str]) -> Option<String> {
        let body: Value = serde_json::from_slice(&write.body).unwrap_or_default();
        let is_workload = write.path.ends_with(&self.target.replace('/', "s/"));
        let allowed: &[&str] = if self.target.starts_with("deployment/") {
            &ALLOWED_FIELDS_OF_A_DEPLOYMENT
        } else {
            &ALLOWED_FIELDS
        };
        let pod_uid = match write.method.as_str() {
            "PATCH" if is_workload => {
                let changes = body.as_array().into_iter().flatten().filter(|change| change["op"] != "test");
                let mut paths = changes.map(|change| change["path"].as_str().unwrap_or_default());
                let is_allowed = |path: &str| allowed.iter().any(|allowed| path.starts_with(allowed));
                return paths.find(|path| !is_allowed(path)).map(|path| format!("changed {path}: {body}"));
            }
            "DELETE" => &body["preconditions"]["uid"],
            "POST" if write.path.ends_with("/eviction") => &body["deleteOptions"]["preconditions"]["uid"],
            _ => return Some(format!("{}: {body}", write.line())),
        };
        let is_outdated = pod_uid.as_str().is_some_and(|uid| outdated.contains(&uid));
        (!is_outdated).then(|| format!("{}: the pod is not outdated: {body}", write.line()))
    }
}

/// Creates a Deployment whose first revision has the network of its nodes, and whose second one serves.
async fn deployment_with_an_unsafe_revision(cluster: &Cluster) -> Key {
    let key = cluster.deployment(4, &json!({}));
    let host_network = |value: Value| json!({"spec": {"template": {"spec": {"hostNetwork": value}}}});
    cluster.editor().patch(&key, &host_network(json!(true)));
    cluster.advance(30).await;
    cluster.editor().patch(&key, &host_network(Value::Null));
    cluster.advance(30).await;
    key
}

/// Creates a directory, and returns the path of a missing file in it.
fn unused_path() -> PathBuf {
    files::directory().join("was-run")
}

/// Returns values to forge a member of a plan with: of its own type, of another type, and null.
fn values(member: &Value, mark: &Path) -> Vec<Value> {
    let command = format!("touch {0}; $(touch {0})", mark.display());
    let more = match member {
        Value::Number(_) => vec![json!(-1), json!(u64::MAX)],
        Value::Array(_) => {
            vec![json!(["db-0", "db-9999999999", "other-0", "node-1", "../../nodes/node-1", {"a": 1}])]
        }
        Value::Object(_) => vec![
            json!({"sha256": command, "holder": 1, "type": command, "number": u64::MAX, "slots": [1], "places": "x"}),
        ],
        _ => vec![json!(-1)],
    };
    [Value::Null, json!(command)].into_iter().chain(more).collect()
}

/// Collects the JSON pointers of all members, recursively.
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

/// Forges every second member.
async fn forge_half_of_the_members(resource: &'static Resource, half: usize) {
    let (stepped, mut all) = (SavedWorkload::new(resource).await, Vec::new());
    pointers(&stepped.start().annotation(), "", &mut all);
    assert!(all.len() > 10, "{all:?}");
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for pointer in all.into_iter().skip(half).step_by(2) {
        for index in 0.. {
            let workload = stepped.start();
            let mut forged = workload.annotation();
            let Some(member) = forged.pointer_mut(&pointer) else { break };
            let Some(value) = values(member, &workload.mark).into_iter().nth(index) else { break };
            *member = value.clone();
            workload.forge(&forged);
            let (output, found) =
                workload.run_and_find_violations("step TARGET --all --timeout 300s --take-over").await;
            refused += usize::from(output.exit != 0);
            wrong.extend(
                found.into_iter().map(|found| format!("{pointer} = {value}: {found}\n{}", output.transcript)),
            );
        }
    }
    assert!(wrong.is_empty(), "{} times\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 5, "only {refused} of them were refused");
}

/// The members of a kind in two tests, so that two processors share them.
macro_rules! forged_plans {
    ($($even:ident, $odd:ident: $resource:ident;)*) => {$(
        #[tokio::test(start_paused = true)]
        async fn $even() {
            forge_half_of_the_members(&$resource, 0).await;
        }

        #[tokio::test(start_paused = true)]
        async fn $odd() {
            forge_half_of_the_members(&$resource, 1).await;
        }
    )*};
}

forged_plans! {
    even_members_of_a_stateful_set, odd_members_of_a_stateful_set: STATEFULSETS;
    even_members_of_a_daemon_set, odd_members_of_a_daemon_set: DAEMONSETS;
    even_members_of_a_deployment, odd_members_of_a_deployment: DEPLOYMENTS;
}

/// A new plan begins from the revision that serves, whatever the annotation says.
#[tokio::test(start_paused = true)]
async fn a_forged_plan_of_a_deployment_does_not_choose_the_template_of_a_new_plan() {
    let stepped = SavedWorkload::new(&DEPLOYMENTS).await;
    let sets = stepped.start().cluster.sim.store(|store| {
        let all = store.list(&REPLICASETS, Some("default"));
        all.map(|(key, set)| (key.name.clone(), Value::clone(set))).collect::<Vec<_>>()
    });
    let is_unsafe = |set: &Value| set["spec"]["template"]["spec"]["hostNetwork"] == true;
    let (unsafe_set, _) = sets.iter().find(|(_, set)| is_unsafe(set)).unwrap();
    let workload = stepped.start();
    let mut forged = workload.annotation();
    forged["plan"]["from"] = unsafe_set.as_str().into();
    workload.forge(&forged);
    let output = workload.run("step TARGET --new-plan --on-failure undo --batch-timeout 1ms").await;
    assert!(!is_unsafe(&workload.object()), "{}", output.transcript);
}

/// The strategy is the only field that an undo and a resume restore, and the API server validates it.
#[tokio::test(start_paused = true)]
async fn an_invalid_forged_strategy_is_refused() {
    let restore = ["undo TARGET", "resume TARGET --release-all"];
    let all = [&restore[..], &["step TARGET --all --timeout 300s", "pause TARGET"]].concat();
    let negative = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": -1}});
    for resource in [&STATEFULSETS, &DAEMONSETS] {
        let stepped = SavedWorkload::new(resource).await;
        for (strategy, name, commands) in [
            (json!("OnDelete"), "updateStrategy is not an object", &all[..]),
            (json!({ "x".repeat(60_000): "y".repeat(60_000) }), "too large", &all[..]),
            (negative.clone(), "spec.updateStrategy.rollingUpdate.partition", &restore[..]),
        ] {
            for args in commands {
                let workload = stepped.start();
                let mut forged = workload.annotation();
                forged["strategy"] = strategy.clone();
                workload.forge(&forged);
                let before = workload.object();
                let (output, wrong) = workload.run_and_find_violations(args).await;
                assert_eq!(wrong, [""; 0], "{args}: {strategy:.200}");
                assert_eq!(workload.object()["spec"], before["spec"], "{args}: {}", output.transcript);
                assert!(output.stderr.contains(name), "{args}: {name:?} is not in {:.2000}", output.stderr);
                assert_eq!(output.exit, 1, "{args}: {:.2000}", output.transcript);
                assert!(output.transcript.len() < 4000, "{args}: {} bytes", output.transcript.len());
            }
        }
    }
}

/// Adds members to every object of the annotation that the program reads.
#[tokio::test(start_paused = true)]
async fn forged_additional_members_have_no_effect() {
    let digest = "b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b"; // of `true`
    for resource in [&STATEFULSETS, &DAEMONSETS] {
        let stepped = SavedWorkload::new(resource).await;
        for (name, value) in [
            ("check", json!({"sha256": digest, "timeout": "9000h", "command": "touch MARK"})),
            ("check", json!("touch MARK")),
            ("goesBack", json!(true)),
            ("rollingBack", json!(true)),
            ("rollingBack", json!("touch MARK")),
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
            ("lock", json!({"holder": "touch MARK", "process": u64::MAX, "by": "x".repeat(9000)})),
        ] {
            for args in ["step TARGET --all --timeout 300s", "undo TARGET", "resume TARGET --release-all"] {
                let workload = stepped.start();
                let mut forged = workload.annotation();
                let text = value.to_string().replace("MARK", &workload.mark.display().to_string());
                let value: Value = serde_json::from_str(&text).unwrap();
                forged[name] = value.clone();
                for place in ["/plan", "/plan/pace", "/plan/batch"] {
                    if let Some(members) = forged.pointer_mut(place).and_then(Value::as_object_mut) {
                        members.insert(name.to_owned(), value.clone());
                    }
                }
                workload.forge(&forged);
                let (output, wrong) = workload.run_and_find_violations(args).await;
                assert_eq!(wrong, [""; 0], "{args}: {name} = {value:.200}\n{:.3000}", output.transcript);
                let longest = output.transcript.lines().map(str::len).max();
                assert!(longest.unwrap_or_default() < 2000, "{args}: {name}: a line of {longest:?}");
            }
        }
    }
}

/// The kinds of OpenKruise are paused by a field of their own. The annotation of such a pause is another client's, and the
/// strategy in it is not written.
#[tokio::test(start_paused = true)]
async fn a_forged_pause_of_a_kind_of_openkruise_restores_nothing() {
    for (resource, target) in KINDS {
        for args in ["resume TARGET", "resume TARGET --release-all", "step TARGET --timeout 60s"] {
            let cluster = Cluster::simulated().kruise().start();
            let key = create(&cluster, resource).await;
            let partition = json!({"updateStrategy": {"rollingUpdate": {"partition": 1}}});
            cluster.editor().patch(&key, &json!({"spec": partition}));
            let workload = SteppedWorkload { cluster, key, target, mark: unused_path() };
            let set = workload.object()["spec"]["updateStrategy"].take();
            let mut forged = set.clone();
            forged["rollingUpdate"]["maxUnavailable"] = "100%".into();
            workload.forge(&json!({"version": 1, "set": &set, "strategy": forged}));
            workload.run("pause TARGET").await.ends(0);
            workload.cluster.advance(10).await;
            let output = workload.run(args).await;
            assert!(!output.transcript.contains("100%"), "{args}: {}", output.transcript);
            let mut strategy = workload.object()["spec"]["updateStrategy"].take();
            strategy["rollingUpdate"].as_object_mut().unwrap().remove("paused");
            if !args.starts_with("step") {
                assert_eq!(workload.annotation(), Value::Null, "{args}: {}", output.transcript);
            }
            assert_eq!(strategy, set, "{target}: {args}: {}", output.transcript);
        }
    }
}
