//! The kinds of OpenKruise: how their runs are drawn.

use harness::random::Dice;
use serde_json::{Value, json};
use simcluster::resource::{ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS};
use simcluster::{Builder, Resource, SimCluster, Verb};

use super::oracle;
use crate::step_proof::external_changes::Deed;
use crate::step_proof::seeded::draw::{Draw, Kind, signed};
use crate::step_proof::seeded::history::Moment;

/// A kind of OpenKruise.
#[expect(clippy::enum_variant_names, reason = "these are the names of the kinds")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kruise {
    CloneSet,
    StatefulSet,
    DaemonSet,
}

impl Kind for Kruise {
    fn resource(self) -> &'static Resource {
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

    fn builder(self, pods: i64) -> Builder {
        let nodes = if self == Self::DaemonSet { usize::try_from(pods).unwrap() } else { 3 };
        SimCluster::builder().kruise().nodes(nodes)
    }

    fn draw(self, dice: &mut Dice) -> Draw<Self> {
        let pods = 1 + signed(dice.below(10));
        let is_ordered = self == Self::StatefulSet && dice.once_in(3);
        let mut spec = json!({"updateStrategy": strategy(self, dice, pods, is_ordered)});
        if self != Self::DaemonSet {
            spec["replicas"] = pods.into();
        }
        if self == Self::StatefulSet {
            spec["podManagementPolicy"] = if is_ordered { "OrderedReady".into() } else { "Parallel".into() };
            if dice.once_in(4) {
                spec["reserveOrdinals"] = json!([dice.below(6), 2]);
            }
        } else if dice.once_in(3) {
            spec["minReadySeconds"] = (*dice.one_of(&[2, 10])).into();
        }
        let zone = (self == Self::DaemonSet && dice.once_in(4)).then(|| dice.below(count(pods.min(3))));
        let mut draw = Draw::of((self, pods, spec), dice, |dice| deed(self, dice, pods, is_ordered));
        (draw.words.surge, draw.zone) = (None, zone);
        draw
    }

    fn judge(draw: &Draw<Self>, history: &[Moment]) -> Vec<String> {
        oracle::judge(draw, history)
    }

    fn check_write(verb: Option<Verb>, body: &[u8]) -> Result<(), String> {
        oracle::check_write(verb, body)
    }

    fn kept_in_the_end(draw: &Draw<Self>, wanted: i64) -> i64 {
        oracle::kept_by(draw.kind, &draw.spec["updateStrategy"]["rollingUpdate"]["partition"], wanted)
    }
}

/// In place and recreated; limits as numbers and percentages; a partition of the user's own that keeps some pods.
fn strategy(kind: Kruise, dice: &mut Dice, pods: i64, is_ordered: bool) -> Value {
    let policy = match (kind, dice.once_in(3)) {
        (Kruise::DaemonSet, true) => ("rollingUpdateType", "Standard"),
        (Kruise::DaemonSet, false) => ("rollingUpdateType", "InPlaceIfPossible"),
        (_, true) => ("podUpdatePolicy", "ReCreate"),
        (_, false) => ("podUpdatePolicy", "InPlaceIfPossible"),
    };
    let mut limits = json!({policy.0: policy.1});
    limits["maxUnavailable"] =
        if dice.once_in(2) { json!(1 + dice.below(4)) } else { json!(*dice.one_of(&["10%", "34%", "50%"])) };
    if kind == Kruise::CloneSet && dice.once_in(4) {
        limits["maxSurge"] = if dice.once_in(2) { json!(1 + dice.below(2)) } else { json!("25%") };
    }
    if pods > 1 && dice.once_in(4) {
        let is_share = kind != Kruise::StatefulSet && dice.once_in(2);
        limits["partition"] = if is_share {
            json!(*dice.one_of(&["30%", "50%"]))
        } else {
            (1 + signed(dice.below(count(pods - 1)))).into()
        };
    }
    if kind == Kruise::StatefulSet && dice.once_in(3) {
        limits["minReadySeconds"] = (*dice.one_of(&[2, 10])).into();
    }
    if kind == Kruise::StatefulSet && !is_ordered && dice.once_in(4) {
        let label =
            json!({"key": "apps.kubernetes.io/pod-index", "operator": "In", "values": ["0", "3", "4"]});
        let first = json!([{"weight": 5, "matchSelector": {"matchExpressions": [label]}}]);
        limits["unorderedUpdate"] =
            if dice.once_in(2) { json!({}) } else { json!({"priorityStrategy": {"weightPriority": first}}) };
    }
    let is_in_place = limits[policy.0] == "InPlaceIfPossible" && kind != Kruise::DaemonSet;
    if is_in_place && dice.once_in(4) {
        limits["inPlaceUpdateStrategy"] = json!({"gracePeriodSeconds": 3});
    }
    json!({"type": "RollingUpdate", "rollingUpdate": limits})
}

fn deed(kind: Kruise, dice: &mut Dice, pods: i64, is_ordered: bool) -> Deed {
    match dice.below(12) {
        0..=3 if kind != Kruise::DaemonSet => Deed::Scale((pods + signed(dice.below(13)) - 6).max(1)),
        4 => Deed::Image("app:3.0"),
        5 => Deed::Image("app:1.0"),
        6 => Deed::Strategy(strategy(kind, dice, pods, is_ordered)),
        7 => Deed::Pause,
        8 | 9 => Deed::Delete(dice.index(50)),
        10 => Deed::Restart(dice.index(50)),
        _ => Deed::Annotate(dice.below(100)),
    }
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
