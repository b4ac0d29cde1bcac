//! The pod template: raw from read to patch, canonical for comparison.

use serde_json::{Map, Value};

use super::digest::Digest;
use super::quantity::Quantity;

/// Labels that controllers put on templates and pods to tell revisions apart; never the user's.
pub const HASH_LABELS: [&str; 3] =
    ["pod-template-hash", "controller-revision-hash", "pod-template-generation"];

/// Members whose empty value means the same as their absence.
///
/// Go keeps a nil map and an empty one apart on the wire, and a struct by value is always written;
/// other empty objects do mean something (`emptyDir: {}` is a volume, `podAntiAffinity: {}` is a
/// pointer that was set), so they stay.
pub(super) const EMPTY_IS_ABSENT: [&str; 9] = [
    "metadata",
    "labels",
    "annotations",
    "resources",
    "limits",
    "requests",
    "securityContext",
    "nodeSelector",
    "matchLabels",
];

/// A pod template exactly as the API keeps it, unknown fields included.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(Value);

impl Template {
    /// A template from a workload, a ReplicaSet or a ControllerRevision's data.
    ///
    /// A ControllerRevision is stored as a patch, with a `$patch: replace` among the template's own
    /// members; that directive is no part of the template.
    #[must_use]
    pub fn new(raw: &Value) -> Self {
        let mut raw = raw.clone();
        if let Some(members) = raw.as_object_mut() {
            members.remove("$patch");
        }
        Self(raw)
    }

    /// The raw JSON.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// The template as a user would have written it: without the labels that controllers add.
    #[must_use]
    pub fn without_hash_labels(&self) -> Value {
        let mut raw = self.0.clone();
        remove_hash_labels(&mut raw);
        raw
    }

    /// The form in which equal templates are equal values: no hash labels, no nulls, no empty
    /// defaults. Lists keep their order, which matters to Kubernetes.
    #[must_use]
    pub fn canonical(&self) -> Value {
        let mut value = self.without_hash_labels();
        drop_noise(&mut value);
        value
    }

    /// The digest of the canonical form, quantities by value: to Kubernetes `1000m` is `1`, and a
    /// template that differs in no more than that is no new revision.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut value = self.canonical();
        quantities_by_value("", &mut value);
        Digest::of(&value)
    }

    /// The container images, init containers first, in the order they are listed.
    #[must_use]
    pub fn images(&self) -> Vec<&str> {
        ["/spec/initContainers", "/spec/containers"]
            .into_iter()
            .filter_map(|list| self.0.pointer(list)?.as_array())
            .flatten()
            .filter_map(|container| container.get("image")?.as_str())
            .collect()
    }
}

fn remove_hash_labels(template: &mut Value) {
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        for label in HASH_LABELS {
            labels.remove(label);
        }
    }
}

fn quantities_by_value(object: &str, value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if is_quantity(object, name) {
                    by_value(member);
                } else if !USERS_OWN.contains(&name.as_str()) {
                    quantities_by_value(name, member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| quantities_by_value("", item)),
        _ => {}
    }
}

/// Whether a member is a quantity wherever it stands in a pod template, by its name and that of the
/// object it is in: `resources`, the overhead of a runtime class, the size of an `emptyDir`, the
/// divisor of a `resourceFieldRef`.
pub(super) fn is_quantity(object: &str, member: &str) -> bool {
    !USERS_OWN.contains(&object)
        && (["limits", "requests", "overhead"].contains(&object)
            || ["sizeLimit", "divisor"].contains(&member))
}

/// Maps whose names are the user's or a driver's, and whose values are never quantities.
const USERS_OWN: [&str; 6] =
    ["labels", "annotations", "nodeSelector", "matchLabels", "volumeAttributes", "options"];

fn by_value(amount: &mut Value) {
    if let Some(quantity) = Quantity::read(amount) {
        *amount = quantity.exact().into();
    }
}

/// Removes, from the inside out, members that say nothing.
fn drop_noise(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(drop_noise);
            members.retain(|name, member| !says_nothing(name, member));
        }
        Value::Array(items) => items.iter_mut().for_each(drop_noise),
        _ => {}
    }
}

fn says_nothing(name: &str, member: &Value) -> bool {
    match member {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => Map::is_empty(members) && EMPTY_IS_ABSENT.contains(&name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn digest(raw: &Value) -> Digest {
        Template::new(raw).digest()
    }

    #[test]
    fn what_controllers_and_servers_add_does_not_change_the_digest() {
        let plain =
            digest(&json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a"}]}}));
        for noisy in [
            json!({"$patch": "replace", "metadata": {"creationTimestamp": null, "labels": {"app": "web"}},
                "spec": {"containers": [{"name": "a", "resources": {}}]}}),
            json!({"metadata": {"labels": {"app": "web", "pod-template-hash": "5f674c965"}},
                "spec": {"containers": [{"name": "a", "env": []}], "securityContext": {}}}),
            json!({"metadata": {"labels": {"app": "web"}, "annotations": {}},
                "spec": {"containers": [{"name": "a", "resources": {"limits": {}}}], "nodeSelector": null}}),
        ] {
            assert_eq!(digest(&noisy), plain, "{noisy}");
        }
    }

    #[test]
    fn quantities_count_by_value() {
        let with = |cpu: Value, memory: &str| {
            digest(
                &json!({"spec": {"containers": [{"resources": {"limits": {"cpu": cpu, "memory": memory}}}]}}),
            )
        };
        assert_eq!(with(json!("1000m"), "1Gi"), with(json!(1), "1073741824"));
        assert_ne!(with(json!("1001m"), "1Gi"), with(json!(1), "1Gi"));
        assert_eq!(with(json!("no amount"), "1"), with(json!("no amount"), "1"));
    }

    #[test]
    fn what_users_name_is_no_quantity() {
        for map in ["labels", "matchLabels", "volumeAttributes", "options"] {
            let with = |size: &str| digest(&json!({"spec": {map: {"sizeLimit": size}}}));
            assert_ne!(with("1Gi"), with("1024Mi"), "{map}");
        }
    }

    #[test]
    fn what_a_user_can_mean_does() {
        let plain = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"volumes": [{"name": "v", "emptyDir": {}}]}});
        for other in [
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"volumes": [{"name": "v"}]}}),
            json!({"metadata": {"labels": {"app": "api"}}, "spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}),
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"volumes": [{"name": "v", "emptyDir": {}}], "new": 0}}),
        ] {
            assert_ne!(digest(&other), digest(&plain), "{other}");
        }
    }

    #[test]
    fn images_are_listed_init_containers_first() {
        let raw = json!({"spec": {"containers": [{"image": "b"}, {"name": "none"}], "initContainers": [{"image": "a"}]}});
        assert_eq!(Template::new(&raw).images(), ["a", "b"]);
    }
}
