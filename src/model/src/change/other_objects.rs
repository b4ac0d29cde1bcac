//! PodDisruptionBudgets that block every eviction of a plan of `step`.

use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use serde::Deserialize as _;

use crate::api::object::Object;
use crate::api::selector::Selector;

/// One PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq)]
pub struct DisruptionBudget(PodDisruptionBudget);

impl DisruptionBudget {
    /// Reads a budget; none if it is malformed.
    #[must_use]
    pub fn read(object: &Object) -> Option<Self> {
        PodDisruptionBudget::deserialize(object.json()).ok().map(Self)
    }

    fn name(&self) -> &str {
        self.0.metadata.name.as_deref().unwrap_or_default()
    }

    /// Whether the budget applies to the pods of a workload. One without a selector matches no pod.
    #[must_use]
    pub fn is_for(&self, workload: &Object) -> bool {
        let labels = workload.at("/spec/template/metadata/labels");
        let selector = self.0.spec.as_ref().and_then(|spec| Selector::of(spec.selector.clone()?));
        selector.is_some_and(|selector| selector.matches_labels(|key| labels?.get(key)?.as_str()))
    }

    /// Returns why the budget never allows the eviction of a healthy pod; none if it may.
    ///
    /// A budget that its controller has not observed yet blocks nothing.
    fn blocks_evictions(&self) -> Option<String> {
        let (name, status) = (self.name(), self.0.status.as_ref()?);
        let failed = status.conditions.iter().flatten().find(|condition| condition.reason == "SyncFailed");
        if let Some(failed) = failed {
            let reason = &failed.message;
            return Some(format!("PodDisruptionBudget {name} cannot be counted by its controller: {reason}"));
        }
        let wanted = status.desired_healthy.unwrap_or_default();
        let pods = status.expected_pods.unwrap_or_default();
        let is_counted = status.observed_generation >= self.0.metadata.generation;
        (is_counted && pods > 0 && wanted >= pods).then(|| {
            format!("PodDisruptionBudget {name} wants {wanted} healthy pods, and it selects {pods} in all")
        })
    }
}

/// Returns why the pods of a workload can never be evicted, one sentence each; empty if they can.
#[must_use]
pub fn eviction_blockers(budgets: &[DisruptionBudget], workload: &Object) -> Vec<String> {
    let matching: Vec<_> = budgets.iter().filter(|budget| budget.is_for(workload)).collect();
    if matching.len() > 1 {
        let names: Vec<_> = matching.iter().map(|budget| budget.name()).collect();
        return vec![format!(
            "the PodDisruptionBudgets {} select the same pods, and a pod with several budgets is never evicted",
            names.join(", ")
        )];
    }
    matching.into_iter().filter_map(DisruptionBudget::blocks_evictions).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn budget(name: &str, selector: &Value, status: &Value) -> DisruptionBudget {
        let object = json!({"kind": "PodDisruptionBudget", "metadata": {"name": name, "generation": 1},
            "spec": {"selector": selector}, "status": status});
        DisruptionBudget::read(&Object::read(object).unwrap()).unwrap()
    }

    fn agent() -> Object {
        let template = json!({"metadata": {"labels": {"app": "agent", "tier": "node"}}});
        let object =
            json!({"kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": {"template": template}});
        Object::read(object).unwrap()
    }

    fn counts(pods: i64, desired: i64, healthy: i64) -> Value {
        json!({"observedGeneration": 1, "expectedPods": pods, "desiredHealthy": desired,
            "currentHealthy": healthy, "disruptionsAllowed": (healthy - desired).max(0)})
    }

    #[test]
    fn a_budget_applies_to_the_pods_of_its_selector() {
        for (selector, expected) in [
            (json!({"matchLabels": {"app": "agent"}}), true),
            (json!({}), true),
            (json!(null), false),
            (json!({"matchLabels": {"app": "web"}}), false),
            (json!({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}), true),
            (json!({"matchExpressions": [{"key": "tier", "operator": "Near"}]}), false),
        ] {
            assert_eq!(budget("b", &selector, &json!({})).is_for(&agent()), expected, "{selector}");
        }
    }

    #[test]
    fn a_budget_that_requires_all_pods_blocks_evictions() {
        let sync_failed = json!({"disruptionsAllowed": 0, "conditions": [{"type": "DisruptionAllowed",
            "status": "False", "lastTransitionTime": "2026-11-20T13:00:00Z", "reason": "SyncFailed", "message": "daemonsets.apps does not implement the scale subresource"}]});
        for (status, expected) in [
            (json!({}), None),
            (counts(6, 5, 6), None),
            (counts(6, 5, 4), None),
            (counts(6, 6, 6), Some("wants 6 healthy pods, and it selects 6 in all")),
            (counts(6, 9, 6), Some("wants 9 healthy pods, and it selects 6 in all")),
            (counts(0, 1, 0), None),
            (sync_failed, Some("cannot be counted by its controller: daemonsets.apps does not implement")),
        ] {
            let text = eviction_blockers(&[budget("b", &json!({}), &status)], &agent()).join("; ");
            assert_eq!(text.is_empty(), expected.is_none(), "{status}: {text}");
            assert!(text.contains(expected.unwrap_or_default()), "{status}: {text}");
        }
    }

    #[test]
    fn several_budgets_for_one_pod_block_evictions() {
        let all = [budget("a", &json!({}), &counts(6, 5, 6)), budget("b", &json!({}), &counts(6, 5, 6))];
        assert!(eviction_blockers(&all, &agent())[0].contains("a, b"));
        assert_eq!(eviction_blockers(&[], &agent()), Vec::<String>::new());
    }
}
