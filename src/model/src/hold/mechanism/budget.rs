//! Stepping a Deployment: raises its update budget, while no updated pod counts as available. "What it writes" in
//! `docs/step.md` has the writes of a plan.
//!
//! Its pods are interchangeable, so that a slot is a number: slot 3 of 10 is the third pod to be updated.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use serde_json::Value;

use super::hold_budget::{FIELDS, HoldBudget, LIMITS, NEVER_AVAILABLE, STRATEGY, is_held};
use super::{Mechanism, State};
use crate::api::count::{as_count, as_number};
use crate::api::managed_fields::last_author;
use crate::api::patch::FieldPath;
use crate::api::pod::Pod;
use crate::hold::plan::PlannedBatch;
use crate::hold::slot::{Slot, max_unavailable};
use crate::kind::fields::{HoldFields, spec_path};
use crate::kind::update_budget::{IntOrPercent, UpdateBudget};
use crate::kind::{Workload, strategy};
use crate::observation::Observation;
use crate::revision::Revision;

/// Holds a Deployment by its update budget.
pub(crate) struct Budget;

impl Mechanism for Budget {
    fn fields(&self) -> &'static [&'static str] {
        FIELDS
    }

    /// Paused, with the budget at which it rests. It is paused until the controller has counted the updated pods again: a
    /// controller that acts on counts from before the hold would take them for available, and remove outdated ones.
    fn fields_to_hold(&self, observed: &Observation, workload: &Workload) -> HoldFields {
        let size = |revision: &Revision| as_number(revision.replica_set_counts.wanted);
        let updated = observed.revisions.current().map_or(0, size);
        let all: i64 = observed.revisions.iter().map(size).sum();
        HoldBudget::at_rest(updated, all - updated, workload.wanted()).paused_fields()
    }

    fn is_in_force(&self, workload: &Workload, _: &HoldFields) -> bool {
        is_held(workload)
    }

    /// The annotation may be an older one, which the controller copied to a ReplicaSet, and `kubectl rollout undo` restored.
    /// The strategy then differs from the one in it, and one manager wrote the whole hold.
    fn is_strategy_held(&self, workload: &Workload, held: &HoldFields) -> bool {
        held.is_unchanged(STRATEGY, workload.object().json()) || has_one_author(workload)
    }

    /// `minReadySeconds` and `progressDeadlineSeconds` have values that only a hold has.
    fn restored(
        &self,
        workload: &Workload,
        held: &HoldFields,
        original: &HoldFields,
        name: &str,
    ) -> Option<Value> {
        if name == STRATEGY {
            return self.restored_strategy(workload, held, original);
        }
        let object = workload.object().json();
        let live = spec_path(name).value_in(object);
        let is_mark = live.is_some() && live == HoldBudget::ONE_SURGE_POD.running_fields().get(name);
        let is_held = held.is_unchanged(name, object) || is_mark;
        if is_held { original.get(name) } else { live }.cloned()
    }

    fn step_field(&self, _: &Workload) -> (FieldPath, Option<&'static str>) {
        (spec_path("minReadySeconds"), None)
    }

    fn flags(&self) -> &'static [&'static str] {
        &["--surge"]
    }

    /// The updated pods fill the first slots, the oldest first. A released slot has no pod until its updated pod exists.
    /// Outdated pods fill the slots that are not released, the available ones first. Outdated pods beyond these slots,
    /// which the controller has still to remove, have no slot.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<Slot<'a>> {
        let (mut updated, mut outdated) = (state.updated.clone(), state.outdated.clone());
        updated.sort_by(|one, other| (one.created, &one.name).cmp(&(other.created, &other.name)));
        outdated.sort_by_key(|pod| Reverse(state.is_available(pod)));
        let released = as_count(released(state, updated.len()));
        let slot = |index: usize| {
            let key = (index + 1).to_string();
            let own = updated.get(index).copied();
            let is_released = own.is_some() || index < released;
            let place = index.saturating_sub(released.max(updated.len()));
            let pod = if is_released { own } else { outdated.get(place).copied() };
            Slot {
                label: Some(own.map_or_else(|| format!("pod {key}"), |pod| pod.name.clone())),
                unready_node: state.unready_node_of(own),
                ..state.slot(key, pod, is_released) // also one that a scale-up adds, and that does not exist yet
            }
        };
        (0..as_count(state.workload().wanted())).map(slot).collect()
    }

    /// Raises the budget as far as the batch goes, and as the floor of available pods allows. The patch removes `paused`,
    /// because these fields lack it: the first release ends the pause of the write that acquired the lock.
    fn release(&self, state: &State<'_>, batch: &PlannedBatch) -> Option<HoldFields> {
        let goal = batch.slots.last()?.parse().ok()?;
        Some(raised_budget(state, goal)?.running_fields())
    }

    fn may_begin(&self, state: &State<'_>, _: &Slot<'_>) -> bool {
        !is_counted(state.observed) || raised_budget(state, released_slots(state) + 1).is_some()
    }

    /// Without `--max-unavailable`, zero if the Deployment's own budget allows no unavailable pod, or at most one pod is
    /// wanted: then a surge pod takes the place of each pod that is removed.
    fn allowed(&self, state: &State<'_>) -> usize {
        let wanted = as_count(state.workload().wanted());
        match state.pace().max_unavailable {
            None if wanted <= 1 || own_budget(state).unavailable == 0 => 0,
            _ => max_unavailable(state.pace(), wanted),
        }
    }

    /// Available pods beyond the wanted ones stand in for unavailable ones.
    fn unavailable(&self, state: &State<'_>) -> usize {
        as_count(Sizes::of(state).missing())
    }

    fn counts_pods(&self) -> bool {
        true
    }
}

impl Budget {
    /// Returns the strategy after the end of the hold. `kubectl apply` writes only the limits that its manifest has, and the
    /// other one of the hold would let later rollouts take down as many pods as the plan had updated. A strategy of another type
    /// has no limits.
    fn restored_strategy(
        &self,
        workload: &Workload,
        held: &HoldFields,
        original: &HoldFields,
    ) -> Option<Value> {
        let own = original.get(STRATEGY);
        if self.is_strategy_held(workload, held) {
            return own.cloned();
        }
        if !strategy::is_rolling(workload) {
            return strategy::update_strategy(workload).cloned();
        }
        let restored = strategy::restored(workload, held.get(STRATEGY), own, &LIMITS);
        // The other client could set its limit to zero only because of the hold: the API server refuses two limits of zero.
        if are_zero(restored.as_ref()) { own.cloned() } else { restored }
    }
}

/// Whether both limits of a strategy are zero.
fn are_zero(strategy: Option<&Value>) -> bool {
    let limit = |name: &&str| strategy::limit(strategy, name, strategy::DEPLOYMENT_LIMIT);
    LIMITS.iter().all(|name| matches!(limit(name), IntOrPercent::Int(0) | IntOrPercent::Percent(0)))
}

/// Whether one manager wrote the whole hold.
fn has_one_author(workload: &Workload) -> bool {
    let author = |fields: &[&str]| {
        let path = ["spec"].iter().chain(fields).copied();
        last_author(workload.object(), &FieldPath::of(path)).map(|author| author.manager)
    };
    let hold = author(&["minReadySeconds"]);
    let is_of_hold = |limit: &&str| author(&[STRATEGY, "rollingUpdate", limit]) == hold;
    is_held(workload) && hold.is_some() && LIMITS.iter().all(is_of_hold)
}

/// Returns the budget that releases more slots: up to this number of them. None if it would release no more, or if the
/// controllers have not counted the pods.
fn raised_budget(state: &State<'_>, goal: usize) -> Option<HoldBudget> {
    if !is_counted(state.observed) {
        return None;
    }
    let present = live_budget(state.workload()).unwrap_or(HoldBudget::ONE_SURGE_POD);
    let updated = as_number(released_slots(state)) + 1..=as_number(goal);
    let limits = UpdateBudget { surge: surge_limit(state), unavailable: state.budget_left() };
    Sizes::of(state).budget_for(present, updated, limits)
}

fn released_slots(state: &State<'_>) -> usize {
    state.slots.iter().filter(|slot| !slot.state.is_held()).count()
}

/// Whether the controllers have counted the updated pods since the hold was written: that of the ReplicaSet, and then that
/// of the Deployment, which reads the ReplicaSets later: its sum is not above theirs then.
fn is_counted(observed: &Observation) -> bool {
    observed.revisions.current().is_none_or(|current| {
        let counts = current.replica_set_counts;
        let all_available: usize =
            observed.revisions.iter().map(|revision| revision.replica_set_counts.available).sum();
        let of_deployment = observed.workload.object().int("/status/availableReplicas").unwrap_or_default();
        counts.is_observed
            && counts.min_ready_seconds == NEVER_AVAILABLE
            && counts.available == 0
            && of_deployment <= as_number(all_available)
    })
}

/// Returns how many surge pods there may be: at least one where none may be unavailable.
fn surge_limit(state: &State<'_>) -> i64 {
    let wanted = as_count(state.workload().wanted());
    let own = own_budget(state).surge;
    let surge = state.pace().surge.map_or(own, |surge| as_number(surge.pods_of(wanted)));
    surge.max(i64::from(state.allowed() == 0))
}

fn own_budget(state: &State<'_>) -> UpdateBudget {
    strategy::surge_budget(state.hold.original_strategy(state.workload()), state.workload().wanted())
}

/// Returns the budget of the live strategy, if `step` wrote it.
fn live_budget(workload: &Workload) -> Option<HoldBudget> {
    strategy::update_strategy(workload).and_then(HoldBudget::read)
}

/// Returns how many pods are released: by the budget; while it is paused the updated ones, also those that the controller
/// has still to create; and without a budget all.
fn released(state: &State<'_>, updated: usize) -> i64 {
    let workload = state.workload();
    if workload.is_paused() {
        let size = state.plan_revision.map_or(0, |revision| revision.replica_set_counts.wanted);
        return as_number(updated.max(size));
    }
    let budget = live_budget(workload).filter(|_| state.hold.is_in_force(workload));
    budget.map_or(workload.wanted(), |budget| budget.updated(workload.wanted()))
}

/// The pods of a Deployment that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sizes {
    /// The wanted pods.
    wanted: i64,
    /// The available updated pods.
    updated_available: i64,
    /// The outdated pods of each ReplicaSet, the oldest first. Scaling in proportion rounds their number.
    outdated: Vec<OutdatedPods>,
}

/// The outdated pods of one ReplicaSet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OutdatedPods {
    available: i64,
    unavailable: i64,
    /// Those of the unavailable ones that are not ready either.
    unready: i64,
    /// Whether the controller takes all of them for unavailable: the ReplicaSet keeps the `minReadySeconds` of a hold that
    /// was written when its template was the live one.
    is_held: bool,
}

impl Sizes {
    fn of(state: &State<'_>) -> Self {
        let available = |pods: &[&Pod]| as_number(pods.iter().filter(|pod| state.is_available(pod)).count());
        let mut by_owner: HashMap<&str, Vec<&Pod>> = HashMap::new();
        for pod in &state.outdated {
            by_owner.entry(&pod.owner_uid).or_default().push(pod);
        }
        let mut replica_sets: Vec<_> = state.observed.revisions.iter().collect();
        replica_sets.sort_by_key(|revision| revision.created);
        let outdated = replica_sets.into_iter().map(|revision| {
            let pods = by_owner.remove(revision.uid.as_str()).unwrap_or_default();
            let available = available(&pods);
            let unready = as_number(pods.iter().filter(|pod| !pod.ready).count());
            let is_held = revision.replica_set_counts.min_ready_seconds == NEVER_AVAILABLE;
            OutdatedPods { available, unavailable: as_number(pods.len()) - available, unready, is_held }
        });
        Self {
            wanted: state.workload().wanted(),
            updated_available: available(&state.updated),
            outdated: outdated.collect(),
        }
    }

    fn outdated(&self) -> i64 {
        self.outdated.iter().map(|pods| pods.available + pods.unavailable).sum()
    }

    fn available(&self) -> i64 {
        self.updated_available + self.outdated.iter().map(|pods| pods.available).sum::<i64>()
    }

    /// Returns how many of the wanted pods are missing.
    fn missing(&self) -> i64 {
        (self.wanted - self.available()).max(0)
    }

    /// Returns how many available pods the controller removes with a number of outdated pods. It removes those first that it
    /// takes for unavailable, ReplicaSet by ReplicaSet (`cleanupUnhealthyReplicas` in the Deployment controller). A
    /// ReplicaSet deletes pods that are not ready first, and then any: among its ready pods it prefers those on nodes with
    /// several of them to those that are not available yet (`ActivePodsWithRanks`).
    fn lost_with(&self, removed: i64) -> i64 {
        let (mut left, mut lost) = (removed.max(0), 0);
        for pods in &self.outdated {
            let first = left.min(pods.unavailable + if pods.is_held { pods.available } else { 0 });
            lost += (first - pods.unready).clamp(0, pods.available);
            left -= first;
        }
        lost + left
    }

    /// Returns the budget for the most `updated` pods with which the controller removes now no more of the wanted available
    /// pods than may become unavailable; none if there is none. Its `maxUnavailable` is not below that of the `present`
    /// budget. The controller removes outdated pods as soon as it reads a budget.
    fn budget_for(
        &self,
        present: HoldBudget,
        updated: RangeInclusive<i64>,
        limits: UpdateBudget,
    ) -> Option<HoldBudget> {
        let surplus = (self.available() - self.wanted).max(0);
        let already_removed = (self.wanted - self.outdated()).max(0);
        let loses = |budget: &HoldBudget| self.lost_with(self.outdated() - budget.outdated(self.wanted));
        let budget = |updated| present.raised(updated, limits.surge, already_removed, self.wanted);
        let mut budgets = (*updated.start()..=self.wanted.min(*updated.end())).rev().filter_map(budget);
        budgets.find(|budget| loses(budget) <= limits.unavailable + surplus)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::object::Object;
    use crate::revision::Revisions;

    #[test]
    fn counts_from_before_the_hold_are_not_used() {
        let deployment =
            json!({"kind": "Deployment", "metadata": {"name": "web", "uid": "u"}, "spec": {"template": {}}});
        let workload = Workload::of_json(&deployment).unwrap();
        for (observed, seconds, available, expected) in [
            (2, NEVER_AVAILABLE, 0, true),
            (1, NEVER_AVAILABLE, 0, false),
            (2, 0, 0, false),
            (2, NEVER_AVAILABLE, 1, false),
        ] {
            let replica_set = json!({"kind": "ReplicaSet",
                "metadata": {"name": "web-1", "generation": 2, "ownerReferences": [{"controller": true, "uid": "u"}]},
                "spec": {"minReadySeconds": seconds, "template": {}},
                "status": {"observedGeneration": observed, "availableReplicas": available}});
            let revisions = Revisions::of(&workload, Object::read(replica_set));
            let observation = Observation { workload: workload.clone(), revisions, pods: None, events: None };
            assert_eq!(is_counted(&observation), expected, "{observed} {seconds} {available}");
        }
    }

    /// The status of the Deployment still counts 2 updated pods: its controller would remove 2 outdated ones.
    #[test]
    fn counts_that_the_deployment_controller_has_not_read_are_not_used() {
        let deployment = |available: i64| {
            json!({"kind": "Deployment", "metadata": {"name": "web", "uid": "u"},
                "spec": {"template": {"new": 1}}, "status": {"availableReplicas": available}})
        };
        let replica_set = |name: &str, seconds, available, template: Value| {
            let object = json!({"kind": "ReplicaSet",
                "metadata": {"name": name, "ownerReferences": [{"controller": true, "uid": "u"}]},
                "spec": {"minReadySeconds": seconds, "template": template}, "status": {"availableReplicas": available}});
            Object::read(object).unwrap()
        };
        for (available, expected) in [(10, false), (8, true), (7, true)] {
            let workload = Workload::of_json(&deployment(available)).unwrap();
            let replica_sets = [
                replica_set("web-1", 0, 8, json!({})),
                replica_set("web-2", NEVER_AVAILABLE, 0, json!({"new": 1})),
            ];
            let revisions = Revisions::of(&workload, replica_sets);
            assert!(revisions.current().is_some());
            let observation = Observation { workload, revisions, pods: None, events: None };
            assert_eq!(is_counted(&observation), expected, "{available}");
        }
    }

    fn outdated(available: i64, unavailable: i64) -> OutdatedPods {
        OutdatedPods { available, unavailable, unready: unavailable, is_held: false }
    }

    fn limits(surge: i64, unavailable: i64) -> UpdateBudget {
        UpdateBudget { unavailable, surge }
    }

    fn raised_to(updated: i64, surge: i64, wanted: i64) -> Option<HoldBudget> {
        HoldBudget::ONE_SURGE_POD.raised(updated, surge, 0, wanted)
    }

    #[test]
    fn the_budget_rises_only_as_far_as_available_pods_allow() {
        let pods = |updated_available, available| Sizes {
            wanted: 4,
            updated_available,
            outdated: vec![outdated(available, 4 - available)],
        };
        let to = |pods: Sizes, released, goal, surge, free| {
            let now = raised_to(released, surge, 4).unwrap_or(HoldBudget::ONE_SURGE_POD);
            pods.budget_for(now, released + 1..=goal, limits(surge, free)).map(|budget| budget.updated(4))
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

    /// The older ReplicaSet kept the `minReadySeconds` of a hold for its template. 2 of its pods would go before the 2
    /// pods of the other one that are not available.
    #[test]
    fn pods_that_the_controller_takes_for_unavailable_are_lost() {
        for (is_held, expected) in [(false, Some(2)), (true, None)] {
            let older = OutdatedPods { is_held, ..outdated(5, 0) };
            let pods = Sizes { wanted: 10, updated_available: 0, outdated: vec![older, outdated(3, 2)] };
            let budget = pods.budget_for(HoldBudget::ONE_SURGE_POD, 1..=10, limits(0, 0));
            assert_eq!(budget.map(|budget| budget.updated(10)), expected);
            let newer = Sizes { outdated: vec![outdated(3, 2), older], ..pods };
            let budget = newer.budget_for(HoldBudget::ONE_SURGE_POD, 1..=10, limits(0, 0));
            assert_eq!(
                budget.map(|budget| budget.updated(10)),
                Some(2),
                "those that are not available go first"
            );
        }
    }

    /// 3 pods are ready and not available yet. The controller would lower the ReplicaSet by 3, which may delete others.
    #[test]
    fn a_ready_pod_that_is_not_available_yet_may_stay_while_an_available_one_goes() {
        let to = |unready: i64| {
            let outdated = vec![OutdatedPods { unready, ..outdated(7, 3) }];
            let pods = Sizes { wanted: 10, updated_available: 0, outdated };
            let budget = pods.budget_for(HoldBudget::ONE_SURGE_POD, 1..=3, limits(0, 0));
            budget.map(|budget| budget.updated(10))
        };
        assert_eq!([to(0), to(2), to(3)], [None, Some(2), Some(3)]);
    }

    /// `--surge` allows more pods beside the outdated ones than before, and the controller has not removed the 4 outdated
    /// pods yet that the budget releases.
    #[test]
    fn the_budget_never_falls() {
        let now = raised_to(4, 0, 10).unwrap();
        let pods = Sizes { wanted: 10, updated_available: 0, outdated: vec![outdated(10, 0)] };
        let budget = pods.budget_for(now, 5..=6, limits(6, 4)).unwrap();
        let fields = budget.running_fields().to_json().unwrap();
        assert_eq!(fields["strategy"]["rollingUpdate"], json!({"maxSurge": 2, "maxUnavailable": "40%"}));
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
                    let mut now = HoldBudget::ONE_SURGE_POD;
                    let mut released = 0;
                    let mut pods =
                        Sizes { wanted, updated_available: 0, outdated: vec![outdated(wanted, 0)] };
                    while released < wanted {
                        now = pods
                            .budget_for(now, released + 1..=wanted, limits(surge, free))
                            .expect("the rollout continues");
                        released = now.updated(wanted);
                        let left = pods.outdated().min(now.outdated(wanted));
                        pods.outdated = vec![outdated(left, 0)];
                        let created = wanted + now.surge - left;
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
        let now = raised_to(1, 1, 5).unwrap();
        let pods = Sizes { wanted: 11, updated_available: 2, outdated: vec![outdated(10, 0)] };
        let budget = pods.budget_for(now, 3..=3, limits(11, 0)).unwrap();
        let created = 11 + budget.surge - pods.outdated().min(budget.outdated(11));
        assert_eq!((created, budget.updated(11)), (3, 3));
    }
}
