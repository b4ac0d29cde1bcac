//! Seeded schedules of controllers, pods and faults: the verdict always follows from the final
//! state of the cluster, whatever events were missed.
//!
//! `ROLLOUT2_SCHEDULES=10000 cargo test --release --test follow schedules` runs more of them.

use std::time::Duration;

use rollout2::model::status::cause::{CauseId, causes};
use rollout2::model::status::observation::Observation;
use rollout2::model::status::verdict::{Counts, RolloutState, verdict};
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{DAEMONSETS, DEPLOYMENTS, EVENTS, PODS, REPLICASETS, STATEFULSETS};
use simcluster::{Controllers, Key, KubeletTiming, Order, Refusal, Resource, Verb};

use harness::lab::{Hands, Lab, observed, with};
use harness::random::Dice;

/// The number of schedules in a plain `cargo test`.
const SCHEDULES: u64 = 300;

#[test]
fn schedules_end_with_the_verdict_of_their_final_state_even() {
    run(0);
}

#[test]
fn schedules_end_with_the_verdict_of_their_final_state_odd() {
    run(1);
}

/// The resources that a follower watches.
static RESOURCES: [&Resource; 6] = [&DEPLOYMENTS, &REPLICASETS, &PODS, &EVENTS, &STATEFULSETS, &DAEMONSETS];

/// Half of the schedules, so that two threads share them.
#[expect(clippy::print_stdout, reason = "the figures of a long run")]
fn run(half: u64) {
    let asked = std::env::var("ROLLOUT2_SCHEDULES").ok().and_then(|count| count.parse().ok());
    let mut ends = [0; 6];
    for seed in (half..asked.unwrap_or(SCHEDULES)).step_by(2) {
        let builder = &mut tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build().unwrap();
        ends[usize::from(runtime.block_on(one(seed)))] += 1;
    }
    // Every exit code must occur.
    assert!([0, 3, 4, 5].iter().all(|exit| ends[*exit] > 0), "{ends:?}");
    println!("exits 0 to 5: {ends:?}");
}

/// Runs one schedule and returns its exit code.
async fn one(seed: u64) -> u8 {
    let mut dice = Dice::new(seed);
    let spread = Duration::from_millis(dice.below(2_000));
    let controllers = Controllers::in_order(Order::Seeded(seed))
        .kubelet_timing(KubeletTiming { spread, ..KubeletTiming::default() });
    let lab = Lab::unattributed(controllers);
    let plan = Plan::draw(&mut dice);
    let key = lab.hands().workload(plan.resource, "app", &plan.spec);
    lab.pass(60).await;
    for fault in &plan.faults {
        lab.cluster.fault(fault.clone());
    }
    let patch = json!({"spec": plan.change});
    lab.later(plan.changed_after, {
        let key = key.clone();
        move |hands| hands.patch(&key, &patch)
    });
    lab.pass(dice.below(2)).await;
    for (milliseconds, disturbance) in plan.disturbances.clone() {
        let key = key.clone();
        lab.later(milliseconds, move |hands| disturbance.happen(hands, &key));
    }
    let words = format!("{}/app --timeout 5m {}", plan.resource.singular, plan.words);
    let ended = lab.status(&words).await;
    lab.cluster.clear_faults();
    lab.pass(200).await;
    let at_rest = observed(&lab.cluster, &key).unwrap();
    let expected = expected(&at_rest, &words, lab.cluster.store(|store| store.now()));
    assert_eq!(
        ended.exit,
        expected,
        "seed {seed}: {words}\n{plan:#?}\n{}\n{:?}",
        ended.transcript,
        verdict(&at_rest)
    );
    let notes = ended.stderr.lines().filter(|line| line.starts_with("note: in-process")).count();
    assert!(notes <= 2, "seed {seed}\n{}", ended.transcript); // two outages that are a minute apart count as two
    ended.exit
}

/// Returns the exit code for the final state of a rollout.
fn expected(at_rest: &Observation, words: &str, now: k8s_openapi::jiff::Timestamp) -> u8 {
    let state = verdict(at_rest).state;
    let counts = Counts::of(&at_rest.workload);
    let is_a_set = !at_rest.workload.kind().has_progress_deadline;
    // A StatefulSet can be stuck with a surplus pod and have all others updated.
    let is_all_new = counts.outdated() == 0 && (!is_a_set || counts.total <= counts.wanted);
    match state {
        RolloutState::Failed => 4,
        RolloutState::Held | RolloutState::Paused => 5,
        RolloutState::Complete if is_all_new || !words.contains("--until") => 0,
        RolloutState::Complete if rollout2::model::workload::strategy::partition(&at_rest.workload) > 0 => 5,
        RolloutState::Complete | RolloutState::Progressing | RolloutState::Unobserved => {
            let fails = |id| {
                matches!(
                    id,
                    CauseId::ImageNotFound
                        | CauseId::MissingConfigMap
                        | CauseId::CrashLoop
                        | CauseId::OutOfMemory
                )
            };
            let doomed =
                words.contains("--fail-fast") && causes(at_rest, now).iter().any(|cause| fails(cause.id));
            if doomed || (words.contains("--deadline") && is_a_set) { 4 } else { 3 }
        }
    }
}

/// The events of a schedule.
#[derive(Debug)]
struct Plan {
    resource: &'static Resource,
    spec: Value,
    change: Value,
    /// In milliseconds after the start of the follower.
    changed_after: u64,
    words: String,
    faults: Vec<Fault>,
    disturbances: Vec<(u64, Disturbance)>,
}

/// What other clients do meanwhile.
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
    fn happen(self, hands: &Hands, key: &Key) {
        match self {
            Self::Compacted => hands.cluster.store(simcluster::Store::compact),
            Self::Scaled(replicas) if key.resource != &DAEMONSETS => {
                hands.patch(key, &json!({"spec": {"replicas": replicas}}));
            }
            Self::Scaled(_) => {}
            Self::PodLost(index) => {
                let pods = hands.cluster.store(|store| {
                    store.list(&PODS, Some("default")).map(|(key, _)| key.clone()).collect::<Vec<_>>()
                });
                if let Some(pod) = pods.get(index % pods.len().max(1)) {
                    hands.delete(pod);
                }
            }
        }
    }
}

impl Plan {
    fn draw(dice: &mut Dice) -> Self {
        let resource = *dice.one_of(&[&DEPLOYMENTS, &DEPLOYMENTS, &STATEFULSETS, &DAEMONSETS]);
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
        let mut words = vec![dice.one_of(&["--stable 40s", "--stable 45s --until complete"]).to_string()];
        words.extend((dice.below(2) == 0).then(|| "--fail-fast=40s".to_owned()));
        words.extend((dice.below(3) == 0).then(|| "--deadline 150s".to_owned()));
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
            words: words.join(" "),
            faults: (0..dice.below(4)).map(|_| fault(dice)).collect(),
            disturbances,
        }
    }
}

fn spec(resource: &'static Resource, dice: &mut Dice) -> Value {
    let replicas = 1 + dice.below(5);
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
    if resource == &STATEFULSETS && dice.below(2) == 0 { partition } else { on_delete }
}

fn fault(dice: &mut Dice) -> Fault {
    let events = usize::try_from(dice.below(6)).unwrap();
    let bytes = usize::try_from(200 + dice.below(6_000)).unwrap();
    let refusal = |code| FaultAction::Refuse(Refusal::with_status(code, "out of order"));
    let act = match dice.below(13) {
        0 | 1 => FaultAction::CloseWatch(events),
        2 => FaultAction::ExpireWatch(events),
        3 | 4 => FaultAction::SilenceWatch(events),
        5 => FaultAction::CutBody(bytes),
        6 => FaultAction::TruncateJson(bytes),
        7 => FaultAction::Html(502),
        8 => refusal(500),
        9 => refusal(503),
        10 => FaultAction::Refuse(Refusal::with_status(429, "busy").retry_after(2)),
        11 => FaultAction::Delay(Duration::from_millis(dice.below(4_000))),
        _ => FaultAction::LoseRequest,
    };
    let verb = *dice.one_of(&[Verb::Watch, Verb::Watch, Verb::List]);
    let requests = match dice.below(3) {
        0 => Requests::verb(verb),
        _ => Requests::of(verb, RESOURCES[usize::try_from(dice.below(6)).unwrap()]),
    };
    let times = usize::try_from(1 + dice.below(6)).unwrap();
    Fault::on(requests, act).after(usize::try_from(dice.below(3)).unwrap()).times(times)
}
