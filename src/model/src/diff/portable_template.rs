//! Compares templates of workloads in different namespaces, clusters or kinds.
//!
//! Such templates differ in fields that belong to the place or to an earlier command. They are left out on both
//! sides, and reported where they differ.

use serde_json::{Map, Value};

use super::{PathStep, TemplatePath};
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
    /// Leaves out the fields that belong to the places of two templates.
    #[must_use]
    pub fn of(from: &Template, to: &Template) -> Self {
        let ((from, generated), (to, other_generated)) = (split(from), split(to));
        let names = generated.keys().chain(other_generated.keys());
        let differ = |name: &&String| generated.get(*name) != other_generated.get(*name);
        let mut names: Vec<&String> = names.filter(differ).collect();
        names.sort_unstable();
        names.dedup();
        let not_compared = names.into_iter().map(|name| path_of(name)).collect();
        Self { from: Template::new(&from), to: Template::new(&to), not_compared }
    }
}

/// Returns a template without the fields that belong to its place.
pub(crate) fn portable(template: &Template) -> Template {
    Template::new(&split(template).0)
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

/// Whether an image has a digest, or a tag other than `latest`.
#[must_use]
pub(crate) fn has_fixed_tag(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    name.contains('@') || name.split_once(':').is_some_and(|(_, tag)| tag != "latest")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diff::{Diff, SecretValues};

    fn compared(from: &Value, to: &Value) -> (bool, Vec<String>) {
        let templates = ComparableTemplates::of(&Template::new(from), &Template::new(to));
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
            assert_eq!(compared(&plain, &other), expected, "{other}");
            assert_eq!(compared(&other, &other), (true, vec![]), "{other}");
        }
        assert!(!compared(&plain, &template(json!({"labels": {"app": "api"}}))).0);
    }
}
