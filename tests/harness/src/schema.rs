//! Holds documents against `docs/json.schema.json`.
//!
//! It knows the keywords that the schema uses, and refuses a schema with any other one.

use std::sync::LazyLock;

use serde_json::Value;

/// The schema of all documents.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../docs/json.schema.json");
    serde_json::from_str(text).unwrap_or_default()
});

/// Returns what is wrong with a document, each with its place; nothing for one that fits the schema.
pub fn mistakes(document: &Value) -> Vec<String> {
    let kind = document["kind"].as_str().unwrap_or_default();
    let schema = &SCHEMA["$defs"][kind];
    if schema.is_null() {
        return vec![format!("the schema has no document {kind:?}")];
    }
    let mut found = Vec::new();
    check(schema, document, kind, &mut found);
    found
}

/// Returns what is wrong with the documents of our own kinds in what a command printed: one after another, or none.
pub(crate) fn mistakes_in(stdout: &str) -> Vec<String> {
    if !stdout.starts_with('{') {
        return Vec::new();
    }
    let documents = serde_json::Deserializer::from_str(stdout).into_iter::<Value>().map_while(Result::ok);
    let own = documents.filter(|document| document["apiVersion"] == "rollout2/v1");
    own.flat_map(|document| mistakes(&document)).collect()
}

/// Keywords that describe and do not restrict.
const ANNOTATIONS: [&str; 3] = ["$schema", "title", "description"];

fn check(schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().into_iter().flatten() {
        let is_kept = match keyword.as_str() {
            "$ref" => {
                let name = rule.as_str().and_then(|path| path.strip_prefix("#/$defs/")).unwrap_or_default();
                check(&SCHEMA["$defs"][name], value, place, found);
                true
            }
            "type" => types(rule).any(|name| is_of(name, value)),
            "const" => rule == value,
            "enum" => rule.as_array().is_some_and(|values| values.contains(value)),
            "oneOf" => {
                one_of(rule, value, place, found);
                true
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(rule, item, &format!("{place}[{index}]"), found);
                }
                true
            }
            "properties" => {
                for (name, rule) in rule.as_object().into_iter().flatten() {
                    if let Some(member) = value.get(name) {
                        check(rule, member, &format!("{place}.{name}"), found);
                    }
                }
                true
            }
            "required" if value.is_object() => {
                let names = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
                let missing: Vec<_> = names.filter(|name| value.get(name).is_none()).collect();
                found.extend(missing.iter().map(|name| format!("{place}: {name} is missing")));
                true
            }
            "additionalProperties" => {
                let known = schema["properties"].as_object();
                let names = value.as_object().into_iter().flatten().map(|(name, _)| name);
                let unknown = names.filter(|name| known.is_none_or(|known| !known.contains_key(*name)));
                found.extend(unknown.map(|name| format!("{place}: {name} is not in the schema")));
                true
            }
            "required" => true,
            annotation => ANNOTATIONS.contains(&annotation),
        };
        if !is_kept {
            found.push(format!("{place}: {value} does not fit {keyword} {rule}"));
        }
    }
}

/// Exactly one of the schemas must fit. Of several, the one with the fewest mistakes is reported.
fn one_of(schemas: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let results: Vec<Vec<String>> = schemas
        .as_array()
        .into_iter()
        .flatten()
        .map(|schema| {
            let mut mistakes = Vec::new();
            check(schema, value, place, &mut mistakes);
            mistakes
        })
        .collect();
    match results.iter().filter(|mistakes| mistakes.is_empty()).count() {
        1 => {}
        0 => found.extend(results.into_iter().min_by_key(Vec::len).unwrap_or_default()),
        count => found.push(format!("{place}: {count} of the schemas fit, and one should")),
    }
}

fn types(rule: &Value) -> impl Iterator<Item = &str> {
    let several = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
    rule.as_str().into_iter().chain(several)
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
