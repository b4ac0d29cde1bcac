//! What happens in one run, drawn from a seed.

use std::time::Duration;

use harness::random::Dice;
use serde_json::{Value, json};
use simcluster::Resource;
use simcluster::resource::{ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS};

use crate::deployments::generator::{BROKEN, Words, death, words};
use crate::external_changes::Deed;
use crate::kill_switch::Death;

/// A kind of OpenKruise.
#[expect(clippy::enum_variant_names, reason = "these are the names of the kinds")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    CloneSet,
    StatefulSet,
    DaemonSet,
}

impl Kind {
    pub(super) fn resource(self) -> &'static Resource {
        match self {
            Self::CloneSet => &CLONESETS,
            Self::StatefulSet => &ADVANCED_STATEFULSETS,
            Self::DaemonSet => &ADVANCED_DAEMONSETS,
        }
    }

    fn target(self) -> &'static str {
        match self {
            Self::CloneSet => "cloneset/web",
            Self::StatefulSet => "asts/web",
            Self::DaemonSet => "ads/web",
        }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    pub(super) kind: Kind,
    /// The wanted pods; of a DaemonSet, the nodes.
    pub(super) pods: i64,
    pub(super) spec: Value,
    pub(super) image: &'static str,
    /// Whether it is paused before; otherwise the rollout runs already when it is stepped.
    pub(super) is_paused_first: bool,
    /// How long the rollout runs before it is stepped.
    pub(super) head_start: Duration,
    pub(super) words: Words,
    /// The zone of `--node-selector`. Once its nodes are updated, the user types the command for all nodes.
    pub(super) zone: Option<u64>,
    pub(super) deaths: Vec<Death>,
    /// Others, each after so many milliseconds.
    pub(super) deeds: Vec<(u64, Deed)>,
    pub(super) spread: Duration,
}

impl Draw {
    pub(super) fn of(kind: Kind, dice: &mut Dice) -> Self {
        let pods = 1 + signed(dice.below(10));
        let is_ordered = kind == Kind::StatefulSet && dice.once_in(3);
        let mut spec = json!({"updateStrategy": strategy(kind, dice, pods, is_ordered)});
        if kind != Kind::DaemonSet {
            spec["replicas"] = pods.into();
        }
        if kind == Kind::StatefulSet {
            spec["podManagementPolicy"] = if is_ordered { "OrderedReady".into() } else { "Parallel".into() };
            if dice.once_in(4) {
                spec["reserveOrdinals"] = json!([dice.below(6), 2]);
            }
        } else if dice.once_in(3) {
            spec["minReadySeconds"] = (*dice.one_of(&[2, 10])).into();
        }
        let zone = (kind == Kind::DaemonSet && dice.once_in(4)).then(|| dice.below(count(pods.min(3))));
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
            words: Words { surge: None, ..words(dice, pods) },
            zone,
            deaths: (0..dice.below(4)).map(|_| death(dice)).collect(),
            deeds: (0..deeds).map(|_| (dice.below(90_000), deed(kind, dice, pods, is_ordered))).collect(),
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
        let selector = self.zone.map(|zone| format!(" --node-selector topology.kubernetes.io/zone=z{zone}"));
        format!("step {}{}{}", self.kind.target(), self.words.options(), selector.unwrap_or_default())
    }
}

/// In place and recreated; limits as numbers and percentages; a partition of the user's own that keeps some pods.
fn strategy(kind: Kind, dice: &mut Dice, pods: i64, is_ordered: bool) -> Value {
    let policy = match (kind, dice.once_in(3)) {
        (Kind::DaemonSet, true) => ("rollingUpdateType", "Standard"),
        (Kind::DaemonSet, false) => ("rollingUpdateType", "InPlaceIfPossible"),
        (_, true) => ("podUpdatePolicy", "ReCreate"),
        (_, false) => ("podUpdatePolicy", "InPlaceIfPossible"),
    };
    let mut limits = json!({policy.0: policy.1});
    limits["maxUnavailable"] =
        if dice.once_in(2) { json!(1 + dice.below(4)) } else { json!(*dice.one_of(&["10%", "34%", "50%"])) };
    if kind == Kind::CloneSet && dice.once_in(4) {
        limits["maxSurge"] = if dice.once_in(2) { json!(1 + dice.below(2)) } else { json!("25%") };
    }
    if pods > 1 && dice.once_in(4) {
        let is_share = kind != Kind::StatefulSet && dice.once_in(2);
        limits["partition"] = if is_share {
            json!(*dice.one_of(&["30%", "50%"]))
        } else {
            (1 + signed(dice.below(count(pods - 1)))).into()
        };
    }
    if kind == Kind::StatefulSet && dice.once_in(3) {
        limits["minReadySeconds"] = (*dice.one_of(&[2, 10])).into();
    }
    if kind == Kind::StatefulSet && !is_ordered && dice.once_in(4) {
        let label =
            json!({"key": "apps.kubernetes.io/pod-index", "operator": "In", "values": ["0", "3", "4"]});
        let first = json!([{"weight": 5, "matchSelector": {"matchExpressions": [label]}}]);
        limits["unorderedUpdate"] =
            if dice.once_in(2) { json!({}) } else { json!({"priorityStrategy": {"weightPriority": first}}) };
    }
    let is_in_place = limits[policy.0] == "InPlaceIfPossible" && kind != Kind::DaemonSet;
    if is_in_place && dice.once_in(4) {
        limits["inPlaceUpdateStrategy"] = json!({"gracePeriodSeconds": 3});
    }
    json!({"type": "RollingUpdate", "rollingUpdate": limits})
}

fn deed(kind: Kind, dice: &mut Dice, pods: i64, is_ordered: bool) -> Deed {
    match dice.below(12) {
        0..=3 if kind != Kind::DaemonSet => Deed::Scale((pods + signed(dice.below(13)) - 6).max(1)),
        4 => Deed::Image("app:3.0"),
        5 => Deed::Image("app:1.0"),
        6 => Deed::Strategy(strategy(kind, dice, pods, is_ordered)),
        7 => Deed::Pause,
        8 | 9 => Deed::Delete(dice.index(50)),
        10 => Deed::Restart(dice.index(50)),
        _ => Deed::Annotate(dice.below(100)),
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or_default()
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
