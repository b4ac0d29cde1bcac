//! The objects that a template names, such as the ConfigMaps of its environment.

use serde_json::Value;

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
}

/// Returns what a template names and does not mark `optional`, each object once (`core/v1` of the API: `Container`,
/// `Volume`, `PodSpec`). The ServiceAccount `default` is left out: its controller creates it.
#[must_use]
pub fn references(template: &Value) -> Vec<Reference> {
    let mut found = Found(Vec::new());
    let Some(spec) = template.get("spec") else { return found.0 };
    for container in ["initContainers", "containers"].into_iter().flat_map(|list| elements(spec, list)) {
        for source in elements(container, "envFrom") {
            found.add(&CONFIG_MAP, source.get("configMapRef"), "name");
            found.add(&SECRET, source.get("secretRef"), "name");
        }
        for source in elements(container, "env").filter_map(|variable| variable.get("valueFrom")) {
            found.add(&CONFIG_MAP, source.get("configMapKeyRef"), "name");
            found.add(&SECRET, source.get("secretKeyRef"), "name");
        }
    }
    for volume in elements(spec, "volumes") {
        found.add(&CONFIG_MAP, volume.get("configMap"), "name");
        found.add(&SECRET, volume.get("secret"), "secretName");
        found.add(&PERSISTENT_VOLUME_CLAIM, volume.get("persistentVolumeClaim"), "claimName");
        for source in volume.get("projected").into_iter().flat_map(|volume| elements(volume, "sources")) {
            found.add(&CONFIG_MAP, source.get("configMap"), "name");
            found.add(&SECRET, source.get("secret"), "name");
        }
    }
    for secret in elements(spec, "imagePullSecrets") {
        found.add(&SECRET, Some(secret), "name");
    }
    for claim in elements(spec, "resourceClaims") {
        found.add(&RESOURCE_CLAIM, Some(claim), "resourceClaimName");
    }
    found.add(&SERVICE_ACCOUNT, Some(spec), "serviceAccountName");
    found.add(&PRIORITY_CLASS, Some(spec), "priorityClassName");
    found.add(&RUNTIME_CLASS, Some(spec), "runtimeClassName");
    found.0.retain(|one| one.type_ != &SERVICE_ACCOUNT || one.name != "default");
    found.0
}

struct Found(Vec<Reference>);

impl Found {
    /// Adds the object that a member of `place` names, unless `place` is optional.
    fn add(&mut self, type_: &'static ResourceType, place: Option<&Value>, member: &str) {
        let named = place.filter(|place| place.get("optional") != Some(&Value::Bool(true)));
        let name = named.and_then(|place| place.get(member)?.as_str()).filter(|name| !name.is_empty());
        let reference = name.map(|name| Reference { type_, name: name.to_owned() });
        self.0.extend(reference.filter(|reference| !self.0.contains(reference)));
    }
}

fn elements<'a>(value: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
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
