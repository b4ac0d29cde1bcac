//! The recorded trace of a `DaemonSet`, as lines of kubectl.

use serde_json::{Value, json};

use crate::simulation::controllers::lab::Lab;

/// Returns the line of `kubectl rollout status`.
pub(crate) fn spoken(set: &Value) -> String {
    let count = |member: &str| set["status"][member].as_i64().unwrap_or(0);
    let (desired, updated) = (count("desiredNumberScheduled"), count("updatedNumberScheduled"));
    if simcluster::object::generation(set) > count("observedGeneration") {
        "to be observed".to_owned()
    } else if updated < desired {
        format!("{updated} out of {desired} updated")
    } else if count("numberAvailable") < desired {
        format!("{} of {desired} available", count("numberAvailable"))
    } else {
        "rolled out".to_owned()
    }
}

#[test]
fn one_node_after_the_other() {
    let mut lab = Lab::new();
    let agent = lab.daemon_set(&json!({}));
    lab.settle();
    let before = lab.revision();
    lab.image(&agent, "app:2.0");
    lab.settle();
    let seen = lab.states(&agent, before, spoken);
    assert_eq!(
        seen,
        [
            "to be observed",
            "0 out of 3 updated",
            "1 out of 3 updated",
            "2 out of 3 updated",
            "2 of 3 available",
            "rolled out"
        ],
        "{seen:#?}"
    );
}

/// A broken surge does not affect the outdated pods: no pod is updated, and all are available.
#[test]
fn broken_surge() {
    let mut lab = Lab::new();
    let surge = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } });
    let agent = lab.daemon_set(&json!({ "updateStrategy": surge }));
    lab.settle();
    lab.image(&agent, "app:2.0-notready");
    lab.settle();
    let set = lab.get(&agent);
    assert_eq!(spoken(&set), "0 out of 3 updated");
    assert_eq!(set["status"]["numberAvailable"], 3);
}
