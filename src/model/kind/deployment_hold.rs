//! The hold of a Deployment between two pods.
//!
//! No pod reaches [`NEVER_AVAILABLE`] seconds, so that no updated pod counts as available, though it is ready and
//! serves. The controller removes outdated pods only as far as `maxUnavailable` allows, and creates updated ones as
//! far as `maxSurge` allows. With `n` wanted pods it rests at `maxUnavailable + maxSurge` updated pods and
//! `n - maxUnavailable` outdated ones.

use serde_json::{Value, json};

use super::fields::Fields;
use super::update_budget::{IntOrPercent, UpdateBudget};
use crate::model::api::field_path::FieldPath;

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
pub struct HeldBudget {
    surge: i64,
    /// Per cent of the wanted pods, rounded down.
    unavailable: i64,
}

impl HeldBudget {
    /// One updated pod besides all outdated ones. A Deployment stops there if another client resumes it too early.
    pub const ONE_SURGE_POD: Self = Self { surge: 1, unavailable: 0 };

    /// Returns the budget that rests at a number of updated pods, of which `surge` are beside all outdated ones. Of
    /// more than 100 pods, up to 1 % more than that are beside them, because a percentage is a whole number. None for
    /// no updated pod: the API server refuses a budget of zero.
    #[must_use]
    pub fn of(updated: i64, surge: i64, wanted: i64) -> Option<Self> {
        Self { surge: 0, unavailable: 0 }.raised(updated, surge, 0, wanted)
    }

    /// Returns the budget that keeps a paused Deployment as it is. A paused Deployment of several ReplicaSets is scaled in
    /// proportion until it has `maxSurge` more pods than wanted, so that the surge has to be exact. None for no updated
    /// pod.
    #[must_use]
    pub fn standing(updated: i64, outdated: i64, wanted: i64) -> Option<Self> {
        let beside = (updated + outdated - wanted).max(0);
        let budget = Self::of(updated, beside, wanted)?;
        let is_none = beside == 0 && budget.unavailable == 0; // the API server refuses a budget of zero
        Some(Self { surge: beside, unavailable: if is_none { 1 } else { budget.unavailable } })
    }

    /// Returns the budget with more updated pods. The controller does not create the `gone` outdated pods again, and
    /// replaces them by updated ones, so that it never allows fewer unavailable pods.
    fn raised(self, updated: i64, surge: i64, gone: i64, wanted: i64) -> Option<Self> {
        let updated = updated.min(wanted);
        if updated <= 0 {
            return None;
        }
        let unavailable = (updated - surge.clamp(0, updated)).max(gone.min(updated));
        let percent = if wanted <= EXACT {
            (100 * unavailable + wanted - 1) / wanted
        } else {
            100 * unavailable / wanted
        };
        let percent = percent.max(self.unavailable);
        Some(Self { surge: (updated - percent * wanted / 100).max(0), unavailable: percent })
    }

    /// Reads the budget of a strategy. A number of unavailable pods is one of another client.
    #[must_use]
    pub fn read(strategy: &Value) -> Option<Self> {
        let limit = |name: &str| IntOrPercent::read(strategy.get("rollingUpdate")?.get(name)?);
        match (limit("maxSurge")?, limit("maxUnavailable")?) {
            (IntOrPercent::Int(surge), IntOrPercent::Percent(unavailable)) => {
                Some(Self { surge, unavailable })
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

    /// Rounded as the controller rounds: down, and 1 where nothing else would let the rollout move.
    fn unavailable(self, wanted: i64) -> i64 {
        let unavailable = (self.unavailable * wanted / 100).min(wanted);
        if unavailable == 0 && self.surge == 0 { 1.min(wanted) } else { unavailable }
    }

    /// Returns the fields of the hold, which also pause the Deployment, so that it releases no pod.
    #[must_use]
    pub fn paused_fields(self) -> Fields {
        self.fields(Some(Value::Bool(true)))
    }

    /// Returns the fields of the hold without a pause: the Deployment releases pods up to this budget.
    #[must_use]
    pub fn running_fields(self) -> Fields {
        self.fields(None)
    }

    fn fields(self, paused: Option<Value>) -> Fields {
        let unavailable = format!("{}%", self.unavailable);
        let field = |name| FieldPath::of(["spec", name]);
        let limits = json!({"maxSurge": self.surge, "maxUnavailable": unavailable});
        Fields::from([
            (field("paused"), paused),
            (field("minReadySeconds"), Some(NEVER_AVAILABLE.into())),
            (field("progressDeadlineSeconds"), Some(NO_DEADLINE.into())),
            (field("strategy"), Some(json!({"type": "RollingUpdate", "rollingUpdate": limits}))),
        ])
    }
}

/// The pods of a Deployment that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPods {
    /// The wanted pods.
    pub wanted: i64,
    /// The available updated pods.
    pub updated_available: i64,
    /// The outdated pods, available or not. Scaling in proportion rounds their number.
    pub outdated: i64,
    /// The available outdated pods.
    pub outdated_available: i64,
}

impl HeldPods {
    fn available(&self) -> i64 {
        self.updated_available + self.outdated_available
    }

    /// Returns how many of the wanted pods are missing.
    #[must_use]
    pub fn missing(&self) -> i64 {
        (self.wanted - self.available()).max(0)
    }

    /// Returns the budget for the most updated pods, at most `goal`, that costs at most `free` of the wanted available
    /// pods. None if these are not more than the `released` ones, at which the budget of `now` rests. The controller
    /// removes outdated pods as soon as it reads a budget, and those first that are not available.
    #[must_use]
    pub fn raise(
        &self,
        now: HeldBudget,
        released: i64,
        goal: i64,
        surge: i64,
        free: i64,
    ) -> Option<HeldBudget> {
        let spare = (self.available() - self.wanted).max(0);
        let gone = (self.wanted - self.outdated).max(0);
        let costs = |budget: &HeldBudget| {
            let left = self.outdated_available.min(budget.outdated(self.wanted));
            self.outdated_available - left
        };
        let mut budgets = (released + 1..=goal.min(self.wanted))
            .rev()
            .filter_map(|goal| now.raised(goal, surge, gone, self.wanted));
        budgets.find(|budget| costs(budget) <= free + spare)
    }
}

/// Returns the update budget of a strategy. Rounds surge up and unavailable down. If both are zero, one pod may be
/// unavailable (`ResolveFenceposts` in the Deployment controller).
#[must_use]
pub fn budget_of(strategy: Option<&Value>, wanted: i64) -> UpdateBudget {
    let limit = |name: &str| {
        let limit = strategy.and_then(|strategy| strategy.get("rollingUpdate")?.get(name));
        limit.and_then(IntOrPercent::read).unwrap_or(IntOrPercent::Percent(25))
    };
    let surge = limit("maxSurge").rounded_up(wanted);
    let unavailable = limit("maxUnavailable").rounded_down(wanted).min(wanted);
    let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
    UpdateBudget { unavailable, surge }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strategy(budget: HeldBudget) -> Value {
        budget.running_fields().get(&FieldPath::of(["spec", "strategy"])).unwrap().clone()
    }

    #[test]
    fn a_held_budget_stops_at_exactly_the_number_of_updated_pods() {
        for wanted in 1..=300 {
            for updated in 1..=wanted {
                for surge in [0, 1, 2, wanted / 4, wanted] {
                    let budget = HeldBudget::of(updated, surge, wanted).unwrap();
                    assert_eq!(budget.updated(wanted), updated, "{budget:?} of {wanted}");
                    let beside = updated - (wanted - budget.outdated(wanted));
                    let most = surge.min(updated) + if wanted > EXACT { wanted / 100 + 1 } else { 0 };
                    assert!(
                        (surge.min(updated)..=most).contains(&beside),
                        "{budget:?} of {wanted}: {beside}"
                    );
                    assert_eq!(HeldBudget::read(&strategy(budget)), Some(budget));
                }
            }
        }
        assert_eq!(HeldBudget::of(0, 1, 10), None);
        assert_eq!(HeldBudget::of(1, 1, 0), None);
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
            let budget = HeldBudget::of(updated, surge, 10).unwrap();
            assert_eq!(strategy(budget)["rollingUpdate"], written);
            assert_eq!(budget.outdated(10), outdated);
        }
    }

    /// Both ReplicaSets are scaled in proportion, and the budget must not release more pods then.
    #[test]
    fn scaling_keeps_the_proportion() {
        for before in 1..=100 {
            for updated in 1..before {
                let budget = HeldBudget::of(updated, 1, before).unwrap();
                for after in 1..=before {
                    let exact = f64::from(i32::try_from(budget.unavailable(before) * after).unwrap())
                        / f64::from(i32::try_from(before).unwrap());
                    let removed = f64::from(i32::try_from(budget.unavailable(after)).unwrap());
                    assert!(removed <= exact + 1.0, "{budget:?}: {before} -> {after}: {removed} of {exact}");
                }
            }
        }
    }

    #[test]
    fn the_budget_rises_only_as_far_as_available_pods_allow() {
        let pods = |updated_available, outdated_available| HeldPods {
            wanted: 4,
            outdated: 4,
            updated_available,
            outdated_available,
        };
        let to = |pods: HeldPods, released, goal, surge, free| {
            let now = HeldBudget::of(released, surge, 4).unwrap_or(HeldBudget { surge: 1, unavailable: 0 });
            pods.raise(now, released, goal, surge, free).map(|budget| budget.updated(4))
        };
        assert_eq!(to(pods(0, 4), 0, 4, 1, 0), Some(1), "a surge pod makes no pod unavailable");
        assert_eq!(to(pods(0, 4), 1, 4, 1, 0), None, "waits until the updated pod is available");
        assert_eq!(to(pods(1, 4), 1, 4, 1, 0), Some(2));
        assert_eq!(to(pods(3, 2), 3, 4, 1, 0), Some(4));
        assert_eq!(to(pods(0, 4), 0, 4, 0, 1), Some(1), "without surge one pod is unavailable");
        assert_eq!(to(pods(0, 4), 0, 4, 0, 2), Some(2));
        assert_eq!(to(pods(0, 4), 0, 1, 0, 2), Some(1), "not beyond the batch");
        assert_eq!(to(pods(0, 3), 0, 4, 0, 0), Some(1), "the unavailable pod is replaced first");
    }

    /// `--surge` allows more pods beside the outdated ones than before, and the controller has not removed the 4 outdated
    /// pods yet that the budget releases.
    #[test]
    fn the_budget_never_falls() {
        let now = HeldBudget::of(4, 0, 10).unwrap();
        let pods = HeldPods { wanted: 10, updated_available: 0, outdated: 10, outdated_available: 10 };
        let budget = pods.raise(now, 4, 6, 6, 4).unwrap();
        assert_eq!(strategy(budget)["rollingUpdate"], json!({"maxSurge": 2, "maxUnavailable": "40%"}));
    }

    /// 10% of 5 pods is none, so that the controller updates one.
    #[test]
    fn a_budget_that_a_scale_down_rounds_to_nothing_updates_one_pod() {
        let budget = HeldBudget::of(1, 0, 10).unwrap();
        assert_eq!((budget.updated(5), budget.outdated(5)), (1, 4));
    }

    /// Every rollout reaches all pods, and no step makes more pods unavailable than allowed.
    #[test]
    fn every_rollout_completes_within_max_unavailable() {
        for wanted in 1..=30 {
            for surge in [0, 1, 3, wanted] {
                for free in [0, 1, 2] {
                    if surge == 0 && free == 0 {
                        continue;
                    }
                    let mut now = HeldBudget { surge: 1, unavailable: 0 };
                    let mut released = 0;
                    let mut pods = HeldPods {
                        wanted,
                        updated_available: 0,
                        outdated: wanted,
                        outdated_available: wanted,
                    };
                    while released < wanted {
                        now = pods.raise(now, released, wanted, surge, free).expect("the rollout continues");
                        released = now.updated(wanted);
                        pods.outdated_available = pods.outdated_available.min(now.outdated(wanted));
                        pods.outdated = pods.outdated_available;
                        let created = wanted + now.surge - pods.outdated_available;
                        assert_eq!(released, created.min(wanted), "no more than the controller creates");
                        assert!(pods.available() >= wanted - free, "{wanted} {surge} {free} {pods:?}");
                        pods.updated_available = released;
                    }
                }
            }
        }
    }

    /// 5 pods of which 1 is updated, scaled to 11: the controller rounds to 2 updated pods and 10 outdated ones.
    #[test]
    fn pods_that_the_controller_updated_by_rounding_are_not_released_again() {
        let now = HeldBudget::of(1, 1, 5).unwrap();
        let pods = HeldPods { wanted: 11, updated_available: 2, outdated: 10, outdated_available: 10 };
        let budget = pods.raise(now, 2, 3, 11, 0).unwrap();
        let created = 11 + budget.surge - pods.outdated.min(budget.outdated(11));
        assert_eq!((created, budget.updated(11)), (3, 3));
    }

    #[test]
    fn a_budget_of_another_client_is_not_read_as_a_held_budget() {
        for strategy in [
            json!(null),
            json!({"type": "Recreate"}),
            json!({"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}),
            json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}),
        ] {
            assert_eq!(HeldBudget::read(&strategy), None, "{strategy}");
        }
    }
}
