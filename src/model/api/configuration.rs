//! A ConfigMap or Secret, by its metadata alone.

use super::managed_fields::{Authorship, last_author};
use super::object::Object;
use super::patch::FieldPath;
use super::resource_type::ResourceType;

/// The members of a ConfigMap or Secret that hold its values. The API server stores `stringData` of a Secret in `data`.
const VALUES: [&str; 2] = ["data", "binaryData"];

/// What identifies a ConfigMap or Secret: its type, namespace and name.
pub type ConfigurationKey = (&'static ResourceType, String, String);

/// What is known of a ConfigMap or Secret. Its values are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Its type.
    pub type_: &'static ResourceType,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The field manager that owns values and wrote last; none without managed fields. A client that only removes values
    /// owns none.
    pub change: Option<Authorship>,
}

impl Configuration {
    /// Reads the metadata of an object of a type.
    #[must_use]
    pub fn read(type_: &'static ResourceType, object: &Object) -> Self {
        let authors = VALUES.into_iter().filter_map(|member| last_author(object, &FieldPath::of([member])));
        Self {
            type_,
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            change: authors.max_by_key(|author| author.time),
        }
    }

    /// Returns what identifies it.
    #[must_use]
    pub fn key(&self) -> ConfigurationKey {
        (self.type_, self.namespace.clone(), self.name.clone())
    }

    /// Returns `configmap/checkout-config`.
    #[must_use]
    pub fn target(&self) -> String {
        format!("{}/{}", self.type_.singular(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::api::resource_type::CONFIG_MAP;

    #[test]
    fn the_last_owner_of_a_value_changed_it() {
        let entry = |manager: &str, minute: u8, fields: Value| json!({"manager": manager, "time": format!("2026-11-20T13:{minute:02}:00Z"), "fieldsV1": fields});
        let helm = entry("helm", 1, json!({"f:data": {".": {}, "f:a": {}}, "f:metadata": {"f:labels": {}}}));
        let edit = entry("kubectl-edit", 2, json!({"f:data": {"f:b": {}}}));
        let binary = entry("kubectl-create", 3, json!({"f:binaryData": {"f:c": {}}}));
        let label = entry("kubectl-label", 4, json!({"f:metadata": {"f:labels": {"f:x": {}}}}));
        for (what, entries, expected) in [
            ("the newest", json!([helm, edit]), Some("kubectl-edit")),
            ("labels are no values", json!([helm, label]), Some("helm")),
            ("binary data", json!([binary, edit, label]), Some("kubectl-create")),
            ("only labels", json!([label]), None),
            ("no managed fields", Value::Null, None),
        ] {
            let object = json!({"kind": "PartialObjectMetadata", "metadata": {"name": "c", "namespace": "n", "managedFields": entries}});
            let read = Configuration::read(&CONFIG_MAP, &Object::read(object).unwrap());
            assert_eq!(read.change.as_ref().map(|one| one.manager.as_str()), expected, "{what}");
            assert_eq!((read.target().as_str(), read.namespace.as_str()), ("configmap/c", "n"));
        }
    }
}
