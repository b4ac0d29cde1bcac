//! `metadata.generation`, and the older `template.generation` of a DaemonSet.

use serde_json::{Value, json};

use crate::{
    object,
    resource::{Generation, Resource},
};

/// The annotation of apps/v1 with a DaemonSet's template generation.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Sets the generation of a new object.
pub(super) fn begin(resource: &Resource, value: &mut Value) {
    let metadata = object::metadata(value);
    if resource.generation == Generation::Absent {
        metadata.remove("generation");
        return;
    }
    metadata.insert("generation".to_owned(), 1.into());
    if resource.own_kind() == "DaemonSet" {
        set_template_generation(value, "1".into());
    }
}

/// Increments the generation of an object if the change from `before` to `after` requires it.
pub(super) fn advance(resource: &Resource, before: &Value, after: &mut Value) {
    if resource.own_kind() == "DaemonSet" {
        let annotation = object::at(before, &["metadata", "annotations", TEMPLATE_GENERATION]).cloned();
        let template = |value: &Value| object::at(value, &["spec", "template"]).cloned();
        let kept = annotation.unwrap_or_else(|| "1".into());
        let number: i64 = kept.as_str().and_then(|text| text.parse().ok()).unwrap_or(1);
        let moved = if template(before) == template(after) { kept } else { (number + 1).to_string().into() };
        set_template_generation(after, moved);
    }
    if moves(resource.generation, before, after) {
        bump(after);
    }
}

/// Increments the generation of an object that has one. The start of a deletion does so too.
pub(super) fn bump(value: &mut Value) {
    let generation = object::generation(value);
    if generation > 0 {
        object::metadata(value).insert("generation".to_owned(), (generation + 1).into());
    }
}

fn moves(rule: Generation, before: &Value, after: &Value) -> bool {
    let annotations =
        |value: &Value| object::at(value, &["metadata", "annotations"]).cloned().unwrap_or_else(|| json!({}));
    let spec_moved = before.get("spec") != after.get("spec");
    match rule {
        Generation::Absent => false,
        Generation::Spec => spec_moved,
        Generation::SpecAndAnnotations => spec_moved || annotations(before) != annotations(after),
    }
}

fn set_template_generation(value: &mut Value, number: Value) {
    let annotations = object::metadata(value).entry("annotations").or_insert_with(|| json!({}));
    object::members(annotations).insert(TEMPLATE_GENERATION.to_owned(), number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{DAEMONSETS, DEPLOYMENTS, STATEFULSETS};

    fn after(resource: &Resource, change: impl FnOnce(&mut Value)) -> i64 {
        let before = json!({ "metadata": { "generation": 4 }, "spec": { "replicas": 1 } });
        let mut after = before.clone();
        change(&mut after);
        advance(resource, &before, &mut after);
        object::generation(&after)
    }

    #[test]
    fn annotations_change_the_generation_of_deployments_only() {
        let annotate = |value: &mut Value| value["metadata"]["annotations"] = json!({ "a": "b" });
        assert_eq!(after(&DEPLOYMENTS, annotate), 5);
        assert_eq!(after(&STATEFULSETS, annotate), 4);
        assert_eq!(after(&STATEFULSETS, |value| value["spec"]["replicas"] = 2.into()), 5);
        assert_eq!(after(&DEPLOYMENTS, |value| value["status"] = json!({ "replicas": 2 })), 4);
    }

    #[test]
    fn a_daemonset_counts_its_template_generation() {
        let before = json!({ "metadata": { "generation": 4, "annotations": { TEMPLATE_GENERATION: "2" } }, "spec": { "template": 1 } });
        let mut limit = before.clone();
        limit["spec"]["revisionHistoryLimit"] = 3.into();
        advance(&DAEMONSETS, &before, &mut limit);
        assert_eq!(
            (object::generation(&limit), &limit["metadata"]["annotations"][TEMPLATE_GENERATION]),
            (5, &json!("2"))
        );
        let mut template = before.clone();
        template["spec"]["template"] = 2.into();
        template["metadata"]["annotations"] = json!({});
        advance(&DAEMONSETS, &before, &mut template);
        assert_eq!(
            (object::generation(&template), &template["metadata"]["annotations"][TEMPLATE_GENERATION]),
            (5, &json!("3"))
        );
    }
}
