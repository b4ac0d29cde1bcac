//! The field managers of an object and what they own, from `managedFields`.

use std::borrow::Cow;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::object::Object;
use super::patch::FieldPath;

/// The annotation in which `kubectl apply` keeps what it applied last.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The field manager of every write of this program.
pub const FIELD_MANAGER: &str = "kubectl-rollout2";

/// The last writer of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorship {
    /// The field manager, such as `helm` or `kubectl-set`.
    pub manager: String,
    /// When it last wrote any of its fields.
    pub time: Timestamp,
}

impl Authorship {
    /// Whether the manager wrote at or after a time, as far as that is readable.
    #[must_use]
    pub fn is_since(&self, since: Option<&str>) -> bool {
        since.and_then(|since| since.parse::<Timestamp>().ok()).is_none_or(|since| self.time >= since)
    }
}

/// Returns the manager that owns fields of `spec.template` and wrote last.
///
/// Managed fields store one time for each manager, so the result is an approximation. It is none if
/// the server does not keep managed fields.
#[must_use]
pub fn last_template_author(workload: &Object) -> Option<Authorship> {
    last_author(workload, &FieldPath::template())
}

/// Returns the manager that owns fields at or below a path and wrote last.
#[must_use]
pub fn last_author(object: &Object, path: &FieldPath) -> Option<Authorship> {
    last_owner(object, path, |_| true)
}

/// Returns the manager that wrote last at or below a path, if it wrote since an earlier state of the object was read. A client
/// that only removes fields leaves no stamp, so the last stamp can be older than its change.
#[must_use]
pub fn last_author_since(object: &Object, path: &FieldPath, before: &Object) -> Option<Authorship> {
    let earlier = owners(before, path, |_| true);
    let is_later = |author: &Authorship| {
        !earlier.contains(author) && earlier.iter().all(|earlier| earlier.time <= author.time)
    };
    last_author(object, path).filter(is_later)
}

/// Returns the manager that changed the value at a path since an earlier state of the object was read: it owns a field that
/// differs. So it is also found among managers that wrote within one second. If no manager owns such a field, because a field
/// was removed, it is the one that [wrote since then](last_author_since).
#[must_use]
pub fn author_of_change(object: &Object, path: &FieldPath, before: &Object) -> Option<Authorship> {
    owner_of_change(object, path, path.value_in(before.json()))
        .or_else(|| last_author_since(object, path, before))
}

/// Returns the manager that owns a field that differs from an earlier value; none if fields were only removed.
#[must_use]
pub fn owner_of_change(object: &Object, path: &FieldPath, before: Option<&Value>) -> Option<Authorship> {
    let now = path.value_in(object.json());
    last_owner(object, path, |owned| owns_change(owned, before, now, now))
}

/// Returns the manager that wrote last of those whose owned fields at a path are wanted.
fn last_owner(object: &Object, path: &FieldPath, is_wanted: impl Fn(&Value) -> bool) -> Option<Authorship> {
    owners(object, path, is_wanted).into_iter().max_by_key(|author| author.time)
}

/// Returns the managers that own fields of `spec.template`.
#[must_use]
pub fn template_owners(workload: &Object) -> Vec<Authorship> {
    owners(workload, &FieldPath::template(), |_| true)
}

/// Returns the managers that own a field of `spec.template` in which two templates differ, and whose value in the later one
/// is still the present one. A field with another value since then has another last writer, or was written again.
#[must_use]
pub fn template_changers(workload: &Object, before: &Value, after: &Value) -> Vec<Authorship> {
    let path = FieldPath::template();
    let now = path.value_in(workload.json());
    owners(workload, &path, |owned| owns_change(owned, Some(before), Some(after), now))
}

/// Keeps of the managed fields only what is owned of `spec.template`, and as text, which takes a tenth of the memory. The
/// rest is most of them: spec and status. Drops the manifest that `kubectl apply` stored.
#[must_use]
pub fn with_template_owners_only(object: Object) -> Object {
    let keep_template = |entry: &mut Value| {
        let owned = entry.pointer_mut("/fieldsV1/f:spec/f:template").map(Value::take);
        let (Some(owned), Some(fields)) = (owned, entry.get_mut("fieldsV1")) else { return false };
        *fields = json!({"f:spec": {"f:template": owned}});
        true
    };
    let annotations = |annotations: &mut Value| {
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.remove(LAST_APPLIED);
        }
    };
    let entries = |entries: &mut Value| {
        if let Some(list) = entries.as_array_mut() {
            list.retain_mut(keep_template);
            *entries = entries.to_string().into();
        }
    };
    object.changed_at("/metadata/annotations", annotations).changed_at("/metadata/managedFields", entries)
}

fn owners(object: &Object, path: &FieldPath, is_wanted: impl Fn(&Value) -> bool) -> Vec<Authorship> {
    let author = |entry: Cow<'_, Value>| {
        owned_fields(&entry, path).filter(|owned| is_wanted(owned))?;
        Some(Authorship { time: entry.get("time")?.as_str()?.parse().ok()?, manager: manager(&entry)? })
    };
    entries(object).into_iter().filter_map(author).collect()
}

/// Returns all field managers of an object.
pub fn managers(object: &Object) -> impl Iterator<Item = String> {
    entries(object).into_iter().filter_map(|entry| manager(&entry))
}

/// Returns the managers that own fields at a path by server-side apply. Their next apply reverts a change or fails
/// with a conflict.
pub fn appliers(object: &Object, path: &FieldPath) -> impl Iterator<Item = String> {
    let applies = |entry: &Cow<'_, Value>| {
        entry.get("operation").is_some_and(|operation| operation == "Apply")
            && owned_fields(entry, path).is_some()
    };
    entries(object).into_iter().filter(applies).filter_map(|entry| manager(&entry))
}

/// Returns the entries (`ManagedFieldsEntry`), also of an object that keeps them [as text](with_template_owners_only).
fn entries(object: &Object) -> Vec<Cow<'_, Value>> {
    match object.at("/metadata/managedFields") {
        Some(Value::Array(entries)) => entries.iter().map(Cow::Borrowed).collect(),
        Some(Value::String(text)) => {
            let entries: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
            entries.into_iter().map(Cow::Owned).collect()
        }
        _ => Vec::new(),
    }
}

fn manager(entry: &Value) -> Option<String> {
    Some(entry.get("manager")?.as_str()?.to_owned())
}

/// Returns the part of `fieldsV1` at or below a path, if the entry has one.
fn owned_fields<'a>(entry: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    let mut fields = path.members().iter().map(|member| format!("f:{member}"));
    fields.try_fold(entry.get("fieldsV1")?, |owned, field| owned.get(&field))
}

/// Whether a field that differs between two values, and has the later one now, is among owned ones (`fieldsV1`): `f:NAME`
/// is a member, `k:KEYS` the item of a list that has these members.
fn owns_change(owned: &Value, before: Option<&Value>, after: Option<&Value>, now: Option<&Value>) -> bool {
    if before == after {
        return false;
    }
    let Some(owned) = owned.as_object().filter(|owned| !owned.is_empty()) else {
        // Another manager may have removed the members of an object that is empty now.
        return after == now && now.is_none_or(|now| now.as_object().is_none_or(|now| !now.is_empty()));
    };
    owned.iter().any(|(key, owned)| {
        owns_change(owned, owned_child(before, key), owned_child(after, key), owned_child(now, key))
    })
}

/// Returns the part of a value that a key of `fieldsV1` is about.
fn owned_child<'a>(value: Option<&'a Value>, key: &str) -> Option<&'a Value> {
    if let Some(name) = key.strip_prefix("f:") {
        return value?.get(name);
    }
    let keys: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
    let has_keys = |item: &&Value| {
        keys.as_object().is_some_and(|keys| keys.iter().all(|(name, key)| item.get(name) == Some(key)))
    };
    value?.as_array()?.iter().find(has_keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_writer_of_the_template_is_found() {
        let entry = |manager: &str, time: &str, fields: Value| json!({"manager": manager, "time": time, "fieldsV1": fields});
        let template = json!({"f:spec": {"f:template": {}}});
        let object =
            Object::read(json!({"kind": "Deployment", "metadata": {"name": "web", "managedFields": [
                entry("helm", "2026-11-20T13:00:00Z", template.clone()),
                entry("kubectl-set", "2026-11-20T13:05:00Z", template),
                entry("autoscaler", "2026-11-20T14:00:00Z", json!({"f:spec": {"f:replicas": {}}})),
            ]}}));
        let author = last_template_author(&object.unwrap()).unwrap();
        assert_eq!(
            (author.manager.as_str(), author.time.to_string().as_str()),
            ("kubectl-set", "2026-11-20T13:05:00Z")
        );
    }

    #[test]
    fn the_field_owner_made_the_change_even_if_another_manager_wrote_in_the_same_second() {
        let container = |owned: Value| json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": owned}}}}});
        let entry = |manager: &str, fields: Value| json!({"manager": manager, "time": "2026-11-20T13:00:00Z", "fieldsV1": fields});
        let entries = [
            entry("kubectl-set", container(json!({"f:image": {}}))),
            entry("kubectl-create", container(json!({".": {}, "f:name": {}, "f:args": {}}))),
            entry(
                "kubectl-label",
                json!({"f:spec": {"f:template": {"f:metadata": {"f:labels": {"f:a": {}}}}}}),
            ),
        ];
        let template = |image: &str| json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}]}});
        for entries in [entries.to_vec(), entries.into_iter().rev().collect()] {
            let object = json!({"kind": "StatefulSet", "metadata": {"name": "db", "managedFields": entries}, "spec": {"template": template("x:2")}});
            let before = json!({"kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {"template": template("x:1")}});
            let [object, before] = [object, before].map(|object| Object::read(object).unwrap());
            let author = author_of_change(&object, &FieldPath::template(), &before);
            assert_eq!(author.map(|author| author.manager).as_deref(), Some("kubectl-set"));
        }
    }

    /// Another client removed the only field that the last writer owned (part of k9s#3285).
    #[test]
    fn a_client_that_wrote_before_the_change_did_not_make_it() {
        let labels =
            |label: &str| json!({"f:spec": {"f:template": {"f:metadata": {"f:labels": {label: {}}}}}});
        let entry = |manager: &str, second: u32, owned: &Value| json!({"manager": manager, "time": format!("2026-11-20T13:00:{second:02}Z"), "fieldsV1": owned});
        let object = |labels: &Value, entries: &[Value]| {
            Object::read(json!({"kind": "StatefulSet", "metadata": {"name": "db", "managedFields": entries},
                "spec": {"template": {"metadata": {"labels": labels}}}}))
            .unwrap()
        };
        let (flux, own) =
            (entry("kustomize-controller", 1, &labels("f:a")), entry("kubectl-rollout2", 30, &labels("f:b")));
        let before = object(&json!({"a": "1", "b": "1"}), &[flux.clone(), own]);
        let removed = object(&json!({"a": "1"}), std::slice::from_ref(&flux));
        let later = object(&json!({"a": "1"}), &[flux, entry("kubectl-edit", 40, &labels("f:c"))]);
        for (now, expected) in [(removed, None), (later, Some("kubectl-edit"))] {
            let author = author_of_change(&now, &FieldPath::template(), &before);
            assert_eq!(author.map(|author| author.manager).as_deref(), expected);
        }
    }

    #[test]
    fn only_the_owners_of_the_template_are_kept() {
        let template = json!({"f:spec": {"f:containers": {}}});
        let entry = |manager: &str, fields: Value| json!({"manager": manager, "time": "2026-11-20T13:00:00Z", "fieldsV1": fields});
        let object = json!({"kind": "Deployment", "metadata": {"name": "web", "managedFields": [
            entry("helm", json!({"f:metadata": {"f:labels": {}}, "f:spec": {"f:replicas": {}, "f:template": template}})),
            entry("kube-controller-manager", json!({"f:status": {"f:replicas": {}}})),
            entry("x", json!("y")), json!(1),
        ]}});
        let object = Object::read(object).unwrap();
        let kept = with_template_owners_only(object.clone());
        let expected = json!([entry("helm", json!({"f:spec": {"f:template": template}}))]).to_string();
        assert_eq!(kept.text("/metadata/managedFields"), Some(expected.as_str()));
        assert_eq!(template_owners(&kept), template_owners(&object));
        let without =
            Object::read(json!({"kind": "Deployment", "metadata": {"name": "web", "managedFields": "x"}}))
                .unwrap();
        assert_eq!(with_template_owners_only(without.clone()), without);
    }

    #[test]
    fn without_managed_fields_there_is_no_writer() {
        for fields in [
            json!(null),
            json!("x"),
            json!([{"manager": 1}]),
            json!([{"fieldsV1": {"f:spec": {"f:template": {}}}}]),
        ] {
            let object = Object::read(
                json!({"kind": "Deployment", "metadata": {"name": "web", "managedFields": fields}}),
            );
            assert_eq!(last_template_author(&object.unwrap()), None);
        }
    }
}
