//! The defaults that the API server writes into pod templates (`pkg/apis/core/v1/defaults.go` of Kubernetes 1.36).

use serde_json::{Map, Value, json};

/// Fields of `spec` with their defaults, as JSON. `*` stands for each element of a list.
const POD: [(&str, &str); 12] = [
    ("dnsPolicy", "\"ClusterFirst\""),
    ("restartPolicy", "\"Always\""),
    ("schedulerName", "\"default-scheduler\""),
    ("terminationGracePeriodSeconds", "30"),
    ("volumes.*.configMap.defaultMode", "420"),
    ("volumes.*.secret.defaultMode", "420"),
    ("volumes.*.hostPath.type", "\"\""),
    ("volumes.*.downwardAPI.defaultMode", "420"),
    ("volumes.*.downwardAPI.items.*.fieldRef.apiVersion", "\"v1\""),
    ("volumes.*.projected.defaultMode", "420"),
    ("volumes.*.projected.sources.*.serviceAccountToken.expirationSeconds", "3600"),
    ("volumes.*.projected.sources.*.downwardAPI.items.*.fieldRef.apiVersion", "\"v1\""),
];

/// Fields of a container with their defaults.
const CONTAINER: [(&str, &str); 10] = [
    ("terminationMessagePath", "\"/dev/termination-log\""),
    ("terminationMessagePolicy", "\"File\""),
    ("ports.*.protocol", "\"TCP\""),
    ("env.*.value", "\"\""),
    ("env.*.valueFrom.fieldRef.apiVersion", "\"v1\""),
    ("env.*.valueFrom.resourceFieldRef.divisor", "\"0\""),
    ("lifecycle.postStart.httpGet.path", "\"/\""),
    ("lifecycle.postStart.httpGet.scheme", "\"HTTP\""),
    ("lifecycle.preStop.httpGet.path", "\"/\""),
    ("lifecycle.preStop.httpGet.scheme", "\"HTTP\""),
];

/// Fields of a probe with their defaults.
const PROBE: [(&str, &str); 7] = [
    ("timeoutSeconds", "1"),
    ("periodSeconds", "10"),
    ("successThreshold", "1"),
    ("failureThreshold", "3"),
    ("httpGet.path", "\"/\""),
    ("httpGet.scheme", "\"HTTP\""),
    ("grpc.service", "\"\""),
];

/// Removes the fields of a template that have their default value. Equal templates stay equal, whichever of them
/// spells the defaults out.
pub(in crate::model) fn without_defaults(template: &mut Value) {
    let Some(spec) = template.get_mut("spec") else { return };
    drop_defaults(spec, &POD);
    let Some(spec) = spec.as_object_mut() else { return };
    // The deprecated name of the service account is always equal to the other one.
    if let Some(name) = spec.remove("serviceAccount") {
        spec.entry("serviceAccountName").or_insert(name);
    }
    for volume in elements(spec, "volumes").filter_map(Value::as_object_mut) {
        if volume.len() == 2 && volume.get("emptyDir") == Some(&json!({})) {
            volume.remove("emptyDir");
        }
    }
    let is_on_host = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        elements(spec, list).for_each(|container| drop_of_container(container, is_on_host));
    }
}

fn drop_of_container(container: &mut Value, is_on_host: bool) {
    drop_defaults(container, &CONTAINER);
    let policy = pull_policy(container.get("image").and_then(Value::as_str).unwrap_or_default());
    let Some(container) = container.as_object_mut() else { return };
    if container.get("imagePullPolicy").and_then(Value::as_str) == Some(policy) {
        container.remove("imagePullPolicy");
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(probe) {
            drop_defaults(probe, &PROBE);
        }
    }
    for port in elements(container, "ports").filter_map(Value::as_object_mut) {
        if is_on_host && port.get("hostPort") == port.get("containerPort") {
            port.remove("hostPort");
        }
    }
    // A limit without a request is the request too.
    let resources = container.get_mut("resources").and_then(Value::as_object_mut);
    if let Some(resources) = resources
        && let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned()
        && let Some(requests) = resources.get_mut("requests").and_then(Value::as_object_mut)
    {
        requests.retain(|name, request| limits.get(name) != Some(request));
    }
}

/// An image without a tag, or with the tag `latest`, is pulled for every container.
fn pull_policy(image: &str) -> &'static str {
    if has_fixed_tag(image) { "IfNotPresent" } else { "Always" }
}

/// Whether an image has a digest, or a tag other than `latest`.
#[must_use]
pub(in crate::model) fn has_fixed_tag(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    name.contains('@') || name.split_once(':').is_some_and(|(_, tag)| tag != "latest")
}

fn elements<'v>(members: &'v mut Map<String, Value>, list: &str) -> impl Iterator<Item = &'v mut Value> {
    members.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

fn drop_defaults(value: &mut Value, defaults: &[(&str, &str)]) {
    for (path, default) in defaults {
        let default: Value = serde_json::from_str(default).unwrap_or_default();
        drop_default(value, &path.split('.').collect::<Vec<_>>(), &default);
    }
}

fn drop_default(value: &mut Value, path: &[&str], default: &Value) {
    match path {
        [] => {}
        ["*", rest @ ..] => {
            let elements = value.as_array_mut().into_iter().flatten();
            elements.for_each(|element| drop_default(element, rest, default));
        }
        [name] => {
            if let Some(members) = value.as_object_mut().filter(|members| members.get(*name) == Some(default))
            {
                members.remove(*name);
            }
        }
        [name, rest @ ..] => {
            if let Some(member) = value.get_mut(*name) {
                drop_default(member, rest, default);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(spec: &Value) -> Value {
        let mut template = json!({"spec": spec});
        without_defaults(&mut template);
        template["spec"].clone()
    }

    #[test]
    fn every_default_is_dropped() {
        for (stored, manifest) in [
            (json!({"dnsPolicy": "ClusterFirst"}), json!({})),
            (json!({"serviceAccount": "a", "serviceAccountName": "a"}), json!({"serviceAccountName": "a"})),
            (json!({"serviceAccount": "a"}), json!({"serviceAccountName": "a"})),
            (
                json!({"volumes": [{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {"name": "c", "defaultMode": 420}}]}),
                json!({"volumes": [{"name": "v"}, {"name": "c", "configMap": {"name": "c"}}]}),
            ),
            (
                json!({"containers": [{"image": "a", "imagePullPolicy": "Always"}, {"image": "r:5/a:1@sha256:0", "imagePullPolicy": "IfNotPresent"}]}),
                json!({"containers": [{"image": "a"}, {"image": "r:5/a:1@sha256:0"}]}),
            ),
            (
                json!({"initContainers": [{"image": "a:1", "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}}]}),
                json!({"initContainers": [{"image": "a:1", "resources": {"limits": {"cpu": "1"}, "requests": {}}}]}),
            ),
            (
                json!({"containers": [{"image": "a:1", "ports": [{"containerPort": 80, "protocol": "TCP"}], "env": [{"name": "A", "value": ""}],
                    "livenessProbe": {"httpGet": {"path": "/", "port": 80, "scheme": "HTTP"}, "timeoutSeconds": 1, "periodSeconds": 10,
                        "successThreshold": 1, "failureThreshold": 3}}]}),
                json!({"containers": [{"image": "a:1", "ports": [{"containerPort": 80}], "env": [{"name": "A"}],
                    "livenessProbe": {"httpGet": {"port": 80}}}]}),
            ),
            (
                json!({"hostNetwork": true, "containers": [{"ports": [{"containerPort": 80, "hostPort": 80}]}]}),
                json!({"hostNetwork": true, "containers": [{"ports": [{"containerPort": 80}]}]}),
            ),
        ] {
            assert_eq!(without(&stored), manifest, "{stored}");
        }
    }

    #[test]
    fn other_values_stay() {
        for spec in [
            json!({"dnsPolicy": "None", "restartPolicy": 1, "terminationGracePeriodSeconds": 0, "volumes": {}, "containers": [3]}),
            json!({"containers": [{"image": "a:1", "imagePullPolicy": "Always"}, {"image": "a", "imagePullPolicy": "Never"}]}),
            json!({"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]}),
            json!({"containers": [{"ports": [{"containerPort": 80, "hostPort": 80}]}]}), // only a default on the host network
        ] {
            assert_eq!(without(&spec), spec);
        }
    }
}
