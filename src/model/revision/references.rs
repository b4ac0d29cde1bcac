//! The objects that a template names, such as the ConfigMaps of its environment.

use serde_json::Value;

use crate::model::api::configuration::Configuration;
use crate::model::api::resource_type::{
    CONFIG_MAP, PERSISTENT_VOLUME_CLAIM, PRIORITY_CLASS, RESOURCE_CLAIM, RUNTIME_CLASS, ResourceType, SECRET,
    SERVICE_ACCOUNT,
};

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
        format!("{}/{}", self.type_.singular(), self.name)
    }

    /// Whether it means an object in the namespace of the workload.
    #[must_use]
    pub fn is(&self, object: &Configuration) -> bool {
        self.type_ == object.type_ && self.name == object.name
    }
}

/// A place of a template that may name an object: the value, and its member with the name.
pub(super) struct Place<'a> {
    type_: &'static ResourceType,
    value: &'a Value,
    member: &'static str,
}

impl<'a> Place<'a> {
    fn of(type_: &'static ResourceType, value: Option<&'a Value>, member: &'static str) -> Option<Self> {
        Some(Self { type_, value: value?, member })
    }

    fn is_optional(&self) -> bool {
        self.value.get("optional") == Some(&Value::Bool(true))
    }

    /// Returns the object that it names; none without a name.
    pub(super) fn reference(&self) -> Option<Reference> {
        let name = self.value.get(self.member)?.as_str().filter(|name| !name.is_empty())?;
        Some(Reference { type_: self.type_, name: name.to_owned() })
    }
}

/// Returns the containers of the spec of a template, init containers first.
pub(super) fn containers(spec: &Value) -> impl Iterator<Item = &Value> {
    ["initContainers", "containers"].into_iter().flat_map(|list| elements(spec, list))
}

/// Returns the ConfigMaps and Secrets of the environment of a container.
pub(super) fn environment(container: &Value) -> impl Iterator<Item = Place<'_>> {
    let all = elements(container, "envFrom").map(|source| (source, ["configMapRef", "secretRef"]));
    let each = elements(container, "env").filter_map(|variable| variable.get("valueFrom"));
    let each = each.map(|source| (source, ["configMapKeyRef", "secretKeyRef"]));
    all.chain(each).flat_map(|(source, [config_map, secret])| {
        let places = [(&CONFIG_MAP, config_map), (&SECRET, secret)];
        places.into_iter().filter_map(|(type_, member)| Place::of(type_, source.get(member), "name"))
    })
}

/// Returns the ConfigMaps and Secrets whose keys are the files of a volume.
pub(super) fn files(volume: &Value) -> impl Iterator<Item = Place<'_>> {
    let sources = volume.get("projected").into_iter().flat_map(|volume| elements(volume, "sources"));
    let all = std::iter::once((volume, "secretName")).chain(sources.map(|source| (source, "name")));
    all.flat_map(|(source, name_of_secret)| {
        let config_map = Place::of(&CONFIG_MAP, source.get("configMap"), "name");
        config_map.into_iter().chain(Place::of(&SECRET, source.get("secret"), name_of_secret))
    })
}

/// Returns what a template names and does not mark `optional`, each object once (`core/v1` of the API: `Container`,
/// `Volume`, `PodSpec`). The ServiceAccount `default` is left out: its controller creates it.
#[must_use]
pub fn references(template: &Value) -> Vec<Reference> {
    let mut found = Vec::new();
    let Some(spec) = template.get("spec") else { return found };
    let claim = |volume| Place::of(&PERSISTENT_VOLUME_CLAIM, volume, "claimName");
    let volumes = elements(spec, "volumes");
    let volumes =
        volumes.flat_map(|one| claim(one.get("persistentVolumeClaim")).into_iter().chain(files(one)));
    let pull = elements(spec, "imagePullSecrets").filter_map(|one| Place::of(&SECRET, Some(one), "name"));
    let devices = elements(spec, "resourceClaims");
    let devices = devices.filter_map(|one| Place::of(&RESOURCE_CLAIM, Some(one), "resourceClaimName"));
    let of_pod = [
        (&SERVICE_ACCOUNT, "serviceAccountName"),
        (&PRIORITY_CLASS, "priorityClassName"),
        (&RUNTIME_CLASS, "runtimeClassName"),
    ];
    let of_pod = of_pod.into_iter().filter_map(|(type_, member)| Place::of(type_, Some(spec), member));
    let places =
        containers(spec).flat_map(environment).chain(volumes).chain(pull).chain(devices).chain(of_pod);
    for reference in places.filter(|place| !place.is_optional()).filter_map(|place| place.reference()) {
        let exists_anyway = reference.type_ == &SERVICE_ACCOUNT && reference.name == "default";
        if !exists_anyway && !found.contains(&reference) {
            found.push(reference);
        }
    }
    found
}

/// Returns the elements of a list; none if it is absent or no list.
pub(super) fn elements<'a>(value: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    value.get(list).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
                "secret/registry",
                "resourceclaim/gpu-1",
                "serviceaccount/robot",
                "priorityclass/high",
                "runtimeclass/gvisor",
            ]
        );
    }

    #[test]
    fn what_exists_anyway_or_is_malformed_is_left_out() {
        for template in [
            json!({}),
            json!({"spec": {"serviceAccountName": "default", "priorityClassName": ""}}),
            json!({"spec": {"containers": "none", "volumes": [{"configMap": 1}], "imagePullSecrets": [null, {}]}}),
        ] {
            assert_eq!(references(&template), [], "{template}");
        }
    }
}
