//! PodDisruptionBudgets, and whether one blocks every eviction.

use super::condition::Condition;
use super::object::Object;
use super::selector::Selector;

/// One PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisruptionBudget {
    /// The name.
    pub name: String,
    /// The selector; a budget without one matches no pod.
    selector: Option<Selector>,
    /// The message of the condition `DisruptionAllowed` with the reason `SyncFailed`.
    sync_error: Option<String>,
    /// The counters of the status, if the controller has observed the spec.
    counts: Option<HealthyPods>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HealthyPods {
    pods: i64,
    wanted: i64,
}

impl DisruptionBudget {
    /// Reads a budget.
    #[must_use]
    pub fn read(object: &Object) -> Self {
        let allowed = Condition::read(object, "DisruptionAllowed");
        let failed = allowed.filter(|condition| condition.reason == "SyncFailed");
        let is_counted = object.int("/status/observedGeneration").unwrap_or_default() >= object.generation();
        let count = |pointer| object.int(pointer).unwrap_or_default();
        Self {
            name: object.name().to_owned(),
            selector: object.at("/spec/selector").and_then(Selector::read),
            sync_error: failed.map(|condition| condition.message),
            counts: is_counted.then(|| HealthyPods {
                pods: count("/status/expectedPods"),
                wanted: count("/status/desiredHealthy"),
            }),
        }
    }

    /// Whether the budget applies to the pods of a workload.
    #[must_use]
    pub fn is_for(&self, workload: &Object) -> bool {
        let labels = workload.at("/spec/template/metadata/labels");
        self.selector
            .as_ref()
            .is_some_and(|selector| selector.matches_labels(|key| labels?.get(key)?.as_str()))
    }

    /// Returns why the budget never allows the eviction of a healthy pod; none if it may.
    ///
    /// A budget that its controller has not observed yet blocks nothing.
    fn blocks_evictions(&self) -> Option<String> {
        let name = &self.name;
        if let Some(reason) = &self.sync_error {
            return Some(format!("PodDisruptionBudget {name} cannot be counted by its controller: {reason}"));
        }
        let counts = self.counts.filter(|counts| counts.pods > 0 && counts.wanted >= counts.pods)?;
        let (wanted, pods) = (counts.wanted, counts.pods);
        Some(format!("PodDisruptionBudget {name} wants {wanted} healthy pods, and it selects {pods} in all"))
    }
}

/// Returns why the pods of a workload can never be evicted, one sentence each; empty if they can.
#[must_use]
pub fn eviction_blockers(budgets: &[DisruptionBudget], workload: &Object) -> Vec<String> {
    let matching: Vec<_> = budgets.iter().filter(|budget| budget.is_for(workload)).collect();
    if matching.len() > 1 {
        let names: Vec<_> = matching.iter().map(|budget| budget.name.as_str()).collect();
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
        DisruptionBudget::read(&Object::read(object).unwrap())
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
            "status": "False", "reason": "SyncFailed", "message": "daemonsets.apps does not implement the scale subresource"}]});
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
