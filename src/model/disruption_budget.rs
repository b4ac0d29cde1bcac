//! PodDisruptionBudgets: which of them an eviction has to respect, and which never let a pod go.

use super::condition::Condition;
use super::object::Object;
use super::selector::Selector;
use super::workload::Workload;

/// What one budget says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisruptionBudget {
    /// Its name.
    pub name: String,
    /// The pods it is for; none for a budget without a selector, which is for no pod.
    selector: Option<Selector>,
    /// Why its controller cannot count its pods, in the controller's words.
    cannot_sync: Option<String>,
    /// How many pods there should be, and how many of them must stay healthy, as the controller has it.
    counted: Option<Counted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted {
    pods: i64,
    healthy: i64,
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
            cannot_sync: failed.map(|condition| condition.message),
            counted: is_counted.then(|| Counted {
                pods: count("/status/expectedPods"),
                healthy: count("/status/desiredHealthy"),
            }),
        }
    }

    /// Whether the pods of a workload are among those that it is for.
    #[must_use]
    pub fn is_for(&self, workload: &Workload) -> bool {
        let labels = workload.object().at("/spec/template/metadata/labels");
        self.selector.as_ref().is_some_and(|selector| selector.takes(|key| labels?.get(key)?.as_str()))
    }

    /// Why it never lets a healthy pod go, however long somebody waits; none when it may.
    ///
    /// A budget that was not counted yet says nothing about that.
    fn refuses_for_ever(&self) -> Option<String> {
        let name = &self.name;
        if let Some(why) = &self.cannot_sync {
            return Some(format!("PodDisruptionBudget {name} cannot be counted by its controller: {why}"));
        }
        let counted = self.counted.filter(|counted| counted.pods > 0 && counted.healthy >= counted.pods)?;
        let (healthy, pods) = (counted.healthy, counted.pods);
        Some(format!("PodDisruptionBudget {name} wants {healthy} healthy pods, and there are {pods} in all"))
    }
}

/// Why the pods of a workload will never be evicted, a sentence each; empty when they may be.
#[must_use]
pub fn refusing_for_ever(budgets: &[DisruptionBudget], workload: &Workload) -> Vec<String> {
    let matching: Vec<_> = budgets.iter().filter(|budget| budget.is_for(workload)).collect();
    if matching.len() > 1 {
        let names: Vec<_> = matching.iter().map(|budget| budget.name.as_str()).collect();
        return vec![format!(
            "the PodDisruptionBudgets {} are for the same pods, and a pod that has several is never evicted",
            names.join(", ")
        )];
    }
    matching.into_iter().filter_map(DisruptionBudget::refuses_for_ever).collect()
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

    fn agent() -> Workload {
        let template = json!({"metadata": {"labels": {"app": "agent", "tier": "node"}}});
        let object =
            json!({"kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": {"template": template}});
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    fn counted(pods: i64, desired: i64, healthy: i64) -> Value {
        json!({"observedGeneration": 1, "expectedPods": pods, "desiredHealthy": desired,
            "currentHealthy": healthy, "disruptionsAllowed": (healthy - desired).max(0)})
    }

    #[test]
    fn a_budget_is_for_the_pods_that_its_selector_matches() {
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
    fn a_budget_refuses_for_ever_when_waiting_cannot_help() {
        let sync_failed = json!({"disruptionsAllowed": 0, "conditions": [{"type": "DisruptionAllowed",
            "status": "False", "reason": "SyncFailed", "message": "daemonsets.apps does not implement the scale subresource"}]});
        for (status, expected) in [
            (json!({}), None),
            (counted(6, 5, 6), None),
            (counted(6, 5, 4), None),
            (counted(6, 6, 6), Some("wants 6 healthy pods, and there are 6 in all")),
            (counted(6, 9, 6), Some("wants 9 healthy pods, and there are 6 in all")),
            (counted(0, 1, 0), None),
            (sync_failed, Some("cannot be counted by its controller: daemonsets.apps does not implement")),
        ] {
            let told = refusing_for_ever(&[budget("b", &json!({}), &status)], &agent()).join("; ");
            assert_eq!(told.is_empty(), expected.is_none(), "{status}: {told}");
            assert!(told.contains(expected.unwrap_or_default()), "{status}: {told}");
        }
    }

    #[test]
    fn several_budgets_for_one_pod_refuse_for_ever() {
        let all = [budget("a", &json!({}), &counted(6, 5, 6)), budget("b", &json!({}), &counted(6, 5, 6))];
        assert!(refusing_for_ever(&all, &agent())[0].contains("a, b"));
        assert_eq!(refusing_for_ever(&[], &agent()), Vec::<String>::new());
    }
}
