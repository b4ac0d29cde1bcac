//! The facts that JSON documents have in common, which docs/json.md documents, and their form.

use std::time::Duration;

use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

use super::finding::members;
use crate::error::Error;
use crate::model::cause::{Cause, CauseSeverity};
use crate::model::change::restart::restart_command;
use crate::model::kind::Workload;
use crate::model::kind::verdict::Counts;
use crate::model::status::stale_configuration::{STALE_CONFIG, StaleConfiguration};
use crate::model::text::json::html_escaped;
use crate::model::view::RolloutView;

/// Returns the facts of a rollout that all documents have in common.
pub(super) fn rollout_json(view: &RolloutView) -> Value {
    json!({
        "workload": workload_json(&view.workload),
        "revision": view.revision,
        "revisionName": view.revision_name,
        "state": view.state().word(),
        "message": view.verdict.line,
        "since": view.since.map(|since| since.to_string()),
        "pods": pods_json(view.counts, view.available),
        "outage": view.is_outage,
        "nextChangeHold": view.next_change_hold,
        "hint": view.hint(),
        "causes": view.causes.iter().map(cause_json).collect::<Vec<_>>(),
        "unknown": view.unknown,
    })
}

/// Returns an event with its facts: one of several documents of a command.
pub(super) fn event_document(kind: &str, event: &str, elapsed: Duration, facts: Value) -> Value {
    let mut document = document(kind, facts);
    document["event"] = event.into();
    document["elapsedMilliseconds"] = milliseconds(elapsed).into();
    document
}

/// Returns the document of a kind with these facts.
pub(super) fn document(kind: &str, facts: Value) -> Value {
    let mut document = json!({"apiVersion": "rollout2/v1", "kind": kind});
    merge(&mut document, facts);
    document
}

/// Adds the fields of one document to another one.
pub(super) fn merge(document: &mut Value, facts: Value) {
    if let (Value::Object(document), Value::Object(facts)) = (document, facts) {
        document.extend(facts);
    }
}

/// Returns the identity of a workload as JSON.
pub(super) fn workload_json(workload: &Workload) -> Value {
    let object = workload.object();
    json!({
        "apiVersion": workload.api_version(),
        "kind": object.kind(),
        "namespace": object.namespace(),
        "name": object.name(),
        "uid": object.uid(),
        "generation": object.generation(),
    })
}

/// Returns a revision as JSON: its number, or the name of its object before it has a number.
pub(super) fn revision_json(label: &str) -> Value {
    label.parse::<i64>().map_or_else(|_| json!(label), Value::from)
}

/// Returns the pod counters of a workload's status as JSON, with the pods that are available by its own `minReadySeconds`.
pub(super) fn pods_json(counts: Counts, available: Option<i64>) -> Value {
    json!({
        "wanted": counts.wanted,
        "expectedUpdated": counts.released,
        "total": counts.total,
        "updated": counts.updated,
        "ready": counts.ready,
        "available": available,
    })
}

/// Returns a cause as JSON.
pub(super) fn cause_json(cause: &Cause) -> Value {
    json!({
        "id": cause.id.name(),
        "transient": cause.severity == CauseSeverity::MayPass,
        "hold": cause.severity == CauseSeverity::Hold,
        "summary": cause.summary(),
        "container": cause.container,
        "pods": cause.pods.len(),
        "example": cause.pods.first(),
        "restarts": cause.restarts,
        "evidence": cause.evidence,
    })
}

/// Returns the remarks about a workload as JSON.
pub(super) fn remarks_json(workload: &Workload, stale: &[StaleConfiguration]) -> Value {
    let remark = |one: &StaleConfiguration| {
        json!({
            "id": STALE_CONFIG,
            "object": one.object.target(),
            "changedAt": one.change.time.to_string(),
            "changedBy": one.change.manager,
            "pods": one.pods,
            "command": restart_command(workload),
        })
    };
    stale.iter().map(remark).collect()
}

/// Returns a duration in whole milliseconds.
pub(super) fn milliseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the document of an error, with the exit code that it causes.
#[must_use]
pub fn error_document(error: &Error, exit: u8) -> Value {
    let mut facts = members(&error.into());
    facts["exitCode"] = exit.into();
    document("Error", facts)
}

/// Returns several documents as one: a list of Kubernetes, whose items can be of any kind.
#[must_use]
pub fn list_document(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

/// Returns one document with errors: as the last items of a list, or else in a list beside the document. `None` if there is
/// neither a document nor an error.
#[must_use]
pub fn with_errors(document: Option<Value>, errors: Vec<Value>) -> Option<Value> {
    let mut documents = errors;
    if let Some(mut document) = document {
        if let Some(items) = document.get_mut("items").and_then(Value::as_array_mut) {
            items.append(&mut documents);
            return Some(document);
        }
        documents.insert(0, document);
    }
    if documents.len() > 1 { Some(list_document(&documents)) } else { documents.pop() }
}

/// Returns a document with kubectl's indentation of four spaces and Go's escapes for HTML, and with a newline at the end. The
/// members are sorted by name.
#[must_use]
pub fn kubectl_json(object: &Value) -> String {
    let mut document = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut document, PrettyFormatter::with_indent(b"    "));
    let written = object.serialize(&mut serializer);
    debug_assert!(written.is_ok(), "a value is JSON, and a vector has room");
    html_escaped(&String::from_utf8_lossy(&document)) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_maps_and_lists_stay_on_one_line() {
        let written =
            "{\n    \"a\": {},\n    \"b\": [],\n    \"c\": [\n        null,\n        {}\n    ]\n}\n";
        assert_eq!(kubectl_json(&json!({"c": [null, {}], "b": [], "a": {}})), written);
        assert_eq!(kubectl_json(&json!(null)), "null\n");
    }

    #[test]
    fn texts_are_escaped_as_go_does() {
        let text = "<a href=\"x\">&\u{2028}\u{2029}\u{1b}\t\n\\é\u{7f}\u{8}";
        let written = "\"\\u003ca href=\\\"x\\\"\\u003e\\u0026\\u2028\\u2029\\u001b\\t\\n\\\\é\u{7f}\\b\"\n";
        assert_eq!(kubectl_json(&text.into()), written);
    }
}
