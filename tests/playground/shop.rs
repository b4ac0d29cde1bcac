//! The workloads of the demo shop and their changes.

use serde_json::{Value, json};

/// The description that the playground prints.
pub(crate) const DESCRIPTION: [&str; 7] = [
    "deployment/web       a good history: five releases, one of them taken back",
    "deployment/checkout  its last release crashes and is past its deadline",
    "statefulset/db       complete at its partition: 2 of 5 pods run the new version, 3 are held",
    "daemonset/agent      one pod a node, up to date",
    "cloneset/search      of OpenKruise: its pods are updated in place",
    "kubectl apply and preview need --validate=false here. kubectl get prints names and ages; kubectl create and scale do not work.",
    "Ctrl-C closes the shop.",
];

/// A change of a workload, and the minutes until the next one.
pub(crate) struct ShopChange {
    pub(crate) to: &'static str,
    pub(crate) by: &'static str,
    pub(crate) what: Value,
    pub(crate) then: u32,
}

const HOUR: u32 = 60;

/// Returns all changes of the shop, in their order.
pub(crate) fn changes() -> Vec<ShopChange> {
    let mut changes = initial_workloads();
    changes.extend([
        release("deployment/web", "1.1", "image 1.1", 3 * HOUR),
        shop_change(
            "deployment/web",
            "kubectl-set",
            environment("CACHE", "on", "cache on (ticket OPS-42)"),
            20 * HOUR,
        ),
        release("daemonset/agent", "1.1", "log rotation", 2 * HOUR),
        release("cloneset/search", "1.1", "faster index", 15),
        release("deployment/web", "1.2", "new search", 25),
        shop_change("deployment/web", "kubectl", back_to("1.1", "cache on (ticket OPS-42)"), 22 * HOUR),
        shop_change("deployment/web", "kubectl-set", resources("200m", "128Mi"), 5 * HOUR),
        release("statefulset/db", "2.0", "new storage engine, canary first", 40),
        release("deployment/checkout", "2.0-crash", "one-click checkout", 6),
    ]);
    changes
}

fn initial_workloads() -> Vec<ShopChange> {
    let rolling =
        |partition: i64| json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": partition } });
    let in_place =
        json!({ "type": "RollingUpdate", "rollingUpdate": { "podUpdatePolicy": "InPlaceIfPossible" } });
    vec![
        create("deployment/web", json!({ "replicas": 4 }), 1),
        create("deployment/checkout", json!({ "replicas": 3, "progressDeadlineSeconds": 120 }), 1),
        create(
            "statefulset/db",
            json!({ "replicas": 5, "serviceName": "db", "updateStrategy": rolling(3) }),
            1,
        ),
        create("cloneset/search", json!({ "replicas": 4, "updateStrategy": in_place }), 1),
        create("daemonset/agent", json!({}), 18 * HOUR),
    ]
}

fn shop_change(to: &'static str, by: &'static str, what: Value, then: u32) -> ShopChange {
    ShopChange { to, by, what, then }
}

/// Creates a workload.
fn create(to: &'static str, mut spec: Value, then: u32) -> ShopChange {
    let name = app(to);
    spec["selector"] = json!({ "matchLabels": { "app": name } });
    spec["template"] = json!({
        "metadata": { "labels": { "app": name } },
        "spec": { "containers": [{ "name": name, "image": format!("shop/{name}:1.0"), "ports": [{ "containerPort": 8080 }] }] },
    });
    let annotations = json!({ CAUSE: "first release" });
    let what = json!({ "metadata": { "name": name, "labels": { "app": name }, "annotations": annotations }, "spec": spec });
    shop_change(to, "kubectl-create", what, then)
}

/// Changes the image of a workload.
fn release(to: &'static str, tag: &str, cause: &str, then: u32) -> ShopChange {
    let container = json!({ "name": app(to), "image": format!("shop/{}:{tag}", app(to)) });
    shop_change(to, "kubectl-set", change(&container, cause), then)
}

fn environment(name: &str, value: &str, cause: &str) -> Value {
    change(&json!({ "name": "web", "env": [{ "name": name, "value": value }] }), cause)
}

fn back_to(tag: &str, cause: &str) -> Value {
    change(&json!({ "name": "web", "image": format!("shop/web:{tag}") }), cause)
}

fn resources(cpu: &str, memory: &str) -> Value {
    let limits = json!({ "limits": { "cpu": cpu, "memory": memory } });
    change(&json!({ "name": "web", "resources": limits }), "limits")
}

/// Returns a patch of one container with its change-cause.
fn change(container: &Value, cause: &str) -> Value {
    let template = json!({ "spec": { "containers": [container] } });
    json!({ "metadata": { "annotations": { CAUSE: cause } }, "spec": { "template": template } })
}

/// The change-cause annotation.
const CAUSE: &str = "kubernetes.io/change-cause";

fn app(to: &str) -> &str {
    to.split('/').nth(1).unwrap_or(to)
}
