//! Deployments: revisions are ReplicaSets, and the controller reports a progress deadline.

use super::counts::Counts;
use super::kind::{Counters, HoldBy, PodIdentity, RevisionStore, StepBy, StrategyField};
use super::update_budget::UpdateBudget;
use super::verdict::{KubectlStatus, RolloutFacts, RolloutState, Verdict, taken_over_line};
use super::{KindSpec, Workload, rolling_hold, strategy};
use crate::model::api::resource_type::ResourceType;

/// `deployments.apps`.
pub static DEPLOYMENT: KindSpec = KindSpec {
    type_: ResourceType::workload("Deployment", ["deployment", "deployments", "deploy"], "apps", &["v1"]),
    is_built_in: true,
    revisions: RevisionStore::ReplicaSets,
    pods: PodIdentity::Interchangeable,
    wanted: ("/spec/replicas", 1),
    min_ready_seconds: "/spec/minReadySeconds",
    counters: Counters::REPLICAS,
    strategy: &["spec", "strategy"],
    strategy_fields: &[
        ("type", StrategyField::Word),
        ("rollingUpdate.maxSurge", StrategyField::CountOrPercent),
        ("rollingUpdate.maxUnavailable", StrategyField::CountOrPercent),
    ],
    partition: None,
    waits_for_broken_pods: |_| false,
    hold: HoldBy::Paused(&[("v1", &["spec", "paused"])]),
    stable_revision: None,
    update_revision: None,
    has_progress_deadline: true,
    error_conditions: &[],
    pod_update_policy: None,
    update_budget,
    verdict,
    kubectl_status,
    plan_fields: &[
        ("paused", StrategyField::Flag),
        ("minReadySeconds", StrategyField::Count),
        ("progressDeadlineSeconds", StrategyField::Count),
        ("strategy", StrategyField::Strategy),
    ],
    step: Ok(StepBy::UpdateBudget),
};

fn update_budget(workload: &Workload) -> UpdateBudget {
    rolling_hold::budget_of(strategy::update_strategy(workload), workload.wanted())
}

fn verdict(workload: &Workload, facts: &RolloutFacts<'_>) -> Verdict {
    if !workload.is_observed() {
        return Verdict::new(RolloutState::Unobserved, unobserved().line);
    }
    let counts = Counts::of(workload);
    let status = status_of_counts(workload.name(), counts);
    // A plan keeps updated pods from counting as available, so that the counters look like a rollout that is stuck.
    if facts.is_held {
        return Verdict::new(RolloutState::Held, status.line);
    }
    if workload.is_paused() && is_held_back(facts, counts) {
        return Verdict::new(RolloutState::Paused, status.line);
    }
    if workload.is_deadline_exceeded() && !is_deadline_of_other_replica_set(workload, facts) {
        return Verdict::new(RolloutState::Failed, deadline_exceeded_line(workload));
    }
    status.into()
}

/// Whether a pause keeps pods outdated, or a new template has no ReplicaSet yet. The controller
/// scales existing ReplicaSets even while it is paused.
fn is_held_back(facts: &RolloutFacts<'_>, counts: Counts) -> bool {
    counts.outdated() > 0 || (counts.updated < counts.wanted && facts.current.is_none())
}

fn kubectl_status(workload: &Workload, revision: Option<i64>) -> Result<KubectlStatus, String> {
    if let Some(wanted) = revision {
        let running = workload.recorded_revision().unwrap_or(Ok(0));
        let running = running.map_err(|text| unreadable_revision(workload, &text))?;
        if wanted != running {
            return Err(taken_over_line(&wanted, &running));
        }
    }
    if !workload.is_observed() {
        return Ok(unobserved());
    }
    if workload.is_deadline_exceeded() {
        return Err(deadline_exceeded_line(workload));
    }
    Ok(status_of_counts(workload.name(), Counts::of(workload)))
}

/// Returns kubectl's line for the counters, checked in kubectl's order.
fn status_of_counts(name: &str, counts: Counts) -> KubectlStatus {
    let Counts { wanted, total, updated, .. } = counts;
    let available = counts.available.unwrap_or_default();
    let finishing = format!("Waiting for deployment {name:?} rollout to finish:");
    if updated < wanted {
        return KubectlStatus::waiting(format!(
            "{finishing} {updated} out of {wanted} new replicas have been updated..."
        ));
    }
    if total > updated {
        let old = total - updated;
        return KubectlStatus::waiting(format!("{finishing} {old} old replicas are pending termination..."));
    }
    if available < updated {
        return KubectlStatus::waiting(format!(
            "{finishing} {available} of {updated} updated replicas are available..."
        ));
    }
    KubectlStatus::done(format!("deployment {name:?} successfully rolled out"))
}

fn unobserved() -> KubectlStatus {
    KubectlStatus::waiting("Waiting for deployment spec update to be observed...")
}

fn deadline_exceeded_line(workload: &Workload) -> String {
    format!("deployment {:?} exceeded its progress deadline", workload.name())
}

/// Whether the deadline that passed is that of another ReplicaSet. After an undo the condition of
/// the failed rollout stays for a moment. Its message contains the name: `ReplicaSet "web-5c8f" has
/// timed out progressing.`
fn is_deadline_of_other_replica_set(workload: &Workload, facts: &RolloutFacts<'_>) -> bool {
    let message = workload.condition("Progressing").map(|condition| condition.message);
    let blamed = message.as_deref().and_then(|message| message.strip_prefix("ReplicaSet \""));
    let Some((blamed, _)) = blamed.and_then(|rest| rest.split_once('"')) else {
        return false;
    };
    match facts.current {
        Some(current) => current != blamed,
        None => facts.has_revisions, // the live template has no ReplicaSet yet
    }
}

fn unreadable_revision(workload: &Workload, text: &str) -> String {
    format!(
        "cannot get the revision of deployment {:?}: strconv.ParseInt: parsing {text:?}: invalid syntax",
        workload.name()
    )
}
