//! What happens in one run, drawn from a seed.

use std::fmt::Debug;
use std::time::Duration;

use harness::random::Dice;
use serde_json::Value;
use simcluster::{Builder, Resource, Verb};

use super::history::Moment;
use crate::step_proof::command::{Batches, Share};
use crate::step_proof::external_changes::Deed;
use crate::step_proof::kill_switch::Death;

/// A kind of workload: how its runs are drawn, and what its oracle says of them.
pub(crate) trait Kind: Copy + Debug + 'static {
    fn resource(self) -> &'static Resource;

    /// The workload on the command line.
    fn target(self) -> &'static str;

    /// The cluster for so many pods.
    fn builder(self, pods: i64) -> Builder;

    /// Draws one run.
    fn draw(self, dice: &mut Dice) -> Draw<Self>;

    /// Returns what is wrong with a history.
    fn judge(draw: &Draw<Self>, history: &[Moment]) -> Vec<String>;

    /// What one write of ours has to be.
    fn check_write(verb: Option<Verb>, body: &[u8]) -> Result<(), String>;

    /// How many of the wanted pods the user's own partition keeps.
    fn kept_in_the_end(draw: &Draw<Self>, wanted: i64) -> i64;
}

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Draw<K> {
    pub(crate) kind: K,
    /// The wanted pods; of a DaemonSet, the nodes.
    pub(crate) pods: i64,
    pub(crate) spec: Value,
    pub(crate) image: &'static str,
    /// Whether it is paused before; otherwise the rollout runs already when it is stepped.
    pub(crate) is_paused_first: bool,
    /// How long the rollout runs before it is stepped.
    pub(crate) head_start: Duration,
    pub(crate) words: Words,
    /// The zone of `--node-selector`. Once its nodes are updated, the user types the command for all nodes.
    pub(crate) zone: Option<u64>,
    pub(crate) deaths: Vec<Death>,
    /// Others, each after so many milliseconds.
    pub(crate) deeds: Vec<(u64, Deed)>,
    pub(crate) spread: Duration,
}

/// What the first command is given.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    pub(crate) batches: Batches,
    pub(crate) max_unavailable: Option<Share>,
    pub(crate) surge: Option<Share>,
    /// Seconds.
    pub(crate) soak: i64,
    pub(crate) is_undone: bool,
    pub(crate) no_canary: bool,
}

pub(crate) const BROKEN: [&str; 4] = ["app:2.0-bad", "app:2.0-crash", "app:2.0-config", "app:2.0-notready"];

impl<K: Kind> Draw<K> {
    /// Draws what happens to a workload with this `spec`.
    pub(crate) fn of(
        (kind, pods, spec): (K, i64, Value),
        dice: &mut Dice,
        deed: impl Fn(&mut Dice) -> Deed,
    ) -> Self {
        let image = match dice.below(10) {
            0..=2 => *dice.one_of(&BROKEN),
            3 => "app:2.0-slow",
            _ => "app:2.0",
        };
        let deeds = if dice.once_in(2) { dice.below(4) } else { 0 };
        Self {
            kind,
            pods,
            spec,
            image,
            is_paused_first: !dice.once_in(3),
            head_start: Duration::from_millis(dice.below(15_000)),
            words: words(dice, pods),
            zone: None,
            deaths: (0..dice.below(4)).map(|_| death(dice)).collect(),
            deeds: (0..deeds).map(|_| (dice.below(90_000), deed(dice))).collect(),
            spread: Duration::from_millis(dice.below(2_000)),
        }
    }

    /// Whether no other client has a hand in it.
    pub(crate) fn is_quiet(&self) -> bool {
        self.deeds.is_empty()
    }

    /// Whether the new revision never works.
    pub(crate) fn is_broken(&self) -> bool {
        BROKEN.contains(&self.image)
    }

    /// The words of the first command.
    pub(crate) fn line(&self) -> String {
        let selector = self.zone.map(|zone| format!(" --node-selector topology.kubernetes.io/zone=z{zone}"));
        format!("step {}{}{}", self.kind.target(), self.words.options(), selector.unwrap_or_default())
    }
}

impl Words {
    /// The options of the first command.
    pub(crate) fn options(&self) -> String {
        let words = self;
        let mut line = format!(" --all --batch-timeout 200s --soak {}s", words.soak);
        match &words.batches {
            Batches::By(share) => line += &format!(" --by {share}"),
            Batches::Until(list) => {
                let list: Vec<String> = list.iter().map(Share::to_string).collect();
                line += &format!(" --batches {}", list.join(","));
            }
        }
        if let Some(share) = words.max_unavailable {
            line += &format!(" --max-unavailable {share}");
        }
        if let Some(share) = words.surge {
            line += &format!(" --surge {share}");
        }
        if words.is_undone {
            line += " --on-failure undo";
        }
        if words.no_canary {
            line += " --no-canary";
        }
        line
    }
}

fn words(dice: &mut Dice, replicas: i64) -> Words {
    let batches = match dice.below(3) {
        0 => Batches::Until(
            [Share::Pods(1), Share::PerCent(40), Share::PerCent(100)][dice.index(3)..].to_vec(),
        ),
        _ => Batches::By(share(dice, 4)),
    };
    let most = (replicas - 1).clamp(1, 4);
    Words {
        batches,
        max_unavailable: dice.once_in(2).then(|| Share::Pods(1 + signed(dice.below(most.unsigned_abs())))),
        surge: dice.once_in(4).then(|| share(dice, 4)),
        soak: *dice.one_of(&[0, 5, 30]),
        is_undone: dice.once_in(2),
        no_canary: dice.once_in(4),
    }
}

fn share(dice: &mut Dice, most: u64) -> Share {
    if dice.once_in(3) {
        Share::PerCent(*dice.one_of(&[10, 25, 34, 50, 100]))
    } else {
        Share::Pods(1 + signed(dice.below(most)))
    }
}

fn death(dice: &mut Dice) -> Death {
    let most = *dice.one_of(&[8, 20, 60]);
    Death { at: dice.index(most), is_done: dice.once_in(2) }
}

pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or_default()
}
