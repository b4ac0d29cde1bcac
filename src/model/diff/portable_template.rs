//! Compares templates of workloads in different namespaces, clusters or kinds, and of manifests.
//!
//! Such templates differ in fields that belong to the place or to an earlier command. They are left out on both
//! sides, and reported where they differ.

use serde_json::{Map, Value};

use super::{PathStep, TemplatePath};
use crate::model::revision::template::{RESTARTED_AT, Template};
use crate::model::revision::template_defaults::without_defaults;

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

/// Which defaults of the API server count as differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerDefaults {
    /// All: both templates come from API servers.
    Compared,
    /// None: a manifest leaves out most of them.
    LeftOut,
}

impl ComparableTemplates {
    /// Leaves out the fields that belong to the places of two templates.
    #[must_use]
    pub fn of(from: &Template, to: &Template, defaults: ServerDefaults) -> Self {
        let ((from, generated), (to, other_generated)) = (split(from), split(to));
        let names = generated.keys().chain(other_generated.keys());
        let differ = |name: &&String| generated.get(*name) != other_generated.get(*name);
        let mut names: Vec<&String> = names.filter(differ).collect();
        names.sort_unstable();
        names.dedup();
        let not_compared = names.into_iter().map(|name| path_of(name)).collect();
        let [from, to] = [from, to].map(|mut template| {
            if defaults == ServerDefaults::LeftOut {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::diff::{Diff, SecretValues};

    fn compared(from: &Value, to: &Value, defaults: ServerDefaults) -> (bool, Vec<String>) {
        let templates = ComparableTemplates::of(&Template::new(from), &Template::new(to), defaults);
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
            assert_eq!(compared(&plain, &other, ServerDefaults::Compared), expected, "{other}");
            assert_eq!(compared(&other, &other, ServerDefaults::Compared), (true, vec![]), "{other}");
        }
        assert!(!compared(&plain, &template(json!({"labels": {"app": "api"}})), ServerDefaults::Compared).0);
    }

    #[test]
    fn a_manifest_is_compared_without_defaults() {
        let manifest = json!({"spec": {"containers": [{"name": "web", "image": "web:1"}]}});
        let stored = json!({"metadata": {"creationTimestamp": null}, "spec": {
            "containers": [{"name": "web", "image": "web:1", "imagePullPolicy": "IfNotPresent", "resources": {},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
            "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
            "securityContext": {}, "terminationGracePeriodSeconds": 30}});
        assert!(compared(&manifest, &stored, ServerDefaults::LeftOut).0);
        assert!(!compared(&manifest, &stored, ServerDefaults::Compared).0);
    }
}
