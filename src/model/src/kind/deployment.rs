//! Deployments: revisions are ReplicaSets, and the controller reports a progress deadline.

use k8s_openapi::api::apps::v1 as apps;

use super::revision_store::RevisionStore;
use super::update_budget::UpdateBudget;
use super::verdict::{Activity, Counts, RolloutState, Verdict};
use super::{Kind, MechanismName, Pods, Workload, strategy};
use crate::api::resource_type::ResourceType;

/// `deployments.apps`.
pub struct Deployment;

impl Kind for Deployment {
    fn type_(&self) -> &'static ResourceType {
        const { &ResourceType::of::<apps::Deployment>("deployment", "deploy") }
    }

    fn revisions(&self) -> RevisionStore {
        RevisionStore::ReplicaSets
    }

    fn pods(&self) -> Pods {
        Pods::Interchangeable
    }

    fn strategy(&self) -> &'static str {
        "strategy"
    }

    fn pause_field(&self, _: &str) -> Option<&'static [&'static str]> {
        Some(&["spec", "paused"])
    }

    fn mechanism(&self) -> Result<MechanismName, &'static str> {
        Ok(MechanismName::Budget)
    }

    fn can_deadlock_on_surge(&self) -> bool {
        true
    }

    fn update_budget(&self, workload: &Workload) -> UpdateBudget {
        strategy::surge_budget(strategy::update_strategy(workload), workload.wanted())
    }

    fn verdict(&self, workload: &Workload, activity: &Activity<'_>) -> Verdict {
        let (what, counts) = (format!("deployment {:?}", workload.name()), workload.counts());
        let old = counts.total - counts.updated;
        let status = Verdict::of_replicas(&what, counts, old, counts.available.unwrap_or_default());
        // A plan keeps updated pods from counting as available, so that the counters look like a rollout that is stuck. Until
        // its pods are ready it progresses, as below a partition.
        if workload.held().holds() && !activity.is_updating_pods {
            return Verdict::new(RolloutState::Held, status.line);
        }
        if workload.is_paused() && !workload.held().holds() && keeps_pods_outdated(activity, counts) {
            return Verdict::new(RolloutState::Paused, status.line);
        }
        if workload.is_deadline_exceeded() && !is_deadline_of_other_replica_set(workload, activity) {
            return Verdict::deadline_exceeded(&what);
        }
        status
    }
}

/// Whether a pause keeps pods outdated, or a new template has no ReplicaSet yet. The controller scales existing ReplicaSets
/// even while it is paused. It also removes the old pods once the new ReplicaSet has its full size and is available
/// (`IsSaturated` in `scale` of the Deployment controller).
fn keeps_pods_outdated(activity: &Activity<'_>, counts: Counts) -> bool {
    counts.updated < counts.wanted && (counts.outdated() > 0 || activity.current.is_none())
}

/// Whether the deadline that passed is that of another ReplicaSet. After an undo the condition of
/// the failed rollout stays for a moment. Its message contains the name: `ReplicaSet "web-5c8f" has
/// timed out progressing.`
fn is_deadline_of_other_replica_set(workload: &Workload, activity: &Activity<'_>) -> bool {
    let message = workload.condition("Progressing").map(|condition| condition.message);
    let blamed = message.as_deref().and_then(|message| message.strip_prefix("ReplicaSet \""));
    let Some((blamed, _)) = blamed.and_then(|rest| rest.split_once('"')) else {
        return false;
    };
    match activity.current {
        Some(current) => current != blamed,
        None => activity.has_revisions, // the live template has no ReplicaSet yet
    }
}
