//! Environment variables and the sources of their values.

use serde_json::Value;

use crate::model::api::quantity::{Precision, Quantity};

use super::field::IndentedText;
use super::field::{flag, items, member, part, words};

/// Writes `envFrom`.
pub(super) fn sources(text: &mut IndentedText, container: &Value) {
    let sources = items(container, "envFrom");
    if sources.is_empty() {
        return;
    }
    text.line(2, "Environment Variables from:");
    for source in sources {
        let (kind, of) = match (part(source, "configMapRef"), part(source, "secretRef")) {
            (Some(map), _) => ("ConfigMap", map),
            (None, Some(secret)) => ("Secret", secret),
            (None, None) => ("", &Value::Null),
        };
        let prefix = match words(source, "prefix") {
            "" => String::new(),
            prefix => format!(" with prefix '{prefix}'"),
        };
        let (name, optional) = (words(of, "name"), flag(of, "optional"));
        text.line(3, format_args!("{name}\t{kind}{prefix}\tOptional: {optional}"));
    }
}

/// Writes `env`. As in kubectl, a variable with an unknown source is left out.
pub(super) fn variables(text: &mut IndentedText, container: &Value) {
    let variables = items(container, "env");
    text.line(2, format_args!("Environment:{}", if variables.is_empty() { "\t<none>" } else { "" }));
    for variable in variables {
        let value = match part(variable, "valueFrom") {
            None => Some(words(variable, "value").replace('\n', "\n      \t")),
            Some(source) => source_words(source, container),
        };
        if let Some(value) = value {
            text.field(3, words(variable, "name"), value);
        }
    }
}

fn source_words(source: &Value, container: &Value) -> Option<String> {
    if let Some(field) = part(source, "fieldRef") {
        // A template has no value for the field; only a pod has.
        return Some(format!(" ({}:{})", words(field, "apiVersion"), words(field, "fieldPath")));
    }
    if let Some(field) = part(source, "resourceFieldRef") {
        let resource = words(field, "resource");
        return Some(format!("{} ({resource})", resource_value(field, container)));
    }
    if let Some(secret) = part(source, "secretKeyRef") {
        let (key, name) = (words(secret, "key"), words(secret, "name"));
        let optional = flag(secret, "optional");
        return Some(format!("<set to the key '{key}' in secret '{name}'>\tOptional: {optional}"));
    }
    if let Some(map) = part(source, "configMapKeyRef") {
        let (key, name) = (words(map, "key"), words(map, "name"));
        let optional = flag(map, "optional");
        return Some(format!("<set to the key '{key}' of config map '{name}'>\tOptional: {optional}"));
    }
    None
}

/// Returns the value of a resource such as `limits.cpu`, in units of the divisor, rounded up. kubectl reads it from
/// the container with the variable, even if `containerName` is another container.
fn resource_value(field: &Value, container: &Value) -> String {
    let resource = words(field, "resource");
    let Some((list, name)) = resource.split_once('.') else { return String::new() };
    let step = match name {
        "cpu" => Precision::Milli,
        "memory" | "ephemeral-storage" => Precision::Whole,
        _ if name.starts_with("hugepages-") => Precision::Whole,
        _ => return String::new(),
    };
    if !matches!(list, "limits" | "requests") {
        return String::new();
    }
    let resources = member(member(container, "resources"), list);
    let amount = Quantity::read(member(resources, name)).unwrap_or_else(Quantity::zero);
    let divisor = Quantity::read(member(field, "divisor")).unwrap_or_else(Quantity::one);
    match amount.divided_by(&divisor, step) {
        // Without a limit, a container may use all that the node can allocate.
        0 if matches!(resource, "limits.cpu" | "limits.memory") => "node allocatable".to_owned(),
        count => count.to_string(),
    }
}
