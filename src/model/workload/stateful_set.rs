//! StatefulSets: pods by ordinal, some of which a partition may keep outdated.

use serde_json::Value;

use super::counts::Counts;
use super::kind::{Counters, HoldBy, PodIdentity, PodLabelValue, RevisionStore, StepBy, StrategyField};
use super::strategy::{self, refuse_other_strategies};
use super::verdict::{KubectlStatus, RolloutFacts, RolloutState, Verdict};
use super::{KindSpec, Workload};
use crate::model::api::resource_type::ResourceType;

/// `statefulsets.apps`. The hash of a revision follows from its stored bytes alone.
pub static STATEFUL_SET: KindSpec = KindSpec {
    type_: ResourceType::workload("StatefulSet", ["statefulset", "statefulsets", "sts"], "apps", &["v1"]),
    is_built_in: true,
    revisions: RevisionStore::ControllerRevisions {
        hash_label: "controller.kubernetes.io/hash",
        is_verifiable: true,
        pod_label: PodLabelValue::Name,
    },
    pods: PodIdentity::Ordinal,
    wanted: ("/spec/replicas", 1),
    min_ready_seconds: "/spec/minReadySeconds",
    counters: Counters { writes_zero_available: true, ..Counters::REPLICAS },
    strategy: &["spec", "updateStrategy"],
    strategy_fields: &[
        ("type", StrategyField::Word),
        ("rollingUpdate.partition", StrategyField::Count),
        ("rollingUpdate.maxUnavailable", StrategyField::CountOrPercent),
    ],
    partition: Some(kept_by_partition),
    waits_for_broken_pods,
    hold: HoldBy::Partition,
    stable_revision: Some("/status/currentRevision"),
    update_revision: Some("/status/updateRevision"),
    has_progress_deadline: false,
    error_conditions: &[],
    pod_update_policy: None,
    update_budget: strategy::ordinal_budget,
    verdict,
    kubectl_status,
    plan_fields: &[],
    step: Ok(StepBy::Partition),
};

/// Keeps the pods below the index.
fn kept_by_partition(strategy: &Value, _: i64) -> i64 {
    strategy::effective_partition(strategy)
}

/// The controller does not wait under `OnDelete`, and under `Parallel` without `maxUnavailable`.
fn waits_for_broken_pods(workload: &Workload) -> bool {
    let is_parallel = workload.object().text("/spec/podManagementPolicy") == Some("Parallel");
    let budget = strategy::update_strategy(workload)
        .and_then(|strategy| strategy.pointer("/rollingUpdate/maxUnavailable"));
    let has_budget = budget.is_some_and(|budget| *budget != Value::Null);
    !strategy::is_on_delete(workload) && (!is_parallel || has_budget)
}

fn verdict(workload: &Workload, facts: &RolloutFacts<'_>) -> Verdict {
    if !is_observed(workload) {
        return Verdict::new(RolloutState::Unobserved, unobserved().line);
    }
    let counts = Counts::of(workload);
    if strategy::is_on_delete(workload) && counts.outdated() > 0 && !facts.is_starting {
        return Verdict::new(RolloutState::Held, waiting_at_revision(workload, counts).line);
    }
    let available = available(workload, counts);
    if available < counts.wanted {
        return not_ready(counts.wanted - available).into();
    }
    if strategy::is_on_delete(workload) {
        return complete_at_revision(counts.updated, revision(workload, "updateRevision")).into();
    }
    if !has_rolling_update(workload) {
        return unpartitioned(workload, counts).into();
    }
    // The pods below the partition already run the revision of the rollback. kubectl subtracts them
    // and would report success too early.
    let held = if facts.is_rolling_back { 0 } else { strategy::partition(workload) };
    let released = counts.wanted - held.min(counts.wanted);
    let status = partitioned(released, counts);
    let is_held = released == 0 && strategy::partition(workload) > 0 || facts.is_held;
    if status.done && is_held && counts.outdated() > 0 {
        return Verdict::new(RolloutState::Held, status.line);
    }
    status.into()
}

fn kubectl_status(workload: &Workload, _: Option<i64>) -> Result<KubectlStatus, String> {
    refuse_other_strategies(workload)?;
    if !is_observed(workload) {
        return Ok(unobserved());
    }
    let counts = Counts::of(workload);
    if counts.ready < counts.wanted {
        return Ok(not_ready(counts.wanted - counts.ready));
    }
    if !has_rolling_update(workload) {
        return Ok(unpartitioned(workload, counts));
    }
    let released = match workload.object().int("/spec/updateStrategy/rollingUpdate/partition") {
        Some(_) => counts.wanted - strategy::partition(workload),
        None => 0,
    };
    Ok(partitioned(released, counts))
}

/// With `minReadySeconds`, ready pods are not available yet; kubectl counts them as available.
fn available(workload: &Workload, counts: Counts) -> i64 {
    if workload.min_ready_seconds() > 0 { counts.available.unwrap_or(counts.ready) } else { counts.ready }
}

fn partitioned(released: i64, counts: Counts) -> KubectlStatus {
    let updated = counts.updated;
    if updated < released {
        return KubectlStatus::waiting(format!(
            "Waiting for partitioned roll out to finish: {updated} out of {released} new pods have been updated..."
        ));
    }
    KubectlStatus::done(format!("partitioned roll out complete: {updated} new pods have been updated..."))
}

/// Without `rollingUpdate` in the strategy, only the names of the revisions show the progress.
fn unpartitioned(workload: &Workload, counts: Counts) -> KubectlStatus {
    let current = revision(workload, "currentRevision");
    if revision(workload, "updateRevision") != current {
        return waiting_at_revision(workload, counts);
    }
    let replicas = workload.object().int("/status/currentReplicas").unwrap_or_default();
    complete_at_revision(replicas, current)
}

fn waiting_at_revision(workload: &Workload, counts: Counts) -> KubectlStatus {
    let (updated, revision) = (counts.updated, revision(workload, "updateRevision"));
    KubectlStatus::waiting(format!(
        "waiting for statefulset rolling update to complete {updated} pods at revision {revision}..."
    ))
}

fn complete_at_revision(pods: i64, revision: &str) -> KubectlStatus {
    KubectlStatus::done(format!("statefulset rolling update complete {pods} pods at revision {revision}..."))
}

fn not_ready(pods: i64) -> KubectlStatus {
    KubectlStatus::waiting(format!("Waiting for {pods} pods to be ready..."))
}

fn unobserved() -> KubectlStatus {
    KubectlStatus::waiting("Waiting for statefulset spec update to be observed...")
}

/// A StatefulSet that was never observed has no `observedGeneration`.
fn is_observed(workload: &Workload) -> bool {
    workload.is_observed() && workload.object().int("/status/observedGeneration").unwrap_or_default() != 0
}

/// The API server defaults `rollingUpdate`, unless the manifest sets only the type of the strategy.
fn has_rolling_update(workload: &Workload) -> bool {
    workload.object().at("/spec/updateStrategy/rollingUpdate").is_some_and(|value| !value.is_null())
}

fn revision<'a>(workload: &'a Workload, which: &str) -> &'a str {
    workload.object().text(&format!("/status/{which}")).unwrap_or_default()
}
