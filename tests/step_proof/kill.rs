//! Kills the built binary with `kill -9` at every request, and after every write. The process that continues must end where
//! it would have ended without.
//!
//! The binary steps on a served cluster in real time and is killed there. What is left in the cluster
//! then moves to one in paused time. The next process runs on the same host.

use std::time::Duration;

use harness::cluster::key;
use harness::{Cluster, Output, Process};
use rollout2::world::process::Processes;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{DEPLOYMENTS, PODS, STATEFULSETS};
use simcluster::{Builder, Controllers, Key, KubeletTiming, RecordedRequest, SimCluster};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::step_proof::external_changes::{ExternalChange, Others, command};

/// How many binaries of a series run at once; they mostly wait.
const TOGETHER: usize = 6;

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
    is_held: bool,
    has_plan: bool,
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
                is_held: !hold.is_null(),
                has_plan: hold["plan"].is_object(),
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

/// What the command that continues after a kill leaves.
struct Continued {
    exit: u8,
    left: Left,
    printed: String,
}

/// At which of its requests a process is killed.
#[derive(Clone, Copy, Debug)]
enum Kill {
    /// Before the server executes a request of this number.
    Request(usize),
    /// After the server executed the write of this number.
    AfterWrite(usize),
}

impl Kill {
    /// A read leaves the same state, executed or not.
    const SERIES: [fn(usize) -> Self; 2] = [Self::Request, Self::AfterWrite];

    fn number(self) -> usize {
        let (Self::Request(number) | Self::AfterWrite(number)) = self;
        number
    }

    /// Returns the fault that keeps the process waiting.
    fn fault(self) -> Fault {
        let (requests, act) = match self {
            Self::Request(_) => (Requests::any(), FaultAction::Stall),
            Self::AfterWrite(_) => (Requests::writes(), FaultAction::StallBody(0)),
        };
        Fault::on(requests, act).after(self.number())
    }

    /// Whether the request has arrived.
    fn has_come(self, cluster: &SimCluster) -> bool {
        let counts = |request: &RecordedRequest| matches!(self, Self::Request(_)) || request.method != "GET";
        cluster.requests().iter().filter(|request| counts(request)).count() > self.number()
    }
}

/// Kills the command at a request, and continues; none if the command ended before.
async fn killed(scenario: Scenario, start: Value, kill: Kill) -> Option<Continued> {
    let key = scenario.workload.key();
    let quick = Duration::from_millis(20);
    let pace = KubeletTiming { start: quick, stop: quick, ..KubeletTiming::default() };
    let setup = Cluster::of(&start).namespace("default").controllers(Controllers::new().kubelet_timing(pace));
    let cluster = setup.served();
    let before = Left::of(&cluster.sim, &key);
    cluster.sim.fault(kill.fault());
    let target = scenario.workload.target();
    let args = ["step", &target].into_iter().chain(scenario.words.split_whitespace());
    let mut process = Process::start(&mut cluster.process(args));
    let is_asked = async {
        while !kill.has_come(&cluster.sim) {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let is_over = tokio::select! {
        _ = process.wait() => true,
        asked = timeout(Duration::from_secs(120), is_asked) => {
            asked.unwrap();
            false
        }
    };
    if is_over {
        return None; // it ended before
    }
    sleep(Duration::from_millis(20)).await; // what the server does, it does now
    process.kill();
    cluster.stop_controllers();
    let left = cluster.saved();
    let ends = move || {
        in_paused_time(async || {
            let cluster = left.start();
            let target = scenario.workload.target();
            let found = Left::of(&cluster.sim, &key);
            let has_begun = found != before && (found.has_plan || !found.is_held);
            let is_over = has_begun && !found.is_held;
            let output = step(&cluster, &target, if has_begun { "" } else { scenario.words }).await;
            // Of a plan that is over nothing is left but what blocks the way, which `step` removes.
            let exit = if is_over && output.exit == 0 { scenario.exit } else { output.exit };
            let left = Left::of(&cluster.sim, &key);
            Continued { exit, left, printed: output.transcript }
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
        let (mut runs, mut wrong, mut kills) = (JoinSet::new(), Vec::new(), 0);
        let spawn = |runs: &mut JoinSet<_>, series: usize, kill: Kill| {
            let start = start.clone();
            runs.spawn(async move { (series, kill, killed(scenario, start, kill).await) });
        };
        let mut next = [TOGETHER; Kill::SERIES.len()];
        for (series, kill) in Kill::SERIES.into_iter().enumerate() {
            (0..TOGETHER).for_each(|number| spawn(&mut runs, series, kill(number)));
        }
        while let Some(ended) = runs.join_next().await {
            let (series, kill, Some(Continued { exit, left, printed })) = ended.unwrap() else { continue };
            spawn(&mut runs, series, Kill::SERIES[series](next[series]));
            next[series] += 1;
            kills += 1;
            if exit != scenario.exit || left != expected {
                wrong.push(format!("{kill:?}: {exit} {left:#?}\n{printed}"));
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
