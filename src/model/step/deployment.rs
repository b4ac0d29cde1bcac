//! Stepping a Deployment: raises its update budget, while no updated pod counts as available.
//!
//! Its pods are interchangeable, so that a slot is a number: slot 3 of 10 is the third pod to be updated.

use std::cmp::Reverse;

use serde_json::Value;

use super::action::Release;
use super::request::Request;
use super::slot::{PlanContext, PodSlot, max_unavailable};
use super::step_kind::StepKind;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::pod::Pod;
use crate::model::change::plan::BatchRecord;
use crate::model::status::observation::Observation;
use crate::model::workload::counts::Counts;
use crate::model::workload::rolling_hold::{HeldBudget, HeldPods, NEVER_AVAILABLE, budget_of};
use crate::model::workload::update_budget::UpdateBudget;
use crate::model::workload::{Workload, plan_fields, strategy};

pub(super) struct Deployments;

impl StepKind for Deployments {
    /// Refuses `Recreate`, which has no budget to raise.
    fn check_request(&self, workload: &Workload, request: &Request) -> Result<()> {
        request
            .pace
            .refuse_node_flags("the pods of a Deployment are counted, on whichever nodes they are")?;
        let live = strategy::update_strategy(workload);
        if live.and_then(|live| live.get("type")?.as_str()) == Some("Recreate") {
            let target = workload.target();
            let sentence = format!(
                "{target} cannot be stepped: its strategy Recreate stops every outdated pod before it creates an \
                 updated one, so nothing can be held in between"
            );
            return Err(Error::new(ErrorKind::Refused, sentence).hint("use the strategy RollingUpdate"));
        }
        Ok(())
    }

    /// The updated pods fill the first slots, the oldest first. Outdated pods fill those that are not released, the
    /// available ones first; others are surge pods.
    fn slots<'a>(&self, context: &PlanContext<'a>) -> Vec<PodSlot<'a>> {
        let workload = context.workload();
        let (updated, mut outdated) = pods(context);
        let wanted = usize::try_from(workload.wanted()).unwrap_or_default();
        let released = as_count(released(context, updated.len()));
        outdated.sort_by_key(|pod| Reverse(context.is_available(pod)));
        let last_batch = context.last_batch();
        let slot = |index: usize| {
            let name = (index + 1).to_string();
            let is_updated = index < updated.len();
            let is_released = is_updated || index < released;
            let place = index.saturating_sub(released.max(updated.len()));
            let pod = if is_released { updated.get(index) } else { outdated.get(place) };
            let pod = pod.copied();
            let own = pod.filter(|_| is_updated);
            PodSlot {
                is_in_last_batch: last_batch.contains(name.as_str()),
                soaks: true, // also those that a scale-up adds on the new revision
                label: Some(own.map_or_else(|| format!("pod {name}"), |pod| pod.name.clone())),
                name,
                pod,
                is_updated,
                is_available: pod.is_some_and(|pod| context.is_available(pod)),
                is_released,
                awaits_deletion: false,
                excluded: None,
                unready_node: context.unready_node_of(own),
                group: None,
            }
        };
        (0..wanted).map(slot).collect()
    }

    /// Raises the budget as far as the batch goes, and as the floor of available pods allows.
    fn release(
        &self,
        context: &PlanContext<'_>,
        slots: &[PodSlot<'_>],
        batch: &BatchRecord,
        free: Option<usize>,
    ) -> Option<Release> {
        let last = slots.iter().rposition(|slot| batch.slots.contains(&slot.name))?;
        let released = slots.iter().filter(|slot| slot.is_released).count();
        let budget = raise(context, released, last + 1, free)?;
        let names = slots.iter().filter(|slot| !slot.is_released).map(PodSlot::label);
        let count = as_count(budget.updated(context.workload().wanted())).saturating_sub(released);
        Some(Release::Strategy { set: budget.fields(false), slots: names.take(count).collect() })
    }

    fn can_release(
        &self,
        context: &PlanContext<'_>,
        slots: &[PodSlot<'_>],
        _: &PodSlot<'_>,
        free: Option<usize>,
    ) -> bool {
        let released = slots.iter().filter(|slot| slot.is_released).count();
        !is_counted(context.observed) || raise(context, released, released + 1, free).is_some()
    }

    /// None where a surge pod can take the place of each pod that is removed: with a budget of none of its own, and
    /// for the only pod.
    fn allowed(&self, context: &PlanContext<'_>, wanted: usize) -> usize {
        match context.pace().max_unavailable {
            None if wanted <= 1 || own_budget(context).unavailable == 0 => 0,
            _ => max_unavailable(context.pace(), wanted),
        }
    }

    /// Available pods beyond the wanted ones stand in for unavailable ones.
    fn missing(&self, context: &PlanContext<'_>) -> Option<usize> {
        Some(as_count(held_pods(context).missing()))
    }

    /// As `kubectl rollout status` judges it.
    fn is_settled(&self, context: &PlanContext<'_>) -> Option<bool> {
        let workload = context.workload();
        let counts = Counts::of(workload);
        let is_complete = [counts.total, counts.updated, counts.available.unwrap_or_default()]
            .iter()
            .all(|count| *count == counts.wanted);
        Some(context.observed.is_observed() && is_complete)
    }

    fn counts_pods(&self) -> bool {
        true
    }
}

/// Returns the fields that hold a Deployment as it stands: paused, with the budget at which it rests.
///
/// It is paused until the controller has counted the updated pods again: a controller that acts on counts from before
/// the hold would take them for available, and remove outdated ones.
pub(super) fn standing_hold(observed: &Observation) -> Value {
    let workload = &observed.workload;
    let current = observed.revisions.current();
    let is_updated = |pod: &&Pod| current.is_some_and(|current| workload.runs(pod, current));
    let active = observed.own_pods().filter(|pod| pod.is_active());
    let (updated, outdated): (Vec<_>, Vec<_>) = active.partition(is_updated);
    let (updated, outdated) = (as_number(updated.len()), as_number(outdated.len()));
    let budget = HeldBudget::standing(updated, outdated, workload.wanted());
    budget.unwrap_or(HeldBudget::ONE_SURGE_POD).fields(true)
}

fn raise(context: &PlanContext<'_>, released: usize, goal: usize, free: Option<usize>) -> Option<HeldBudget> {
    let observed = context.observed;
    if !is_counted(observed) {
        return None;
    }
    let now = plan_fields::live(&observed.workload);
    let now = now
        .as_ref()
        .and_then(|now| HeldBudget::read(now.get("strategy")?))
        .unwrap_or(HeldBudget::ONE_SURGE_POD);
    let (released, goal, free) = (as_number(released), as_number(goal), as_number(free?));
    held_pods(context).raise(now, released, goal, surge(context), free)
}

/// Whether the controllers have counted the updated pods since the hold was written.
fn is_counted(observed: &Observation) -> bool {
    observed.revisions.current().is_none_or(|current| {
        let counts = current.replica_set_counts;
        counts.is_observed && counts.min_ready_seconds == NEVER_AVAILABLE && counts.available == 0
    })
}

/// Returns how many surge pods there may be: at least one where none may be unavailable.
fn surge(context: &PlanContext<'_>) -> i64 {
    let wanted = context.workload().wanted();
    let own = own_budget(context).surge;
    let surge = context.pace().surge.map_or(own, |surge| as_number(surge.pods_of(as_count(wanted))));
    let is_needed = Deployments.allowed(context, as_count(wanted)) == 0;
    surge.max(i64::from(is_needed))
}

fn own_budget(context: &PlanContext<'_>) -> UpdateBudget {
    let own = context.record.hold.original().and_then(|own| own.get("strategy"));
    budget_of(own, context.workload().wanted())
}

/// Returns how many pods the budget releases.
fn released(context: &PlanContext<'_>, updated: usize) -> i64 {
    let workload = context.workload();
    if workload.is_paused() {
        return as_number(updated);
    }
    let budget = context.record.hold.is_in_force(workload).then(|| plan_fields::live(workload)).flatten();
    let budget = budget.and_then(|live| HeldBudget::read(live.get("strategy")?));
    budget.map_or(workload.wanted(), |budget| budget.updated(workload.wanted()))
}

/// Returns the updated pods, oldest first, and the outdated ones.
fn pods<'a>(context: &PlanContext<'a>) -> (Vec<&'a Pod>, Vec<&'a Pod>) {
    let active = context.observed.own_pods().filter(|pod| pod.is_active());
    let (mut updated, outdated): (Vec<_>, Vec<_>) = active.partition(|pod| context.is_updated(pod));
    updated.sort_by(|one, other| (one.created, &one.name).cmp(&(other.created, &other.name)));
    (updated, outdated)
}

fn held_pods(context: &PlanContext<'_>) -> HeldPods {
    let (updated, outdated) = pods(context);
    let all_outdated = as_number(outdated.len());
    let available =
        |pods: Vec<&Pod>| as_number(pods.into_iter().filter(|pod| context.is_available(pod)).count());
    HeldPods {
        wanted: context.workload().wanted(),
        updated_available: available(updated),
        outdated: all_outdated,
        outdated_available: available(outdated),
    }
}

fn as_number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn as_count(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::revision::Revisions;

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
}
