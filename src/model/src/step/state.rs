//! What there is to know at one moment: an observation, the plan, and its pod slots; and what differs between the kinds
//! that can be stepped.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use super::action::StopReason;
use super::event::StepOptions;
use super::slot::{ExcludedBy, PodSlot, max_unavailable, own_limit, released_or_updated};
use crate::api::count::as_number;
use crate::api::pod::{Node, Pod};
use crate::cause::{AllowedRestarts, Cause, Severity, causes_of};
use crate::engine::{Now, PodRef};
use crate::error::Result;
use crate::hold::plan::{Hold, Pace, Plan, PlannedBatch, Reach};
use crate::kind::fields::HoldFields;
use crate::kind::{Workload, strategy};
use crate::observation::Observation;
use crate::observation::pod_stage::PodStage;
use crate::revision::Revision;
use crate::status::verdict;

/// An observation with its plan and the slots of its pods. It is built once an event, in time linear in pods and nodes.
pub(super) struct State<'a> {
    pub(super) observed: &'a Observation,
    /// The nodes; none when listing nodes is forbidden.
    pub(super) nodes: Option<&'a [Node]>,
    nodes_by_name: HashMap<&'a str, &'a Node>,
    /// The hold of the plan.
    pub(super) hold: &'a Hold,
    pub(super) plan: &'a Plan,
    pub(super) now: Now,
    pub(super) step_kind: &'static dyn StepKind,
    /// How long a pod must be ready before it counts as available, by the original `minReadySeconds`.
    pub(super) original_min_ready_seconds: i64,
    /// The revision of the plan, once the controller stored it: the current one, until another client changes the template.
    pub(super) plan_revision: Option<&'a Revision>,
    /// The active pods that run the revision of the plan.
    pub(super) updated: Vec<&'a Pod>,
    /// The active pods that run another one.
    pub(super) outdated: Vec<&'a Pod>,
    /// The keys of the slots of the last batch that began.
    pub(super) last_batch_slots: BTreeSet<&'a str>,
    /// The slots in the order of release.
    pub(super) slots: Vec<PodSlot<'a>>,
    /// The batch in progress, if some of its slots still exist and are released, or may be.
    pub(super) present_batch: Option<&'a PlannedBatch>,
    /// How many unavailable pods do not count, if `--force` began that batch. Then only its own slots must become healthy.
    pub(super) forced: Option<usize>,
}

impl<'a> State<'a> {
    /// Builds the state of a plan. [`state_of`](super::state_of) knows the kind.
    pub(super) fn new(
        step_kind: &'static dyn StepKind,
        observed: &'a Observation,
        nodes: Option<&'a [Node]>,
        hold: &'a Hold,
        plan: &'a Plan,
        now: Now,
    ) -> Self {
        let (revisions, workload) = (&observed.revisions, &observed.workload);
        let current = if plan.is_for_live_template(workload) {
            revisions.current()
        } else {
            revisions.iter().rfind(|revision| revision.digest.hex() == plan.template)
        };
        let by_name = |node: &'a Node| (node.name.as_str(), node);
        let last_batch = plan.last_batch.iter().flat_map(|batch| &batch.slots).map(String::as_str);
        let mut state = Self {
            observed,
            nodes,
            nodes_by_name: nodes.unwrap_or_default().iter().map(by_name).collect(),
            hold,
            plan,
            now,
            step_kind,
            original_min_ready_seconds: hold.original_min_ready_seconds(workload),
            plan_revision: current,
            updated: Vec::new(),
            outdated: Vec::new(),
            last_batch_slots: last_batch.collect(),
            slots: Vec::new(),
            present_batch: None,
            forced: None,
        };
        let active = observed.own_pods().filter(|pod| pod.is_active());
        (state.updated, state.outdated) = active.partition(|pod| state.is_updated(pod));
        state.slots = state.step_kind.slots(&state);
        // A later command may select other nodes before any slot of the batch is released.
        let is_left = |slot: &PodSlot<'_>| slot.is_released || slot.excluded != Some(ExcludedBy::Selector);
        let exists = state.slots.iter().any(|slot| slot.is_in_last_batch && is_left(slot));
        state.present_batch = plan.last_batch.as_ref().filter(|batch| !batch.done && exists);
        state
    }

    pub(super) fn workload(&self) -> &'a Workload {
        &self.observed.workload
    }

    /// Returns the hold as the next write stores it, with another plan.
    pub(super) fn hold_with(&self, plan: Plan) -> Hold {
        let mut hold = self.hold.clone().with_plan(plan);
        hold.lock = hold.lock.map(|lock| lock.written_at(self.now.stamp()));
        hold
    }

    pub(super) fn pace(&self) -> &'a Pace {
        &self.plan.pace
    }

    /// Returns how long a pod is awaited: the original `minReadySeconds` come on top of `--batch-timeout`.
    pub(super) fn batch_limit(&self) -> Duration {
        let min_ready = u64::try_from(self.original_min_ready_seconds).unwrap_or_default();
        self.pace().batch_timeout.saturating_add(Duration::from_secs(min_ready))
    }

    /// Whether a pod is available and not terminating.
    pub(super) fn is_available(&self, pod: &Pod) -> bool {
        pod.is_active()
            && !pod.is_updating_in_place()
            && pod.is_available(self.original_min_ready_seconds, self.now.server_time)
    }

    /// Whether a pod runs the revision of the plan.
    pub(super) fn is_updated(&self, pod: &Pod) -> bool {
        self.plan_revision.is_some_and(|current| self.observed.workload.runs(pod, current))
    }

    /// Returns the node with a name, if nodes can be listed.
    pub(super) fn node(&self, name: &str) -> Option<&'a Node> {
        self.nodes_by_name.get(name).copied()
    }

    /// Returns the node that a pod runs on, if nodes can be listed.
    pub(super) fn node_of(&self, pod: &Pod) -> Option<&'a Node> {
        self.node(&pod.node)
    }

    /// Returns the name of the node that a pod runs on, if that is not ready.
    pub(super) fn unready_node_of(&self, pod: Option<&Pod>) -> Option<String> {
        let node = self.node_of(pod?).filter(|node| !node.ready)?;
        Some(node.name.clone())
    }

    /// Returns a slot with the facts that are the same for every kind. It is not released, and its pod has to stay
    /// available for the whole soak.
    pub(super) fn slot(&self, key: String, pod: Option<&'a Pod>) -> PodSlot<'a> {
        PodSlot {
            is_in_last_batch: self.last_batch_slots.contains(key.as_str()),
            key,
            label: None,
            pod,
            is_updated: pod.is_some_and(|pod| self.is_updated(pod)),
            soaks: true, // including pods that a scale-up adds on the new revision
            is_available: pod.is_some_and(|pod| self.is_available(pod)),
            available_since: pod
                .and_then(|pod| pod.available_since(self.original_min_ready_seconds).max(pod.updated_at())),
            is_released: false,
            awaits_deletion: false,
            excluded: None,
            unready_node: self.unready_node_of(pod),
            group: None,
        }
    }

    /// Whether the controller has observed the workload as it is now. It stores no revision of a template while the
    /// workload is paused.
    pub(super) fn is_change_observed(&self) -> bool {
        let workload = self.workload();
        let is_paused = workload.is_paused() && self.observed.revisions.current().is_none();
        self.observed.is_observed() || is_paused && workload.is_observed()
    }

    /// Whether the workload is scaled to 0 replicas. No outdated pod is left to hold: a controller creates every pod of a later
    /// scale-up on the new revision, also below a partition (`completeRollingUpdate` in the StatefulSet controller).
    pub(super) fn has_no_replicas(&self) -> bool {
        self.workload().object().int("/spec/replicas") == Some(0)
    }

    /// Whether a slot belongs to the present batch.
    pub(super) fn is_in_batch(&self, slot: &PodSlot<'_>) -> bool {
        self.present_batch.is_some() && slot.is_in_last_batch
    }

    /// Returns the slots that must be healthy before the plan continues: all released ones. A pod that fails late is as
    /// important as one that fails immediately.
    pub(super) fn required(&self) -> impl Iterator<Item = &PodSlot<'a>> {
        self.slots.iter().filter(|slot| self.is_required(slot))
    }

    /// Returns the slots that must stay healthy for the whole soak.
    pub(super) fn soaking(&self) -> impl Iterator<Item = &PodSlot<'a>> {
        self.required().filter(|slot| slot.soaks)
    }

    /// Whether a slot must be healthy before the plan continues: of the batch also one that a later command does not select.
    pub(super) fn is_required(&self, slot: &PodSlot<'_>) -> bool {
        let is_in_batch = self.is_in_batch(slot);
        let is_excluded = match slot.excluded {
            Some(ExcludedBy::Selector) => !is_in_batch,
            Some(ExcludedBy::OwnPartition) => true,
            None => false,
        };
        let is_of_others = self.forced.is_some() && self.present_batch.is_some() && !is_in_batch;
        slot.is_released && !is_excluded && !slot.is_ignored(self.pace()) && !is_of_others
    }

    /// Whether released pods are being replaced, or slots of the batch wait for their release.
    pub(super) fn is_moving(&self) -> bool {
        self.slots.iter().any(|slot| self.is_awaited(slot))
    }

    /// Whether the batch waits for a slot. Slots whose node is not ready any more are skipped if the kind allows it.
    pub(super) fn is_awaited(&self, slot: &PodSlot<'_>) -> bool {
        let is_skipped = self.step_kind.skips_unready_nodes() && slot.unready_node.is_some();
        self.is_required(slot) && !slot.is_healthy()
            || slot.awaits_release() && self.is_in_batch(slot) && !is_skipped
    }

    /// Returns the slots of the last batch that can be released and are not yet: not those on nodes that are not ready.
    pub(super) fn left_in_batch(&self) -> impl Iterator<Item = &PodSlot<'a>> {
        let is_left = |slot: &&PodSlot<'a>| {
            slot.is_in_last_batch && slot.awaits_release() && slot.unready_node.is_none()
        };
        self.slots.iter().filter(is_left)
    }

    /// Returns how many pods may be unavailable.
    pub(super) fn allowed(&self) -> usize {
        self.step_kind.allowed(self)
    }

    /// Returns how many more pods may become unavailable; negative when too many are unavailable already.
    pub(super) fn budget_left(&self) -> i64 {
        let room = self.allowed() + self.step_kind.surge(self) + self.forced.unwrap_or_default();
        as_number(room) - as_number(self.step_kind.unavailable(self))
    }

    /// Returns the slots that count as unavailable.
    pub(super) fn unavailable_slots(&self) -> impl Iterator<Item = &PodSlot<'a>> {
        self.slots.iter().filter(|slot| slot.is_unavailable(self.pace()))
    }

    /// Whether every slot that the plan may release is released, so that its last batch has begun.
    pub(super) fn is_all_released(&self) -> bool {
        !self.slots.iter().any(PodSlot::awaits_release)
    }

    /// Whether as many slots are released as the command requested.
    pub(super) fn is_reached(&self) -> bool {
        match self.plan.reach {
            None => true,
            Some(Reach::To(amount)) => released_or_updated(&self.slots) >= amount.pods_of(self.slots.len()),
            Some(Reach::Next | Reach::All) => false,
        }
    }

    /// Returns the reason to stop for slots without an available pod, with a clause for each.
    pub(super) fn reason_to_stop<'s>(&self, slots: impl IntoIterator<Item = &'s PodSlot<'a>>) -> StopReason
    where
        'a: 's,
    {
        let (state, allowed) = (verdict(self.observed).state, AllowedRestarts::default());
        let causes = causes_of(self.observed, state, allowed, self.now.server_time);
        let causes = causes.iter().filter(|cause| cause.severity != Severity::Hold);
        let mut by_pod: HashMap<&str, &Cause> = HashMap::new();
        for (pod, cause) in causes.flat_map(|cause| cause.pods.iter().map(move |pod| (pod, cause))) {
            by_pod.entry(pod).or_insert(cause);
        }
        let reason = |slot: &PodSlot<'_>| {
            let Some(pod) = slot.pod else { return "it does not exist".to_owned() };
            if slot.is_available && slot.awaits_deletion {
                return "it is about to be replaced".to_owned();
            }
            match (by_pod.get(pod.name.as_str()), &slot.unready_node) {
                (Some(cause), _) => cause.summary(),
                (None, Some(node)) => format!("its node {node} is not ready"),
                (None, None) => {
                    PodStage::of(pod, self.original_min_ready_seconds, self.now.server_time).word().to_owned()
                }
            }
        };
        let pods = slots.into_iter().map(|slot| (slot.label(), reason(slot))).collect();
        StopReason::Unhealthy { pods, allowed: self.allowed() }
    }

    /// Returns the names of the slots that `step` neither releases nor waits for: those without a ready pod on nodes that
    /// are not ready.
    pub(super) fn skipped(&self) -> Vec<String> {
        self.slots.iter().filter(|slot| slot.is_skipped(self.pace())).map(PodSlot::label).collect()
    }

    /// Returns the nodes that are not ready and whose slots are [skipped](Self::skipped): those of updated or of outdated
    /// pods.
    pub(super) fn skipped_nodes(&self, of_updated: bool) -> Vec<String> {
        let slots = self.slots.iter().filter(|slot| slot.is_updated == of_updated);
        let nodes =
            slots.filter(|slot| slot.is_skipped(self.pace())).filter_map(|slot| slot.unready_node.clone());
        nodes.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns how many released pods run the live template again and are available, and whether all of them do.
    pub(super) fn returned_pods(&self) -> (usize, bool) {
        let workload = self.workload();
        let is_back = |pod: &&Pod| self.is_updated(pod) && self.is_available(pod);
        let partition = strategy::partition(workload);
        let is_released = |pod: &&Pod| {
            strategy::partition_index(workload, &pod.name).is_none_or(|index| index >= partition)
        };
        // Pods of the failed revision may take long to terminate, and the others serve meanwhile.
        let pods = self.observed.own_pods().filter(|pod| pod.is_active());
        let (back, others): (Vec<&Pod>, Vec<&Pod>) = pods.filter(is_released).partition(is_back);
        let wanted = workload.wanted() - partition.min(workload.wanted());
        (back.len(), others.is_empty() && as_number(back.len()) >= wanted)
    }
}

/// Steps one kind of workload. Each kind implements it in one file.
pub(super) trait StepKind {
    /// Returns the flags that only some kinds have, and this one too.
    fn flags(&self, _: &Workload) -> &'static [&'static str] {
        &[]
    }

    /// Refuses a request that is invalid for this kind. Called when only the workload was read.
    fn check_options(&self, _: &Workload, _: &StepOptions) -> Result<()> {
        Ok(())
    }

    /// Returns the slots in the order of release. The state has no slots yet.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<PodSlot<'a>>;

    /// Returns the fields that release as many slots of a batch as is possible now; none if there is none, and for a kind
    /// whose pods are deleted.
    fn release(&self, _: &State<'_>, _: &PlannedBatch) -> Option<HoldFields> {
        None
    }

    /// Returns the pods of the batch in progress to delete now, for a kind whose pods are deleted.
    fn wave(&self, _: &State<'_>) -> Vec<PodRef> {
        Vec::new()
    }

    /// Whether a batch may begin: its first slot can be released, or will be once the controller has counted the pods.
    fn may_begin(&self, state: &State<'_>, first: &PodSlot<'_>) -> bool {
        i64::from(first.is_available && first.counts(state.pace())) <= state.budget_left()
    }

    /// Returns how many of the wanted pods may be unavailable: the limit of the plan, and for the kinds of OpenKruise at
    /// most that of the workload.
    fn allowed(&self, state: &State<'_>) -> usize {
        let limit = max_unavailable(state.pace(), state.slots.len());
        own_limit(state.workload()).map_or(limit, |own| own.min(limit))
    }

    /// Returns how many more pods can be released than may be unavailable, because the controller creates surge pods; 0
    /// where [`release`](Self::release) itself plans these.
    fn surge(&self, _: &State<'_>) -> usize {
        0
    }

    /// Returns how many pods count as unavailable.
    fn unavailable(&self, state: &State<'_>) -> usize {
        state.unavailable_slots().count()
    }

    /// Whether a slot is only a number of pods.
    fn counts_pods(&self) -> bool {
        false
    }

    /// Whether a batch can skip slots on nodes that are not ready.
    fn skips_unready_nodes(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::object::Object;
    use crate::hold::plan::HOLD_ANNOTATION;
    use crate::revision::Revisions;
    use crate::step::slot::tests::{NOW, held_by_plan};
    use crate::step::state_of;

    /// The kubelet reports a pod as ready for a moment after the controller has closed its readiness gate.
    #[test]
    fn a_pod_is_not_available_during_its_update_in_place() {
        let hold = json!({"version": 1, "set": {}, "strategy": {}, "plan": {}}).to_string();
        let set = json!({"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet",
            "metadata": {"name": "web", "annotations": {HOLD_ANNOTATION: hold}}, "spec": {"template": {}}});
        let workload = Workload::of_json(&set).unwrap();
        let (hold, revisions) = (held_by_plan(&workload), Revisions::of(&workload, []));
        let observed = Observation { workload, revisions, pods: None, events: None };
        let state = state_of(&observed, None, &hold, NOW).unwrap();
        for (gate, is_available) in [("True", true), ("False", false)] {
            let pod = json!({"kind": "Pod", "metadata": {"name": "web-1"}, "status": {"conditions": [
                {"type": "Ready", "status": "True"}, {"type": "InPlaceUpdateReady", "status": gate}]}});
            assert_eq!(state.is_available(&Pod::read(&Object::read(pod).unwrap())), is_available, "{gate}");
        }
    }
}
