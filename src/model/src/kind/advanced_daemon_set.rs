//! Advanced DaemonSets of OpenKruise: one pod for each node, a partition of nodes, updates in place.

use serde_json::Value;

use super::daemon_set::status_of_counts;
use super::revision_store::RevisionStore;
use super::update_budget::{IntOrPercent, PodUpdatePolicy, UpdateBudget};
use super::verdict::{Activity, Verdict};
use super::{Kind, MechanismName, Pods, Workload, strategy};
use crate::api::resource_type::{KRUISE, ResourceType};

/// `daemonsets.apps.kruise.io`. The controller hashes Go structs, so the hash cannot be recomputed.
pub struct AdvancedDaemonSet;

impl Kind for AdvancedDaemonSet {
    fn type_(&self) -> &'static ResourceType {
        const {
            &ResourceType::custom(
                "DaemonSet",
                ["daemonset", "daemonsets", "ads"],
                KRUISE,
                &["v1beta1", "v1alpha1"],
            )
            .with_cli_name("ads", &["advanceddaemonset", "advanceddaemonsets", "daemon", "ds"])
        }
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

    fn pause_field(&self, _: &str) -> Option<&'static [&'static str]> {
        Some(strategy::PAUSED)
    }

    fn mechanism(&self) -> Result<MechanismName, &'static str> {
        Ok(MechanismName::Partition)
    }

    /// Rounds down, of the nodes that need a pod.
    fn kept_by_partition(&self, strategy: &Value, wanted: i64) -> i64 {
        if strategy::is_on_delete_strategy(strategy) {
            return 0;
        }
        let partition = strategy::field(strategy, "partition").and_then(IntOrPercent::read);
        partition.map_or(0, |partition| partition.rounded_down(wanted).min(wanted))
    }

    fn pod_update_policy(&self, workload: &Workload) -> Option<PodUpdatePolicy> {
        Some(strategy::pod_update_policy(workload, "rollingUpdateType"))
    }

    fn verdict(&self, workload: &Workload, activity: &Activity<'_>) -> Verdict {
        workload.verdict_with_hold(status_of_counts(workload, "pods"), activity)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kind::verdict::RolloutState;

    fn state(rolling: &Value, updated: i64, available: i64, is_updating_pods: bool) -> RolloutState {
        let object = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "DaemonSet", "metadata": {"name": "agent"},
            "spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling}},
            "status": {"desiredNumberScheduled": 6, "currentNumberScheduled": 6, "updatedNumberScheduled": updated, "numberAvailable": available},
        });
        let activity = Activity { is_updating_pods, ..Activity::default() };
        AdvancedDaemonSet.verdict(&Workload::of_json(&object).unwrap(), &activity).state
    }

    /// Which nodes the selector matches is not in the workload.
    #[test]
    fn a_selector_holds_once_no_pod_is_being_updated() {
        let selector = json!({"selector": {"matchLabels": {"zone": "z1"}}});
        for (updated, available, is_updating_pods, expected) in [
            (2, 6, false, RolloutState::Held),
            (0, 6, false, RolloutState::Held),
            (2, 6, true, RolloutState::Progressing),
            (2, 5, false, RolloutState::Progressing),
            (6, 6, false, RolloutState::Complete),
        ] {
            assert_eq!(
                state(&selector, updated, available, is_updating_pods),
                expected,
                "{updated} {available}"
            );
        }
        for empty in [json!({"selector": {}}), json!({"selector": {"matchLabels": {}}}), json!({})] {
            assert_eq!(state(&empty, 2, 6, false), RolloutState::Progressing, "{empty}");
        }
    }

    #[test]
    fn a_pause_takes_precedence_over_the_selector() {
        let both = json!({"selector": {"matchLabels": {"zone": "z1"}}, "paused": true});
        assert_eq!(state(&both, 2, 6, false), RolloutState::Paused);
    }
}
