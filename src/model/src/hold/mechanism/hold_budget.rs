//! The fields that hold a Deployment between two batches.
//!
//! No pod reaches [`NEVER_AVAILABLE`] seconds, so that no updated pod counts as available, though it is ready and
//! serves. The controller removes outdated pods only as far as `maxUnavailable` allows, and creates updated ones as
//! far as `maxSurge` allows. With `n` wanted pods it rests at `maxUnavailable + maxSurge` updated pods and
//! `n - maxUnavailable` outdated ones.

use serde_json::{Value, json};

use crate::kind::Workload;
use crate::kind::fields::HoldFields;
use crate::kind::update_budget::IntOrPercent;

/// `minReadySeconds` of the hold. The API server requires a larger `progressDeadlineSeconds`.
pub const NEVER_AVAILABLE: i64 = 2_147_483_646;

/// `progressDeadlineSeconds` of the hold, which means none.
pub const NO_DEADLINE: i64 = 2_147_483_647;

/// The number of pods up to which every number of them is a whole percentage.
const EXACT: i64 = 100;

/// The update budget that holds.
///
/// `maxUnavailable` is a percentage: the controller scales both ReplicaSets in proportion, and a number of pods would
/// be too large after a scale-down, so that it would release more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldBudget {
    pub(crate) surge: i64,
    /// `maxUnavailable` in per cent of the wanted pods, rounded down.
    unavailable_percent: i64,
}

impl HoldBudget {
    /// One updated pod besides all outdated ones. A Deployment stops there if another client resumes it too early.
    pub const ONE_SURGE_POD: Self = Self { surge: 1, unavailable_percent: 0 };

    /// Returns the budget that keeps a paused Deployment of these sizes of ReplicaSets as it is. A paused Deployment of
    /// several ReplicaSets is scaled in proportion until it has `maxSurge` more pods than wanted, so that the surge has to
    /// be exact. Without updated pods, several outdated ReplicaSets get one pod more until the first batch: a
    /// `maxUnavailable` in place of the surge would let that batch remove an available pod.
    pub(super) fn at_rest(updated: i64, outdated: i64, wanted: i64) -> Self {
        let surge = (updated + outdated - wanted).max(0);
        let raised = Self::ONE_SURGE_POD.raised(updated, surge, 0, wanted);
        let unavailable_percent = raised.map_or(0, |budget| budget.unavailable_percent);
        match (surge, unavailable_percent) {
            // The API server refuses a budget of zero.
            (0, 0) if updated == 0 => Self::ONE_SURGE_POD,
            (0, 0) => Self { surge, unavailable_percent: 1 },
            _ => Self { surge, unavailable_percent },
        }
    }

    /// Returns the budget that rests at a number of updated pods, of which `surge` are beside all outdated ones. Of more
    /// than 100 pods, up to 1 % more than that are beside them, because a percentage is a whole number. None for no updated
    /// pod: the API server refuses a budget of zero.
    ///
    /// Its `maxUnavailable` is not below the present one, nor below the outdated pods that are already `removed`: the
    /// controller does not create these again but creates updated ones in their places, and with a lower `maxUnavailable`
    /// it would release more.
    #[must_use]
    pub(crate) fn raised(self, updated: i64, surge: i64, removed: i64, wanted: i64) -> Option<Self> {
        let updated = updated.min(wanted);
        if updated <= 0 {
            return None;
        }
        let unavailable = (updated - surge.clamp(0, updated)).max(removed.min(updated));
        let percent = if wanted <= EXACT {
            (100 * unavailable + wanted - 1) / wanted
        } else {
            100 * unavailable / wanted
        };
        let percent = percent.max(self.unavailable_percent);
        Some(Self { surge: (updated - percent * wanted / 100).max(0), unavailable_percent: percent })
    }

    /// Reads the budget of a strategy. A number of unavailable pods is one of another client.
    #[must_use]
    pub fn read(strategy: &Value) -> Option<Self> {
        let limit = |name: &str| IntOrPercent::read(strategy.get("rollingUpdate")?.get(name)?);
        match (limit("maxSurge")?, limit("maxUnavailable")?) {
            (IntOrPercent::Int(surge), IntOrPercent::Percent(unavailable_percent)) => {
                Some(Self { surge, unavailable_percent })
            }
            _ => None,
        }
    }

    /// Returns how many updated pods it rests at.
    #[must_use]
    pub fn updated(self, wanted: i64) -> i64 {
        (self.surge + self.unavailable(wanted)).min(wanted)
    }

    /// Returns how many outdated pods it rests at.
    #[must_use]
    pub fn outdated(self, wanted: i64) -> i64 {
        wanted - self.unavailable(wanted)
    }

    /// Returns how many outdated pods may be unavailable. Rounded as the controller rounds: down, and 1 where nothing else
    /// would let the rollout move.
    fn unavailable(self, wanted: i64) -> i64 {
        let unavailable = (self.unavailable_percent * wanted / 100).min(wanted);
        if unavailable == 0 && self.surge == 0 { 1.min(wanted) } else { unavailable }
    }

    /// Returns the fields of the hold, which also pause the Deployment, so that it releases no pod.
    #[must_use]
    pub fn paused_fields(self) -> HoldFields {
        self.running_fields().and("paused", true.into())
    }

    /// Returns the fields of the hold without a pause: the Deployment releases pods up to this budget.
    #[must_use]
    pub fn running_fields(self) -> HoldFields {
        let unavailable = format!("{}%", self.unavailable_percent);
        let limits = json!({"maxSurge": self.surge, "maxUnavailable": unavailable});
        HoldFields::from([
            ("minReadySeconds", NEVER_AVAILABLE.into()),
            ("progressDeadlineSeconds", NO_DEADLINE.into()),
            (STRATEGY, json!({"type": "RollingUpdate", "rollingUpdate": limits})),
        ])
    }
}

/// The fields that [`HoldBudget::paused_fields`] and [`HoldBudget::running_fields`] replace.
pub(super) const FIELDS: &[&str] = &["paused", "minReadySeconds", "progressDeadlineSeconds", STRATEGY];

pub(super) const STRATEGY: &str = "strategy";

/// The members of `rollingUpdate` that a hold replaces.
pub(super) const LIMITS: [&str; 2] = ["maxSurge", "maxUnavailable"];

/// Whether `minReadySeconds` is that of the hold, which no other client writes.
pub(super) fn is_held(workload: &Workload) -> bool {
    workload.min_ready_seconds() == NEVER_AVAILABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget_for(updated: i64, surge: i64, wanted: i64) -> Option<HoldBudget> {
        HoldBudget::ONE_SURGE_POD.raised(updated, surge, 0, wanted)
    }

    fn strategy(budget: HoldBudget) -> Value {
        budget.running_fields().get("strategy").unwrap().clone()
    }

    #[test]
    fn a_held_budget_stops_at_exactly_the_number_of_updated_pods() {
        for wanted in 1..=300 {
            for updated in 1..=wanted {
                for surge in [0, 1, 2, wanted / 4, wanted] {
                    let budget = budget_for(updated, surge, wanted).unwrap();
                    assert_eq!(budget.updated(wanted), updated, "{budget:?} of {wanted}");
                    let beside = updated - (wanted - budget.outdated(wanted));
                    let most = surge.min(updated) + if wanted > EXACT { wanted / 100 + 1 } else { 0 };
                    assert!(
                        (surge.min(updated)..=most).contains(&beside),
                        "{budget:?} of {wanted}: {beside}"
                    );
                    assert_eq!(HoldBudget::read(&strategy(budget)), Some(budget));
                }
            }
        }
        assert_eq!(budget_for(0, 1, 10), None);
        assert_eq!(budget_for(1, 1, 0), None);
    }

    /// The pod counts are measured on a real control plane.
    #[test]
    fn the_budget_has_the_measured_fields_and_pods() {
        for (updated, surge, written, outdated) in [
            (1, 0, json!({"maxSurge": 0, "maxUnavailable": "10%"}), 9),
            (3, 0, json!({"maxSurge": 0, "maxUnavailable": "30%"}), 7),
            (5, 1, json!({"maxSurge": 1, "maxUnavailable": "40%"}), 6),
            (1, 3, json!({"maxSurge": 1, "maxUnavailable": "0%"}), 10),
            (10, 1, json!({"maxSurge": 1, "maxUnavailable": "90%"}), 1),
        ] {
            let budget = budget_for(updated, surge, 10).unwrap();
            assert_eq!(strategy(budget)["rollingUpdate"], written);
            assert_eq!(budget.outdated(10), outdated);
        }
    }

    /// Both ReplicaSets are scaled in proportion, and the budget must not release more pods then.
    #[test]
    fn scaling_keeps_the_proportion() {
        for before in 1..=100 {
            for updated in 1..before {
                let budget = budget_for(updated, 1, before).unwrap();
                for after in 1..=before {
                    let exact = f64::from(i32::try_from(budget.unavailable(before) * after).unwrap())
                        / f64::from(i32::try_from(before).unwrap());
                    let removed = f64::from(i32::try_from(budget.unavailable(after)).unwrap());
                    assert!(removed <= exact + 1.0, "{budget:?}: {before} -> {after}: {removed} of {exact}");
                }
            }
        }
    }

    /// 10% of 5 pods is none, so that the controller updates one.
    #[test]
    fn a_budget_that_a_scale_down_rounds_to_nothing_updates_one_pod() {
        let budget = budget_for(1, 0, 10).unwrap();
        assert_eq!((budget.updated(5), budget.outdated(5)), (1, 4));
    }

    #[test]
    fn a_budget_of_another_client_is_not_read_as_a_held_budget() {
        for strategy in [
            json!(null),
            json!({"type": "Recreate"}),
            json!({"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}),
            json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}),
        ] {
            assert_eq!(HoldBudget::read(&strategy), None, "{strategy}");
        }
    }
}
