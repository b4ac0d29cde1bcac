//! Scheduling: topology spread constraints, tolerations and the scheduling group.

use serde_json::Value;

use super::field::IndentedText;
use super::field::{items, member, number, part, texts, words};
use super::metadata;

/// Writes the topology spread constraints, sorted by topology key.
pub(super) fn topology_spread(text: &mut IndentedText, constraints: &[&Value]) {
    if constraints.is_empty() {
        return;
    }
    let mut constraints = constraints.to_vec();
    constraints.sort_by_key(|constraint| words(constraint, "topologyKey"));
    let lines: Vec<_> = constraints.into_iter().map(constraint_words).collect();
    text.listed("  Topology Spread Constraints:\t", "  \t", &lines);
}

fn constraint_words(constraint: &Value) -> String {
    let selector = match part(constraint, "labelSelector") {
        Some(selector) => format!(" for selector {}", selector_words(selector)),
        None => String::new(),
    };
    let (key, policy) = (words(constraint, "topologyKey"), words(constraint, "whenUnsatisfiable"));
    format!("{key}:{policy} when max skew {} is exceeded{selector}", number(constraint, "maxSkew"))
}

/// Formats a label selector as `metav1.FormatLabelSelector` does: requirements sorted by key, `<none>` without any,
/// `<error>` for an unknown operator or for values that do not match it.
fn selector_words(selector: &Value) -> String {
    let labels = member(selector, "matchLabels");
    let mut requirements: Vec<_> = metadata::pairs(labels)
        .into_iter()
        .map(|pair| (pair.split('=').next().unwrap_or_default().to_owned(), pair))
        .collect();
    for expression in items(selector, "matchExpressions") {
        let Some(requirement) = requirement(expression) else { return "<error>".to_owned() };
        requirements.push((words(expression, "key").to_owned(), requirement));
    }
    if requirements.is_empty() {
        return "<none>".to_owned();
    }
    requirements.sort_by(|(one, _), (other, _)| one.cmp(other));
    let requirements: Vec<_> = requirements.into_iter().map(|(_, requirement)| requirement).collect();
    requirements.join(",")
}

fn requirement(expression: &Value) -> Option<String> {
    let key = words(expression, "key");
    let mut values = texts(expression, "values");
    values.sort_unstable();
    let joined = values.join(",");
    match words(expression, "operator") {
        "In" if !values.is_empty() => Some(format!("{key} in ({joined})")),
        "NotIn" if !values.is_empty() => Some(format!("{key} notin ({joined})")),
        "Exists" if values.is_empty() => Some(key.to_owned()),
        "DoesNotExist" if values.is_empty() => Some(format!("!{key}")),
        _ => None,
    }
}

/// Returns the tolerations in kubectl's short form, sorted by key.
pub(super) fn tolerations(tolerations: &[&Value]) -> Vec<String> {
    let mut tolerations = tolerations.to_vec();
    tolerations.sort_by_key(|toleration| words(toleration, "key"));
    tolerations.into_iter().map(toleration_words).collect()
}

fn toleration_words(toleration: &Value) -> String {
    let value = words(toleration, "value");
    let mut line = words(toleration, "key").to_owned();
    for (separator, part) in [("=", value), (":", words(toleration, "effect"))] {
        if !part.is_empty() {
            line.push_str(separator);
            line.push_str(part);
        }
    }
    if words(toleration, "operator") == "Exists" && value.is_empty() {
        line.push_str(if line.is_empty() { "op=Exists" } else { " op=Exists" });
    }
    if let Some(seconds) = member(toleration, "tolerationSeconds").as_i64() {
        line.extend([" for ", &seconds.to_string(), "s"]);
    }
    line
}

/// Writes the scheduling group (since Kubernetes 1.36).
pub(super) fn group(text: &mut IndentedText, group: &Value) {
    if group.is_object() {
        text.line(1, "SchedulingGroup:");
        text.field(1, "PodGroupName", words(group, "podGroupName"));
    }
}
