//! PodDisruptionBudgets: their counts, and refused evictions.

use serde_json::{Value, json};
use simcluster::resource::{PODDISRUPTIONBUDGETS, PODS};
use simcluster::rules::{Author, Deletion};
use simcluster::{Key, Refusal, object};

use crate::simulation::controllers::lab::Lab;

fn budget(lab: &Lab, name: &str, app: &str, spec: &Value) -> Key {
    let mut budget = json!({ "metadata": { "name": name }, "spec": spec.clone() });
    budget["spec"]["selector"] = json!({ "matchLabels": { "app": app } });
    lab.create(&PODDISRUPTIONBUDGETS, &budget)
}

fn evict(lab: &Lab, pod: &str) -> Result<(), Refusal> {
    let pod = Key::new(&PODS, "default", pod);
    let evicted = lab.cluster.store(|store| store.evict(&pod, &Deletion::default(), &Author::new("test")));
    evicted.map(drop)
}

/// `expected/desired/healthy/allowed reason`.
fn printed(lab: &Lab, budget: &Key) -> String {
    let status = lab.get(budget)["status"].clone();
    let count =
        |member: &str| status[member].as_i64().map_or_else(|| "-".to_owned(), |count| count.to_string());
    let counts = ["expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed"].map(count);
    format!("{} {}", counts.join("/"), object::text(&status["conditions"][0], &["reason"]))
}

#[test]
fn a_budget_uses_the_scale_of_the_controller() {
    let mut lab = Lab::new();
    lab.deployment(4, &json!({}));
    lab.stateful_set(3, &json!({}));
    let budgets = [
        (budget(&lab, "half", "web", &json!({ "minAvailable": "50%" })), "4/2/4/2 SufficientPods"),
        (budget(&lab, "one", "db", &json!({ "maxUnavailable": 1 })), "3/2/3/1 SufficientPods"),
        (budget(&lab, "all", "db", &json!({ "minAvailable": 3 })), "3/3/3/0 InsufficientPods"),
        (budget(&lab, "nobody", "nobody", &json!({ "maxUnavailable": 1 })), "0/0/0/0 InsufficientPods"),
    ];
    lab.settle();
    for (budget, expected) in &budgets {
        assert_eq!(printed(&lab, budget), *expected, "{}", budget.name);
    }
}

/// A DaemonSet has no scale, so only `minAvailable` as a number works.
#[test]
fn of_a_daemon_set_only_a_number_as_min_available_is_counted() {
    for (spec, expected) in [
        (json!({ "minAvailable": 2 }), "3/2/3/1 SufficientPods"),
        (json!({ "maxUnavailable": 1 }), "-/-/-/0 SyncFailed"),
        (json!({ "minAvailable": "50%" }), "-/-/-/0 SyncFailed"),
    ] {
        let mut lab = Lab::new();
        lab.daemon_set(&json!({}));
        let budget = budget(&lab, "agent", "agent", &spec);
        lab.settle();
        assert_eq!(printed(&lab, &budget), expected, "{spec}");
        let first = lab.images().remove(0).0;
        assert_eq!(evict(&lab, &first).is_ok(), spec["minAvailable"] == 2, "{spec}");
    }
}

#[test]
fn a_budget_without_a_status_answers_with_retry_after() {
    let mut lab = Lab::new();
    lab.stateful_set(1, &json!({}));
    lab.settle();
    budget(&lab, "db", "db", &json!({ "maxUnavailable": 1 }));
    let refusal = evict(&lab, "db-0").unwrap_err();
    assert_eq!((refusal.code, refusal.retry_after), (429, Some(10)));
}

#[test]
fn an_unready_pod_can_be_evicted_while_enough_are_healthy() {
    let mut lab = Lab::new();
    let agent = lab.daemon_set(&json!({}));
    budget(&lab, "agent", "agent", &json!({ "minAvailable": 2 }));
    lab.settle();
    lab.image(&agent, "app:2.0-notready");
    lab.run_for(30);
    let (unready, _) = lab.images().into_iter().find(|(_, image)| image.ends_with("notready")).unwrap();
    evict(&lab, &unready).unwrap();
}
