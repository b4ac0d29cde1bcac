//! Advanced StatefulSets of OpenKruise: pods by ordinal, updates in place, ordinals that are left out.

use serde_json::Value;

use super::counts::Counts;
use super::kind::{
    Counters, HoldBy, PodIdentity, PodLabelValue, PodUpdatePolicy, RevisionStore, StepBy, StrategyField,
};
use super::kruise;
use super::strategy;
use super::verdict::{KubectlStatus, RolloutFacts, RolloutState, Verdict};
use super::{KindSpec, Workload};
use crate::model::api::resource_type::ResourceType;

const PAUSED: &[&str] = &["spec", "updateStrategy", "rollingUpdate", "paused"];

/// `statefulsets.apps.kruise.io`. The hash of a revision follows from its stored bytes alone.
pub static ADVANCED_STATEFUL_SET: KindSpec = KindSpec {
    type_: ResourceType::workload(
        "StatefulSet",
        ["statefulset", "statefulsets", "asts"],
        kruise::GROUP,
        &["v1beta1", "v1alpha1"],
    )
    .typed_as("asts", &["advancedstatefulset", "advancedstatefulsets", "sts"]),
    is_built_in: false,
    revisions: RevisionStore::ControllerRevisions {
        hash_label: "controller.kubernetes.io/hash",
        is_verifiable: true,
        pod_label: PodLabelValue::NameOrHash,
    },
    pods: PodIdentity::Ordinal,
    wanted: ("/spec/replicas", 1),
    min_ready_seconds: "/spec/updateStrategy/rollingUpdate/minReadySeconds",
    counters: Counters { writes_zero_available: true, ..Counters::REPLICAS },
    strategy: &["spec", "updateStrategy"],
    strategy_fields: &[
        ("type", StrategyField::Word),
        ("rollingUpdate.paused", StrategyField::Flag),
        ("rollingUpdate.partition", StrategyField::Count),
        ("rollingUpdate.maxUnavailable", StrategyField::CountOrPercent),
        ("rollingUpdate.podUpdatePolicy", StrategyField::Word),
        ("rollingUpdate.minReadySeconds", StrategyField::Count),
        ("rollingUpdate.inPlaceUpdateStrategy", StrategyField::Any),
        ("rollingUpdate.unorderedUpdate", StrategyField::Any),
    ],
    partition: Some(kept_by_partition),
    waits_for_broken_pods,
    hold: HoldBy::Paused(&[("v1beta1", PAUSED)]),
    stable_revision: Some("/status/currentRevision"),
    update_revision: Some("/status/updateRevision"),
    has_progress_deadline: false,
    error_conditions: &["FailedCreatePod", "FailedUpdatePod"],
    pod_update_policy: Some(pod_update_policy),
    update_budget: strategy::ordinal_budget,
    verdict,
    kubectl_status: kruise::no_status_viewer,
    plan_fields: &[],
    step: Ok(StepBy::Partition),
};

/// A number of pods; a percentage is refused by both releases that were measured.
fn kept_by_partition(strategy: &Value, wanted: i64) -> i64 {
    strategy::effective_partition(strategy).min(wanted)
}

fn pod_update_policy(workload: &Workload) -> PodUpdatePolicy {
    kruise::policy(workload, "podUpdatePolicy")
}

/// Under `Parallel` a broken pod is updated again, in place or not (seen with OpenKruise 1.9).
fn waits_for_broken_pods(workload: &Workload) -> bool {
    let is_parallel = workload.object().text("/spec/podManagementPolicy") == Some("Parallel");
    !strategy::is_on_delete(workload) && !is_parallel
}

fn verdict(workload: &Workload, facts: &RolloutFacts<'_>) -> Verdict {
    if !workload.is_observed() {
        return Verdict::new(
            RolloutState::Unobserved,
            "Waiting for statefulset spec update to be observed...",
        );
    }
    let counts = Counts::of(workload);
    let status = status_of_counts(workload, counts);
    match kruise::hold_state(workload, facts, counts, status.done) {
        Some(state) => Verdict::new(state, status.line),
        None => status.into(),
    }
}

/// Returns the line for the counters, in kubectl's words for StatefulSets.
fn status_of_counts(workload: &Workload, counts: Counts) -> KubectlStatus {
    let Counts { wanted, updated, released, .. } = counts;
    if updated < released {
        return KubectlStatus::waiting(format!(
            "Waiting for partitioned roll out to finish: {updated} out of {released} new pods have been updated..."
        ));
    }
    let missing = (wanted - counts.total).max(0) + updated - updated_available(workload, counts).min(updated);
    if missing > 0 {
        return KubectlStatus::waiting(format!("Waiting for {missing} pods to be ready..."));
    }
    KubectlStatus::done(format!("partitioned roll out complete: {updated} new pods have been updated..."))
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
