//! Text into objects: JSON or YAML, one document or several, Lists flattened.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::model::object::Object;

/// A parser for YAML has to bound what a small text may expand to; aliases are what expands, and
/// kubectl never writes them. All other limits follow the size of the text, so that a snapshot of
/// any size can be read.
const MOST_ALIASES: usize = 100;

/// Lists nest only by mistake or malice.
const DEEPEST_LIST: usize = 8;

/// Reads every object in a text.
///
/// `origin` names the text in errors: a path, or `standard input`.
///
/// # Errors
/// When the text is empty, is no JSON or YAML, or holds something that is no object.
pub fn read_objects(text: &str, origin: &str) -> Result<Vec<Object>> {
    let mut objects = Vec::new();
    for document in read_documents(text, origin)? {
        flatten(document, origin, DEEPEST_LIST, &mut objects)?;
    }
    if objects.is_empty() && text.trim().is_empty() {
        return Err(Error::new(ErrorKind::File, format!("{origin} is empty")));
    }
    Ok(objects)
}

fn read_documents(text: &str, origin: &str) -> Result<Vec<Value>> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with(['{', '[']) {
        let documents = serde_json::Deserializer::from_str(text).into_iter();
        return documents.collect::<Result<_, _>>().map_err(|error| unreadable(origin, "JSON", &error));
    }
    let size = text.len().max(1 << 16);
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_aliases: MOST_ALIASES,
            max_anchors: MOST_ALIASES,
            max_events: size,
            max_nodes: size,
            max_documents: size,
            max_total_scalar_bytes: size,
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
            Some(_) => return Err(not_objects(origin, "a List whose items are no list")),
        },
        document => {
            objects.push(
                Object::read(document)
                    .map_err(|why| not_objects(origin, &format!("something that {why}")))?,
            );
            return Ok(());
        }
    };
    if depth == 0 {
        return Err(not_objects(origin, "Lists within Lists without end"));
    }
    items.into_iter().try_for_each(|item| flatten(item, origin, depth - 1, objects))
}

/// `List`, `DeploymentList` and their like, which have items and no name of their own.
fn is_list(members: &serde_json::Map<String, Value>) -> bool {
    members.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"))
        && members.get("metadata").is_none_or(|metadata| metadata.get("name").is_none())
}

/// A parser's message may run over several lines, to show the place; only the first says what is wrong.
fn unreadable(origin: &str, format: &str, error: &dyn std::fmt::Display) -> Error {
    let cause = error.to_string();
    Error::new(ErrorKind::File, format!("{origin} is not readable as {format}"))
        .caused_by(cause.lines().next().unwrap_or_default().trim())
}

fn not_objects(origin: &str, what: &str) -> Error {
    Error::new(ErrorKind::File, format!("{origin} does not hold Kubernetes objects: it has {what}"))
        .hint("record one with: kubectl get deploy,rs,sts,ds,controllerrevisions,pods,events -o yaml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        read_objects(text, "x").unwrap().iter().map(|object| object.name().to_owned()).collect()
    }

    #[test]
    fn every_shape_that_kubectl_writes_is_read() {
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
    fn what_is_no_object_is_refused_in_one_line() {
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
