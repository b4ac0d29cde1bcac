//! Deployments: how their runs are drawn.

use harness::random::Dice;
use serde_json::{Value, json};
use simcluster::resource::DEPLOYMENTS;
use simcluster::{Builder, Resource, SimCluster, Verb};

use super::oracle;
use crate::step_proof::external_changes::Deed;
use crate::step_proof::seeded::draw::{Draw, Kind, signed};
use crate::step_proof::seeded::history::Moment;

/// The kind of these runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deployment;

impl Kind for Deployment {
    fn resource(self) -> &'static Resource {
        &DEPLOYMENTS
    }

    fn target(self) -> &'static str {
        "deployment/web"
    }

    fn builder(self, _pods: i64) -> Builder {
        SimCluster::builder().nodes(3)
    }

    fn draw(self, dice: &mut Dice) -> Draw<Self> {
        let replicas = 1 + signed(dice.below(12));
        let mut spec = json!({"replicas": replicas, "strategy": strategy(dice)});
        if dice.once_in(3) {
            spec["minReadySeconds"] = (*dice.one_of(&[2, 10])).into();
        }
        if dice.once_in(3) {
            spec["progressDeadlineSeconds"] = (*dice.one_of(&[60, 900, 2_147_483_647_i64])).into();
        }
        Draw::of((self, replicas, spec), dice, |dice| deed(dice, replicas))
    }

    fn judge(draw: &Draw<Self>, history: &[Moment]) -> Vec<String> {
        oracle::judge(draw, history)
    }

    fn check_write(verb: Option<Verb>, body: &[u8]) -> Result<(), String> {
        oracle::check_write(verb, body)
    }

    fn kept_in_the_end(_draw: &Draw<Self>, _wanted: i64) -> i64 {
        0
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
