//! Workloads: an object, and its kind.
//!
//! A kind is one implementation of [`Kind`] in a file of its own, and a line in the table. No file outside this folder
//! matches on a kind: it asks the kind what differs.

pub mod advanced_daemon_set;
pub mod advanced_stateful_set;
pub mod clone_set;
pub mod daemon_set;
pub mod deployment;
pub mod fields;
pub mod job;
pub mod owners;
pub mod revision_store;
pub mod stateful_set;
pub mod strategy;
pub mod table;
#[cfg(test)]
mod test_kind;
pub mod update_budget;
pub mod verdict;
mod workload;

pub use table::{all, built_in, of, of_type, optional};

use std::fmt;
use std::sync::OnceLock;

use serde_json::Value;

use self::revision_store::RevisionStore;
use self::update_budget::{PodUpdatePolicy, UpdateBudget};
use self::verdict::{Activity, Counts, Verdict};
use crate::api::object::Object;
use crate::api::resource_type::ResourceType;
use crate::hold::held::Held;
use crate::text::json::Digest;

/// How one kind of workload behaves. What most kinds have in common is a default.
pub trait Kind: Sync {
    /// Returns what the API serves it as: its group, versions, resource name and spellings.
    fn type_(&self) -> &'static ResourceType;

    /// Whether every API server has the kind.
    fn is_built_in(&self) -> bool {
        self.type_().group == "apps"
    }

    /// Returns why its workloads are only read, as a fragment; none for a kind whose template can change. `all` does not mean a
    /// kind that is only read.
    fn read_only(&self) -> Option<&'static str> {
        None
    }

    /// Whether its pods end once their work is done, and its controller decides how many of them may fail.
    fn runs_to_completion(&self) -> bool {
        false
    }

    /// Returns how its controller stores revisions.
    fn revisions(&self) -> RevisionStore;

    /// Returns what tells its pods apart.
    fn pods(&self) -> Pods;

    /// Returns how many pods are wanted. The number of a DaemonSet follows from its nodes; of another kind the API's default
    /// is 1.
    fn wanted(&self, workload: &Workload) -> i64 {
        workload.wanted_replicas()
    }

    /// Returns the counters of its status.
    fn counts(&self, workload: &Workload) -> Counts {
        workload.replica_counts()
    }

    /// Whether its controller has observed the spec as it is now (`status.observedGeneration`, which some controllers write
    /// as a text).
    fn is_observed(&self, workload: &Workload) -> bool {
        workload.is_generation_observed()
    }

    /// Returns the JSON pointer to how long a pod must be ready before it counts as available.
    fn min_ready_seconds(&self) -> &'static str {
        "/spec/minReadySeconds"
    }

    /// Returns the state of a rollout that its controller has observed.
    fn verdict(&self, workload: &Workload, activity: &Activity<'_>) -> Verdict;

    /// Returns its update budget, rounded as its controller rounds.
    fn update_budget(&self, workload: &Workload) -> UpdateBudget;

    /// Returns the member of `spec` with its update strategy.
    fn strategy(&self) -> &'static str {
        fields::UPDATE_STRATEGY
    }

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

    /// Whether its controller reports the name of the stable revision and of the one that it updates to
    /// (`status.currentRevision` and `status.updateRevision`).
    fn reports_revisions(&self) -> bool {
        false
    }

    /// Returns the conditions in which its controller reports that it cannot create or update pods.
    fn error_conditions(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the members that lead to the field that is true while a workload is paused, in an API version such as `v1`; none
    /// for a kind without such a field.
    fn pause_field(&self, _version: &str) -> Option<&'static [&'static str]> {
        None
    }

    /// Returns how its workloads are held by fields that are restored later: by a plan of `step`, and by `pause` where the
    /// kind has no field for that.
    ///
    /// # Errors
    /// Why they cannot be held.
    fn mechanism(&self) -> Result<MechanismName, &'static str> {
        Err(self.read_only().unwrap_or("this version only reads it"))
    }

    /// Whether its controller removes an outdated pod only once a surge pod is available. A surge pod that needs what an
    /// outdated pod holds then waits forever.
    fn can_deadlock_on_surge(&self) -> bool {
        false
    }
}

/// What tells the pods of a kind apart. Only its methods in `workload.rs` match on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pods {
    /// Pods that nothing tells apart: pods with other names replace them.
    Interchangeable,
    /// One pod on each node.
    PerNode,
    /// Pods with an ordinal at the end of the name, which the replacement has too.
    ByOrdinal,
}

/// The name of the [mechanism](crate::hold::mechanism) by which `pause` and `step` hold the workloads of a kind. Only the table
/// of the mechanisms matches on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MechanismName {
    /// The partition of the update strategy. `step` lowers it; the controller replaces the pods.
    Partition,
    /// The strategy `OnDelete`, which stops only the replacement of running pods. `step` deletes pods; the controller creates
    /// the updated ones.
    Deletions,
    /// Four fields of `spec`, among them `minReadySeconds`, by which no updated pod counts as available, and the update budget.
    /// `step` raises the budget; the controller replaces the pods.
    Budget,
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
        f.write_str(&self.type_().resource())
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
    /// What the annotation of a hold says, read with the object.
    pub(super) held: Held,
}

/// Two workloads are equal if their kinds and objects are, whatever was computed from these.
impl PartialEq for Workload {
    fn eq(&self, other: &Self) -> bool {
        let Self { kind, object, template_digest: _, held: _ } = self;
        *kind == other.kind && *object == other.object
    }
}

impl Workload {
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

    /// Returns what the annotation of a hold says of it.
    #[must_use]
    pub fn held(&self) -> &Held {
        &self.held
    }
}
