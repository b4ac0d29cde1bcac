//! Kills `step` at each of its requests, before the server executes it and after it did. The process that continues must
//! end where it would have ended without.
//!
//! The processes share a host, and run in paused time. One scenario also kills the built binary, in real time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::cluster::{SavedCluster, key};
use harness::{Cluster, Output, Process};
use http::Method;
use rollout2::world::process::Processes;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{DEPLOYMENTS, PODS, STATEFULSETS};
use simcluster::{Builder, Controllers, Key, KubeletTiming, SimCluster};
use tokio::time::{sleep, timeout};

use crate::step_proof::external_changes::{ExternalChange, Others, command};
use crate::step_proof::kill_switch::{Death, Mortal};
use crate::step_proof::user::process;

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
    /// Three pods.
    StatefulSet,
    /// Three pods, with a surge of one.
    Deployment,
}

impl Stepped {
    fn key(self) -> Key {
        match self {
            Self::StatefulSet => key(&STATEFULSETS, "db"),
            Self::Deployment => key(&DEPLOYMENTS, "web"),
        }
    }

    fn target(self) -> &'static str {
        match self {
            Self::StatefulSet => "statefulset/db",
            Self::Deployment => "deployment/web",
        }
    }
}

const TO_THE_END: Scenario = Scenario {
    workload: Stepped::StatefulSet,
    image: "app:2.0",
    words: "--by 2 --all --max-unavailable 2 --soak 1s --final-soak 1s",
    exit: 0,
};
const HELD: Scenario = Scenario {
    workload: Stepped::StatefulSet,
    image: "app:2.0-bad",
    words: "--by 1 --all --batch-timeout 12s --on-failure hold",
    exit: 4,
};
const UNDONE: Scenario = Scenario { words: "--by 1 --all --batch-timeout 12s --on-failure undo", ..HELD };
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
        Stepped::StatefulSet => cluster.stateful_set(3, &json!({})),
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
    let runtime = builder.enable_all().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, play())
}

/// The only living process of a host, which has this number.
fn only(number: usize) -> Processes {
    let this = process(0, number);
    Processes::Simulated(this.clone(), Arc::new(Mutex::new(BTreeSet::from([this]))))
}

impl Scenario {
    /// Runs `step` with some words; none if it was killed.
    async fn step(self, words: &str, on: &Cluster, by: Processes, death: Option<Death>) -> Option<Output> {
        let service = Mortal::new(on.sim.service(), death, death.map_or(0, |death| death.at as u64));
        let args = ["step", self.workload.target()].into_iter().chain(words.split_whitespace());
        let output = tokio::select! {
            biased;
            output = on.command(args).processes(by).run_against(service.client()) => output,
            () = service.died() => return None,
        };
        on.advance(120).await;
        Some(output)
    }

    fn left(self, cluster: &Cluster) -> Left {
        Left::of(&cluster.sim, &self.workload.key())
    }

    /// Returns the cluster before the command, and what the command leaves.
    fn uninterrupted(self) -> (SavedCluster, Left) {
        in_paused_time(async || {
            let cluster = Cluster::simulated().with(Builder::without_managed_fields).start();
            paused(self, &cluster).await;
            let start = cluster.saved();
            let output = self.step(self.words, &cluster, only(0), None).await.unwrap();
            assert_eq!(output.exit, self.exit, "{}", output.transcript);
            (start, self.left(&cluster))
        })
    }

    /// Continues after a kill, and asserts that the end is the expected one.
    async fn continues(self, cluster: &Cluster, by: Processes, [before, expected]: [&Left; 2], kill: &str) {
        let found = self.left(cluster);
        let has_begun = found != *before && (found.has_plan || !found.is_held);
        let is_over = has_begun && !found.is_held;
        let words = if has_begun { "" } else { self.words };
        let output = self.step(words, cluster, by, None).await.unwrap();
        // Of a plan that is over nothing is left but what blocks the way, which `step` removes.
        let exit = if is_over && output.exit == 0 { self.exit } else { output.exit };
        assert_eq!((exit, &self.left(cluster)), (self.exit, expected), "{kill}\n{}", output.transcript);
    }
}

fn survives(scenario: Scenario) {
    let (start, expected) = scenario.uninterrupted();
    // Returns the method of the last request; none if the command ended before.
    let killed = |death: Death| {
        in_paused_time(async || {
            let cluster = start.start();
            let before = scenario.left(&cluster);
            if scenario.step(scenario.words, &cluster, only(0), Some(death)).await.is_some() {
                return None;
            }
            let method = cluster.sim.requests().last().map(|request| request.method.clone());
            scenario.continues(&cluster, only(1), [&before, &expected], &format!("{death:?}")).await;
            method
        })
    };
    let mut kills = 0;
    while let Some(method) = killed(Death { at: kills, is_done: true }) {
        if method != Method::GET {
            killed(Death { at: kills, is_done: false }); // a read leaves the same state, executed or not
        }
        kills += 1;
    }
    assert!(kills > 10);
}

/// A test for each scenario.
macro_rules! killed_anywhere {
    ($($name:ident: $scenario:ident;)*) => {$(
        #[test]
        fn $name() {
            survives($scenario);
        }
    )*};
}

killed_anywhere! {
    a_complete_step: TO_THE_END;
    a_failure_that_is_held: HELD;
    a_failure_that_is_rolled_back: UNDONE;
    a_complete_step_of_a_deployment: DEPLOYMENT_TO_THE_END;
    a_failure_of_a_deployment_that_is_held: DEPLOYMENT_HELD;
    a_failure_of_a_deployment_that_is_rolled_back: DEPLOYMENT_UNDONE;
}

/// The built binary is killed after the server executed its third write, and before the response: the server records a
/// request and executes it without a pause in between.
#[test]
fn kill_9() {
    let (start, expected) = UNDONE.uninterrupted();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (left, before) = runtime.block_on(async {
        let controllers = Controllers::new().kubelet_timing(KubeletTiming::default());
        let setup = Cluster::built(start.builder()).namespace("default").controllers(controllers);
        let cluster = setup.served();
        let before = UNDONE.left(&cluster);
        cluster.sim.fault(Fault::on(Requests::writes(), FaultAction::StallBody(0)).after(2));
        let args = ["step", UNDONE.workload.target()].into_iter();
        let args = args.chain(UNDONE.words.split_whitespace());
        let mut process = Process::start(&mut cluster.process(args));
        let writes = || cluster.lines().iter().filter(|line| !line.starts_with("GET")).count();
        let third_write = async {
            while writes() < 3 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(120), third_write).await.unwrap();
        process.kill();
        cluster.stop_controllers();
        (cluster.saved(), before)
    });
    in_paused_time(async || {
        let cluster = left.start();
        UNDONE.continues(&cluster, Processes::System, [&before, &expected], "kill -9").await;
    });
}
