//! What happens in one run, drawn from a seed.

use std::time::Duration;

use harness::random::Dice;
use serde_json::{Value, json};

use crate::command::{Batches, Share};
use crate::external_changes::Deed;
use crate::kill_switch::Death;

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    pub(super) replicas: i64,
    pub(super) spec: Value,
    pub(super) image: &'static str,
    /// Whether it is paused before; otherwise the rollout runs already when it is stepped.
    pub(super) is_paused_first: bool,
    /// How long the rollout runs before it is stepped.
    pub(super) head_start: Duration,
    pub(super) words: Words,
    pub(super) deaths: Vec<Death>,
    /// Others, each after so many milliseconds.
    pub(super) deeds: Vec<(u64, Deed)>,
    pub(super) spread: Duration,
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

impl Draw {
    pub(super) fn of(dice: &mut Dice) -> Self {
        let replicas = 1 + signed(dice.below(12));
        let mut spec = json!({"replicas": replicas, "strategy": strategy(dice)});
        if dice.once_in(3) {
            spec["minReadySeconds"] = (*dice.one_of(&[2, 10])).into();
        }
        if dice.once_in(3) {
            spec["progressDeadlineSeconds"] = (*dice.one_of(&[60, 900, 2_147_483_647_i64])).into();
        }
        let image = match dice.below(10) {
            0..=2 => *dice.one_of(&BROKEN),
            3 => "app:2.0-slow",
            _ => "app:2.0",
        };
        let is_disturbed = dice.once_in(2);
        let deeds = if is_disturbed { dice.below(4) } else { 0 };
        Self {
            replicas,
            spec,
            image,
            is_paused_first: !dice.once_in(3),
            head_start: Duration::from_millis(dice.below(15_000)),
            words: words(dice, replicas),
            deaths: (0..dice.below(4)).map(|_| death(dice)).collect(),
            deeds: (0..deeds).map(|_| (dice.below(90_000), deed(dice, replicas))).collect(),
            spread: Duration::from_millis(dice.below(2_000)),
        }
    }

    /// Whether no other client has a hand in it.
    pub(super) fn is_quiet(&self) -> bool {
        self.deeds.is_empty()
    }

    /// Whether the new revision never works.
    pub(super) fn is_broken(&self) -> bool {
        BROKEN.contains(&self.image)
    }

    /// The words of the first command.
    pub(super) fn line(&self) -> String {
        format!("step deployment/web{}", self.words.options())
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

/// Every kind of surge and unavailable: numbers and percentages, none of one of them.
fn strategy(dice: &mut Dice) -> Value {
    let limit = |dice: &mut Dice| match dice.below(4) {
        0 => json!(0),
        1 => json!(1 + dice.below(4)),
        _ => json!(format!("{}%", dice.one_of(&[1, 10, 25, 34, 50, 100]))),
    };
    let (surge, mut unavailable) = (limit(dice), limit(dice));
    if surge == json!(0) && unavailable == json!(0) {
        unavailable = json!(1); // the server refuses both
    }
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}})
}

pub(crate) fn words(dice: &mut Dice, replicas: i64) -> Words {
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

pub(crate) fn death(dice: &mut Dice) -> Death {
    let most = *dice.one_of(&[8, 20, 60]);
    Death { at: dice.index(most), is_done: dice.once_in(2) }
}

fn deed(dice: &mut Dice, replicas: i64) -> Deed {
    match dice.below(12) {
        0..=3 => Deed::Scale((replicas + signed(dice.below(13)) - 6).max(1)),
        4 => Deed::Image("app:3.0"),
        5 => Deed::Image("app:1.0"),
        6 => Deed::Merge(json!({"spec": {"strategy": strategy(dice)}})),
        7 => Deed::Pause,
        8 | 9 => Deed::Delete(dice.index(50)),
        10 => Deed::Restart(dice.index(50)),
        _ => Deed::Annotate(dice.below(100)),
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or_default()
}
