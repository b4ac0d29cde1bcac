//! Workloads: an object, and its kind.
//!
//! A kind is one implementation of [`Kind`] in a file of its own, and a line in the table. No file outside this folder
//! matches on a kind: it asks the kind what differs.

pub mod advanced_daemon_set;
pub mod advanced_stateful_set;
pub mod clone_set;
pub mod controller_hash;
pub mod counts;
pub mod daemon_set;
pub mod deployment;
mod kruise;
pub mod plan_fields;
pub mod properties;
pub(in crate::model) mod reserved_ordinals;
pub mod revision_store;
pub mod rolling_hold;
pub mod stateful_set;
pub mod strategy;
pub mod strategy_fields;
pub mod table;
#[cfg(test)]
mod test_kind;
pub mod update_budget;
pub mod verdict;

pub use table::{all, built_in, of, of_type, optional, steppable};

use std::fmt;
use std::sync::OnceLock;

use serde_json::Value;

use self::properties::{
    Counters, HoldBy, PodIdentity, PodUpdatePolicy, StepBy, StrategyField, VersionedPath,
};
use self::revision_store::RevisionStore;
use self::update_budget::UpdateBudget;
use self::verdict::{RolloutFacts, Verdict};
use crate::model::api::condition::Condition;
use crate::model::api::object::Object;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::ResourceType;
use crate::model::text::digest::Digest;
use crate::model::text::shell_command::Word;

/// How one kind of workload behaves. What most kinds have in common is a default.
pub trait Kind: Sync {
    /// Returns what the API serves it as: its group, versions, resource name and spellings.
    fn type_(&self) -> &'static ResourceType;

    /// Whether every API server has the kind. `all` means these kinds.
    fn is_built_in(&self) -> bool {
        false
    }

    /// Returns how its controller stores revisions.
    fn revisions(&self) -> &'static dyn RevisionStore;

    /// Returns how its pods are identified.
    fn pods(&self) -> PodIdentity;

    /// Returns the JSON pointer to the number of wanted pods, and the API's default for it.
    fn wanted(&self) -> (&'static str, i64) {
        ("/spec/replicas", 1)
    }

    /// Returns the JSON pointer to how long a pod must be ready before it counts as available.
    fn min_ready_seconds(&self) -> &'static str {
        "/spec/minReadySeconds"
    }

    /// Returns the names of its counters in `status`.
    fn counters(&self) -> Counters {
        Counters::REPLICAS
    }

    /// Returns the state of its rollout.
    fn verdict(&self, workload: &Workload, facts: &RolloutFacts<'_>) -> Verdict;

    /// Returns its update budget, rounded as its controller rounds.
    fn update_budget(&self, workload: &Workload) -> UpdateBudget;

    /// Returns the path to its update strategy.
    fn strategy(&self) -> &'static [&'static str] {
        &["spec", "updateStrategy"]
    }

    /// Returns the fields that the strategy can have, each by its path: `rollingUpdate.partition`.
    fn strategy_fields(&self) -> &'static [(&'static str, StrategyField)];

    /// Returns how many of the wanted pods the partition of a strategy keeps outdated.
    fn kept_by_partition(&self, _strategy: &Value, _wanted: i64) -> i64 {
        0
    }

    /// Returns how its controller may update a pod; none for a kind whose pods are always replaced.
    fn pod_update_policy(&self, _: &Workload) -> Option<PodUpdatePolicy> {
        None
    }

    /// Whether its controller waits for a broken outdated pod and never replaces it.
    fn waits_for_broken_pods(&self, _: &Workload) -> bool {
        false
    }

    /// Returns the JSON pointer to the name of the stable revision; none if the controller does not record it.
    fn stable_revision(&self) -> Option<&'static str> {
        None
    }

    /// Returns the JSON pointer to the name of the revision that the controller updates to; none if the controller does
    /// not record it.
    fn update_revision(&self) -> Option<&'static str> {
        None
    }

    /// Whether its controller reports `spec.progressDeadlineSeconds`.
    fn has_progress_deadline(&self) -> bool {
        false
    }

    /// Returns the conditions in which its controller reports that it cannot create or update pods.
    fn error_conditions(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns what holds its outdated pods.
    fn hold(&self) -> HoldBy;

    /// Returns the members of `spec` that a plan of `step` replaces together; empty where it replaces the update strategy
    /// alone.
    fn plan_fields(&self) -> &'static [(&'static str, StrategyField)] {
        &[]
    }

    /// Returns how `step` releases its pods.
    ///
    /// # Errors
    /// Why it cannot.
    fn step(&self) -> Result<StepBy, &'static str> {
        Err("this version only reads it")
    }
}

/// Two kinds are the same when the API serves them as the same type.
impl PartialEq for dyn Kind {
    fn eq(&self, other: &Self) -> bool {
        self.type_() == other.type_()
    }
}

impl Eq for dyn Kind {}

impl fmt::Debug for dyn Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.type_().group_kind())
    }
}

/// A workload as the API served it.
#[derive(Clone, Debug)]
pub struct Workload {
    kind: &'static dyn Kind,
    object: Object,
    /// The digest of the live template, once [`Workload::template_digest`] computed it. No method changes `object`, so
    /// that it stays valid.
    pub(super) template_digest: OnceLock<Digest>,
}

/// Two workloads are equal if their kinds and objects are, whether or not a digest was computed.
impl PartialEq for Workload {
    fn eq(&self, other: &Self) -> bool {
        let Self { kind, object, template_digest: _ } = self;
        *kind == other.kind && *object == other.object
    }
}

impl Workload {
    /// Drops the template and the manifest that `kubectl apply` stored, the largest parts of most workloads.
    #[must_use]
    pub fn without_template(mut self) -> Self {
        for pointer in
            ["/spec/template", "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"]
        {
            drop(self.object.take(pointer));
        }
        Self { template_digest: OnceLock::new(), ..self }
    }

    /// Returns how its kind behaves.
    #[must_use]
    pub fn kind(&self) -> &'static dyn Kind {
        self.kind
    }

    /// Returns the object itself.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
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
        format!("{}.{}/{}", self.kind.type_().singular(), self.kind.type_().group(), self.name())
    }

    /// Returns `deployment/web`, as a person types it.
    #[must_use]
    pub fn target(&self) -> String {
        format!("{}/{}", self.kind.type_().typed(), self.name())
    }

    /// Returns `deployment/web -n shop`, for commands that work from every namespace.
    #[must_use]
    pub fn command_target(&self) -> Word {
        Word::typed_name(self.kind().type_().typed(), self.name()).and(&self.in_namespace())
    }

    /// Returns ` -n shop`, for commands about objects of the workload that work from every namespace.
    #[must_use]
    pub fn in_namespace(&self) -> Word {
        Word::in_namespace(self.object.namespace())
    }

    /// Returns how many pods are wanted, within the API's 32 bits. The number of a DaemonSet follows from
    /// its nodes.
    #[must_use]
    pub fn wanted(&self) -> i64 {
        let (pointer, default) = self.kind.wanted();
        self.object.int(pointer).unwrap_or(default).clamp(0, i64::from(i32::MAX))
    }

    /// Whether the controller has observed the spec as it is now (`status.observedGeneration`).
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.object.generation() <= self.object.int("/status/observedGeneration").unwrap_or_default()
    }

    /// Whether it is paused by the kind's own field, such as `spec.paused` of a Deployment.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        match self.kind.hold() {
            HoldBy::Paused(fields) => {
                let path = self.path_in_version(fields);
                let paused = path.iter().try_fold(self.object.json(), |value, member| value.get(member));
                paused.and_then(Value::as_bool) == Some(true)
            }
            HoldBy::Partition | HoldBy::OnDelete => false,
        }
    }

    /// Returns the path of a field in the API version of this object, or else in the preferred one.
    fn path_in_version(&self, fields: &'static [VersionedPath]) -> &'static [&'static str] {
        let version = self.object.text("/apiVersion").and_then(|version| version.rsplit('/').next());
        let field = fields.iter().find(|(served, _)| Some(*served) == version).or(fields.first());
        field.map_or(&[], |(_, path)| path)
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
        self.object.text(self.kind.stable_revision()?)
    }

    /// Whether its controller reports the updated revision as the stable one; true for a kind that reports none.
    #[must_use]
    pub fn is_update_reported_stable(&self) -> bool {
        let updated = self.kind.update_revision().and_then(|pointer| self.object.text(pointer));
        self.kind.stable_revision().is_none() || self.recorded_stable_revision() == updated
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

    /// Whether this very object is the controller of a pod; that of a Deployment's pods is a ReplicaSet.
    #[must_use]
    pub fn owns(&self, pod: &Pod) -> bool {
        !pod.owner_uid.is_empty() && pod.owner_uid == self.object.uid()
    }
}
