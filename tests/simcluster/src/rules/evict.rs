//! Eviction: a deletion that PodDisruptionBudgets can refuse (`EvictionREST` of 1.36).

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Author, Deletion, Part};
use crate::{
    object,
    refusal::Refusal,
    resource::PODDISRUPTIONBUDGETS,
    selector::matches_labels,
    store::{Key, Store},
};

/// `Retry-After` for a budget that its controller has not observed, in seconds.
const UNSEEN: u32 = 10;

impl Store {
    /// Evicts a pod.
    pub fn evict(&mut self, pod: &Key, options: &Deletion, author: &Author) -> Result<Arc<Value>, Refusal> {
        let current = Arc::clone(self.find(pod)?);
        if !goes_anyway(&current) {
            let budgets = self.budgets_of(pod, &current);
            match budgets.as_slice() {
                [] => {}
                [budget] => self.spend(budget, object::has_condition(&current, "Ready"), author)?,
                _ => return Err(several_budgets()),
            }
        }
        self.delete(pod, options, author)
    }

    fn budgets_of(&self, pod: &Key, value: &Value) -> Vec<Key> {
        let labels = object::at(value, &["metadata", "labels"]).unwrap_or(&Value::Null);
        let budgets = self.list(&PODDISRUPTIONBUDGETS, Some(&pod.namespace));
        let matching = budgets.filter(|(_, budget)| {
            let selector = &budget["spec"]["selector"];
            selector.is_object() && matches_labels(selector, labels)
        });
        matching.map(|(key, _)| key.clone()).collect()
    }

    /// Uses one disruption of a budget.
    fn spend(&mut self, key: &Key, pod_is_ready: bool, author: &Author) -> Result<(), Refusal> {
        let budget = Arc::clone(self.find(key)?);
        let count = |member: &str| budget["status"][member].as_i64().unwrap_or(0);
        let healthy = || count("currentHealthy") >= count("desiredHealthy") && count("desiredHealthy") > 0;
        if !pod_is_ready && (budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow" || healthy()) {
            return Ok(());
        }
        if count("observedGeneration") < object::generation(&budget) {
            let why = format!("The disruption budget {} is still being processed by the server.", key.name);
            return Err(no(&why).retry_after(UNSEEN));
        }
        let allowed = count("disruptionsAllowed");
        if allowed <= 0 {
            let (wanted, there) = (count("desiredHealthy"), count("currentHealthy"));
            return Err(no(&format!(
                "The disruption budget {} needs {wanted} healthy pods and has {there} currently",
                key.name
            )));
        }
        if author.dry_run {
            return Ok(());
        }
        let spent = |budget: &mut Value| budget["status"]["disruptionsAllowed"] = (allowed - 1).into();
        self.edit(key, Part::Status, author, spent).map(drop)
    }
}

/// A pod that has ended, is pending or terminates uses no disruption.
fn goes_anyway(pod: &Value) -> bool {
    let phase = object::text(pod, &["status", "phase"]);
    object::is_terminating(pod) || matches!(phase, "Succeeded" | "Failed" | "Pending")
}

fn no(why: &str) -> Refusal {
    let sentence = "Cannot evict pod as it would violate the pod's disruption budget.";
    let causes = json!({ "causes": [{ "reason": "DisruptionBudget", "message": why }] });
    Refusal { details: causes, ..Refusal::with_status(429, sentence) }
}

fn several_budgets() -> Refusal {
    let sentence =
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    Refusal { reason: "", ..Refusal::with_status(500, sentence) }
}
