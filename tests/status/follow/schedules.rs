//! Seeded schedules of controllers, pods and faults: the verdict depends only on the final state of the cluster, whatever
//! events were missed.
//!
//! `ROLLOUT2_SCHEDULES=10000 cargo test --release --test all status::follow::schedules` runs more of them.

use rollout2::model::cause::{AllowedRestarts, CauseId, causes_of};
use rollout2::model::kind::verdict::RolloutState;
use rollout2::model::observation::Observation;
use rollout2::model::status::verdict;
use simcluster::{Builder, KubeletTiming, Order};

use harness::cluster::{observed, with};
use harness::prelude::*;
use harness::random::Dice;

/// The number of schedules in a plain `cargo test`.
const SCHEDULES: u64 = 300;

/// The number of schedules with a kind of OpenKruise.
const KRUISE_SCHEDULES: u64 = 90;

#[test]
fn even_schedules_have_the_verdict_of_their_final_state() {
    run(&BUILT_IN, requested(SCHEDULES), 0);
}

#[test]
fn odd_schedules_have_the_verdict_of_their_final_state() {
    run(&BUILT_IN, requested(SCHEDULES), 1);
}

#[test]
fn even_schedules_of_open_kruise_have_the_verdict_of_their_final_state() {
    run(&KRUISE, requested(KRUISE_SCHEDULES), 0);
}

#[test]
fn odd_schedules_of_open_kruise_have_the_verdict_of_their_final_state() {
    run(&KRUISE, requested(KRUISE_SCHEDULES), 1);
}

/// The kinds of Kubernetes, and the resources that a follower of them watches.
static BUILT_IN: (&[&Resource], [&Resource; 6]) = (
    &[&DEPLOYMENTS, &DEPLOYMENTS, &STATEFULSETS, &DAEMONSETS],
    [&DEPLOYMENTS, &REPLICASETS, &PODS, &EVENTS, &STATEFULSETS, &DAEMONSETS],
);

/// The kinds of OpenKruise, and the resources that a follower of them watches.
static KRUISE: (&[&Resource], [&Resource; 6]) = (
    &[&CLONESETS, &ADVANCED_STATEFULSETS, &ADVANCED_DAEMONSETS],
    [&CLONESETS, &CONTROLLERREVISIONS, &PODS, &EVENTS, &ADVANCED_STATEFULSETS, &ADVANCED_DAEMONSETS],
);

type Kinds = (&'static [&'static Resource], [&'static Resource; 6]);

fn requested(default: u64) -> u64 {
    std::env::var("ROLLOUT2_SCHEDULES").ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

/// Runs every second schedule, so that two threads share them.
#[expect(clippy::print_stdout, reason = "the figures of a long run")]
fn run(kinds: &Kinds, schedules: u64, half: u64) {
    let mut ends = [0; 6];
    for seed in (half..schedules).step_by(2) {
        let builder = &mut tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().start_paused(true).build().unwrap();
        ends[usize::from(runtime.block_on(run_schedule(seed, kinds)))] += 1;
    }
    // Every exit code must occur.
    assert!([0, 3, 4, 5].iter().all(|exit| ends[*exit] > 0), "{ends:?}");
    println!("exits 0 to 5: {ends:?}");
}

/// Runs one schedule and returns its exit code.
async fn run_schedule(seed: u64, kinds: &Kinds) -> u8 {
    let mut dice = Dice::new(seed);
    let spread = Duration::from_millis(dice.below(2_000));
    let controllers = Controllers::in_order(Order::Seeded(seed))
        .kubelet_timing(KubeletTiming { spread, ..KubeletTiming::default() });
    let setup = Cluster::simulated().kruise().with(Builder::without_managed_fields);
    let cluster = setup.controllers(controllers).start();
    let schedule = Schedule::random(&mut dice, kinds);
    let key = cluster.editor().create_workload(schedule.resource, "app", &schedule.spec);
    cluster.advance(60).await;
    for fault in &schedule.faults {
        cluster.sim.fault(fault.clone());
    }
    let patch = json!({"spec": schedule.change});
    cluster.later(schedule.changed_after, {
        let key = key.clone();
        move |editor| editor.patch(&key, &patch)
    });
    cluster.advance(dice.below(2)).await;
    for (milliseconds, disturbance) in schedule.disturbances.clone() {
        let key = key.clone();
        cluster.later(milliseconds, move |editor| disturbance.apply(editor, &key));
    }
    let args = format!("{}/app --timeout 5m {}", typed(schedule.resource), schedule.args);
    let output = cluster.status(&args).await;
    cluster.sim.clear_faults();
    cluster.advance(200).await;
    let final_state = observed(&cluster.sim, &key).unwrap();
    let expected = expected(&final_state, &args, cluster.sim.store(|store| store.now()));
    assert_eq!(
        output.exit,
        expected,
        "seed {seed}: {args}\n{schedule:#?}\n{}\n{:?}",
        output.transcript,
        verdict(&final_state)
    );
    let notes = output.stderr.lines().filter(|line| line.starts_with("note: in-process")).count();
    assert!(notes <= 2, "seed {seed}\n{}", output.transcript); // two outages that are a minute apart count as two
    output.exit
}

/// Returns the word for a kind on a command line.
fn typed(resource: &Resource) -> &'static str {
    match resource.singular {
        "statefulset" if resource.is_custom() => "asts",
        "daemonset" if resource.is_custom() => "ads",
        singular => singular,
    }
}

/// Returns the exit code for the final state of a rollout.
fn expected(final_state: &Observation, args: &str, now: k8s_openapi::jiff::Timestamp) -> u8 {
    let state = verdict(final_state).state;
    let counts = final_state.workload.counts();
    let is_a_set = !final_state.workload.kind().pods().are_interchangeable();
    // The API server sets the deadline of a Deployment, and no deadline of a CloneSet.
    let has_no_deadline =
        is_a_set || final_state.workload.object().at("/spec/progressDeadlineSeconds").is_none();
    // A StatefulSet can be stuck with a surplus pod and have all others updated.
    let is_updated = counts.outdated() == 0 && (!is_a_set || counts.total <= counts.wanted);
    match state {
        RolloutState::Failed => 4,
        RolloutState::Held | RolloutState::Paused => 5,
        RolloutState::Complete if is_updated || !args.contains("--until") => 0,
        RolloutState::Complete if rollout2::model::kind::strategy::partition(&final_state.workload) > 0 => 5,
        RolloutState::Complete
        | RolloutState::Progressing
        | RolloutState::Stuck
        | RolloutState::Unobserved => {
            let fails = |id| {
                matches!(
                    id,
                    CauseId::ImageNotFound
                        | CauseId::MissingConfigMap
                        | CauseId::CrashLoop
                        | CauseId::OutOfMemory
                )
            };
            let causes = causes_of(final_state, state, AllowedRestarts::default(), now);
            let has_fatal_cause = args.contains("--fail-fast") && causes.iter().any(|cause| fails(cause.id));
            if has_fatal_cause || (args.contains("--deadline") && has_no_deadline) { 4 } else { 3 }
        }
    }
}

/// A workload, its change, and the disturbances of a schedule.
#[derive(Debug)]
struct Schedule {
    resource: &'static Resource,
    spec: Value,
    change: Value,
    /// Milliseconds after the start of `status`.
    changed_after: u64,
    args: String,
    faults: Vec<Fault>,
    disturbances: Vec<(u64, Disturbance)>,
}

/// A change by another client or the server.
#[derive(Clone, Copy, Debug)]
enum Disturbance {
    /// A client deletes a pod.
    PodLost(usize),
    /// The server compacts its history.
    Compacted,
    /// A client scales the workload.
    Scaled(u64),
}

impl Disturbance {
    fn apply(self, editor: &Editor, key: &Key) {
        match self {
            Self::Compacted => editor.sim.store(simcluster::Store::compact),
            Self::Scaled(replicas) if key.resource.singular != "daemonset" => {
                editor.patch(key, &json!({"spec": {"replicas": replicas}}));
            }
            Self::Scaled(_) => {}
            Self::PodLost(index) => {
                let pods = editor.sim.store(|store| {
                    store.list(&PODS, Some("default")).map(|(key, _)| key.clone()).collect::<Vec<_>>()
                });
                if let Some(pod) = pods.get(index % pods.len().max(1)) {
                    editor.delete(pod);
                }
            }
        }
    }
}

impl Schedule {
    fn random(dice: &mut Dice, (kinds, watched): &Kinds) -> Self {
        let resource = *dice.one_of(kinds);
        let tag = dice.one_of(&[
            "2.0",
            "2.0",
            "2.0",
            "2.0-slow",
            "2.0-bad",
            "2.0-crash",
            "2.0-config",
            "2.0-notready",
            "2.0-oom",
        ]);
        let disturbed = dice.below(2) == 0;
        let image =
            json!({"template": {"spec": {"containers": [{"name": "app", "image": format!("app:{tag}")}]}}});
        // A disturbance could end a hold before it begins.
        let held = !disturbed && dice.below(4) == 0;
        let change = if held { with(hold(resource, dice), &image) } else { image };
        let mut args = vec![dice.one_of(&["--stable 40s", "--stable 45s --until complete"]).to_string()];
        args.extend((dice.below(2) == 0).then(|| "--fail-fast=40s".to_owned()));
        args.extend((dice.below(3) == 0).then(|| "--deadline 150s".to_owned()));
        let disturbances = (0..dice.below(4)).filter(|_| disturbed).map(|_| {
            let what = match dice.below(4) {
                0 => Disturbance::Compacted,
                1 => Disturbance::Scaled(1 + dice.below(5)),
                _ => Disturbance::PodLost(usize::try_from(dice.below(50)).unwrap()),
            };
            (dice.below(15_000), what)
        });
        let disturbances = disturbances.collect();
        Self {
            resource,
            spec: spec(resource, dice),
            change,
            changed_after: dice.below(1_000),
            args: args.join(" "),
            faults: (0..dice.below(4)).map(|_| fault(dice, watched)).collect(),
            disturbances,
        }
    }
}

fn spec(resource: &'static Resource, dice: &mut Dice) -> Value {
    let replicas = 1 + dice.below(5);
    if resource.is_custom() {
        let policy = dice.one_of(&["ReCreate", "InPlaceIfPossible", "InPlaceIfPossible"]);
        let management = dice.one_of(&["OrderedReady", "Parallel"]);
        let of_nodes = if *policy == "ReCreate" { "Standard" } else { policy };
        let rolling = json!({"podUpdatePolicy": policy, "rollingUpdateType": of_nodes, "maxUnavailable": 1 + dice.below(2)});
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
        return json!({"replicas": replicas, "serviceName": "app", "podManagementPolicy": management, "updateStrategy": strategy});
    }
    if resource == &DEPLOYMENTS {
        let strategy = dice.one_of(&[json!({"type": "Recreate"}), json!({"type": "RollingUpdate"})]).clone();
        json!({"replicas": replicas, "progressDeadlineSeconds": 60 + dice.below(30), "strategy": strategy})
    } else if resource == &STATEFULSETS {
        let policy = dice.one_of(&["OrderedReady", "Parallel"]);
        json!({"replicas": replicas, "serviceName": "app", "podManagementPolicy": policy})
    } else {
        json!({})
    }
}

fn hold(resource: &'static Resource, dice: &mut Dice) -> Value {
    if resource == &DEPLOYMENTS {
        return json!({"paused": true});
    }
    let partition =
        json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": dice.below(5)}}});
    let on_delete = json!({"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}});
    if resource.is_custom() {
        let paused = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"paused": true}}});
        return dice.one_of(&[paused, partition, on_delete]).clone();
    }
    if resource == &STATEFULSETS && dice.below(2) == 0 { partition } else { on_delete }
}

fn fault(dice: &mut Dice, watched: &[&'static Resource]) -> Fault {
    let events = usize::try_from(dice.below(6)).unwrap();
    let bytes = usize::try_from(200 + dice.below(6_000)).unwrap();
    let refusal = |code| FaultAction::Refuse(Refusal::with_status(code, "out of order"));
    let act = match dice.below(14) {
        0 | 1 => FaultAction::CloseWatch(events),
        2 => FaultAction::ExpireWatch(events),
        3 | 4 => FaultAction::SilenceWatch(events),
        5 => FaultAction::CutBody(bytes),
        6 => FaultAction::TruncateJson(bytes),
        7 => FaultAction::Html(502),
        8 => refusal(500),
        9 => refusal(503),
        10 => FaultAction::Refuse(Refusal::with_status(429, "busy").retry_after(2)),
        11 => FaultAction::Html(200),
        12 => FaultAction::Delay(Duration::from_millis(dice.below(4_000))),
        _ => FaultAction::LoseRequest,
    };
    let verb = *dice.one_of(&[Verb::Watch, Verb::Watch, Verb::List]);
    let requests = match dice.below(3) {
        0 => Requests::verb(verb),
        _ => Requests::of(verb, watched[usize::try_from(dice.below(6)).unwrap()]),
    };
    let times = usize::try_from(1 + dice.below(6)).unwrap();
    Fault::on(requests, act).after(usize::try_from(dice.below(3)).unwrap()).times(times)
}
