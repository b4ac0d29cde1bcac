//! The defaults of pods and pod templates.

use serde_json::{Map, Value, json};

use super::defaults::{Default, fill_table};
use crate::object;

const POD_SPEC: &[Default] = &[
    ("dnsPolicy", "\"ClusterFirst\""),
    ("restartPolicy", "\"Always\""),
    ("schedulerName", "\"default-scheduler\""),
    ("securityContext", "{}"),
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

/// Defaults of pods that templates do not get.
const POD_ONLY: &[Default] =
    &[("enableServiceLinks", "true"), ("preemptionPolicy", "\"PreemptLowerPriority\""), ("priority", "0")];

const CONTAINER: &[Default] = &[
    ("resources", "{}"),
    ("terminationMessagePath", "\"/dev/termination-log\""),
    ("terminationMessagePolicy", "\"File\""),
    ("ports.*.protocol", "\"TCP\""),
    ("env.*.valueFrom.fieldRef.apiVersion", "\"v1\""),
    ("env.*.valueFrom.resourceFieldRef.divisor", "\"0\""),
    ("lifecycle.postStart.httpGet.path", "\"/\""),
    ("lifecycle.postStart.httpGet.scheme", "\"HTTP\""),
    ("lifecycle.preStop.httpGet.path", "\"/\""),
    ("lifecycle.preStop.httpGet.scheme", "\"HTTP\""),
];

const PROBE: &[Default] = &[
    ("timeoutSeconds", "1"),
    ("periodSeconds", "10"),
    ("successThreshold", "1"),
    ("failureThreshold", "3"),
    ("httpGet.path", "\"/\""),
    ("httpGet.scheme", "\"HTTP\""),
    ("grpc.service", "\"\""),
];

/// Sets the defaults of a pod.
pub(super) fn fill_pod(pod: &mut Value) {
    let spec = object::members(pod).entry("spec").or_insert_with(|| json!({}));
    fill_template_spec(spec);
    fill_table(spec, POD_ONLY);
    tolerate_lost_nodes(spec);
}

/// Sets the defaults of the pod spec of a template.
pub(super) fn fill_template_spec(spec: &mut Value) {
    fill_table(spec, POD_SPEC);
    let spec = object::members(spec);
    pair_service_account(spec);
    for volume in
        items_mut(spec, "volumes").filter_map(Value::as_object_mut).filter(|volume| volume.len() == 1)
    {
        volume.insert("emptyDir".to_owned(), json!({}));
    }
    for kind in ["containers", "initContainers", "ephemeralContainers"] {
        items_mut(spec, kind).for_each(fill_container);
    }
}

fn items_mut<'m>(map: &'m mut Map<String, Value>, list: &str) -> impl Iterator<Item = &'m mut Value> {
    map.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

fn fill_container(container: &mut Value) {
    fill_table(container, CONTAINER);
    let policy = pull_policy(object::text(container, &["image"]));
    let container = object::members(container);
    container.entry("imagePullPolicy").or_insert_with(|| policy.into());
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(probe) {
            fill_table(probe, PROBE);
        }
    }
    for variable in items_mut(container, "env").filter_map(Value::as_object_mut) {
        // The server does not store an empty value.
        if variable.get("value").is_some_and(|value| value == "") {
            variable.remove("value");
        }
    }
}

/// The pull policy of an image without a tag, or with the tag `latest`, is `Always`.
fn pull_policy(image: &str) -> &'static str {
    let name = image.rsplit('/').next().unwrap_or_default();
    let pinned = name.contains('@') || name.split_once(':').is_some_and(|(_, tag)| tag != "latest");
    if pinned { "IfNotPresent" } else { "Always" }
}

/// The two fields for the service account are always equal.
fn pair_service_account(spec: &mut Map<String, Value>) {
    let name = spec.get("serviceAccountName").or_else(|| spec.get("serviceAccount")).cloned();
    if let Some(name) = name {
        spec.insert("serviceAccountName".to_owned(), name.clone());
        spec.insert("serviceAccount".to_owned(), name);
    }
}

/// The admission plugin `DefaultTolerationSeconds`: a pod tolerates an unreachable node for five minutes.
fn tolerate_lost_nodes(spec: &mut Value) {
    let tolerations = object::members(spec).entry("tolerations").or_insert_with(|| json!([]));
    let Value::Array(tolerations) = tolerations else {
        return;
    };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated = |toleration: &Value| {
            let (its_key, effect) =
                (object::text(toleration, &["key"]), object::text(toleration, &["effect"]));
            (its_key == key || its_key.is_empty()) && (effect == "NoExecute" || effect.is_empty())
        };
        if !tolerations.iter().any(tolerated) {
            tolerations.push(
                json!({ "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 }),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_without_a_fixed_tag_are_always_pulled() {
        for always in ["web", "web:latest", "registry:5000/web"] {
            assert_eq!(pull_policy(always), "Always", "{always}");
        }
        for pinned in ["web:1", "registry:5000/web:1", "web@sha256:00"] {
            assert_eq!(pull_policy(pinned), "IfNotPresent", "{pinned}");
        }
    }

    #[test]
    fn a_pod_has_defaults_that_a_template_lacks() {
        let mut pod = json!({ "spec": { "containers": [{ "name": "c", "image": "c:1", "env": [{ "name": "E", "value": "" }] }] } });
        fill_pod(&mut pod);
        assert_eq!(pod["spec"]["enableServiceLinks"], true);
        assert_eq!(pod["spec"]["tolerations"][0]["tolerationSeconds"], 300);
        assert_eq!(pod["spec"]["containers"][0]["env"], json!([{ "name": "E" }]));
        let mut template = json!({ "volumes": [{ "name": "v" }], "serviceAccountName": "me" });
        fill_template_spec(&mut template);
        assert_eq!(template["volumes"][0]["emptyDir"], json!({}));
        assert_eq!(template["serviceAccount"], "me");
        assert_eq!(template.get("enableServiceLinks"), None);
    }
}
