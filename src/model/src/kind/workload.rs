//! What is known of a workload of any kind, and what follows from what tells its pods apart.

use std::cmp::Reverse;

use serde_json::Value;

use super::update_budget::{PodUpdatePolicy, UpdateBudget};
use super::verdict::{Activity, Counts, RolloutState, Verdict};
use super::{Pods, Workload, strategy};
use crate::api::managed_fields::with_template_owners_only;
use crate::api::object::{Condition, Object};
use crate::api::patch::FieldPath;
use crate::api::pod::Pod;
use crate::text::shell_command::Word;

impl Workload {
    /// Returns the same workload as another object, such as the one that a write stored.
    #[must_use]
    pub fn with_object(&self, object: Object) -> Self {
        Self::of_kind(self.kind, object)
    }

    /// Returns a workload with nothing but the type, the name, the namespace and the uid.
    #[must_use]
    pub fn identity(&self) -> Self {
        self.with_object(self.object.identity())
    }

    /// Drops `metadata.managedFields`.
    #[must_use]
    pub fn without_managed_fields(self) -> Self {
        Self { object: self.object.without_managed_fields(), ..self }
    }

    /// Drops of `metadata.managedFields` all but what is owned of the template, from which its last writer is found.
    #[must_use]
    pub fn with_template_owners_only(self) -> Self {
        Self { object: with_template_owners_only(self.object), ..self }
    }

    /// Returns its API version; the preferred one of its kind for an item of a list that does not repeat it.
    #[must_use]
    pub fn api_version(&self) -> String {
        self.object.text("/apiVersion").map_or_else(|| self.kind.type_().api_version(), str::to_owned)
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.object.name()
    }

    /// Returns `deployment.apps/web`, as kubectl begins its lines.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("{}.{}/{}", self.kind.type_().singular, self.kind.type_().group, self.name())
    }

    /// Returns `deployment/web`, as a person types it.
    #[must_use]
    pub fn target(&self) -> String {
        format!("{}/{}", self.kind.type_().cli_name, self.name())
    }

    /// Returns `deployment/web -n shop`, for commands that work from every namespace.
    #[must_use]
    pub fn command_target(&self) -> Word {
        Word::typed_name(self.kind().type_().cli_name, self.name()).and(&self.in_namespace())
    }

    /// Returns ` -n shop`, for commands about objects of the workload that work from every namespace.
    #[must_use]
    pub fn in_namespace(&self) -> Word {
        Word::in_namespace(self.object.namespace())
    }

    /// Returns how many pods are wanted.
    #[must_use]
    pub fn wanted(&self) -> i64 {
        self.kind.wanted(self)
    }

    pub(super) fn wanted_replicas(&self) -> i64 {
        if self.kind.pods().are_per_node() {
            return self.counter("desiredNumberScheduled").unwrap_or_default();
        }
        self.object.int("/spec/replicas").map_or(1, in_range)
    }

    /// Whether the controller has observed the spec as it is now.
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.kind.is_observed(self)
    }

    pub(super) fn is_generation_observed(&self) -> bool {
        let place = "/status/observedGeneration";
        let text = || self.object.text(place)?.parse().ok();
        self.object.generation() <= self.object.int(place).or_else(text).unwrap_or_default()
    }

    /// Whether it is paused by the kind's own field, such as `spec.paused` of a Deployment.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        let value =
            |path: &[&str]| path.iter().try_fold(self.object.json(), |value, member| value.get(member));
        self.pause_members().and_then(value).and_then(Value::as_bool) == Some(true)
    }

    /// Returns the kind's own field that is true while it is paused, if the kind has one.
    #[must_use]
    pub fn pause_field(&self) -> Option<FieldPath> {
        self.pause_members().map(|members| FieldPath::of(members.iter().copied()))
    }

    /// Returns the members that lead to that field in the API version of this object.
    pub(super) fn pause_members(&self) -> Option<&'static [&'static str]> {
        let version = self.object.text("/apiVersion").and_then(|version| version.rsplit('/').next());
        self.kind.pause_field(version.unwrap_or_default())
    }

    /// Returns how long a pod must be ready before it counts as available.
    #[must_use]
    pub fn min_ready_seconds(&self) -> i64 {
        self.object.int(self.kind.min_ready_seconds()).unwrap_or_default()
    }

    /// Returns a condition of the workload; the controllers of DaemonSets and StatefulSets write none.
    #[must_use]
    pub fn condition(&self, type_: &str) -> Option<Condition> {
        Condition::read(&self.object, type_)
    }

    /// Whether the condition `Progressing` says that `spec.progressDeadlineSeconds` passed.
    #[must_use]
    pub fn is_deadline_exceeded(&self) -> bool {
        self.condition("Progressing").is_some_and(|condition| condition.reason == "ProgressDeadlineExceeded")
    }

    /// Returns the revision number that the controller wrote on the workload itself, 0 when there is none;
    /// none for other text, and for kinds whose number is on the revision only.
    #[must_use]
    pub fn recorded_revision(&self) -> Option<i64> {
        self.kind.revisions().recorded_number(&self.object)
    }

    /// Returns the name of the revision that served before the rollout, where the controller keeps it
    /// (`status.currentRevision` of a StatefulSet). It changes only when the update is complete.
    #[must_use]
    pub fn recorded_stable_revision(&self) -> Option<&str> {
        self.object.text("/status/currentRevision").filter(|_| self.kind.reports_revisions())
    }

    /// Whether its controller reports this revision as the one that it updates to; true for a kind that reports none.
    #[must_use]
    pub fn reports_update_to(&self, revision: Option<&str>) -> bool {
        !self.kind.reports_revisions() || self.object.text("/status/updateRevision") == revision
    }

    /// Whether its controller reports the updated revision as the stable one; true for a kind that reports none.
    #[must_use]
    pub fn is_update_reported_stable(&self) -> bool {
        self.reports_update_to(self.recorded_stable_revision())
    }

    /// Returns the sentence about a workload that is being deleted; none for any other.
    #[must_use]
    pub fn deletion_sentence(&self) -> Option<String> {
        self.object.text("/metadata/deletionTimestamp")?;
        Some(format!("{} is being deleted, so its controller ignores changes", self.target()))
    }

    /// Returns how its controller may update an outdated pod.
    #[must_use]
    pub fn pod_update_policy(&self) -> PodUpdatePolicy {
        self.kind.pod_update_policy(self).unwrap_or(PodUpdatePolicy::Recreate)
    }

    /// Whether the user can choose how its controller updates a pod.
    #[must_use]
    pub fn has_pod_update_policy(&self) -> bool {
        self.kind.pod_update_policy(self).is_some()
    }

    /// Returns its update budget, rounded as its controller rounds.
    #[must_use]
    pub fn update_budget(&self) -> UpdateBudget {
        self.kind.update_budget(self)
    }

    /// Returns the verdict on a workload whose controller has not observed the spec.
    #[must_use]
    pub fn unobserved_verdict(&self) -> Verdict {
        let is_per_node = self.kind.pods().are_per_node();
        let noun = if is_per_node { "daemon set" } else { self.kind.type_().singular };
        Verdict::new(RolloutState::Unobserved, format!("Waiting for {noun} spec update to be observed..."))
    }

    /// Returns the verdict by the counters, with the [state of the hold](Self::hold_state) if outdated pods are kept.
    pub(super) fn verdict_with_hold(&self, by_counts: Verdict, activity: &Activity<'_>) -> Verdict {
        let state = self.hold_state(&by_counts, activity).unwrap_or(by_counts.state);
        Verdict { state, ..by_counts }
    }

    /// Returns the state of a workload whose outdated pods are kept: by `OnDelete` once the updated pods are ready, by a pause
    /// that keeps pods which the partition releases, by a partition that releases none, or by a node selector. A plan of
    /// `step` holds once every pod that it released is done.
    pub(super) fn hold_state(&self, by_counts: &Verdict, activity: &Activity<'_>) -> Option<RolloutState> {
        let (counts, kept) = (self.counts(), strategy::partition(self));
        let released = counts.wanted - kept;
        if counts.outdated() == 0 {
            return None;
        }
        if strategy::is_on_delete(self) {
            return (!activity.is_updating_pods).then_some(RolloutState::Held);
        }
        if self.is_paused() && counts.updated < released {
            return Some(RolloutState::Paused);
        }
        if activity.is_rolling_back {
            return Some(RolloutState::Progressing);
        }
        // Which nodes a selector selects is not known here. The controller updates the next pod in the sync in which it counts
        // the last one as available, so a rollout is as far as the selector allows once every pod is available and none is
        // being updated.
        let is_available = counts.available.unwrap_or_default() >= counts.wanted;
        let is_held = released == 0 && kept > 0
            || self.held.holds() && by_counts.is_complete()
            || strategy::has_node_selector(self) && is_available && !activity.is_updating_pods;
        is_held.then_some(RolloutState::Held)
    }

    /// Whether this very object is the controller of a pod; that of a Deployment's pods is a ReplicaSet.
    #[must_use]
    pub fn owns(&self, pod: &Pod) -> bool {
        !pod.owner_uid.is_empty() && pod.owner_uid == self.object.uid()
    }

    /// Reads the counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.kind.counts(self)
    }

    /// Reads the counters of replicas. An absent counter is 0, as in Go. The controllers of pods with ordinals always write
    /// `available`, so without it the API server does not know that counter.
    pub(super) fn replica_counts(&self) -> Counts {
        let pods = self.kind.pods();
        let [total, updated, ready, available] = if pods.are_per_node() {
            ["currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable"]
        } else {
            ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"]
        };
        let wanted = self.wanted();
        Counts {
            wanted,
            released: (wanted - strategy::partition(self)).max(0),
            total: self.counter(total).unwrap_or_default(),
            updated: self.counter(updated).unwrap_or_default(),
            ready: self.counter(ready).unwrap_or_default(),
            available: self.counter(available).or((!pods.are_ordered()).then_some(0)),
        }
    }

    pub(super) fn counter(&self, name: &str) -> Option<i64> {
        self.object.int(&format!("/status/{name}")).map(in_range)
    }
}

/// The API's counters are non-negative 32-bit integers. Values from snapshots are limited to that.
pub(super) fn in_range(count: i64) -> i64 {
    count.clamp(0, i64::from(i32::MAX))
}

impl Pods {
    /// Returns what the user knows a pod by.
    #[must_use]
    pub fn label(self, pod: &Pod) -> &str {
        if self == Self::PerNode && !pod.node.is_empty() { &pod.node } else { &pod.name }
    }

    /// Returns the words for pods with these labels; none where only the number of pods matters.
    #[must_use]
    pub fn describe(self, labels: String) -> Option<String> {
        match self {
            Self::Interchangeable => None,
            Self::PerNode => Some(format!("those on {labels}")),
            Self::ByOrdinal => Some(labels),
        }
    }

    /// Returns the members of `spec` that decide which ordinals the pods have, beside their number.
    #[must_use]
    pub fn ordinal_fields(self) -> &'static [&'static str] {
        if self == Self::ByOrdinal { &["ordinals", "reserveOrdinals"] } else { &[] }
    }

    /// Whether nothing tells the pods apart, so that the pods that a scale-down removes cannot be predicted.
    #[must_use]
    pub fn are_interchangeable(self) -> bool {
        self == Self::Interchangeable
    }

    /// Whether each node has one of the pods.
    #[must_use]
    pub fn are_per_node(self) -> bool {
        self == Self::PerNode
    }

    /// Returns the order in which the controller updates the pods, for the user; none where it has no order that the user
    /// relies on.
    #[must_use]
    pub fn order(self) -> Option<&'static str> {
        self.are_ordered().then_some("the highest ordinal first")
    }

    /// Whether the controller updates the pods in order, so that a broken pod can block those after it.
    #[must_use]
    pub fn are_ordered(self) -> bool {
        self == Self::ByOrdinal
    }

    /// Whether the controller waits for each pod before it updates the next one.
    #[must_use]
    pub fn wait_for_each_other(self, workload: &Workload) -> bool {
        self.are_ordered() && workload.object().text("/spec/podManagementPolicy") != Some("Parallel")
    }

    /// Sorts outdated pods as the controller updates them: interchangeable ones that are not ready come first, and the last
    /// node by name.
    pub fn sort_by_update(self, outdated: &mut [&Pod]) {
        match self {
            Self::Interchangeable => outdated.sort_by_key(|pod| pod.ready),
            Self::PerNode => outdated.sort_by_key(|pod| Reverse(pod.node.as_str())),
            Self::ByOrdinal => outdated.sort_by_key(|pod| Reverse(pod.ordinal)),
        }
    }

    /// Whether the controller creates the replacement of a pod only after the pod is gone.
    #[must_use]
    pub fn wait_for_terminating_pods(self, workload: &Workload) -> bool {
        match self {
            Self::Interchangeable => strategy::is_recreate(workload),
            Self::PerNode => workload.update_budget().surge == 0,
            Self::ByOrdinal => true,
        }
    }

    /// Whether the controller counts as many updated pods as wanted, and no other pod. A scale-down removes pods with an
    /// ordinal one after another.
    #[must_use]
    pub fn are_all_updated(self, counts: Counts) -> bool {
        counts.outdated() == 0
            && counts.updated >= counts.wanted
            && (!self.are_ordered() || counts.total <= counts.wanted)
    }

    /// Returns which pods run the new revision although `OnDelete` holds the others.
    #[must_use]
    pub fn updated_under_on_delete(self) -> &'static str {
        if self.are_per_node() { "recreated pods and pods on new nodes" } else { "recreated pods" }
    }
}
