//! StatefulSets: pods by ordinal, some of which a partition may keep outdated.

use k8s_openapi::api::apps::v1 as apps;
use serde_json::Value;

use super::revision_store::RevisionStore;
use super::update_budget::UpdateBudget;
use super::verdict::{Activity, Counts, RolloutState, Verdict};
use super::{Kind, MechanismName, Pods, Workload, strategy};
use crate::api::resource_type::ResourceType;

/// `statefulsets.apps`. The hash of a revision follows from its stored bytes alone.
pub struct StatefulSet;

impl Kind for StatefulSet {
    fn type_(&self) -> &'static ResourceType {
        const { &ResourceType::of::<apps::StatefulSet>("statefulset", "sts") }
    }

    fn revisions(&self) -> RevisionStore {
        RevisionStore::ControllerRevisions { is_verifiable: true }
    }

    fn pods(&self) -> Pods {
        Pods::ByOrdinal
    }

    fn update_budget(&self, workload: &Workload) -> UpdateBudget {
        strategy::ordinal_budget(workload)
    }

    fn reports_revisions(&self) -> bool {
        true
    }

    fn mechanism(&self) -> Result<MechanismName, &'static str> {
        Ok(MechanismName::Partition)
    }

    /// Keeps the pods below the index.
    fn kept_by_partition(&self, strategy: &Value, _: i64) -> i64 {
        strategy::effective_partition(strategy)
    }

    /// The controller does not wait under `OnDelete`, and under `Parallel` without `maxUnavailable`.
    fn waits_for_broken_pods(&self, workload: &Workload) -> bool {
        let is_parallel = workload.object().text("/spec/podManagementPolicy") == Some("Parallel");
        let budget = strategy::update_strategy(workload)
            .and_then(|strategy| strategy.pointer("/rollingUpdate/maxUnavailable"));
        let has_budget = budget.is_some_and(|budget| *budget != Value::Null);
        strategy::is_rolling(workload) && (!is_parallel || has_budget)
    }

    fn verdict(&self, workload: &Workload, activity: &Activity<'_>) -> Verdict {
        if workload.object().int("/status/observedGeneration").unwrap_or_default() == 0 {
            return workload.unobserved_verdict(); // it was never observed
        }
        let counts = workload.counts();
        if strategy::is_on_delete(workload) && counts.outdated() > 0 && !activity.is_updating_pods {
            return Verdict::new(RolloutState::Held, waiting_at_revision(workload, counts).line);
        }
        let available = available(workload, counts);
        if available < counts.wanted {
            return Verdict::not_ready(counts.wanted - available);
        }
        if strategy::is_on_delete(workload) {
            return complete_at_revision(counts.updated, revision(workload, "updateRevision"));
        }
        if !has_rolling_update(workload) {
            return unpartitioned(workload, counts);
        }
        let partition = strategy::partition(workload);
        let released = counts.wanted - partition.min(counts.wanted);
        let status = Verdict::partitioned(counts.updated, released);
        let is_held = released == 0 && partition > 0 || workload.held().holds();
        if status.is_complete() && is_held && counts.outdated() > 0 {
            return Verdict::new(RolloutState::Held, status.line);
        }
        status
    }
}

/// With `minReadySeconds`, ready pods are not available yet; kubectl counts them as available.
fn available(workload: &Workload, counts: Counts) -> i64 {
    if workload.min_ready_seconds() > 0 { counts.available.unwrap_or(counts.ready) } else { counts.ready }
}

/// Without `rollingUpdate` in the strategy, only the names of the revisions show the progress.
fn unpartitioned(workload: &Workload, counts: Counts) -> Verdict {
    let current = revision(workload, "currentRevision");
    if revision(workload, "updateRevision") != current {
        return waiting_at_revision(workload, counts);
    }
    let replicas = workload.object().int("/status/currentReplicas").unwrap_or_default();
    complete_at_revision(replicas, current)
}

fn waiting_at_revision(workload: &Workload, counts: Counts) -> Verdict {
    let (updated, revision) = (counts.updated, revision(workload, "updateRevision"));
    Verdict::progressing(format!(
        "waiting for statefulset rolling update to complete {updated} pods at revision {revision}..."
    ))
}

fn complete_at_revision(pods: i64, revision: &str) -> Verdict {
    Verdict::complete(format!("statefulset rolling update complete {pods} pods at revision {revision}..."))
}

/// The API server defaults `rollingUpdate`, unless the manifest sets only the type of the strategy.
fn has_rolling_update(workload: &Workload) -> bool {
    workload.object().at("/spec/updateStrategy/rollingUpdate").is_some_and(|value| !value.is_null())
}

fn revision<'a>(workload: &'a Workload, which: &str) -> &'a str {
    workload.object().text(&format!("/status/{which}")).unwrap_or_default()
}
