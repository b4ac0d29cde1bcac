//! The changes outside of the template.

use serde_json::{Map, Value, json};

use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::diff::{Change, Diff, SecretValues};
use crate::model::kind::Workload;
use crate::model::revision::template::Template;
use crate::model::text::secret::without_secrets;

/// The annotations that `kubectl apply`, the API server and the controllers write.
const GENERATED_ANNOTATIONS: [&str; 3] =
    [LAST_APPLIED, "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"];

/// Returns the changes of labels, annotations and the spec without the template. The spec of another API version has
/// other fields, so that it is not compared.
pub(super) fn changed(before: &Workload, after: &Workload, secrets: SecretValues) -> Vec<Change> {
    let has_spec = before.api_version() == after.api_version();
    let [from, to] = [before, after].map(|workload| Template::new(&own_fields(workload, has_spec)));
    let changes = Diff::between(&from, &to, secrets).changes().to_vec();
    match secrets {
        SecretValues::Shown => changes,
        SecretValues::Masked => changes.into_iter().map(masked).collect(),
    }
}

fn own_fields(workload: &Workload, has_spec: bool) -> Value {
    let object = workload.object();
    let members = |pointer: &str| object.at(pointer).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut annotations: Map<String, Value> = members("/metadata/annotations");
    annotations.retain(|name, _| !GENERATED_ANNOTATIONS.contains(&name.as_str()));
    let mut spec = if has_spec { members("/spec") } else { Map::new() };
    spec.remove("template");
    json!({"metadata": {"labels": members("/metadata/labels"), "annotations": annotations}, "spec": spec})
}

/// Annotations are free text, which can repeat a secret.
fn masked(change: Change) -> Change {
    let mask = |value: Option<Value>| {
        value.map(|value| match value {
            Value::String(text) => without_secrets(&text).into(),
            value => value,
        })
    };
    Change { path: change.path, from: mask(change.from), to: mask(change.to) }
}
