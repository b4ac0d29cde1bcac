//! Stepping a workload of OpenKruise whose partition is a number of pods: a CloneSet, an Advanced DaemonSet, and an
//! Advanced StatefulSet that updates its pods in another order.
//!
//! The controller chooses the pods. A slot is the partition at which its pod is updated: slot 7 of 10 is released by
//! a partition of 7, as the ordinal 7 of a StatefulSet is. The updated pods fill the highest slots, the oldest update
//! first.

use std::cmp::Reverse;

use super::daemon_set::DaemonSets;
use super::partition::{own_node_selector, own_partition, released_from, skippable_node};
use super::request::Request;
use super::slot::{ExcludedBy, PlanContext, PodSlot, max_unavailable};
use super::step_kind::StepKind;
use crate::error::{Error, Result};
use crate::model::api::pod::Pod;
use crate::model::api::selector::Selector;
use crate::model::workload::kind::PodIdentity;
use crate::model::workload::{Workload, strategy};

pub(super) struct CountedPods;

impl StepKind for CountedPods {
    /// Of the flags for nodes, an Advanced DaemonSet has a field for the selector alone.
    fn check_request(&self, workload: &Workload, request: &Request) -> Result<()> {
        request.pace.refuse_surge()?;
        if workload.kind().pods != PodIdentity::Node {
            return request
                .pace
                .refuse_node_flags("the controller chooses the pods, on whichever nodes they are");
        }
        Selector::parse(request.pace.node_selector.as_deref().unwrap_or_default())?;
        let flags =
            [("--order", request.pace.order.is_some()), ("--evict", request.pace.evict == Some(true))];
        match flags.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((flag, _)) => Err(Error::usage(format!("{flag} is for the DaemonSets of Kubernetes"))
                .hint("the controller of OpenKruise updates the nodes by name, the last one first")),
        }
    }

    fn check_observation(&self, context: &PlanContext<'_>) -> Result<()> {
        DaemonSets.check_observation(context)
    }

    /// Outdated pods fill the lowest slots in the order of the controller, so that missing pods are missing from the
    /// released slots first.
    fn slots<'a>(&self, context: &PlanContext<'a>) -> Vec<PodSlot<'a>> {
        let workload = context.workload();
        let wanted = workload.wanted();
        let (updated, outdated) = pods(context);
        let (partition, own) = (released_from(workload), own_partition(context));
        let last_batch = context.last_batch();
        let surplus = outdated.len().checked_sub(as_count(wanted));
        let missing = as_count(wanted).saturating_sub(outdated.len());
        let slot = |place: usize| {
            let index = wanted - 1 - i64::try_from(place).unwrap_or_default();
            let is_updated = place < updated.len();
            let next = surplus.map_or_else(|| place.checked_sub(missing), |surplus| Some(place + surplus));
            let pod = if is_updated { updated.get(place) } else { next.and_then(|next| outdated.get(next)) };
            let pod = pod.copied();
            let own_pod = pod.filter(|_| is_updated);
            let name = index.to_string();
            let is_released = is_updated || index >= partition;
            let excluded = if is_updated { None } else { excluded(context, index < own, pod) };
            let skipped = pod.filter(|_| !is_updated).and_then(|pod| skippable_node(context, pod));
            let label = || match (own_pod, skipped) {
                (Some(pod), _) => pod.name.clone(),
                (None, Some(node)) => node.name.clone(),
                (None, None) => format!("pod {}", place + 1),
            };
            PodSlot {
                is_in_last_batch: last_batch.contains(name.as_str()),
                soaks: true, // including pods that a scale-up adds on the new revision
                label: Some(label()),
                name,
                pod,
                is_updated,
                is_available: pod.is_some_and(|pod| context.is_available(pod)),
                is_released,
                awaits_deletion: is_released && !is_updated,
                excluded,
                unready_node: skipped
                    .map_or_else(|| context.unready_node_of(own_pod), |node| Some(node.name.clone())),
                group: None,
            }
        };
        (0..as_count(wanted)).map(slot).collect()
    }

    /// The controller keeps its own `maxUnavailable`, so that its surge makes room only where that is the smaller limit.
    fn surge(&self, context: &PlanContext<'_>, wanted: usize) -> usize {
        let budget = context.workload().update_budget();
        let is_smaller = as_count(budget.unavailable) <= max_unavailable(context.pace(), wanted);
        if is_smaller { as_count(budget.surge) } else { 0 }
    }

    fn slot_names_count_from_the_end(&self) -> bool {
        true
    }

    /// The selector of the strategy leaves the nodes out. Outdated pods of other kinds have no known order.
    fn skips_unready_nodes(&self) -> bool {
        true
    }
}

/// Returns the updated pods, the oldest update first, and the outdated ones in the order in which the controller updates
/// them. Where the user's priorities decide, the available ones come first, because any of them may be next.
fn pods<'a>(context: &PlanContext<'a>) -> (Vec<&'a Pod>, Vec<&'a Pod>) {
    let workload = context.workload();
    let active = context.observed.own_pods().filter(|pod| pod.is_active());
    let (mut updated, mut outdated): (Vec<&Pod>, Vec<&Pod>) = active.partition(|pod| context.is_updated(pod));
    updated.sort_by(|one, other| (one.updated_at(), &one.name).cmp(&(other.updated_at(), &other.name)));
    match workload.kind().pods {
        _ if has_priorities(workload) => outdated.sort_by_key(|pod| Reverse(context.is_available(pod))),
        PodIdentity::Interchangeable => outdated.sort_by_key(|pod| pod.ready),
        PodIdentity::Ordinal => outdated.sort_by_key(|pod| Reverse(pod.ordinal)),
        PodIdentity::Node => {
            let is_skipped = |pod: &Pod| skippable_node(context, pod).is_some();
            outdated.sort_by_cached_key(|pod| (!selects(context, pod), is_skipped(pod), Reverse(&pod.node)));
        }
    }
    (updated, outdated)
}

fn has_priorities(workload: &Workload) -> bool {
    let fields = ["priorityStrategy", "scatterStrategy", "unorderedUpdate"];
    strategy::update_strategy(workload).is_some_and(|own| {
        let limits = own.get("rollingUpdate").unwrap_or(own);
        fields.iter().any(|name| limits.get(name).is_some_and(|value| !value.is_null()))
    })
}

/// Returns why the plan never releases a slot with an outdated pod.
fn excluded(context: &PlanContext<'_>, is_kept: bool, pod: Option<&Pod>) -> Option<ExcludedBy> {
    let is_selected = pod.is_none_or(|pod| selects(context, pod));
    match context.pace().node_selector {
        Some(_) if !is_selected => Some(ExcludedBy::Selector),
        None if !is_selected => Some(ExcludedBy::OwnPartition),
        _ => is_kept.then_some(ExcludedBy::OwnPartition),
    }
}

/// Whether the controller may update a pod, by the labels of its node: the selector of the plan, or the original one.
fn selects(context: &PlanContext<'_>, pod: &Pod) -> bool {
    if context.workload().kind().pods != PodIdentity::Node {
        return true;
    }
    let selector = match &context.pace().node_selector {
        Some(text) => Selector::parse(text).ok(),
        None => own_node_selector(context).and_then(Selector::read),
    };
    let node = context.node_of(pod);
    let label = |key: &str| node.and_then(|node| node.labels.get(key)).map(String::as_str);
    selector.is_none_or(|selector| selector.matches_labels(label))
}

fn as_count(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}
