//! kubectl's description of a pod template (`DescribePodTemplate` in `describe.go`), as printed by `kubectl rollout history
//! --revision`. Volumes and topology spread constraints are YAML, where kubectl has words for each source of a volume.
//!
//! kubectl leaves out many fields, such as affinity, security contexts and pull policies. So two different templates
//! may have the same description. No function here fails: a field of the wrong type counts as not set, where
//! kubectl would fail for the whole object.

mod container;
mod field;

pub use field::with_change_cause;

use self::field::{IndentedText, annotations, items, member, members, pairs, words};
use serde_json::Value;

/// Describes a pod template. The text ends with a newline, and its escape characters are escaped.
#[must_use]
pub fn pod_template_text(template: &Value) -> String {
    let mut text = IndentedText::default();
    let metadata = member(template, "metadata");
    let spec = member(template, "spec");
    text.line(0, "Pod Template:");
    text.listed("Labels", &pairs(member(metadata, "labels")));
    if member(metadata, "annotations").as_object().is_some_and(|members| !members.is_empty()) {
        text.listed("Annotations", &annotations(member(metadata, "annotations")));
    }
    text.field_if_set("Service Account", words(spec, "serviceAccountName"));
    let init_containers = items(spec, "initContainers");
    if !init_containers.is_empty() {
        container::describe(&mut text, "Init Containers", &init_containers);
    }
    container::describe(&mut text, "Containers", &items(spec, "containers"));
    volumes(&mut text, &items(spec, "volumes"));
    let topology = member(spec, "topologySpreadConstraints");
    if topology.as_array().is_some_and(|constraints| !constraints.is_empty()) {
        text.line(1, "Topology Spread Constraints:");
        text.yaml(topology);
    }
    text.field_if_set("Priority Class Name", words(spec, "priorityClassName"));
    text.listed("Node-Selectors", &pairs(member(spec, "nodeSelector")));
    text.listed("Tolerations", &tolerations(&items(spec, "tolerations")));
    scheduling_group(&mut text, member(spec, "schedulingGroup"));
    text.finish()
}

/// Writes the volumes, each with its source as YAML.
fn volumes(text: &mut IndentedText, volumes: &[&Value]) {
    text.line(1, format_args!("Volumes:{}", if volumes.is_empty() { "\t<none>" } else { "" }));
    for volume in volumes {
        text.line(0, format_args!("   {}:", words(volume, "name")));
        let source = members(volume).into_iter().filter(|(name, _)| name != "name");
        text.yaml(&source.collect());
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
