//! kubectl's description of a pod template (`DescribePodTemplate` in `describe.go`), identical to the byte, as
//! printed by `kubectl rollout history --revision`.
//!
//! kubectl leaves out many fields, such as affinity, security contexts and pull policies. So two different templates
//! may have the same description. No function here fails: a field of the wrong type counts as not set, where
//! kubectl would fail for the whole object.

mod container;
mod field;
mod volume;

pub use field::with_change_cause;

use self::field::{IndentedText, annotations, items, member, number, pairs, part, texts, words};
use serde_json::Value;

/// Describes a pod template. The text ends with a newline, and its escape characters are escaped.
#[must_use]
pub fn pod_template_text(template: &Value) -> String {
    let mut text = IndentedText::default();
    let metadata = member(template, "metadata");
    let spec = member(template, "spec");
    text.line(0, "Pod Template:");
    text.listed("  Labels:\t", "\t", &pairs(member(metadata, "labels")));
    if member(metadata, "annotations").as_object().is_some_and(|members| !members.is_empty()) {
        let annotations = annotations(member(metadata, "annotations"), "");
        text.listed("  Annotations:\t", "\t", &annotations);
    }
    text.field_if_set(1, "Service Account", words(spec, "serviceAccountName"));
    let init_containers = items(spec, "initContainers");
    if !init_containers.is_empty() {
        container::describe(&mut text, "Init Containers", &init_containers);
    }
    container::describe(&mut text, "Containers", &items(spec, "containers"));
    volume::describe(&mut text, &items(spec, "volumes"));
    topology_spread(&mut text, &items(spec, "topologySpreadConstraints"));
    text.field_if_set(1, "Priority Class Name", words(spec, "priorityClassName"));
    text.listed("  Node-Selectors:\t", "\t", &pairs(member(spec, "nodeSelector")));
    text.listed("  Tolerations:\t", "\t", &tolerations(&items(spec, "tolerations")));
    scheduling_group(&mut text, member(spec, "schedulingGroup"));
    text.finish()
}

/// Writes the topology spread constraints, sorted by topology key.
fn topology_spread(text: &mut IndentedText, constraints: &[&Value]) {
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
    let mut requirements: Vec<_> = pairs(labels)
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
fn tolerations(tolerations: &[&Value]) -> Vec<String> {
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
fn scheduling_group(text: &mut IndentedText, group: &Value) {
    if group.is_object() {
        text.line(1, "SchedulingGroup:");
        text.field(1, "PodGroupName", words(group, "podGroupName"));
    }
}
