//! Where a pod fits: what the scheduler reads of it, as one digest.

use serde_json::{Map, Value, json};

use super::object::Object;
use crate::model::text::digest::Digest;

/// The fields of a pod's spec that decide where it fits (`pkg/scheduler/framework/plugins`). A label that differs between
/// revisions decides only through one of them.
const FIELDS: [&str; 10] = [
    "affinity",
    "hostNetwork",
    "nodeSelector",
    "overhead",
    "priority",
    "resourceClaims",
    "resources",
    "schedulerName",
    "tolerations",
    "topologySpreadConstraints",
];

/// Returns a digest of what the scheduler reads of a pod. A pod fits on the node of a running one with the same digest
/// once that one is gone.
#[must_use]
pub(super) fn digest(pod: &Object) -> Digest {
    let spec = |field: &str| pod.at("/spec").and_then(|spec| spec.get(field));
    let items = |field: &str| spec(field).and_then(Value::as_array).into_iter().flatten();
    let mut read: Map<String, Value> =
        FIELDS.into_iter().filter_map(|field| Some((field.to_owned(), spec(field)?.clone()))).collect();
    for field in ["containers", "initContainers"] {
        read.insert(field.to_owned(), items(field).map(of_container).collect());
    }
    // Volumes of other kinds fit on each node, and the name of the volume with the pod's token is random.
    let claims = items("volumes").filter_map(|volume| volume.get("persistentVolumeClaim")?.get("claimName"));
    read.insert("claims".to_owned(), claims.cloned().collect());
    Digest::of(&Value::Object(read))
}

/// Returns what counts of a container: its requests, its ports of the node, and whether it runs beside the others.
fn of_container(container: &Value) -> Value {
    let ports = container["ports"].as_array().into_iter().flatten();
    let ports: Vec<_> = ports.filter(|port| port["hostPort"].is_number()).collect();
    json!([container["resources"]["requests"], ports, container["restartPolicy"]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_with_the_same_digest_fit_in_each_others_place() {
        let pod = |image: &str, cpu: &str, more: Value| {
            let mut spec = json!({"nodeName": image, "tolerations": [{"key": "a"}],
                "volumes": [{"name": format!("kube-api-access-{image}"), "projected": {}}],
                "containers": [{"name": "app", "image": image, "resources": {"requests": {"cpu": cpu}}}]});
            if let (Value::Object(spec), Value::Object(more)) = (&mut spec, more) {
                spec.extend(more);
            }
            let pod = json!({"kind": "Pod", "metadata": {"name": image}, "spec": spec});
            digest(&Object::read(pod).unwrap())
        };
        let claim =
            |name: &str| json!({"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": name}}]});
        let init = |restart: &str| json!({"initContainers": [{"name": "i", "restartPolicy": restart}]});
        for (one, other, is_equal) in [
            (pod("x:1", "1", json!({})), pod("x:2", "1", json!({})), true),
            (pod("x:1", "1", json!({})), pod("x:2", "2", json!({})), false),
            (pod("x:1", "1", json!({})), pod("x:2", "1", json!({"nodeSelector": {"disk": "ssd"}})), false),
            (pod("x:1", "1", claim("a")), pod("x:2", "1", claim("a")), true),
            (pod("x:1", "1", claim("a")), pod("x:2", "1", claim("b")), false),
            (pod("x:1", "1", json!({})), pod("x:2", "1", init("Always")), false),
        ] {
            assert_eq!(one == other, is_equal);
        }
    }
}
