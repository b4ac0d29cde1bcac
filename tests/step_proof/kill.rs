//! Kills the built binary with `kill -9` at every request. The process that continues must end where it would have
//! ended without.
//!
//! The binary steps on a served cluster in real time and is killed there. What is left in the cluster
//! then moves to one in paused time. The next process runs on the same host.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use harness::cluster::{SavedCluster, key};
use harness::{Cluster, Output};
use rollout2::world::process::Processes;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{DEPLOYMENTS, PODS, STATEFULSETS};
use simcluster::{Builder, Clock, Controllers, Finalization, Key, KubeletTiming, SimCluster};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::step_proof::external_changes::{ExternalChange, Others, command};

/// How many binaries run at once; they mostly wait.
const TOGETHER: usize = 12;

/// The workload that is stepped, what is released, and with which words.
#[derive(Clone, Copy, Debug)]
struct Scenario {
    workload: Stepped,
    image: &'static str,
    words: &'static str,
    exit: u8,
}

#[derive(Clone, Copy, Debug)]
enum Stepped {
    /// Three pods, with the original partition.
    StatefulSet { partition: i64 },
    /// Three pods, with a surge of one.
    Deployment,
}

impl Stepped {
    fn key(self) -> Key {
        match self {
            Self::StatefulSet { .. } => key(&STATEFULSETS, "db"),
            Self::Deployment => key(&DEPLOYMENTS, "web"),
        }
    }

    fn target(self) -> String {
        let key = self.key();
        format!("{}/{}", key.resource.singular, key.name)
    }
}

const TO_THE_END: Scenario = Scenario {
    workload: Stepped::StatefulSet { partition: 0 },
    image: "app:2.0",
    words: "--by 2 --all --max-unavailable 2 --soak 1s --final-soak 1s",
    exit: 0,
};
const HELD: Scenario = Scenario {
    workload: Stepped::StatefulSet { partition: 0 },
    image: "app:2.0-bad",
    words: "--by 1 --all --batch-timeout 12s --on-failure hold",
    exit: 4,
};
const UNDONE: Scenario = Scenario {
    workload: Stepped::StatefulSet { partition: 0 },
    image: "app:2.0-bad",
    words: "--by 1 --all --batch-timeout 12s --on-failure undo",
    exit: 4,
};
/// Two pods at once, one of them below the set's own partition.
const UNDONE_BELOW: Scenario = Scenario {
    workload: Stepped::StatefulSet { partition: 2 },
    image: "app:2.0-bad",
    words: "--by 2 --no-canary --max-unavailable 2 --to 100% --batch-timeout 12s --on-failure undo",
    exit: 4,
};

const DEPLOYMENT_TO_THE_END: Scenario = Scenario { workload: Stepped::Deployment, ..TO_THE_END };
const DEPLOYMENT_HELD: Scenario = Scenario { workload: Stepped::Deployment, ..HELD };
const DEPLOYMENT_UNDONE: Scenario = Scenario { workload: Stepped::Deployment, ..UNDONE };

/// Returns the parts of the final state that do not depend on the time.
#[derive(Debug, PartialEq)]
struct Left {
    fields: Vec<Value>,
    reason: Value,
    lock: Value,
    image: Value,
    pods: Vec<String>,
}

impl Left {
    fn of(cluster: &SimCluster, key: &Key) -> Self {
        cluster.store(|store| {
            let set = store.find(key).unwrap();
            let text = set["metadata"]["annotations"]["kubectl-rollout2/held"].as_str().unwrap_or("null");
            let hold: Value = serde_json::from_str(text).unwrap();
            let fields =
                ["updateStrategy", "strategy", "paused", "minReadySeconds", "progressDeadlineSeconds"];
            let is_named = key.resource == &STATEFULSETS;
            let mut pods: Vec<String> = store
                .list(&PODS, Some("default"))
                .map(|(key, pod)| {
                    let name = if is_named { key.name.as_str() } else { "" };
                    format!("{name} {}", pod["spec"]["containers"][0]["image"])
                })
                .collect();
            pods.sort();
            Self {
                fields: fields.map(|field| set["spec"][field].clone()).to_vec(),
                reason: hold["reason"].clone(),
                lock: hold["lock"].clone(),
                image: set["spec"]["template"]["spec"]["containers"][0]["image"].clone(),
                pods,
            }
        })
    }
}

/// A workload of three pods that is paused, and changed.
async fn paused(scenario: Scenario, cluster: &Cluster) {
    let set = match scenario.workload {
        Stepped::StatefulSet { partition } => {
            let own = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
            cluster.stateful_set(3, &json!({"updateStrategy": own}))
        }
        Stepped::Deployment => {
            let own = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}});
            cluster.deployment(3, &json!({"strategy": own}))
        }
    };
    cluster.advance(30).await;
    command(&cluster.sim, &set, "pause").await;
    Others::default().act(&cluster.sim, &set, &ExternalChange::Image(scenario.image)).await;
    cluster.advance(5).await;
}

/// Runs a future on a separate paused clock.
fn in_paused_time<T>(play: impl AsyncFnOnce() -> T) -> T {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, play())
}

async fn step(cluster: &Cluster, target: &str, words: &str) -> Output {
    let words = format!("step {target} {words}");
    let run = cluster.command(words.split_whitespace());
    let output = run.processes(Processes::System).run_async().await;
    cluster.advance(120).await;
    output
}

/// What the command that continues after a kill leaves, and whether the process was killed at a write.
struct Continued {
    exit: u8,
    left: Left,
    printed: String,
    was_writing: bool,
}

/// Kills the command at a request, before the server executes it or after, and continues; none if the command ended
/// before.
async fn killed(scenario: Scenario, start: Value, at: usize, is_done: bool) -> Option<Continued> {
    let key = scenario.workload.key();
    let builder = SimCluster::builder().snapshot(&start).unwrap().clock(Clock::System);
    let cluster = builder.finalization(Finalization::ByControllers).history(10_000).build();
    let before = Left::of(&cluster, &key);
    let act = if is_done { FaultAction::StallBody(0) } else { FaultAction::Stall };
    cluster.fault(Fault::on(Requests::any(), act).after(at));
    let quick = Duration::from_millis(20);
    let pace = KubeletTiming { start: quick, stop: quick, ..KubeletTiming::default() };
    let controllers = tokio::spawn(Controllers::new().kubelet_timing(pace).run(cluster.clone()));
    let served = cluster.serve().unwrap();
    let kubeconfig = file();
    served.write_kubeconfig(&kubeconfig, "default").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-rollout2"))
        .args(["step", &scenario.workload.target()])
        .args(scenario.words.split_whitespace())
        .env_clear()
        .env("KUBECONFIG", &kubeconfig)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let is_asked = async {
        while cluster.requests().len() <= at {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let is_over = tokio::select! {
        _ = child.wait() => true,
        asked = timeout(Duration::from_secs(120), is_asked) => {
            asked.unwrap();
            false
        }
    };
    if is_over {
        return None; // it ended before
    }
    sleep(Duration::from_millis(20)).await; // what the server does, it does now
    child.kill().await.unwrap();
    controllers.abort();
    let was_writing = cluster.requests()[at].method != "GET";
    let left = SavedCluster::of(&cluster);
    let ends = move || {
        in_paused_time(async || {
            let cluster = left.start();
            let target = scenario.workload.target();
            let found = Left::of(&cluster.sim, &key);
            let has_begun = found != before && found.reason != "pause";
            let is_over = has_begun && found.reason.is_null();
            let output = step(&cluster, &target, if has_begun { "" } else { scenario.words }).await;
            // Of a plan that is over nothing is left but what blocks the way, which `step` removes.
            let exit = if is_over && output.exit == 0 { scenario.exit } else { output.exit };
            let left = Left::of(&cluster.sim, &key);
            Continued { exit, left, printed: output.transcript, was_writing }
        })
    };
    Some(tokio::task::spawn_blocking(ends).await.unwrap())
}

fn survives(scenario: Scenario) {
    let (start, expected) = in_paused_time(async || {
        let cluster = Cluster::simulated().with(Builder::without_managed_fields).start();
        paused(scenario, &cluster).await;
        let start = cluster.sim.store(|store| store.snapshot());
        let output = step(&cluster, &scenario.workload.target(), scenario.words).await;
        assert_eq!(output.exit, scenario.exit, "{}", output.transcript);
        (start, Left::of(&cluster.sim, &scenario.workload.key()))
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let wrong = runtime.block_on(async {
        let (mut runs, mut wrong, mut next, mut is_over) = (JoinSet::new(), Vec::new(), 0, false);
        let mut kills = 0;
        let run = |at, is_done| {
            let start = start.clone();
            async move { (at, is_done, killed(scenario, start, at, is_done).await) }
        };
        loop {
            while !is_over && runs.len() < TOGETHER {
                runs.spawn(run(next, false));
                next += 1;
            }
            let Some(ended) = runs.join_next().await else { break };
            let (at, is_done, continued) = ended.unwrap();
            let Some(Continued { exit, left, printed, was_writing }) = continued else {
                is_over |= !is_done;
                continue;
            };
            kills += 1;
            if was_writing && !is_done {
                runs.spawn(run(at, true)); // a read leaves the same state, executed or not
            }
            if exit != scenario.exit || left != expected {
                wrong.push(format!("killed at request {at}, done: {is_done}: {exit} {left:#?}\n{printed}"));
            }
        }
        assert!(kills > 10, "only {kills} requests");
        wrong
    });
    let count = wrong.len();
    assert!(
        wrong.is_empty(),
        "{count} wrong; it should be {expected:#?}\n{}",
        wrong[..count.min(3)].join("\n")
    );
}

fn file() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("step-kill-{}-{number}", std::process::id()))
}

#[test]
fn a_complete_step() {
    survives(TO_THE_END);
}

#[test]
fn a_failure_that_is_held() {
    survives(HELD);
}

#[test]
fn a_failure_that_is_rolled_back() {
    survives(UNDONE);
}

#[test]
fn a_failure_below_the_partition_that_is_rolled_back() {
    survives(UNDONE_BELOW);
}

#[test]
fn a_complete_step_of_a_deployment() {
    survives(DEPLOYMENT_TO_THE_END);
}

#[test]
fn a_failure_of_a_deployment_that_is_held() {
    survives(DEPLOYMENT_HELD);
}

#[test]
fn a_failure_of_a_deployment_that_is_rolled_back() {
    survives(DEPLOYMENT_UNDONE);
}
