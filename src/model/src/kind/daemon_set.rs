//! DaemonSets: one pod for each node, counted by its oldest pod; revisions are ControllerRevisions.

use k8s_openapi::api::apps::v1 as apps;

use super::revision_store::RevisionStore;
use super::update_budget::UpdateBudget;
use super::verdict::{Activity, Counts, Verdict};
use super::{Kind, MechanismName, Pods, Workload, strategy};
use crate::api::resource_type::ResourceType;

/// `daemonsets.apps`. The controller hashes Go structs, so the hash cannot be recomputed.
pub struct DaemonSet;

impl Kind for DaemonSet {
    fn type_(&self) -> &'static ResourceType {
        const { &ResourceType::of::<apps::DaemonSet>("daemonset", "ds") }
    }

    fn revisions(&self) -> RevisionStore {
        RevisionStore::ControllerRevisions { is_verifiable: false }
    }

    fn pods(&self) -> Pods {
        Pods::PerNode
    }

    fn update_budget(&self, workload: &Workload) -> UpdateBudget {
        strategy::node_budget(workload)
    }

    fn mechanism(&self) -> Result<MechanismName, &'static str> {
        Ok(MechanismName::Deletions)
    }

    fn verdict(&self, workload: &Workload, activity: &Activity<'_>) -> Verdict {
        workload.verdict_with_hold(status_of_counts(workload, "updated pods"), activity)
    }
}

/// Returns kubectl's line for the counters, checked in kubectl's order. `pods` names those that have to be available. Only an
/// Advanced DaemonSet has a partition, which keeps nodes outdated.
pub(super) fn status_of_counts(workload: &Workload, pods: &str) -> Verdict {
    let Counts { wanted, updated, released, available, .. } = workload.counts();
    let (name, available) = (workload.name(), available.unwrap_or_default());
    let finishing = format!("Waiting for daemon set {name:?} rollout to finish:");
    if updated < released {
        return Verdict::progressing(format!(
            "{finishing} {updated} out of {released} new pods have been updated..."
        ));
    }
    if available < wanted {
        return Verdict::progressing(format!("{finishing} {available} of {wanted} {pods} are available..."));
    }
    if released < wanted {
        return Verdict::partitioned(updated, released);
    }
    Verdict::complete(format!("daemon set {name:?} successfully rolled out"))
}
