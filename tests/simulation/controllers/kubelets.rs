//! The simulated kubelets beyond the recorded nodes: the table of tags, and readiness gates.

use serde_json::{Value, json};
use simcluster::resource::PODS;
use simcluster::rules::{Author, Part};
use simcluster::{Key, object};

use crate::simulation::controllers::lab::Lab;

fn container(pod: &Value) -> &Value {
    &pod["status"]["containerStatuses"][0]
}

#[test]
fn the_tag_decides_the_state_of_a_pod() {
    for (image, phase, reason, restarts) in [
        ("app:1.0", "Running", "", 0),
        ("app:1.0-bad", "Pending", "ImagePullBackOff", 0),
        ("app:1.0-config", "Pending", "CreateContainerConfigError", 0),
        ("app:1.0-crash", "Running", "", 4),
        ("app:1.0-oom", "Running", "", 4),
        ("app:1.0-notready", "Running", "", 0),
    ] {
        let mut lab = Lab::new();
        let web = lab.deployment(1, &json!({}));
        lab.image(&web, image);
        lab.run_for(13);
        let pod = lab.cluster.store(|store| Value::clone(store.list(&PODS, None).next().unwrap().1));
        assert_eq!(object::text(&pod, &["status", "phase"]), phase, "{image}");
        assert_eq!(object::text(container(&pod), &["state", "waiting", "reason"]), reason, "{image}");
        assert_eq!(container(&pod)["restartCount"], restarts, "{image}");
        assert_eq!(container(&pod)["ready"], image == "app:1.0", "{image}");
    }
}

#[test]
fn a_closed_readiness_gate_keeps_a_pod_unready() {
    let mut lab = Lab::new();
    let web = lab.deployment(1, &json!({}));
    let gates = json!([{ "conditionType": "example.com/lb" }]);
    lab.patch(&web, &json!({ "spec": { "template": { "spec": { "readinessGates": gates } } } }));
    lab.run_for(60);
    let pods: Vec<Value> =
        lab.cluster.store(|store| store.list(&PODS, None).map(|(_, pod)| Value::clone(pod)).collect());
    let pod = pods.iter().find(|pod| !pod["spec"]["readinessGates"].is_null()).unwrap();
    let condition = |pod: &Value, kind: &str| object::condition(pod, kind).unwrap().clone();
    assert_eq!(container(pod)["ready"], true);
    assert_eq!(condition(pod, "ContainersReady")["status"], "True");
    assert_eq!(condition(pod, "Ready")["reason"], "ReadinessGatesNotReady");
    let missing = "corresponding condition of pod readiness gate \"example.com/lb\" does not exist.";
    assert_eq!(condition(pod, "Ready")["message"], missing);
    let key = Key::of(&PODS, pod);
    for (status, is_ready) in [("False", "False"), ("True", "True")] {
        lab.cluster.store(|store| {
            let set = |pod: &mut Value| {
                let conditions = pod["status"]["conditions"].as_array_mut().unwrap();
                conditions.retain(|one| one["type"] != "example.com/lb");
                conditions.push(json!({ "type": "example.com/lb", "status": status }));
            };
            store.edit(&key, Part::Status, &Author::new("balancer"), set).map(drop).unwrap();
        });
        lab.settle();
        assert_eq!(condition(&lab.get(&key), "Ready")["status"], is_ready);
    }
}
