//! The order in which Go's JSON encoder writes the fields of API objects.
//!
//! Go writes the fields of a struct in the order of their declaration. `field_order.txt` lists them from the
//! `types.go` files of `k8s.io/api/apps/v1`, `core/v1` and `apimachinery/pkg/apis/meta/v1` of Kubernetes 1.35.
//! Kubernetes 1.36 changed only `PodSpec` among these: `schedulingGroup` replaced `workloadRef`.
//!
//! A line has a type, a colon and its fields, with `field/Type` for a field of a listed type. A line that begins
//! with a space continues the line before. Types with one plain field and maps are not listed; Go sorts the keys
//! of maps.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

static TYPES: LazyLock<HashMap<&str, GoStruct>> = LazyLock::new(|| read(include_str!("field_order.txt")));

/// A Go struct: its fields in order.
#[derive(Debug, Default)]
pub(super) struct GoStruct(Vec<(&'static str, &'static str)>);

/// Returns the struct of an object, by its kind. A kind that kubectl has no struct for has no listed fields.
pub(super) fn of_kind(object: &Value) -> &'static GoStruct {
    let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    named(if text("apiVersion") == "apps/v1" { text("kind") } else { "" })
}

impl GoStruct {
    /// Returns the members in order, each with the struct of its value.
    ///
    /// kubectl drops fields that its structs do not have. Here such fields follow the others, sorted.
    pub(super) fn in_order<'a>(
        &self,
        members: &'a Map<String, Value>,
    ) -> Vec<(&'a str, &'a Value, &'static GoStruct)> {
        let known = self.0.iter().filter_map(|(name, go_struct)| {
            let (name, value) = members.get_key_value(*name)?;
            Some((name.as_str(), value, named(go_struct)))
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

fn named(name: &str) -> &'static GoStruct {
    static UNKNOWN: GoStruct = GoStruct(Vec::new());
    TYPES.get(name).unwrap_or(&UNKNOWN)
}

fn read(table: &'static str) -> HashMap<&'static str, GoStruct> {
    let mut types: HashMap<_, GoStruct> = HashMap::new();
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
    fn every_listed_type_has_fields() {
        assert_eq!(TYPES.len(), 132);
        for (name, GoStruct(fields)) in TYPES.iter() {
            assert!(fields.len() > 1 || fields.iter().any(|(_, go_struct)| !go_struct.is_empty()), "{name}");
            for (field, go_struct) in fields {
                assert!(
                    go_struct.is_empty() || TYPES.contains_key(go_struct),
                    "{name}.{field} is a {go_struct}"
                );
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
