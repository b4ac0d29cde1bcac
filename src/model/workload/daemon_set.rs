//! DaemonSets: one pod for each node, counted by its oldest pod; revisions are ControllerRevisions.

use super::counts::Counts;
use super::kind::{Counters, HoldBy, PodIdentity, PodLabelValue, RevisionStore, StepBy, StrategyField};
use super::strategy::{self, refuse_other_strategies};
use super::verdict::{KubectlStatus, RolloutFacts, RolloutState, Verdict};
use super::{KindSpec, Workload};
use crate::model::api::resource_type::ResourceType;

/// `daemonsets.apps`. The controller hashes Go structs, so the hash cannot be recomputed.
pub static DAEMON_SET: KindSpec = KindSpec {
    type_: ResourceType::workload("DaemonSet", ["daemonset", "daemonsets", "ds"], "apps", &["v1"]),
    is_built_in: true,
    revisions: RevisionStore::ControllerRevisions {
        hash_label: "controller-revision-hash",
        is_verifiable: false,
        pod_label: PodLabelValue::Hash,
    },
    pods: PodIdentity::Node,
    wanted: ("/status/desiredNumberScheduled", 0),
    min_ready_seconds: "/spec/minReadySeconds",
    counters: Counters::NODES,
    strategy: &["spec", "updateStrategy"],
    strategy_fields: &[
        ("type", StrategyField::Word),
        ("rollingUpdate.maxSurge", StrategyField::CountOrPercent),
        ("rollingUpdate.maxUnavailable", StrategyField::CountOrPercent),
    ],
    partition: None,
    waits_for_broken_pods: |_| false,
    hold: HoldBy::OnDelete,
    stable_revision: None,
    update_revision: None,
    has_progress_deadline: false,
    error_conditions: &[],
    pod_update_policy: None,
    update_budget: strategy::node_budget,
    verdict,
    kubectl_status,
    plan_fields: &[],
    step: Ok(StepBy::PodDeletion),
};

fn verdict(workload: &Workload, facts: &RolloutFacts<'_>) -> Verdict {
    if !workload.is_observed() {
        return Verdict::new(RolloutState::Unobserved, unobserved().line);
    }
    let counts = Counts::of(workload);
    let status = status_of_counts(workload.name(), counts);
    if strategy::is_on_delete(workload) && counts.outdated() > 0 && !facts.is_starting {
        return Verdict::new(RolloutState::Held, status.line);
    }
    status.into()
}

fn kubectl_status(workload: &Workload, _: Option<i64>) -> Result<KubectlStatus, String> {
    refuse_other_strategies(workload)?;
    if !workload.is_observed() {
        return Ok(unobserved());
    }
    Ok(status_of_counts(workload.name(), Counts::of(workload)))
}

/// Returns kubectl's line for the counters, checked in kubectl's order.
fn status_of_counts(name: &str, counts: Counts) -> KubectlStatus {
    let Counts { wanted, updated, .. } = counts;
    let available = counts.available.unwrap_or_default();
    let finishing = format!("Waiting for daemon set {name:?} rollout to finish:");
    if updated < wanted {
        return KubectlStatus::waiting(format!(
            "{finishing} {updated} out of {wanted} new pods have been updated..."
        ));
    }
    if available < wanted {
        return KubectlStatus::waiting(format!(
            "{finishing} {available} of {wanted} updated pods are available..."
        ));
    }
    KubectlStatus::done(format!("daemon set {name:?} successfully rolled out"))
}

fn unobserved() -> KubectlStatus {
    KubectlStatus::waiting("Waiting for daemon set spec update to be observed...")
}
