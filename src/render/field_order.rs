//! The order in which Go writes the fields of the objects we print.
//!
//! Go's encoder writes a struct's fields in the order in which they are declared, so the order is a fact
//! about each type. `field_order.txt` lists them from the `types.go` files of `k8s.io/api/apps/v1`,
//! `core/v1` and `apimachinery/pkg/apis/meta/v1`, Kubernetes 1.35; of these types 1.36 changed one, the
//! pod's spec, where `schedulingGroup` came for `workloadRef`.
//!
//! A line is a type, a colon, its fields; `field/Type` where the order inside the field matters, too. A
//! line that begins with a blank continues the one before. Types of a single plain field are left out, and
//! maps are not listed: Go sorts their keys.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

static TYPES: LazyLock<HashMap<&str, Type>> = LazyLock::new(|| read(include_str!("field_order.txt")));

/// A Go struct: its fields in order.
#[derive(Debug, Default)]
pub(super) struct Type(Vec<(&'static str, &'static str)>);

/// The type of an object, by its kind. A kind that kubectl has no struct for is one without fields.
pub(super) fn of_kind(object: &Value) -> &'static Type {
    let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    named(if text("apiVersion") == "apps/v1" { text("kind") } else { "" })
}

impl Type {
    /// The members in order, each with the type of its value.
    ///
    /// kubectl reads an object into its structs and loses what they do not know. We never lose a user's
    /// field: unknown ones follow the known ones, sorted.
    pub(super) fn in_order<'a>(
        &self,
        members: &'a Map<String, Value>,
    ) -> Vec<(&'a str, &'a Value, &'static Type)> {
        let known = self.0.iter().filter_map(|(name, of)| {
            let (name, value) = members.get_key_value(*name)?;
            Some((name.as_str(), value, named(of)))
        });
        let is_known = |name: &str| self.0.iter().any(|(known, _)| *known == name);
        let mut unknown: Vec<_> = members
            .iter()
            .filter(|(name, _)| !is_known(name))
            .map(|(name, value)| (name.as_str(), value, named("")))
            .collect();
        unknown.sort_unstable_by_key(|(name, ..)| *name);
        known.chain(unknown).collect()
    }
}

fn named(name: &str) -> &'static Type {
    static UNKNOWN: Type = Type(Vec::new());
    TYPES.get(name).unwrap_or(&UNKNOWN)
}

fn read(table: &'static str) -> HashMap<&'static str, Type> {
    let mut types: HashMap<_, Type> = HashMap::new();
    let mut current = "";
    for line in table.lines() {
        let fields = match line.split_once(": ") {
            Some((name, fields)) => {
                current = name;
                fields
            }
            None => line,
        };
        let fields = fields.split_whitespace().map(|field| field.split_once('/').unwrap_or((field, "")));
        types.entry(current).or_default().0.extend(fields);
    }
    types
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_type_that_is_named_is_listed() {
        assert_eq!(TYPES.len(), 132);
        for (name, Type(fields)) in TYPES.iter() {
            assert!(fields.len() > 1 || fields.iter().any(|(_, of)| !of.is_empty()), "{name}");
            for (field, of) in fields {
                assert!(of.is_empty() || TYPES.contains_key(of), "{name}.{field} is a {of}");
            }
        }
    }

    #[test]
    fn known_fields_come_first() {
        let members = json!({"z": 1, "apiVersion": 2, "a": 3, "kind": 4});
        let order = named("Deployment").in_order(members.as_object().unwrap());
        let names: Vec<_> = order.into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["kind", "apiVersion", "a", "z"]);
    }
}
