//! The ConfigMaps and Secrets whose values the containers of a template read, and how they read them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::references::{Reference, containers, elements, environment, files};
use crate::model::api::configuration::{Configuration, ConfigurationKey};
use crate::model::api::resource_type::ResourceType;
use crate::model::kind::Workload;

/// A ConfigMap or Secret whose values the containers of a template read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationUse {
    /// The object, also if the template marks it `optional`.
    pub object: Reference,
    /// The containers that read it only when they start: as environment, or as a file mounted with `subPath`. The kubelet
    /// updates all other mounted files in running containers.
    pub read_at_start: Vec<String>,
}

/// Returns the ConfigMaps and Secrets that a template reads, each once.
#[must_use]
pub fn configuration_of(template: &Value) -> Vec<ConfigurationUse> {
    let mut found = Vec::new();
    let Some(spec) = template.get("spec") else { return found };
    for container in containers(spec) {
        for object in environment(container).filter_map(|place| place.reference()) {
            add(&mut found, object, Some(container));
        }
    }
    for volume in elements(spec, "volumes") {
        for object in files(volume).filter_map(|place| place.reference()) {
            add(&mut found, object.clone(), None);
            for container in containers(spec).filter(|container| mounts_parts(container, volume)) {
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

/// Returns what the live template of a workload reads.
pub fn uses_of(workload: &Workload) -> impl Iterator<Item = (ConfigurationKey, ConfigurationUse)> {
    let namespace = workload.object().namespace().to_owned();
    let uses = configuration_of(workload.template().json()).into_iter();
    uses.map(move |one| ((one.object.type_, namespace.clone(), one.object.name.clone()), one))
}

/// The ConfigMaps and Secrets that live templates name.
#[derive(Clone, Debug, Default)]
pub struct NamedConfiguration(BTreeSet<ConfigurationKey>);

impl NamedConfiguration {
    /// Returns those of these workloads.
    #[must_use]
    pub fn of(workloads: &[Workload]) -> Self {
        Self(workloads.iter().flat_map(uses_of).map(|(key, _)| key).collect())
    }

    /// Returns each of them.
    pub fn keys(&self) -> impl Iterator<Item = &ConfigurationKey> {
        self.0.iter()
    }

    /// Returns the namespaces of those of a type.
    #[must_use]
    pub fn namespaces(&self, type_: &ResourceType) -> BTreeSet<&str> {
        self.keys().filter(|(one, ..)| *one == type_).map(|(_, namespace, _)| namespace.as_str()).collect()
    }

    /// Whether an object is one of them.
    #[must_use]
    pub fn contains(&self, object: &Configuration) -> bool {
        self.0.contains(&object.key())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
