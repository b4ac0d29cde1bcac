//! kubectl's description of a pod template (`DescribePodTemplate` in `describe.go`), identical to the byte, as
//! printed by `kubectl rollout history --revision`.
//!
//! kubectl leaves out many fields, such as affinity, security contexts and pull policies. So two different templates
//! may have the same description. No function here fails: a field of the wrong type counts as not set, where
//! kubectl would fail for the whole object.

mod container;
mod environment;
mod field;
mod metadata;
mod probe;
mod scheduling;
mod volume;

use serde_json::Value;

pub use metadata::with_change_cause;

use field::IndentedText;
use field::{items, member, words};

/// Describes a pod template. The text ends with a newline, and its escape characters are escaped.
#[must_use]
pub fn pod_template_text(template: &Value) -> String {
    let mut text = IndentedText::default();
    let metadata = member(template, "metadata");
    let spec = member(template, "spec");
    text.line(0, "Pod Template:");
    text.listed("  Labels:\t", "\t", &metadata::pairs(member(metadata, "labels")));
    if has_members(member(metadata, "annotations")) {
        let annotations = metadata::annotations(member(metadata, "annotations"), "");
        text.listed("  Annotations:\t", "\t", &annotations);
    }
    text.field_if_set(1, "Service Account", words(spec, "serviceAccountName"));
    let init_containers = items(spec, "initContainers");
    if !init_containers.is_empty() {
        container::describe(&mut text, "Init Containers", &init_containers);
    }
    container::describe(&mut text, "Containers", &items(spec, "containers"));
    volume::describe(&mut text, &items(spec, "volumes"));
    scheduling::topology_spread(&mut text, &items(spec, "topologySpreadConstraints"));
    text.field_if_set(1, "Priority Class Name", words(spec, "priorityClassName"));
    text.listed("  Node-Selectors:\t", "\t", &metadata::pairs(member(spec, "nodeSelector")));
    text.listed("  Tolerations:\t", "\t", &scheduling::tolerations(&items(spec, "tolerations")));
    scheduling::group(&mut text, member(spec, "schedulingGroup"));
    text.finish()
}

fn has_members(value: &Value) -> bool {
    value.as_object().is_some_and(|members| !members.is_empty())
}
