//! How workloads are held and released. There are four mechanisms: `ordinals` and `counts` lower a partition, `budget` raises
//! the update budget of a Deployment, `deletions` deletes the pods of a DaemonSet. Each is asked about a `State`: an
//! observation, the plan, and the pod slots.

pub(crate) mod budget;
pub(crate) mod counts;
pub(crate) mod deletions;
pub mod hold_budget;
pub(crate) mod ordinals;
pub(crate) mod partition;
mod table;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use serde_json::Value;

use crate::api::container::ContainerState;
use crate::api::count::as_number;
use crate::api::patch::FieldPath;
use crate::api::pod::{Node, Pod};
use crate::engine::{Now, PodRef};
use crate::error::Result;
use crate::hold::plan::{Hold, Pace, Plan, PlannedBatch, Reach};
use crate::hold::slot::{Skip, Slot, SlotState, max_unavailable, own_limit, released_or_updated};
use crate::kind::fields::{HoldFields, UPDATE_STRATEGY, spec_path};
use crate::kind::{Workload, strategy};
use crate::observation::Observation;
use crate::revision::Revision;

/// An observation with its plan and the slots of its pods. It is built once an event, in time linear in pods and nodes.
pub(crate) struct State<'a> {
    pub(crate) observed: &'a Observation,
    /// The nodes; none when listing nodes is forbidden.
    pub(crate) nodes: Option<&'a [Node]>,
    nodes_by_name: HashMap<&'a str, &'a Node>,
    /// The hold of the plan.
    pub(crate) hold: &'a Hold,
    pub(crate) plan: &'a Plan,
    pub(crate) now: Now,
    pub(crate) mechanism: &'static dyn Mechanism,
    /// How long a pod must be ready before it counts as available, by the original `minReadySeconds`.
    pub(crate) original_min_ready_seconds: i64,
    /// The revision of the plan, once the controller stored it: the current one, until another client changes the template.
    pub(crate) plan_revision: Option<&'a Revision>,
    /// The active pods that run the revision of the plan.
    pub(crate) updated: Vec<&'a Pod>,
    /// The active pods that run another one.
    pub(crate) outdated: Vec<&'a Pod>,
    /// The keys of the slots of the last batch that began.
    last_batch_slots: HashSet<&'a str>,
    /// The slots in the order of release.
    pub(crate) slots: Vec<Slot<'a>>,
    /// The batch in progress, if some of its slots still exist and are released, or may be.
    pub(crate) present_batch: Option<&'a PlannedBatch>,
    /// Whether `--force` began that batch. Then only its own slots must become healthy.
    pub(crate) is_forced: bool,
}

impl<'a> State<'a> {
    /// Builds the state of a plan. `step` knows the mechanism.
    pub(crate) fn new(
        mechanism: &'static dyn Mechanism,
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
            mechanism,
            original_min_ready_seconds: hold.original_min_ready_seconds(workload),
            plan_revision: current,
            updated: Vec::new(),
            outdated: Vec::new(),
            last_batch_slots: last_batch.collect(),
            slots: Vec::new(),
            present_batch: None,
            is_forced: false,
        };
        let active = observed.own_pods().filter(|pod| pod.is_active());
        (state.updated, state.outdated) = active.partition(|pod| state.is_updated(pod));
        state.slots = state.mechanism.slots(&state);
        // A later command may select other nodes before any slot of the batch is released.
        let is_left = |slot: &Slot<'_>| !slot.state.is_held() || slot.skip != Some(Skip::Selector);
        let exists = state.slots.iter().any(|slot| slot.batch.is_some() && is_left(slot));
        state.present_batch = plan.last_batch.as_ref().filter(|batch| !batch.done && exists);
        state
    }

    pub(crate) fn workload(&self) -> &'a Workload {
        &self.observed.workload
    }

    /// Returns the hold as the next write stores it, with another plan.
    pub(crate) fn hold_with(&self, plan: Plan) -> Hold {
        let mut hold = self.hold.clone().with_plan(plan);
        hold.lock = hold.lock.map(|lock| lock.written_at(self.now.stamp()));
        hold
    }

    pub(crate) fn pace(&self) -> &'a Pace {
        &self.plan.pace
    }

    /// Returns how long a pod is awaited: the original `minReadySeconds` come on top of `--batch-timeout`.
    pub(crate) fn batch_limit(&self) -> Duration {
        let min_ready = u64::try_from(self.original_min_ready_seconds).unwrap_or_default();
        self.pace().batch_timeout.saturating_add(Duration::from_secs(min_ready))
    }

    /// Whether a pod is available and not terminating.
    pub(crate) fn is_available(&self, pod: &Pod) -> bool {
        pod.is_active()
            && !pod.is_updating_in_place()
            && pod.is_available(self.original_min_ready_seconds, self.now.server_time)
    }

    /// Whether a pod runs the revision of the plan.
    pub(crate) fn is_updated(&self, pod: &Pod) -> bool {
        self.plan_revision.is_some_and(|current| self.observed.workload.runs(pod, current))
    }

    /// Returns the node with a name, if nodes can be listed.
    pub(crate) fn node(&self, name: &str) -> Option<&'a Node> {
        self.nodes_by_name.get(name).copied()
    }

    /// Returns the node that a pod runs on, if nodes can be listed.
    pub(crate) fn node_of(&self, pod: &Pod) -> Option<&'a Node> {
        self.node(&pod.node)
    }

    /// Returns the name of the node that a pod runs on, if that is not ready.
    pub(crate) fn unready_node_of(&self, pod: Option<&Pod>) -> Option<String> {
        let node = self.node_of(pod?).filter(|node| !node.ready)?;
        Some(node.name.clone())
    }

    /// Returns a slot with the facts that are the same for every kind.
    pub(crate) fn slot(&self, key: String, pod: Option<&'a Pod>, is_released: bool) -> Slot<'a> {
        let has_stopped = |pod: &Pod| {
            let mut containers = pod.containers.iter().filter(|one| !one.init);
            let is_stopped =
                |state| matches!(state, &ContainerState::Terminated(_) | &ContainerState::Waiting { .. });
            containers.any(|one| is_stopped(&one.state))
        };
        let state = match pod {
            Some(pod) if self.is_updated(pod) && self.is_available(pod) && !has_stopped(pod) => {
                let since = pod.available_since(self.original_min_ready_seconds).max(pod.updated_at());
                SlotState::Healthy { since }
            }
            Some(pod) if self.is_updated(pod) => SlotState::Starting,
            _ if is_released => SlotState::Released,
            Some(pod) if self.is_available(pod) => SlotState::Held,
            _ => SlotState::HeldDown,
        };
        Slot {
            batch: self.plan.last_batch.as_ref().filter(|_| self.last_batch_slots.contains(key.as_str())),
            key,
            label: None,
            pod,
            state,
            skip: None,
            unready_node: self.unready_node_of(pod),
            group: None,
        }
    }

    /// Whether the controller has observed the workload as it is now. It stores no revision of a template while the
    /// workload is paused.
    pub(crate) fn is_change_observed(&self) -> bool {
        let workload = self.workload();
        let is_paused = workload.is_paused() && self.observed.revisions.current().is_none();
        self.observed.is_observed() || is_paused && workload.is_observed()
    }

    /// Whether the workload is scaled to 0 replicas. No outdated pod is left to hold: a controller creates every pod of a later
    /// scale-up on the new revision, also below a partition (`completeRollingUpdate` in the StatefulSet controller).
    pub(crate) fn has_no_replicas(&self) -> bool {
        self.workload().object().int("/spec/replicas") == Some(0)
    }

    /// Whether a slot belongs to the present batch.
    pub(crate) fn is_in_batch(&self, slot: &Slot<'_>) -> bool {
        self.present_batch.is_some() && slot.batch.is_some()
    }

    /// Returns the slots that must be healthy before the plan continues: all released ones. A pod that fails late is as
    /// important as one that fails immediately.
    pub(crate) fn required(&self) -> impl Iterator<Item = &Slot<'a>> {
        self.slots.iter().filter(|slot| self.is_required(slot))
    }

    /// Returns the slots that must stay healthy for the whole soak, including pods that a scale-up adds on the new revision.
    pub(crate) fn soaking(&self) -> impl Iterator<Item = &Slot<'a>> {
        let only_batch =
            self.mechanism.soaks_by_batch() && self.slots.iter().any(|slot| slot.batch.is_some());
        self.required().filter(move |slot| !only_batch || slot.batch.is_some())
    }

    /// Whether a slot must be healthy before the plan continues: of the batch also one that a later command does not select.
    pub(crate) fn is_required(&self, slot: &Slot<'_>) -> bool {
        let is_in_batch = self.is_in_batch(slot);
        let is_excluded = match slot.skip {
            Some(Skip::Selector) => !is_in_batch,
            Some(Skip::OwnPartition) => true,
            None => false,
        };
        let is_of_others = self.is_forced && self.present_batch.is_some() && !is_in_batch;
        !slot.state.is_held() && !is_excluded && !slot.is_ignored(self.pace()) && !is_of_others
    }

    /// Whether released pods are being replaced, or slots of the batch wait for their release.
    pub(crate) fn is_moving(&self) -> bool {
        self.slots.iter().any(|slot| self.is_awaited(slot))
    }

    /// Whether the batch waits for a slot. Slots whose node is not ready any more are skipped if the kind allows it.
    pub(crate) fn is_awaited(&self, slot: &Slot<'_>) -> bool {
        let is_skipped = self.mechanism.skips_unready_nodes() && slot.unready_node.is_some();
        self.is_required(slot) && !slot.state.is_healthy()
            || slot.awaits_release() && self.is_in_batch(slot) && !is_skipped
    }

    /// Returns the slots of the last batch that can be released and are not yet: not those on nodes that are not ready.
    pub(crate) fn left_in_batch(&self) -> impl Iterator<Item = &Slot<'a>> {
        let is_left =
            |slot: &&Slot<'a>| slot.batch.is_some() && slot.awaits_release() && slot.unready_node.is_none();
        self.slots.iter().filter(is_left)
    }

    /// Returns how many pods may be unavailable.
    pub(crate) fn allowed(&self) -> usize {
        self.mechanism.allowed(self)
    }

    /// Returns how many more pods may become unavailable; negative when too many are unavailable already. The first release of
    /// a batch that `--force` began ignores the unavailable ones.
    pub(crate) fn budget_left(&self) -> i64 {
        let room = self.allowed() + self.mechanism.surge(self);
        let has_released = || self.slots.iter().any(|slot| slot.batch.is_some() && !slot.state.is_held());
        let ignores = self.is_forced && self.present_batch.is_some() && !has_released();
        as_number(room) - if ignores { 0 } else { as_number(self.mechanism.unavailable(self)) }
    }

    /// Returns the slots that count as unavailable.
    pub(crate) fn unavailable_slots(&self) -> impl Iterator<Item = &Slot<'a>> {
        self.slots.iter().filter(|slot| slot.is_unavailable(self.pace()))
    }

    /// Whether every slot that the plan may release is released, so that its last batch has begun.
    pub(crate) fn is_all_released(&self) -> bool {
        !self.slots.iter().any(Slot::awaits_release)
    }

    /// Whether as many slots are released as the command requested.
    pub(crate) fn is_reached(&self) -> bool {
        match self.plan.reach {
            None => true,
            Some(Reach::To(amount)) => released_or_updated(&self.slots) >= amount.pods_of(self.slots.len()),
            Some(Reach::Next | Reach::All) => false,
        }
    }

    /// Returns the names of the slots that `step` neither releases nor waits for: those without a ready pod on nodes that
    /// are not ready.
    pub(crate) fn skipped(&self) -> Vec<String> {
        self.slots.iter().filter(|slot| slot.is_skipped(self.pace())).map(Slot::label).collect()
    }

    /// Returns the nodes that are not ready and whose slots are [skipped](Self::skipped): those of updated or of outdated
    /// pods.
    pub(crate) fn skipped_nodes(&self, of_updated: bool) -> Vec<String> {
        let slots = self.slots.iter().filter(|slot| slot.state.is_updated() == of_updated);
        let nodes =
            slots.filter(|slot| slot.is_skipped(self.pace())).filter_map(|slot| slot.unready_node.clone());
        nodes.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns how many released pods run the live template again and are available, and whether all of them do.
    pub(crate) fn returned_pods(&self) -> (usize, bool) {
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

/// How `pause` and `step` hold workloads, by fields that they restore later, and how `step` releases their pods. Each
/// mechanism is one file.
pub(crate) trait Mechanism: Sync {
    /// Returns the members of `spec` that a hold writes and restores.
    fn fields(&self) -> &'static [&'static str] {
        &[UPDATE_STRATEGY]
    }

    /// Returns the fields that hold a workload as its pods are now. The workload may be the observed one after a change.
    fn fields_to_hold(&self, observed: &Observation, workload: &Workload) -> HoldFields;

    /// Whether a workload still has the fields that hold it. Once another client writes them, the hold has no effect.
    /// Compares only what holds, because a server may add defaults to the rest. Of an update budget, another client may
    /// have paused the workload or written the strategy: the hold then has another number of pods, and still does not end.
    fn is_in_force(&self, workload: &Workload, held: &HoldFields) -> bool;

    /// Whether the update strategy is still that of the hold.
    fn is_strategy_held(&self, workload: &Workload, held: &HoldFields) -> bool {
        self.is_in_force(workload, held)
    }

    /// Returns the value of a field after the end of the hold: the original one, or the live one if another client wrote it.
    /// Of an update strategy that another client changed meanwhile, only what the hold wrote is restored.
    fn restored(
        &self,
        workload: &Workload,
        held: &HoldFields,
        original: &HoldFields,
        name: &str,
    ) -> Option<Value> {
        if self.is_in_force(workload, held) {
            strategy::restored(workload, held.get(name), original.get(name), &[])
        } else {
            spec_path(name).value_in(workload.object().json()).cloned()
        }
    }

    /// Returns the fields that hold a workload while it is rolled back, if the original ones would leave released pods on
    /// the failed revision.
    fn fields_of_rollback(&self, _workload: &Workload, _original: &HoldFields) -> Option<HoldFields> {
        None
    }

    /// Returns the field by which `step` holds a workload, and its value where that is not a number of pods.
    fn step_field(&self, workload: &Workload) -> (FieldPath, Option<&'static str>);

    /// Returns the flags of `step` that only some mechanisms have, and this one too.
    fn flags(&self) -> &'static [&'static str] {
        &[]
    }

    /// Refuses to step a workload that `step` would harm, by what was read of the workload alone. `force` is `--force`.
    ///
    /// # Errors
    /// Why, and whether `--force` accepts it.
    fn check_workload(&self, _workload: &Workload, _force: bool) -> Result<()> {
        Ok(())
    }

    /// Returns the slots in the order of release. The state has no slots yet.
    fn slots<'a>(&self, state: &State<'a>) -> Vec<Slot<'a>>;

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
    fn may_begin(&self, state: &State<'_>, first: &Slot<'_>) -> bool {
        i64::from(first.state == SlotState::Held && first.counts(state.pace())) <= state.budget_left()
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

    /// Whether only the pods of the last batch soak. In a large cluster, some node or pod changes during every soak. Only
    /// where no slot of a batch is left, the pods of the controller or of a replaced plan are all that proves the new revision.
    fn soaks_by_batch(&self) -> bool {
        false
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
    use crate::hold::plan::schema::tests::plan_json;
    use crate::hold::slot::tests::{NOW, held_by_plan};
    use crate::revision::Revisions;
    use crate::step::state_of;

    /// The kubelet reports a pod as ready for a moment after the controller has closed its readiness gate.
    #[test]
    fn a_pod_is_not_available_during_its_update_in_place() {
        let hold = json!({"version": 1, "set": {}, "strategy": {}, "plan": plan_json()}).to_string();
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
