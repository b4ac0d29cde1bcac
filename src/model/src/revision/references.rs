//! The objects that a template names; of the ConfigMaps and Secrets among them also how its containers read them, and who
//! changed their values last.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::api::container::declared_containers;
use crate::api::managed_fields::{Authorship, last_author};
use crate::api::object::Object;
use crate::api::patch::FieldPath;
use crate::api::resource_type::{
    CONFIG_MAP, PERSISTENT_VOLUME_CLAIM, PRIORITY_CLASS, RESOURCE_CLAIM, RUNTIME_CLASS, ResourceType, SECRET,
    SERVICE_ACCOUNT,
};
use crate::kind::Workload;

/// An object that a template names. If it has a namespace, it is that of the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its type.
    pub type_: &'static ResourceType,
    /// Its name, as the template has it.
    pub name: String,
}

impl Reference {
    /// Returns `configmap/app-config`.
    #[must_use]
    pub fn target(&self) -> String {
        format!("{}/{}", self.type_.singular, self.name)
    }

    /// Whether it means an object in the namespace of the workload.
    #[must_use]
    pub fn is(&self, object: &Configuration) -> bool {
        self.type_ == object.type_ && self.name == object.name
    }
}

/// An object that a place of a template names, and whether the place is marked `optional`.
type NamedObject = (Reference, bool);

/// Returns the object whose name is a member of a value; none without a name.
fn named_by(type_: &'static ResourceType, value: Option<&Value>, member: &str) -> Option<NamedObject> {
    let name = value?.get(member)?.as_str().filter(|name| !name.is_empty())?;
    Some((Reference { type_, name: name.to_owned() }, value?.get("optional") == Some(&Value::Bool(true))))
}

/// Returns the ConfigMaps and Secrets of the environment of a container.
fn environment(container: &Value) -> impl Iterator<Item = NamedObject> {
    let all = elements(container, "envFrom").map(|source| (source, ["configMapRef", "secretRef"]));
    let each = elements(container, "env").filter_map(|variable| variable.get("valueFrom"));
    let each = each.map(|source| (source, ["configMapKeyRef", "secretKeyRef"]));
    all.chain(each).flat_map(|(source, [config_map, secret])| {
        let places = [(&CONFIG_MAP, config_map), (&SECRET, secret)];
        places.into_iter().filter_map(|(type_, member)| named_by(type_, source.get(member), "name"))
    })
}

/// Returns the ConfigMaps and Secrets whose keys are the files of a volume.
fn files(volume: &Value) -> impl Iterator<Item = NamedObject> {
    let sources = volume.get("projected").into_iter().flat_map(|volume| elements(volume, "sources"));
    let all = std::iter::once((volume, "secretName")).chain(sources.map(|source| (source, "name")));
    all.flat_map(|(source, name_of_secret)| {
        let config_map = named_by(&CONFIG_MAP, source.get("configMap"), "name");
        config_map.into_iter().chain(named_by(&SECRET, source.get("secret"), name_of_secret))
    })
}

/// Returns what a template names and does not mark `optional`, each object once (`core/v1` of the API: `Container`,
/// `Volume`, `PodSpec`). The ServiceAccount `default` is left out: its controller creates it. So are the
/// [Secrets for image pulls](pull_secrets).
#[must_use]
pub fn references(template: &Value) -> Vec<Reference> {
    let mut found = Vec::new();
    let Some(spec) = template.get("spec") else { return found };
    let claim = |volume| named_by(&PERSISTENT_VOLUME_CLAIM, volume, "claimName");
    let volumes = elements(spec, "volumes");
    let volumes =
        volumes.flat_map(|one| claim(one.get("persistentVolumeClaim")).into_iter().chain(files(one)));
    let devices = elements(spec, "resourceClaims");
    let devices = devices.filter_map(|one| named_by(&RESOURCE_CLAIM, Some(one), "resourceClaimName"));
    let of_pod = [
        (&SERVICE_ACCOUNT, "serviceAccountName"),
        (&PRIORITY_CLASS, "priorityClassName"),
        (&RUNTIME_CLASS, "runtimeClassName"),
    ];
    let of_pod = of_pod.into_iter().filter_map(|(type_, member)| named_by(type_, Some(spec), member));
    let places =
        declared_containers(template).flat_map(environment).chain(volumes).chain(devices).chain(of_pod);
    for (reference, _) in places.filter(|(_, is_optional)| !is_optional) {
        let exists_anyway = reference.type_ == &SERVICE_ACCOUNT && reference.name == "default";
        if !exists_anyway && !found.contains(&reference) {
            found.push(reference);
        }
    }
    found
}

/// Returns the Secrets that a template names for image pulls. The kubelet pulls without those that do not exist.
#[must_use]
pub fn pull_secrets(template: &Value) -> Vec<Reference> {
    let spec = template.get("spec").into_iter();
    let named = spec.flat_map(|spec| elements(spec, "imagePullSecrets"));
    named.filter_map(|one| Some(named_by(&SECRET, Some(one), "name")?.0)).collect()
}

/// Returns the elements of a list; none if it is absent or no list.
fn elements<'a>(value: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    value.get(list).and_then(Value::as_array).into_iter().flatten()
}

/// The members of a ConfigMap or Secret that hold its values. The API server stores `stringData` of a Secret in `data`.
const VALUES: [&str; 2] = ["data", "binaryData"];

/// What identifies an object: its type, namespace and name.
pub type ObjectKey = (&'static ResourceType, String, String);

/// What is known of a ConfigMap or Secret. Its values are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Its type.
    pub type_: &'static ResourceType,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The field manager that owns values and wrote last; none without managed fields. A client that only removes values
    /// owns none.
    pub change: Option<Authorship>,
}

impl Configuration {
    /// Reads the metadata of an object of a type.
    #[must_use]
    pub fn read(type_: &'static ResourceType, object: &Object) -> Self {
        let authors = VALUES.into_iter().filter_map(|member| last_author(object, &FieldPath::of([member])));
        Self {
            type_,
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            change: authors.max_by_key(|author| author.time),
        }
    }

    /// Returns what identifies it.
    #[must_use]
    pub fn key(&self) -> ObjectKey {
        (self.type_, self.namespace.clone(), self.name.clone())
    }

    /// Returns `configmap/checkout-config`.
    #[must_use]
    pub fn target(&self) -> String {
        format!("{}/{}", self.type_.singular, self.name)
    }
}

/// A ConfigMap or Secret whose values the containers of a template read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationUse {
    /// The object, also if the template marks it `optional`.
    pub object: Reference,
    /// The containers that read it only when they start: as environment, or as a file mounted with `subPath`. The kubelet
    /// updates all other mounted files in running containers.
    pub read_at_start: Vec<String>,
}

impl ConfigurationUse {
    /// Returns what identifies the object for a workload that reads it.
    fn key_in(&self, workload: &Workload) -> ObjectKey {
        (self.object.type_, workload.object().namespace().to_owned(), self.object.name.clone())
    }
}

/// Returns the ConfigMaps and Secrets that a template reads, each once.
#[must_use]
pub fn configuration_of(template: &Value) -> Vec<ConfigurationUse> {
    let mut found = Vec::new();
    let Some(spec) = template.get("spec") else { return found };
    for container in declared_containers(template) {
        for (object, _) in environment(container) {
            add(&mut found, object, Some(container));
        }
    }
    for volume in elements(spec, "volumes") {
        for (object, _) in files(volume) {
            add(&mut found, object.clone(), None);
            for container in declared_containers(template).filter(|container| mounts_parts(container, volume))
            {
                add(&mut found, object.clone(), Some(container));
            }
        }
    }
    found
}

/// Adds an object, and the container that reads it at its start.
fn add(found: &mut Vec<ConfigurationUse>, object: Reference, container: Option<&Value>) {
    let index = found.iter().position(|one| one.object == object).unwrap_or_else(|| {
        found.push(ConfigurationUse { object, read_at_start: Vec::new() });
        found.len() - 1
    });
    let name = container.and_then(|container| container.get("name")?.as_str());
    if let (Some(one), Some(name)) = (found.get_mut(index), name)
        && !one.read_at_start.iter().any(|known| known == name)
    {
        one.read_at_start.push(name.to_owned());
    }
}

/// Whether a container mounts a volume with `subPath`. The kubelet does not update such a mount.
fn mounts_parts(container: &Value, volume: &Value) -> bool {
    elements(container, "volumeMounts").any(|mount| {
        let is_set = |member| mount.get(member).and_then(Value::as_str).is_some_and(|path| !path.is_empty());
        mount.get("name").is_some_and(|name| volume.get("name") == Some(name))
            && (is_set("subPath") || is_set("subPathExpr"))
    })
}

/// The ConfigMaps and Secrets that the live templates of workloads name.
#[derive(Clone, Debug, Default)]
pub struct NamedConfiguration {
    objects: BTreeSet<ObjectKey>,
    /// What each workload reads.
    uses: BTreeMap<ObjectKey, Vec<ConfigurationUse>>,
}

impl NamedConfiguration {
    /// Returns those of these workloads.
    #[must_use]
    pub fn of(workloads: &[Workload]) -> Self {
        let mut named = Self::default();
        for workload in workloads {
            let uses = workload.object().at("/spec/template").map(configuration_of).unwrap_or_default();
            named.objects.extend(uses.iter().map(|one| one.key_in(workload)));
            named.uses.insert(key_of(workload), uses);
        }
        named
    }

    /// Returns what the live template of one of these workloads reads.
    pub fn uses_of(&self, workload: &Workload) -> impl Iterator<Item = (ObjectKey, &ConfigurationUse)> {
        self.uses.get(&key_of(workload)).into_iter().flatten().map(|one| (one.key_in(workload), one))
    }

    /// Returns each of them.
    pub fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.objects.iter()
    }

    /// Returns the namespaces of those of a type.
    #[must_use]
    pub fn namespaces(&self, type_: &ResourceType) -> BTreeSet<&str> {
        self.keys().filter(|(one, ..)| *one == type_).map(|(_, namespace, _)| namespace.as_str()).collect()
    }

    /// Whether an object is one of them.
    #[must_use]
    pub fn contains(&self, object: &Configuration) -> bool {
        self.objects.contains(&object.key())
    }
}

fn key_of(workload: &Workload) -> ObjectKey {
    let object = workload.object();
    (workload.kind().type_(), object.namespace().to_owned(), object.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_object_that_a_template_names_is_found_once() {
        let template = json!({"spec": {
            "serviceAccountName": "robot", "priorityClassName": "high", "runtimeClassName": "gvisor",
            "imagePullSecrets": [{"name": "registry"}],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu-1"}, {"name": "t", "resourceClaimTemplateName": "t"}],
            "initContainers": [{"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "token", "key": "a"}}}]}],
            "containers": [{
                "envFrom": [{"configMapRef": {"name": "config"}}, {"secretRef": {"name": "maybe", "optional": true}}],
                "env": [
                    {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "config", "key": "b"}}},
                    {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    {"name": "D", "value": "plain"},
                ],
            }],
            "volumes": [
                {"name": "a", "configMap": {"name": "files"}},
                {"name": "b", "secret": {"secretName": "tls", "optional": false}},
                {"name": "c", "secret": {"secretName": "later", "optional": true}},
                {"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "e", "projected": {"sources": [{"configMap": {"name": "projected"}}, {"secret": {"name": "tls"}}]}},
                {"name": "f", "emptyDir": {}},
            ],
        }});
        let found: Vec<_> = references(&template).iter().map(Reference::target).collect();
        assert_eq!(
            found,
            [
                "secret/token",
                "configmap/config",
                "configmap/files",
                "secret/tls",
                "persistentvolumeclaim/data",
                "configmap/projected",
                "resourceclaim/gpu-1",
                "serviceaccount/robot",
                "priorityclass/high",
                "runtimeclass/gvisor",
            ]
        );
        let pulls: Vec<_> = pull_secrets(&template).iter().map(Reference::target).collect();
        assert_eq!(pulls, ["secret/registry"]);
    }

    #[test]
    fn what_exists_anyway_or_is_malformed_is_left_out() {
        for template in [
            json!({}),
            json!({"spec": {"serviceAccountName": "default", "priorityClassName": ""}}),
            json!({"spec": {"containers": "none", "volumes": [{"configMap": 1}], "imagePullSecrets": [null, {}]}}),
        ] {
            assert_eq!(references(&template), [], "{template}");
            assert_eq!(pull_secrets(&template), [], "{template}");
        }
    }

    #[test]
    fn the_last_owner_of_a_value_changed_it() {
        let entry = |manager: &str, minute: u8, fields: Value| json!({"manager": manager, "time": format!("2026-11-20T13:{minute:02}:00Z"), "fieldsV1": fields});
        let helm = entry("helm", 1, json!({"f:data": {".": {}, "f:a": {}}, "f:metadata": {"f:labels": {}}}));
        let edit = entry("kubectl-edit", 2, json!({"f:data": {"f:b": {}}}));
        let binary = entry("kubectl-create", 3, json!({"f:binaryData": {"f:c": {}}}));
        let label = entry("kubectl-label", 4, json!({"f:metadata": {"f:labels": {"f:x": {}}}}));
        for (what, entries, expected) in [
            ("the newest", json!([helm, edit]), Some("kubectl-edit")),
            ("labels are no values", json!([helm, label]), Some("helm")),
            ("binary data", json!([binary, edit, label]), Some("kubectl-create")),
            ("only labels", json!([label]), None),
            ("no managed fields", Value::Null, None),
        ] {
            let object = json!({"kind": "PartialObjectMetadata", "metadata": {"name": "c", "namespace": "n", "managedFields": entries}});
            let read = Configuration::read(&CONFIG_MAP, &Object::read(object).unwrap());
            assert_eq!(read.change.as_ref().map(|one| one.manager.as_str()), expected, "{what}");
            assert_eq!((read.target().as_str(), read.namespace.as_str()), ("configmap/c", "n"));
        }
    }

    #[test]
    fn environment_and_sub_paths_are_read_at_the_start_of_a_container() {
        let template = json!({"spec": {
            "serviceAccountName": "robot", "imagePullSecrets": [{"name": "registry"}],
            "initContainers": [{"name": "init", "envFrom": [{"configMapRef": {"name": "env"}}]}],
            "containers": [
                {
                    "name": "app",
                    "env": [
                        {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "env", "key": "a", "optional": true}}},
                        {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "env", "key": "b"}}},
                        {"name": "C", "valueFrom": {"secretKeyRef": {"name": "token", "key": "c"}}},
                    ],
                    "volumeMounts": [
                        {"name": "files", "mountPath": "/a"}, {"name": "part", "mountPath": "/b", "subPath": "b"},
                        {"name": "both", "mountPath": "/c", "subPathExpr": "$(A)"}, {"name": "both", "mountPath": "/d"},
                    ],
                },
                {"name": "proxy", "volumeMounts": [{"name": "part", "mountPath": "/b", "subPath": ""}]},
            ],
            "volumes": [
                {"name": "files", "configMap": {"name": "files"}},
                {"name": "part", "secret": {"secretName": "part"}},
                {"name": "both", "projected": {"sources": [
                    {"configMap": {"name": "files"}}, {"secret": {"name": "projected"}}, {"serviceAccountToken": {}}]}},
                {"name": "unmounted", "configMap": {"name": "unmounted", "optional": true}},
            ],
        }});
        let found: Vec<_> = configuration_of(&template)
            .iter()
            .map(|one| format!("{}: {}", one.object.target(), one.read_at_start.join(" ")))
            .collect();
        let expected = [
            "configmap/env: init app",
            "secret/token: app",
            "configmap/files: app",
            "secret/part: app",
            "secret/projected: app",
            "configmap/unmounted: ",
        ];
        assert_eq!(found, expected);
        assert_eq!(
            configuration_of(&json!({"spec": {"volumes": [{"configMap": 1}], "containers": [1]}})),
            []
        );
    }
}
