//! The pod template: raw JSON, and a canonical form for comparison.

use serde_json::{Map, Value};

use crate::api::container::declared_containers;
use crate::api::quantity::Quantity;
use crate::kind;
use crate::kind::Workload;
use crate::text::json::Digest;
use crate::text::secret::{NAMED_VALUES, holds_secret, is_masked_anywhere};

/// The annotation by which `kubectl rollout restart` makes a new revision of the same template.
pub const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// The members whose empty value means the same as their absence; that of a container's `securityContext` does not.
///
/// In JSON from Go, a nil map and an empty map differ, and a struct by value is always present.
/// Other empty objects have a meaning (`emptyDir: {}` is a volume, `podAntiAffinity: {}` is a set
/// pointer) and stay.
pub(crate) const EMPTY_IS_ABSENT: [&str; 9] = [
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

/// Returns the values of a template that are masked wherever they occur: those of env and of HTTP headers whose names look
/// secret.
#[must_use]
pub fn secrets_in(template: &Value) -> Vec<String> {
    let mut secrets = Vec::new();
    declared_containers(template).for_each(|container| add_secrets(container, "", &mut secrets));
    secrets
}

/// Adds the secrets of a value, which is a member with this name, or an element of such a list. Probes and hooks have headers.
fn add_secrets(value: &Value, member: &str, secrets: &mut Vec<String>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| add_secrets(element, member, secrets)),
        Value::Object(members) => {
            let text = |field: &str| members.get(field).and_then(Value::as_str);
            let is_secret = NAMED_VALUES.contains(&member) && text("name").is_some_and(holds_secret);
            if let Some(value) = text("value").filter(|_| is_secret) {
                // The credentials of a header may follow a scheme: `Bearer x`.
                let secret = if member == "env" {
                    value
                } else {
                    value.split_whitespace().next_back().unwrap_or(value)
                };
                secrets.extend(is_masked_anywhere(secret).then(|| secret.to_owned()));
            }
            members.iter().for_each(|(name, value)| add_secrets(value, name, secrets));
        }
        _ => {}
    }
}

impl Workload {
    /// Returns the live template.
    #[must_use]
    pub fn template(&self) -> Template {
        Template::new(self.object().at("/spec/template").unwrap_or(&Value::Null))
    }

    /// Returns the digest of the live template. It is computed once for an object, because it is compared at
    /// every event.
    #[must_use]
    pub fn template_digest(&self) -> Digest {
        *self.template_digest.get_or_init(|| self.template().digest())
    }
}

/// A pod template as the API stores it, unknown fields included.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(Value);

impl Template {
    /// Creates a template from that of a workload, a ReplicaSet or the data of a
    /// ControllerRevision.
    ///
    /// A ControllerRevision stores a patch with `$patch: replace` among the members of the
    /// template. That directive is removed.
    #[must_use]
    pub fn new(raw: &Value) -> Self {
        Self::of(raw.clone())
    }

    /// The same of JSON that nothing else uses.
    pub(super) fn of(mut raw: Value) -> Self {
        if let Some(members) = raw.as_object_mut() {
            members.remove("$patch");
        }
        Self(raw)
    }

    /// Returns the raw JSON.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// Returns the template without the labels that controllers add.
    #[must_use]
    pub fn without_hash_labels(&self) -> Value {
        let mut raw = self.0.clone();
        remove_hash_labels(&mut raw);
        raw
    }

    /// Returns the canonical form: no hash labels, no nulls, no empty defaults. Lists keep their
    /// order, which Kubernetes compares too.
    #[must_use]
    pub fn canonical(&self) -> Value {
        let mut raw = self.without_hash_labels();
        drop_empty_members(&mut raw, false);
        raw
    }

    /// Returns the digest of the canonical form, with quantities by value. To Kubernetes `1000m`
    /// equals `1`, so that difference makes no new revision.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut value = self.canonical();
        normalize_quantities("", &mut value);
        Digest::of(&value)
    }

    /// Returns the container images, init containers first.
    #[must_use]
    pub fn images(&self) -> Vec<&str> {
        declared_containers(&self.0).filter_map(|container| container.get("image")?.as_str()).collect()
    }
}

/// Removes the labels by which the controllers of all kinds distinguish revisions.
fn remove_hash_labels(template: &mut Value) {
    let labels = template.get_mut("metadata").and_then(|metadata| metadata.get_mut("labels"));
    if let Some(labels) = labels.and_then(Value::as_object_mut) {
        for label in kind::all().flat_map(|kind| kind.revisions().template_labels()) {
            labels.remove(*label);
        }
    }
}

fn normalize_quantities(object: &str, value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if is_quantity(object, name) {
                    normalize_quantity(member);
                } else if !FREE_FORM_MAPS.contains(&name.as_str()) {
                    normalize_quantities(name, member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| normalize_quantities("", item)),
        _ => {}
    }
}

/// Whether a member of a pod template is a quantity, by its name and that of its parent:
/// `resources`, the overhead of a runtime class, the size of an `emptyDir`, the divisor of a
/// `resourceFieldRef`.
pub(crate) fn is_quantity(object: &str, member: &str) -> bool {
    !FREE_FORM_MAPS.contains(&object)
        && (["limits", "requests", "overhead"].contains(&object)
            || ["sizeLimit", "divisor"].contains(&member))
}

/// Maps with keys chosen by users or drivers. Their values are never quantities.
const FREE_FORM_MAPS: [&str; 6] =
    ["labels", "annotations", "nodeSelector", "matchLabels", "volumeAttributes", "options"];

fn normalize_quantity(amount: &mut Value) {
    if let Some(quantity) = Quantity::read(amount) {
        *amount = quantity.exact().into();
    }
}

/// Removes empty members that mean the same as absent ones, innermost first. `is_element` says that the value is an element
/// of a list, such as a container.
fn drop_empty_members(value: &mut Value, is_element: bool) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(|member| drop_empty_members(member, false));
            members.retain(|name, member| !is_absent_value(name, member, is_element));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| drop_empty_members(item, true)),
        _ => {}
    }
}

/// Whether a member means the same as none. The API server sets the `securityContext` of each pod. That of a container is a
/// pointer, and controllers distinguish an empty one from none.
fn is_absent_value(name: &str, member: &Value, of_element: bool) -> bool {
    match member {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => {
            let is_pointer = of_element && name == "securityContext";
            Map::is_empty(members) && EMPTY_IS_ABSENT.contains(&name) && !is_pointer
        }
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
    fn free_form_maps_have_no_quantities() {
        for map in ["labels", "matchLabels", "volumeAttributes", "options"] {
            let with = |size: &str| digest(&json!({"spec": {map: {"sizeLimit": size}}}));
            assert_ne!(with("1Gi"), with("1024Mi"), "{map}");
        }
    }

    #[test]
    fn fields_that_users_can_set_change_the_digest() {
        let plain = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"volumes": [{"name": "v", "emptyDir": {}}]}});
        for other in [
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"volumes": [{"name": "v"}]}}),
            json!({"metadata": {"labels": {"app": "api"}}, "spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}),
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"volumes": [{"name": "v", "emptyDir": {}}], "new": 0}}),
        ] {
            assert_ne!(digest(&other), digest(&plain), "{other}");
        }
    }

    /// `Semantic.DeepEqual` of the controllers distinguishes a nil pointer from an empty struct.
    #[test]
    fn an_empty_security_context_of_a_container_changes_the_digest() {
        let of = |container: Value| digest(&json!({"spec": {"containers": [container]}}));
        let plain = of(json!({"name": "a"}));
        assert_ne!(of(json!({"name": "a", "securityContext": {}})), plain);
        assert_eq!(of(json!({"name": "a", "securityContext": null})), plain);
        let members = json!({"name": "a", "securityContext": {"capabilities": null}});
        assert_eq!(of(members), of(json!({"name": "a", "securityContext": {}})));
    }

    #[test]
    fn images_are_listed_init_containers_first() {
        let raw = json!({"spec": {"containers": [{"image": "b"}, {"name": "none"}], "initContainers": [{"image": "a"}]}});
        assert_eq!(Template::new(&raw).images(), ["a", "b"]);
    }
}
