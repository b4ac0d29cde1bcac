//! CloneSets of OpenKruise: pods that nothing tells apart, a partition in pods or per cent, updates in place.
//!
//! `v1beta1` keeps the fields of an update in `rollingUpdate`, `v1alpha1` in the strategy itself.

use serde_json::Value;

use super::revision_store::RevisionStore;
use super::update_budget::{IntOrPercent, PodUpdatePolicy, UpdateBudget};
use super::verdict::{Activity, Counts, Verdict};
use super::{Kind, MechanismName, Pods, Workload, strategy};
use crate::api::resource_type::{KRUISE, ResourceType};

/// `clonesets.apps.kruise.io`. The hash of a revision follows from its stored bytes alone.
pub struct CloneSet;

impl Kind for CloneSet {
    fn type_(&self) -> &'static ResourceType {
        const {
            &ResourceType::custom(
                "CloneSet",
                ["cloneset", "clonesets", "clone"],
                KRUISE,
                &["v1beta1", "v1alpha1"],
            )
        }
    }

    fn revisions(&self) -> RevisionStore {
        RevisionStore::ControllerRevisions { is_verifiable: true }
    }

    fn pods(&self) -> Pods {
        Pods::Interchangeable
    }

    fn reports_revisions(&self) -> bool {
        true
    }

    fn error_conditions(&self) -> &'static [&'static str] {
        &["FailedScale", "FailedUpdate"]
    }

    fn pause_field(&self, version: &str) -> Option<&'static [&'static str]> {
        Some(if version == "v1alpha1" { &["spec", "updateStrategy", "paused"] } else { strategy::PAUSED })
    }

    fn mechanism(&self) -> Result<MechanismName, &'static str> {
        Ok(MechanismName::Partition)
    }

    /// Rounds up, but below 100% at least one of several pods is updated (`CalculatePartitionReplicas` in the
    /// CloneSet controller).
    fn kept_by_partition(&self, strategy: &Value, wanted: i64) -> i64 {
        if strategy::is_on_delete_strategy(strategy) {
            return 0;
        }
        let Some(partition) = strategy::field(strategy, "partition").and_then(IntOrPercent::read) else {
            return 0;
        };
        let kept = partition.rounded_up(wanted).min(wanted);
        match partition {
            IntOrPercent::Percent(share) if share < 100 && wanted > 1 => kept.min(wanted - 1),
            IntOrPercent::Percent(_) | IntOrPercent::Int(_) => kept,
        }
    }

    /// Rounds surge up. Rounds unavailable up, or down with a surge. A paused CloneSet has no surge.
    fn update_budget(&self, workload: &Workload) -> UpdateBudget {
        let wanted = workload.wanted();
        let limit = |name, default| strategy::limit(strategy::update_strategy(workload), name, default);
        let surge =
            if workload.is_paused() { 0 } else { limit("maxSurge", IntOrPercent::Int(0)).rounded_up(wanted) };
        let unavailable = limit("maxUnavailable", IntOrPercent::Percent(20));
        let unavailable =
            if surge > 0 { unavailable.rounded_down(wanted) } else { unavailable.rounded_up(wanted).max(1) };
        UpdateBudget { unavailable, surge }
    }

    /// `v1alpha1` names the policy as the type of the strategy.
    fn pod_update_policy(&self, workload: &Workload) -> Option<PodUpdatePolicy> {
        Some(match strategy::pod_update_policy(workload, "podUpdatePolicy") {
            PodUpdatePolicy::Recreate => strategy::pod_update_policy(workload, "type"),
            policy => policy,
        })
    }

    fn verdict(&self, workload: &Workload, activity: &Activity<'_>) -> Verdict {
        let what = format!("cloneset {:?}", workload.name());
        let status = status_of_counts(workload, &what);
        let is_kept = workload.hold_state(&status, activity).is_some();
        if !is_kept && !status.is_complete() && is_deadline_exceeded(workload) {
            return Verdict::deadline_exceeded(&what);
        }
        workload.verdict_with_hold(status, activity)
    }
}

/// Whether the progress deadline passed in this rollout. The controller keeps the condition of an earlier rollout, whose
/// revision its message names, until a rollout is complete (seen with OpenKruise 1.9).
fn is_deadline_exceeded(workload: &Workload) -> bool {
    let message = workload.condition("Progressing").map(|condition| condition.message).unwrap_or_default();
    let revision = workload.object().text("/status/updateRevision").unwrap_or_default();
    workload.is_deadline_exceeded() && (!message.contains(" revision ") || message.contains(revision))
}

/// Returns the line for the counters, in the order and the words of kubectl's lines for Deployments and for
/// partitioned StatefulSets.
fn status_of_counts(workload: &Workload, what: &str) -> Verdict {
    let counts = workload.counts();
    let Counts { wanted, total, updated, released, .. } = counts;
    let is_partitioned = released < wanted;
    if updated < released && is_partitioned {
        return Verdict::partitioned(updated, released);
    }
    if updated >= released && total < wanted {
        return Verdict::not_ready(wanted - total);
    }
    let available = workload.object().int("/status/updatedAvailableReplicas").unwrap_or_default();
    let status = Verdict::of_replicas(what, counts, total - wanted.max(updated), available);
    if status.is_complete() && is_partitioned { Verdict::partitioned(updated, released) } else { status }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kind::verdict::RolloutState;

    fn clone_set(version: &str, replicas: &Value, partition: &Value) -> Workload {
        let strategy = match version {
            "v1alpha1" => json!({"type": "InPlaceIfPossible", "partition": partition}),
            _ => json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}),
        };
        let object = json!({
            "apiVersion": format!("apps.kruise.io/{version}"), "kind": "CloneSet", "metadata": {"name": "w"},
            "spec": {"replicas": replicas, "updateStrategy": strategy},
        });
        Workload::of_json(&object).unwrap()
    }

    /// The results of the function of OpenKruise. It rejects values that are neither a number nor a percentage, as the webhook
    /// does.
    #[test]
    fn a_partition_keeps_as_many_pods_as_in_the_controller() {
        let recorded = include_str!("../../../../tests/data/kruise/partition.jsonl");
        let (mut compared, mut refused) = (0, 0);
        for line in recorded.lines() {
            let pair: Value = serde_json::from_str(line).unwrap();
            let Some(expected) = pair["answer"]["partition"].as_i64() else {
                refused += i32::from(pair["answer"]["error"].is_string());
                continue;
            };
            for version in ["v1alpha1", "v1beta1"] {
                let workload = clone_set(version, &pair["replicas"], &pair["partition"]);
                assert_eq!(strategy::partition(&workload), expected, "{version} {line}");
                let mut held = workload.object().json().clone();
                held["spec"]["updateStrategy"] = strategy::with_partition(&workload, expected);
                assert_eq!(
                    strategy::partition(&Workload::of_json(&held).unwrap()),
                    expected,
                    "{version} {line}"
                );
            }
            compared += 1;
        }
        assert_eq!((compared, refused), (176, 11), "every recorded pair");
    }

    #[test]
    fn surge_rounds_up_and_unavailable_down_beside_it() {
        for (strategy, expected) in [
            (json!({"maxUnavailable": "20%", "maxSurge": 0}), (2, 0)),
            (json!({"maxUnavailable": "20%", "maxSurge": "10%"}), (1, 1)),
            (json!({"maxUnavailable": "20%", "maxSurge": "10%", "paused": true}), (2, 0)),
            (json!({"rollingUpdate": {"maxUnavailable": 3}}), (3, 0)),
            (json!({}), (2, 0)),
        ] {
            let mut object = clone_set("v1alpha1", &json!(7), &json!(0)).object().json().clone();
            if strategy.get("rollingUpdate").is_some() {
                object["apiVersion"] = "apps.kruise.io/v1beta1".into();
            }
            object["spec"]["updateStrategy"] = strategy.clone();
            let budget = Workload::of_json(&object).unwrap().update_budget();
            assert_eq!((budget.unavailable, budget.surge), expected, "{strategy}");
        }
    }

    /// Missing pods are progressing even with a partition.
    #[test]
    fn a_set_with_too_few_pods_is_progressing() {
        let mut object = clone_set("v1beta1", &json!(5), &json!(2)).object().json().clone();
        let state = |object: &Value| {
            let workload = Workload::of_json(object).unwrap();
            workload.kind().verdict(&workload, &Activity::default()).state
        };
        for (total, expected) in [(3, RolloutState::Progressing), (5, RolloutState::Complete)] {
            object["status"] =
                json!({"replicas": total, "updatedReplicas": 3, "updatedAvailableReplicas": 3});
            assert_eq!(state(&object), expected, "{total}");
        }
    }

    #[test]
    fn the_policy_is_a_type_or_a_field() {
        for (strategy, expected) in [
            (json!({"type": "ReCreate"}), PodUpdatePolicy::Recreate),
            (json!({"type": "InPlaceIfPossible"}), PodUpdatePolicy::InPlaceIfPossible),
            (json!({"type": "InPlaceOnly"}), PodUpdatePolicy::InPlaceOnly),
            (json!({"type": "RollingUpdate"}), PodUpdatePolicy::Recreate),
            (
                json!({"type": "RollingUpdate", "rollingUpdate": {"podUpdatePolicy": "InPlaceOnly"}}),
                PodUpdatePolicy::InPlaceOnly,
            ),
            (
                json!({"type": "OnDelete", "rollingUpdate": {"podUpdatePolicy": "InPlaceOnly"}}),
                PodUpdatePolicy::Recreate,
            ),
        ] {
            let mut object = clone_set("v1beta1", &json!(7), &json!(0)).object().json().clone();
            object["spec"]["updateStrategy"] = strategy.clone();
            assert_eq!(Workload::of_json(&object).unwrap().pod_update_policy(), expected, "{strategy}");
        }
    }
}
