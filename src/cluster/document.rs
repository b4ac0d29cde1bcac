//! Parses text into objects: JSON or YAML, one or several documents, with Lists flattened.

use serde::de::DeserializeSeed;
use serde_json::Value;

use super::budget::{ALL_OBJECTS, MemoryBudget};
use super::item::ItemSeed;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;

/// The limit of YAML aliases, through which a small text could expand without bound; kubectl writes none.
const MOST_ALIASES: usize = 100;

/// The limit of YAML nodes, which take about 1 GiB of memory.
const MOST_NODES: usize = 5_000_000;

/// The limit of nested Lists.
const DEEPEST_LIST: usize = 8;

/// Parses every object in a text.
///
/// `origin` names the text in errors: a path, or `standard input`.
///
/// # Errors
/// When the text is empty, is neither JSON nor YAML, or contains a value that is not an object.
pub fn read_objects(text: &str, origin: &str) -> Result<Vec<Object>> {
    read_within(text, origin, &mut MemoryBudget::new(ALL_OBJECTS))
}

/// Parses every object in a text, within a memory budget that several texts share.
pub(super) fn read_within(text: &str, origin: &str, budget: &mut MemoryBudget) -> Result<Vec<Object>> {
    let mut objects = Vec::new();
    for document in read_documents(text, origin, budget)? {
        flatten(document, origin, DEEPEST_LIST, &mut objects)?;
    }
    if objects.is_empty() && text.trim().is_empty() {
        return Err(Error::new(ErrorKind::File, format!("{origin} is empty")));
    }
    Ok(objects)
}

fn read_documents(text: &str, origin: &str, budget: &mut MemoryBudget) -> Result<Vec<Value>> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with(['{', '[']) {
        let mut json = serde_json::Deserializer::from_str(text);
        let mut documents = Vec::new();
        while json.end().is_err() {
            let document = ItemSeed::whole(budget).deserialize(&mut json);
            documents.push(document.map_err(|error| unreadable(origin, "JSON", &error))?);
        }
        return Ok(documents);
    }
    let size = text.len().clamp(1 << 16, MOST_NODES);
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_aliases: MOST_ALIASES,
            max_anchors: MOST_ALIASES,
            max_events: size,
            max_nodes: size,
            max_documents: size,
            max_total_scalar_bytes: text.len().max(1 << 16),
        },
    };
    serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| unreadable(origin, "YAML", &error))
}

fn flatten(document: Value, origin: &str, depth: usize, objects: &mut Vec<Object>) -> Result<()> {
    let items = match document {
        Value::Null => return Ok(()), // an empty document between two `---`
        Value::Array(items) => items,
        Value::Object(mut members) if is_list(&members) => match members.remove("items") {
            Some(Value::Array(items)) => items,
            None | Some(Value::Null) => Vec::new(),
            Some(_) => return Err(not_objects(origin, "a List whose items are not a list")),
        },
        document => {
            objects.push(
                Object::read(document).map_err(|why| not_objects(origin, &format!("a value that {why}")))?,
            );
            return Ok(());
        }
    };
    if depth == 0 {
        return Err(not_objects(origin, "Lists nested too deeply"));
    }
    items.into_iter().try_for_each(|item| flatten(item, origin, depth - 1, objects))
}

/// Whether this is a `List`, a `DeploymentList` or the like, which has no name.
fn is_list(members: &serde_json::Map<String, Value>) -> bool {
    members.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"))
        && members.get("metadata").is_none_or(|metadata| metadata.get("name").is_none())
}

/// A parser's message may span several lines to show the position; only the first describes the error.
fn unreadable(origin: &str, format: &str, error: &dyn std::fmt::Display) -> Error {
    let cause = error.to_string();
    let cause = cause.lines().next().unwrap_or_default().trim();
    Error::new(ErrorKind::File, format!("cannot parse {origin} as {format}"))
        .caused_by(cause.strip_prefix("error: ").unwrap_or(cause))
}

fn not_objects(origin: &str, what: &str) -> Error {
    Error::new(ErrorKind::File, format!("{origin} does not contain Kubernetes objects: it has {what}"))
        .hint("record one with: kubectl get deploy,rs,sts,ds,controllerrevisions,pods,events -o yaml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        read_objects(text, "x").unwrap().iter().map(|object| object.name().to_owned()).collect()
    }

    #[test]
    fn every_form_that_kubectl_writes_is_parsed() {
        for text in [
            r#"{"kind": "List", "items": [{"kind": "A", "metadata": {"name": "a"}}, {"kind": "A", "metadata": {"name": "b"}}]}"#,
            "{\"kind\": \"A\", \"metadata\": {\"name\": \"a\"}}\n{\"kind\": \"A\", \"metadata\": {\"name\": \"b\"}}",
            "\u{feff}kind: A\nmetadata: {name: a}\n---\n---\nkind: A\nmetadata: {name: b}\n",
            "kind: List\nitems:\n- kind: PodList\n  items:\n  - kind: A\n    metadata:\n      name: a\n- kind: A\n  metadata:\n    name: b\n",
        ] {
            assert_eq!(names(text), ["a", "b"], "{text}");
        }
        assert_eq!(names(r#"{"kind": "List", "items": []}"#), [""; 0]);
    }

    #[test]
    fn other_text_is_rejected_with_one_line() {
        for text in [
            "",
            " \n",
            "{",
            "{\"kind\": 1}",
            "a: [",
            "just words",
            "- 1",
            "kind: Pod",
            "{\"kind\": \"List\", \"items\": 3}",
            "a: &a [x]\nb: *c",
            "\u{0}\u{1}",
            &"[".repeat(100_000),
        ] {
            let error = read_objects(text, "x.yaml").unwrap_err();
            assert_eq!(error.exit().code(), 2, "{text:.20}");
            assert_eq!(error.sentence().lines().count(), 1, "{}", error.sentence());
        }
    }
}
