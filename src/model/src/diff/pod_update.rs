//! What a change of the template does to a pod: nothing, a restart in place, or another pod.
//!
//! The rule is that of OpenKruise (`defaultCalculateInPlaceUpdateSpec`), with its feature gates at their
//! defaults: only images of containers, labels and annotations change in place. A container restarts for
//! its image, and for a label or annotation that its environment reads. [`needs_only_resize`] tells the changes that
//! another setting of the gates would make in place.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Diff, PathStep, SecretValues, TemplatePath, key_values};
use crate::kind::update_budget::PodUpdatePolicy;
use crate::revision::template::Template;

/// What a change of the template does to the pods that it updates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdatedPods {
    /// How many pods stay.
    pub in_place: usize,
    /// How many pods are replaced by others.
    pub recreated: usize,
    /// The containers that restart in pods that stay, by name.
    pub restarted: Vec<String>,
    /// The changes that cannot be made in place.
    pub because: Vec<TemplatePath>,
    /// Whether the policy forbids the change, or the update of a pod. The API server refuses such a change, except for
    /// a CloneSet in `v1beta1` (OpenKruise 1.9), whose controller then keeps the pods.
    pub refused: bool,
}

impl UpdatedPods {
    /// Foretells what a change does to one pod that runs the old template, under the policy of its workload. None for equal
    /// templates.
    #[must_use]
    pub fn of_one(from: &Template, to: &Template, policy: PodUpdatePolicy) -> Self {
        if from.digest() == to.digest() {
            return Self::default();
        }
        let diff = Diff::between(from, to, SecretValues::Shown); // its paths only, which masking does not change
        let changed = diff.changes.iter().map(|change| &change.path).chain(&diff.reordered);
        let mut because: Vec<TemplatePath> = changed.cloned().collect();
        if policy == PodUpdatePolicy::Recreate {
            return Self { recreated: 1, because, ..Self::default() };
        }
        let (from, to) = (from.canonical(), to.canonical());
        let mut restarted = BTreeSet::new();
        because.retain(|path| match change_of(path, &from, &to) {
            InPlaceChange::Image(container) => {
                restarted.insert(container);
                false
            }
            InPlaceChange::Metadata(field) => {
                restarted.extend(field.map(|field| readers_of(&field, &to)).unwrap_or_default());
                false
            }
            InPlaceChange::No => true,
        });
        if because.is_empty() {
            return Self { in_place: 1, restarted: restarted.into_iter().collect(), ..Self::default() };
        }
        Self { recreated: 1, because, refused: policy == PodUpdatePolicy::InPlaceOnly, ..Self::default() }
    }

    /// Whether all pods stay and none of their containers restarts.
    #[must_use]
    pub fn restarts_nothing(&self) -> bool {
        self.in_place > 0 && self.recreated == 0 && self.restarted.is_empty()
    }
}

/// Whether all of these changes are of the CPU or memory of containers. OpenKruise resizes pods in place with its feature
/// gate [`RESIZE_GATE`], which no API shows.
#[must_use]
pub fn needs_only_resize(because: &[TemplatePath]) -> bool {
    let member = |step: &PathStep, names: &[&str]| matches!(step, PathStep::Member(name) if names.contains(&name.as_str()));
    let is_resize = |path: &TemplatePath| match path.steps() {
        [spec, containers, PathStep::Element(_), resources, list, amount] => {
            member(spec, &["spec"])
                && member(containers, &["containers"])
                && member(resources, &["resources"])
                && member(list, &["requests", "limits"])
                && member(amount, &["cpu", "memory"])
        }
        _ => false,
    };
    !because.is_empty() && because.iter().all(is_resize)
}

/// The feature gate of OpenKruise that resizes pods in place. It is off by default, and needs the gate
/// `InPlacePodVerticalScaling` of Kubernetes.
pub const RESIZE_GATE: &str = "InPlaceWorkloadVerticalScaling";

/// What one change does to a pod that is updated in place.
enum InPlaceChange {
    /// The container with this name restarts with another image.
    Image(String),
    /// The metadata changes; a field path such as `metadata.labels['app']` if one label or annotation has
    /// another value.
    Metadata(Option<String>),
    /// It cannot be made in place.
    No,
}

fn change_of(path: &TemplatePath, from: &Value, to: &Value) -> InPlaceChange {
    let member = |step: &PathStep, name: &str| matches!(step, PathStep::Member(member) if member == name);
    match path.steps() {
        [metadata, map, PathStep::Member(key)] if member(metadata, "metadata") => {
            let maps = ["labels", "annotations"].into_iter().find(|name| member(map, name));
            let is_read =
                |map: &&str| from["metadata"][*map].is_object() && to["metadata"][*map].get(key).is_some();
            InPlaceChange::Metadata(maps.filter(is_read).map(|map| format!("metadata.{map}['{key}']")))
        }
        [metadata, ..] if member(metadata, "metadata") => InPlaceChange::Metadata(None),
        [spec, containers, PathStep::Element(key), image]
            if member(spec, "spec") && member(containers, "containers") && member(image, "image") =>
        {
            let name = key_values(key).join("/");
            let has_image = |template: &Value| {
                container(template, &name).is_some_and(|container| container["image"].is_string())
            };
            if has_image(from) && has_image(to) { InPlaceChange::Image(name) } else { InPlaceChange::No }
        }
        _ => InPlaceChange::No,
    }
}

fn containers(template: &Value) -> impl Iterator<Item = &Value> {
    template["spec"]["containers"].as_array().into_iter().flatten()
}

fn container<'a>(template: &'a Value, name: &str) -> Option<&'a Value> {
    containers(template).find(|container| container["name"] == name)
}

/// Returns the containers whose environment reads a field of the pod's metadata.
fn readers_of(field: &str, template: &Value) -> Vec<String> {
    let reads = |container: &&Value| {
        let mut variables = container["env"].as_array().into_iter().flatten();
        variables.any(|variable| variable["valueFrom"]["fieldRef"]["fieldPath"] == field)
    };
    containers(template)
        .filter(reads)
        .filter_map(|container| Some(container["name"].as_str()?.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_recreated(update: &UpdatedPods) -> bool {
        (update.in_place, update.recreated, update.refused) == (0, 1, false)
    }

    /// Kruise's own decision on pairs of revisions that its controllers stored.
    #[test]
    fn a_pod_is_updated_as_kruise_decides() {
        let recorded = include_str!("../../../../tests/data/kruise/in-place-pairs.json");
        let recorded: Value = serde_json::from_str(recorded).unwrap();
        let pairs = recorded["pairs"].as_array().unwrap();
        assert_eq!(pairs.len(), 534);
        for pair in pairs {
            let template = |which: &str| {
                let name =
                    format!("{}/{}", pair["scenario"].as_str().unwrap(), pair[which].as_str().unwrap());
                Template::new(&recorded["templates"][name])
            };
            let update =
                UpdatedPods::of_one(&template("old"), &template("new"), PodUpdatePolicy::InPlaceIfPossible);
            let Some(containers) = pair["containers"].as_array() else {
                assert!(is_recreated(&update) && !update.because.is_empty(), "{pair}");
                continue;
            };
            assert_eq!(json!(update.restarted), json!(containers), "{pair}: {update:?}");
            assert_eq!((update.in_place, update.recreated), (1, 0), "{pair}");
        }
    }

    #[test]
    fn the_policy_decides_what_cannot_be_made_in_place() {
        let template = |image: &str, mode: &str| {
            let env = json!([{"name": "MODE", "value": mode}]);
            Template::new(&json!({"spec": {"containers": [{"name": "web", "image": image, "env": env}]}}))
        };
        let old = template("x:1", "a");
        let (image, env) = (template("x:2", "a"), template("x:2", "b"));
        for (new, policy, expected) in [
            (&old, PodUpdatePolicy::Recreate, "none "),
            (&image, PodUpdatePolicy::Recreate, "recreate spec.containers[web].image"),
            (&image, PodUpdatePolicy::InPlaceOnly, "in-place "),
            (&env, PodUpdatePolicy::InPlaceIfPossible, "recreate spec.containers[web].env[MODE].value"),
            (&env, PodUpdatePolicy::InPlaceOnly, "refused spec.containers[web].env[MODE].value"),
        ] {
            let update = UpdatedPods::of_one(&old, new, policy);
            let because: Vec<_> = update.because.iter().map(ToString::to_string).collect();
            let word = match (update.in_place, update.recreated) {
                (0, 0) => "none",
                (1, 0) => "in-place",
                _ if update.refused => "refused",
                _ => "recreate",
            };
            assert_eq!(format!("{word} {}", because.join(" ")), expected);
        }
    }

    #[test]
    fn the_order_of_containers_is_part_of_the_template() {
        let template = |names: [&str; 2]| {
            Template::new(
                &json!({"spec": {"containers": names.map(|name| json!({"name": name, "image": "x"}))}}),
            )
        };
        let update = UpdatedPods::of_one(
            &template(["a", "b"]),
            &template(["b", "a"]),
            PodUpdatePolicy::InPlaceIfPossible,
        );
        assert!(is_recreated(&update));
    }

    #[test]
    fn an_image_that_is_added_or_removed_does_not_change_in_place() {
        let with =
            Template::new(&serde_json::json!({"spec": {"containers": [{"name": "main", "image": "a:1"}]}}));
        let without = Template::new(&serde_json::json!({"spec": {"containers": [{"name": "main"}]}}));
        for (from, to) in [(&with, &without), (&without, &with)] {
            let update = UpdatedPods::of_one(from, to, PodUpdatePolicy::InPlaceIfPossible);
            assert!(is_recreated(&update));
        }
    }
}
