//! Generates the events of one run from a seed.

use std::time::Duration;

use harness::random::Dice;
use serde_json::json;
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::resource::{CONTROLLERREVISIONS, EVENTS, PODS, REPLICASETS, Resource};
use simcluster::{Refusal, Verb};

use crate::step_proof::command::{Batches, Reach, Share, Words};
use crate::step_proof::external_changes::ExternalChange;
use crate::step_proof::kill_switch::{Death, Suspension};
use crate::step_proof::kind::{Created, Kind};
use crate::step_proof::nodes::NodeFault;
use crate::step_proof::user::Signal;

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) created: Created,
    pub(crate) spread: Duration,
    /// What is released.
    pub(crate) image: &'static str,
    /// Whether it is paused before; otherwise the rollout runs already when it is stepped.
    pub(crate) is_paused_first: bool,
    /// A broken image whose rollout began before all that.
    pub(crate) earlier_image: Option<&'static str>,
    pub(crate) words: Words,
    pub(crate) deaths: Vec<Death>,
    /// The signals to each process, in order.
    pub(crate) signals: Vec<Option<Signal>>,
    pub(crate) faults: Vec<Fault>,
    /// Changes by other clients, each after so many milliseconds.
    pub(crate) changes: Vec<(u64, ExternalChange)>,
    /// The nodes that are not ready for a while.
    pub(crate) node_faults: Vec<NodeFault>,
    /// When the processes are suspended: the first ones, in order.
    pub(crate) suspensions: Vec<Suspension>,
    /// A second process, after so many milliseconds.
    pub(crate) second: Option<(u64, Words)>,
    /// Whether every other process runs on a second host.
    pub(crate) has_two_hosts: bool,
    /// The results of the script of the run, bit by bit: 1 is a failure.
    pub(crate) failed_checks: u64,
}

const BROKEN: [&str; 5] =
    ["app:2.0-bad", "app:2.0-crash", "app:2.0-config", "app:2.0-oom", "app:2.0-notready"];

impl Draw {
    pub(crate) fn of(kind: Kind, dice: &mut Dice) -> Self {
        let created = kind.create(dice);
        let is_daemon_set = kind == Kind::DaemonSet;
        let replicas = created.pods;
        let image = match dice.below(10) {
            0..=2 => dice.one_of(&BROKEN),
            3 => "app:2.0-slow",
            _ => "app:2.0",
        };
        let is_disturbed = dice.once_in(2);
        let count = |most| if is_disturbed { most } else { 1 };
        let mut draw = Self {
            spread: Duration::from_millis(dice.below(2_000)),
            image,
            is_paused_first: !dice.once_in(4),
            earlier_image: None,
            words: words(kind, dice, replicas),
            deaths: (0..dice.below(4)).map(|_| death(dice)).collect(),
            signals: Vec::new(),
            faults: (0..dice.below(count(4))).map(|_| fault(kind, dice)).collect(),
            changes: (0..dice.below(count(4)))
                .map(|_| (dice.below(60_000), kind.external_change(dice, &created)))
                .collect(),
            node_faults: Vec::new(),
            suspensions: Vec::new(),
            second: dice.once_in(6).then(|| (dice.below(30_000), Words { kind, ..Words::default() })),
            has_two_hosts: false,
            failed_checks: 0,
            created,
        };
        let check = dice.once_in(8).then(|| !dice.once_in(3));
        draw.words.check = check;
        if let Some((_, words)) = &mut draw.second {
            words.check = check;
        }
        if kind == Kind::StatefulSet && dice.once_in(8) {
            draw.ends_at_partition(dice, replicas);
        }
        if is_daemon_set && dice.once_in(3) {
            // Few of the faults above meet a deletion.
            draw.words.evict = !dice.once_in(3);
            let verb = if draw.words.evict { Verb::Create } else { Verb::Delete };
            draw.faults.push(fault_on(kind, dice, |dice| (verb, 5 + dice.below(6))));
        }
        if is_daemon_set && dice.once_in(6) {
            draw.words.zone = Some(signed(dice.below(3)).min(replicas - 1));
        }
        if dice.once_in(4) {
            draw.signals = (0..=dice.below(3)).map(|_| dice.once_in(2).then(|| signal(dice))).collect();
        }
        draw.has_two_hosts = dice.once_in(3);
        if draw.words.check.is_none() && dice.once_in(3) {
            draw.watches(dice);
        }
        if kind == Kind::Deployment && draw.is_paused_first && dice.once_in(4) {
            draw.fixes_forward(dice);
        }
        if kind == Kind::AdvancedStatefulSet {
            draw.orders(dice);
        }
        if is_daemon_set && dice.once_in(4) {
            let [first, second] = [0; 2].map(|_| signed(dice.below(3)).min(replicas - 1));
            draw.words.zone = Some(first);
            let Words { check, is_scripted, .. } = draw.words;
            let next = Words { kind, zone: Some(second), check, is_scripted, ..Words::default() };
            draw.second = draw.second.or_else(|| dice.once_in(2).then(|| (dice.below(120_000), next)));
        }
        if dice.once_in(if kind.is_on_nodes() { 3 } else { 4 }) {
            draw.node_faults.extend((0..=dice.below(2)).map(|_| node_fault(dice)));
        }
        if kind.is_on_nodes() && !draw.node_faults.is_empty() {
            // Else most plans wait until every node is ready.
            draw.words.force |= dice.once_in(3);
            let pods = (2 + signed(dice.below(2))).min(replicas - 1).max(1);
            draw.words.max_unavailable = Some(Share::Pods(pods));
        }
        if is_daemon_set && dice.once_in(6) {
            draw.words.evict = false;
            draw.faults.push(fault_on(kind, dice, |dice| (Verb::Delete, 5 + dice.below(6))));
        }
        if dice.once_in(if is_daemon_set { 2 } else { 8 }) {
            draw.suspensions = (0..=dice.below(2)).map(|_| suspension(dice)).collect();
        }
        draw
    }

    /// Reserved ordinals, and an order that is not that of the ordinals.
    fn orders(&mut self, dice: &mut Dice) {
        let reserved = |dice: &mut Dice| {
            let first = dice.below(6);
            let ordinals = [json!(first), json!(format!("{first}-{}", first + dice.below(3)))];
            json!([dice.below(4), ordinals[dice.index(2)]])
        };
        if dice.once_in(3) {
            self.created.spec["reserveOrdinals"] = reserved(dice);
            if dice.once_in(2) {
                self.created.spec["ordinals"] = json!({"start": 1 + dice.below(5)});
            }
            if dice.once_in(4) {
                self.changes.push((dice.below(60_000), ExternalChange::Reserve(reserved(dice))));
            }
        }
        if self.created.spec["podManagementPolicy"] == "Parallel" && dice.once_in(3) {
            let terms: Vec<_> = (0..3)
                .map(|_| {
                    json!({"weight": 1 + dice.below(9), "matchSelector":
                {"matchLabels": {"apps.kubernetes.io/pod-index": dice.below(8).to_string()}}})
                })
                .collect();
            self.created.spec["updateStrategy"]["rollingUpdate"]["unorderedUpdate"] =
                json!({"priorityStrategy": {"weightPriority": terms}});
            if dice.once_in(2) {
                // As many pods may be unavailable as there are on the node. They may not be the next ones.
                self.node_faults.push(node_fault(dice));
                let on_node = (self.created.pods + 2) / 3;
                self.created.spec["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = on_node.into();
                self.words.max_unavailable = Some(Share::Pods(on_node));
            }
        }
    }

    /// A rollout that fails beside all outdated pods, and is paused for the image of the run.
    fn fixes_forward(&mut self, dice: &mut Dice) {
        self.earlier_image = Some("app:1.5-crash");
        let surge = 1 + dice.below(4);
        self.created.spec["strategy"] =
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0}});
    }

    /// A check that runs again and again, whose results differ. The others know nothing of the interval.
    fn watches(&mut self, dice: &mut Dice) {
        self.words.is_scripted = true;
        if let Some((_, words)) = &mut self.second {
            words.is_scripted = true;
        }
        self.words.soak = Some(*dice.one_of(&[5, 30, 90]));
        self.words.watch = Some((*dice.one_of(&[2, 10, 20]), 1 + dice.index(3)));
        // A failure is one in two, in four or in eight.
        let draws = 1 + dice.below(3);
        self.failed_checks = (0..draws).fold(u64::MAX, |bits, _| bits & dice.below(u64::MAX)) >> 2;
    }

    /// The host of a process, by its number.
    pub(crate) fn host(&self, number: usize) -> u64 {
        if self.has_two_hosts { number as u64 % 2 } else { 0 }
    }

    /// A plan that asks for all pods, with an original partition that keeps some or all of them.
    fn ends_at_partition(&mut self, dice: &mut Dice, replicas: i64) {
        self.words.reach = Some(Reach::To(Share::PerCent(100)));
        self.words.undo = Some(!dice.once_in(3));
        let partition = 1 + signed(dice.below(replicas.unsigned_abs()));
        self.created.spec["updateStrategy"]["rollingUpdate"]["partition"] = partition.into();
        if dice.once_in(2) {
            self.image = *dice.one_of(&BROKEN);
        }
    }

    /// Whether the run has no faults and no external changes.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_calm() && self.node_faults.is_empty()
    }

    /// Whether nothing interferes but nodes that are not ready for a shorter time than a batch may take.
    pub(crate) fn is_calm(&self) -> bool {
        self.faults.is_empty()
            && self.changes.is_empty()
            && self.node_faults.iter().all(|fault| fault.lasts < Duration::from_secs(100))
    }

    /// Whether the new revision never works, or a check fails.
    pub(crate) fn is_broken(&self) -> bool {
        BROKEN.contains(&self.image) || self.words.check == Some(false)
    }
}

pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or_default()
}

fn share(dice: &mut Dice, most: i64) -> Share {
    if dice.once_in(3) {
        Share::PerCent(*dice.one_of(&[10, 25, 34, 50, 100]))
    } else {
        Share::Pods(1 + signed(dice.below(most.unsigned_abs())))
    }
}

/// Draws the words of the first command.
fn words(kind: Kind, dice: &mut Dice, replicas: i64) -> Words {
    let of_nodes = (kind == Kind::DaemonSet).then(|| (dice.once_in(4), dice.once_in(3), dice.once_in(4)));
    let mut words = Words { kind, ..common_words(dice, replicas) };
    if let Some(flags) = of_nodes {
        (words.force, words.by_zone, words.evict) = flags;
    }
    if kind == Kind::Deployment {
        words.surge = dice.once_in(4).then(|| share(dice, 4));
    }
    words
}

fn common_words(dice: &mut Dice, replicas: i64) -> Words {
    let is_large = replicas > 12;
    let batches = match dice.below(4) {
        0 if !is_large => None,
        1 => Some(Batches::Until(
            [Share::Pods(1), Share::PerCent(40), Share::PerCent(100)][dice.index(3)..].to_vec(),
        )),
        _ if is_large => Some(Batches::By(*dice.one_of(&[Share::PerCent(25), Share::PerCent(40)]))),
        _ => Some(Batches::By(share(dice, 3))),
    };
    let reach = match dice.below(5) {
        0 if !is_large => None,
        1 => Some(Reach::To(share(dice, replicas))),
        _ => Some(Reach::All),
    };
    let most = (replicas - 1).clamp(1, 5);
    let soaks: &[i64] = if is_large { &[0, 5, 20] } else { &[0, 5, 30, 90] };
    Words {
        batches,
        reach,
        max_unavailable: (!dice.once_in(3)).then(|| Share::Pods(1 + signed(dice.below(most.unsigned_abs())))),
        soak: (!dice.once_in(3)).then(|| *dice.one_of(soaks)),
        final_soak: dice.once_in(4).then(|| *dice.one_of(&[5, 60])),
        batch_timeout: Some(*dice.one_of(&[180, 300])),
        undo: dice.once_in(2).then(|| dice.once_in(2)),
        no_canary: dice.once_in(4),
        force: dice.once_in(12),
        take_over: dice.once_in(12),
        skip_soak: dice.once_in(12),
        new_plan: false,
        timeout: dice.once_in(8).then(|| 20 + signed(dice.below(100))),
        ..Words::default()
    }
}

fn death(dice: &mut Dice) -> Death {
    let most = *dice.one_of(&[8, 20, 60]);
    Death { at: dice.index(most), is_done: dice.once_in(2) }
}

fn signal(dice: &mut Dice) -> Signal {
    let most = *dice.one_of(&[1_500, 20_000, 90_000]);
    let after = Duration::from_millis(dice.below(most));
    Signal { number: *dice.one_of(&[1, 2, 15]), after, is_repeated: dice.once_in(3) }
}

/// Half of them are of the batch in progress.
fn node_fault(dice: &mut Dice) -> NodeFault {
    let most = *dice.one_of(&[15_000, 120_000]);
    NodeFault {
        after: Duration::from_millis(dice.below(most)),
        lasts: Duration::from_secs(*dice.one_of(&[10, 45, 90, 400])),
        index: dice.once_in(2).then(|| dice.index(50)),
    }
}

fn suspension(dice: &mut Dice) -> Suspension {
    let lasts = Duration::from_secs(*dice.one_of(&[10, 20, 90, 400]));
    // The first wave is after the reads that find the workload, acquire the lock, begin the batch and decide on the wave.
    let at = if dice.once_in(2) { 4 } else { dice.index(10) };
    Suspension { at, lasts }
}

fn is_read(verb: Verb) -> bool {
    matches!(verb, Verb::Watch | Verb::List | Verb::Get)
}

fn fault(kind: Kind, dice: &mut Dice) -> Fault {
    let verbs = [
        Verb::Watch,
        Verb::List,
        Verb::Get,
        Verb::Patch,
        Verb::Patch,
        Verb::Delete,
        Verb::Create, // evictions
    ];
    fault_on(kind, dice, |dice| (*dice.one_of(&verbs), dice.below(12)))
}

/// Draws a fault of a verb and a number. Those from 5 to 10 make any request fail.
fn fault_on(kind: Kind, dice: &mut Dice, of: impl FnOnce(&mut Dice) -> (Verb, u64)) -> Fault {
    let workloads = kind.resource();
    let revisions = if kind == Kind::Deployment { &REPLICASETS } else { &CONTROLLERREVISIONS };
    let watched: [&Resource; 4] = [workloads, revisions, &PODS, &EVENTS];
    let (events, bytes) = (dice.index(6), 200 + dice.index(6_000));
    let refusal = |code| FaultAction::Refuse(Refusal::with_status(code, "out of order"));
    let (verb, act) = of(dice);
    let act = match act {
        0 if verb == Verb::Watch => FaultAction::CloseWatch(events),
        1 if verb == Verb::Watch => FaultAction::ExpireWatch(events),
        2 if verb == Verb::Watch => FaultAction::SilenceWatch(events),
        3 if is_read(verb) => FaultAction::CutBody(bytes),
        4 if is_read(verb) => FaultAction::TruncateJson(bytes),
        5 => FaultAction::Html(502),
        6 => refusal(500),
        7 => refusal(503),
        8 => FaultAction::Refuse(Refusal::with_status(429, "busy").retry_after(2)),
        9 => FaultAction::LoseRequest,
        10 => FaultAction::LoseAnswer,
        _ => FaultAction::Delay(Duration::from_millis(dice.below(4_000))),
    };
    let requests = match dice.below(3) {
        0 => Requests::verb(verb),
        _ if verb == Verb::Patch => Requests::of(verb, workloads),
        _ if !is_read(verb) => Requests::of(verb, &PODS),
        _ => Requests::of(verb, watched[dice.index(4)]),
    };
    // A run of a DaemonSet deletes few pods, so only an early fault meets one.
    let is_deletion = kind == Kind::DaemonSet && matches!(verb, Verb::Delete | Verb::Create);
    let after = dice.index(if is_deletion { 2 } else { 12 });
    Fault::on(requests, act).after(after).times(1 + dice.index(4))
}
