//! Advanced StatefulSets of OpenKruise: pods by ordinal, updates in place, ordinals that are left out.

use serde_json::Value;

use super::revision_store::RevisionStore;
use super::update_budget::{PodUpdatePolicy, UpdateBudget};
use super::verdict::{Activity, Counts, Verdict};
use super::{Kind, MechanismName, Pods, Workload, strategy};
use crate::api::resource_type::{KRUISE, ResourceType};

/// `statefulsets.apps.kruise.io`. The hash of a revision follows from its stored bytes alone.
pub struct AdvancedStatefulSet;

impl Kind for AdvancedStatefulSet {
    fn type_(&self) -> &'static ResourceType {
        const {
            &ResourceType::custom(
                "StatefulSet",
                ["statefulset", "statefulsets", "asts"],
                KRUISE,
                &["v1beta1", "v1alpha1"],
            )
            .with_cli_name("asts", &["advancedstatefulset", "advancedstatefulsets", "sts"])
        }
    }

    fn revisions(&self) -> RevisionStore {
        RevisionStore::ControllerRevisions { is_verifiable: true }
    }

    fn pods(&self) -> Pods {
        Pods::ByOrdinal
    }

    fn min_ready_seconds(&self) -> &'static str {
        "/spec/updateStrategy/rollingUpdate/minReadySeconds"
    }

    fn update_budget(&self, workload: &Workload) -> UpdateBudget {
        strategy::ordinal_budget(workload)
    }

    fn reports_revisions(&self) -> bool {
        true
    }

    fn error_conditions(&self) -> &'static [&'static str] {
        &["FailedCreatePod", "FailedUpdatePod"]
    }

    fn pause_field(&self, _: &str) -> Option<&'static [&'static str]> {
        Some(strategy::PAUSED)
    }

    fn mechanism(&self) -> Result<MechanismName, &'static str> {
        Ok(MechanismName::Partition)
    }

    /// A number of pods; a percentage is refused by both releases that were measured.
    fn kept_by_partition(&self, strategy: &Value, wanted: i64) -> i64 {
        strategy::effective_partition(strategy).min(wanted)
    }

    fn pod_update_policy(&self, workload: &Workload) -> Option<PodUpdatePolicy> {
        Some(strategy::pod_update_policy(workload, "podUpdatePolicy"))
    }

    /// Under `Parallel` a broken pod is updated again, in place or not (seen with OpenKruise 1.9).
    fn waits_for_broken_pods(&self, workload: &Workload) -> bool {
        let is_parallel = workload.object().text("/spec/podManagementPolicy") == Some("Parallel");
        strategy::is_rolling(workload) && !is_parallel
    }

    fn verdict(&self, workload: &Workload, activity: &Activity<'_>) -> Verdict {
        workload.verdict_with_hold(status_of_counts(workload, workload.counts()), activity)
    }
}

/// Returns the line for the counters, in kubectl's words for StatefulSets.
fn status_of_counts(workload: &Workload, counts: Counts) -> Verdict {
    let Counts { wanted, updated, released, .. } = counts;
    let missing = (wanted - counts.total).max(0) + updated - updated_available(workload, counts).min(updated);
    if updated >= released && missing > 0 {
        return Verdict::not_ready(missing);
    }
    Verdict::partitioned(updated, released)
}

/// `v1alpha1` has no counter for updated pods that are available. Those that are not available may all be
/// updated ones.
fn updated_available(workload: &Workload, counts: Counts) -> i64 {
    let is_counted = workload.object().text("/apiVersion") != Some("apps.kruise.io/v1alpha1");
    if is_counted {
        return workload.object().int("/status/updatedAvailableReplicas").unwrap_or_default();
    }
    counts.updated - (counts.total - counts.available.unwrap_or(counts.ready)).max(0)
}
