//! Compares templates of workloads in different namespaces, clusters or kinds, and of manifests.
//!
//! Such templates differ in fields that belong to the place or to an earlier command. They are left out on both
//! sides, and reported where they differ. A manifest also leaves out the defaults that the API server writes
//! (`pkg/apis/core/v1/defaults.go` of Kubernetes 1.36).

use serde_json::{Map, Value, json};

use super::{PathStep, TemplatePath};
use crate::api::quantity::Quantity;
use crate::revision::template::{RESTARTED_AT, Template};

/// The metadata that servers and controllers write. A template has a namespace only if a manifest sets it, and no
/// pod uses it.
const GENERATED_METADATA: [&str; 9] = [
    "creationTimestamp",
    "generateName",
    "generation",
    "managedFields",
    "name",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Two templates to compare, without the fields that belong to their places.
#[derive(Clone, Debug)]
pub struct ComparableTemplates {
    /// The first template.
    pub from: Template,
    /// The second template.
    pub to: Template,
    /// The fields that differ and were left out.
    pub not_compared: Vec<TemplatePath>,
}

impl ComparableTemplates {
    /// Leaves out the fields that belong to the places of two templates, and the defaults of the API server if one is from a
    /// manifest, which leaves out most of them.
    #[must_use]
    pub fn of(from: &Template, to: &Template, is_manifest: bool) -> Self {
        let ((from, generated), (to, other_generated)) = (split(from), split(to));
        let names = generated.keys().chain(other_generated.keys());
        let differ = |name: &&String| generated.get(*name) != other_generated.get(*name);
        let mut names: Vec<&String> = names.filter(differ).collect();
        names.sort_unstable();
        names.dedup();
        let not_compared = names.into_iter().map(|name| path_of(name)).collect();
        let [from, to] = [from, to].map(|mut template| {
            if is_manifest {
                without_defaults(&mut template);
            }
            Template::new(&template)
        });
        Self { from, to, not_compared }
    }
}

/// Returns a template without its generated fields, and those fields by name.
fn split(template: &Template) -> (Value, Map<String, Value>) {
    let mut template = template.without_hash_labels();
    let mut generated = Map::new();
    let metadata = template.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata {
        let taken =
            GENERATED_METADATA.iter().filter_map(|name| Some(((*name).to_owned(), metadata.remove(*name)?)));
        generated.extend(taken.filter(|(_, value)| !value.is_null()));
        let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
        let restarted = annotations.and_then(|annotations| annotations.remove(RESTARTED_AT));
        generated.extend(restarted.map(|value| (RESTARTED_AT.to_owned(), value)));
    }
    (template, generated)
}

fn path_of(name: &str) -> TemplatePath {
    let member = |name: &str| PathStep::Member(name.to_owned());
    if name == RESTARTED_AT {
        TemplatePath::from([member("metadata"), member("annotations"), member(name)].as_slice())
    } else {
        TemplatePath::from([member("metadata"), member(name)].as_slice())
    }
}

/// Fields of `spec` with their defaults, as JSON. `*` stands for each element of a list. The API server also leaves out the zero
/// value of a field that is no pointer (`omitempty` in `staging/src/k8s.io/api/core/v1/types.go`).
const POD: [(&str, &str); 25] = [
    ("hostNetwork", "false"),
    ("hostPID", "false"),
    ("hostIPC", "false"),
    ("priorityClassName", "\"\""),
    ("nodeName", "\"\""),
    ("hostname", "\"\""),
    ("subdomain", "\"\""),
    ("serviceAccountName", "\"\""),
    ("volumes.*.persistentVolumeClaim.readOnly", "false"),
    ("volumes.*.emptyDir.medium", "\"\""),
    ("dnsPolicy", "\"ClusterFirst\""),
    ("restartPolicy", "\"Always\""),
    ("schedulerName", "\"default-scheduler\""),
    ("terminationGracePeriodSeconds", "30"),
    ("volumes.*.configMap.defaultMode", "420"),
    ("volumes.*.secret.defaultMode", "420"),
    ("volumes.*.hostPath.type", "\"\""),
    ("volumes.*.downwardAPI.defaultMode", "420"),
    ("volumes.*.downwardAPI.items.*.fieldRef.apiVersion", "\"v1\""),
    ("volumes.*.downwardAPI.items.*.resourceFieldRef.divisor", "\"0\""),
    ("volumes.*.ephemeral.volumeClaimTemplate.spec.volumeMode", "\"Filesystem\""),
    ("volumes.*.projected.defaultMode", "420"),
    ("volumes.*.projected.sources.*.serviceAccountToken.expirationSeconds", "3600"),
    ("volumes.*.projected.sources.*.downwardAPI.items.*.fieldRef.apiVersion", "\"v1\""),
    ("volumes.*.projected.sources.*.downwardAPI.items.*.resourceFieldRef.divisor", "\"0\""),
];

/// Fields of a container with their defaults.
const CONTAINER: [(&str, &str); 17] = [
    ("stdin", "false"),
    ("stdinOnce", "false"),
    ("tty", "false"),
    ("workingDir", "\"\""),
    ("volumeMounts.*.readOnly", "false"),
    ("volumeMounts.*.subPath", "\"\""),
    ("ports.*.hostPort", "0"),
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
const PROBE: [(&str, &str); 8] = [
    ("initialDelaySeconds", "0"),
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
pub(crate) fn without_defaults(template: &mut Value) {
    let Some(spec) = template.get_mut("spec") else { return };
    drop_defaults(spec, &POD);
    let Some(spec) = spec.as_object_mut() else { return };
    // The deprecated name of the service account is always equal to the other one.
    if let Some(name) = spec.remove("serviceAccount").filter(|name| name != "") {
        spec.entry("serviceAccountName").or_insert(name);
    }
    for volume in elements(spec, "volumes").filter_map(Value::as_object_mut) {
        if volume.len() == 2 && volume.get("emptyDir") == Some(&json!({})) {
            volume.remove("emptyDir");
        }
        if let Some(image) = volume.get_mut("image").and_then(Value::as_object_mut) {
            drop_pull_policy(image, "reference", "pullPolicy");
        }
    }
    let is_on_host = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        elements(spec, list).for_each(|container| drop_of_container(container, is_on_host));
    }
}

fn drop_of_container(container: &mut Value, is_on_host: bool) {
    drop_defaults(container, &CONTAINER);
    let Some(container) = container.as_object_mut() else { return };
    drop_pull_policy(container, "image", "imagePullPolicy");
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
        let is_same = |limit: &Value, request: &Value| {
            limit == request
                || Quantity::read(limit).is_some_and(|limit| Quantity::read(request) == Some(limit))
        };
        requests.retain(|name, request| !limits.get(name).is_some_and(|limit| is_same(limit, request)));
    }
}

/// Removes the pull policy that is the default of an image: one with the tag `latest` is always pulled, also with a digest, and
/// one with neither a tag nor a digest (`parsers.ParseImageName`).
fn drop_pull_policy(members: &mut Map<String, Value>, image: &str, policy: &str) {
    let image = members.get(image).and_then(Value::as_str).unwrap_or_default();
    let is_latest = image.split('@').next().is_some_and(|tagged| tagged.ends_with(":latest"));
    let default = if has_fixed_tag(image) && !is_latest { "IfNotPresent" } else { "Always" };
    if members.get(policy).and_then(Value::as_str) == Some(default) {
        members.remove(policy);
    }
}

/// Whether an image has a digest, or a tag other than `latest`.
#[must_use]
pub(crate) fn has_fixed_tag(image: &str) -> bool {
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
    use crate::diff::{Diff, SecretValues};

    fn compared(from: &Value, to: &Value, is_manifest: bool) -> (bool, Vec<String>) {
        let templates = ComparableTemplates::of(&Template::new(from), &Template::new(to), is_manifest);
        let is_equal = templates.from.digest() == templates.to.digest();
        let diff = Diff::between(&templates.from, &templates.to, SecretValues::Shown);
        assert_eq!(is_equal, diff.is_empty(), "{from} {to}");
        (is_equal, templates.not_compared.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn generated_fields_are_left_out_and_reported_where_they_differ() {
        let spec = json!({"containers": [{"name": "web", "image": "web:1"}]});
        let template = |metadata: Value| json!({"metadata": metadata, "spec": spec});
        let plain = template(json!({"labels": {"app": "web"}}));
        for (metadata, not_compared) in [
            (json!({"labels": {"app": "web", "pod-template-hash": "5f6"}}), vec![]),
            (json!({"labels": {"app": "web"}, "creationTimestamp": null}), vec![]),
            (json!({"labels": {"app": "web"}, "namespace": "shop"}), vec!["metadata.namespace"]),
            (
                json!({"labels": {"app": "web"}, "annotations": {RESTARTED_AT: "2026-11-20T13:00:00Z"}}),
                vec!["metadata.annotations.\"kubectl.kubernetes.io/restartedAt\""],
            ),
        ] {
            let other = template(metadata);
            let expected = (true, not_compared.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(compared(&plain, &other, false), expected, "{other}");
            assert_eq!(compared(&other, &other, false), (true, vec![]), "{other}");
        }
        assert!(!compared(&plain, &template(json!({"labels": {"app": "api"}})), false).0);
    }

    #[test]
    fn a_manifest_is_compared_without_defaults() {
        let manifest = json!({"spec": {"containers": [{"name": "web", "image": "web:1"}]}});
        let stored = json!({"metadata": {"creationTimestamp": null}, "spec": {
            "containers": [{"name": "web", "image": "web:1", "imagePullPolicy": "IfNotPresent", "resources": {},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
            "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
            "securityContext": {}, "terminationGracePeriodSeconds": 30}});
        assert!(compared(&manifest, &stored, true).0);
        assert!(!compared(&manifest, &stored, false).0);
    }

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
                json!({"containers": [{"image": "a", "imagePullPolicy": "Always"}, {"image": "r:5/a:1@sha256:0", "imagePullPolicy": "IfNotPresent"},
                    {"image": "a:latest@sha256:0", "imagePullPolicy": "Always"}, {"image": "a@sha256:0", "imagePullPolicy": "IfNotPresent"}]}),
                json!({"containers": [{"image": "a"}, {"image": "r:5/a:1@sha256:0"}, {"image": "a:latest@sha256:0"}, {"image": "a@sha256:0"}]}),
            ),
            (
                json!({"hostNetwork": false, "hostPID": false, "hostIPC": false, "priorityClassName": "", "nodeName": "", "hostname": "",
                    "subdomain": "", "serviceAccount": "", "serviceAccountName": "", "volumes": [
                        {"name": "v", "persistentVolumeClaim": {"claimName": "c", "readOnly": false}}, {"name": "e", "emptyDir": {"medium": ""}}],
                    "containers": [{"image": "a:1", "stdin": false, "stdinOnce": false, "tty": false, "workingDir": "",
                        "volumeMounts": [{"name": "v", "readOnly": false, "subPath": ""}],
                        "ports": [{"containerPort": 80, "hostPort": 0}], "readinessProbe": {"initialDelaySeconds": 0}}]}),
                json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "e"}], "containers": [{"image": "a:1",
                    "volumeMounts": [{"name": "v"}], "ports": [{"containerPort": 80}], "readinessProbe": {}}]}),
            ),
            (
                json!({"containers": [{"image": "a:1", "resources": {"limits": {"cpu": "1", "memory": "1Gi"},
                    "requests": {"cpu": "1000m", "memory": "1024Mi"}}}]}),
                json!({"containers": [{"image": "a:1", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {}}}]}),
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
            (
                json!({"volumes": [
                    {"downwardAPI": {"items": [{"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}]}},
                    {"projected": {"sources": [{"downwardAPI": {"items": [{"resourceFieldRef": {"divisor": "0"}}]}}]}},
                    {"ephemeral": {"volumeClaimTemplate": {"spec": {"volumeMode": "Filesystem"}}}},
                    {"image": {"reference": "a:1", "pullPolicy": "IfNotPresent"}},
                    {"image": {"reference": "a:1", "pullPolicy": "Always"}},
                ]}),
                json!({"volumes": [
                    {"downwardAPI": {"items": [{"resourceFieldRef": {"resource": "limits.cpu"}}]}},
                    {"projected": {"sources": [{"downwardAPI": {"items": [{"resourceFieldRef": {}}]}}]}},
                    {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
                    {"image": {"reference": "a:1"}},
                    {"image": {"reference": "a:1", "pullPolicy": "Always"}},
                ]}),
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
            json!({"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}], "automountServiceAccountToken": false,
                "shareProcessNamespace": false, "containers": [{"image": "a:1", "securityContext": {"privileged": false}}]}),
            json!({"containers": [{"image": "a:latest@sha256:0", "imagePullPolicy": "IfNotPresent"}]}),
            json!({"containers": [{"image": "a:1", "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "100m"}}}]}),
            json!({"containers": [{"ports": [{"containerPort": 80, "hostPort": 80}]}]}), // only a default on the host network
        ] {
            assert_eq!(without(&spec), spec);
        }
    }
}
