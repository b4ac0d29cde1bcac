//! Finds the objects in a text: JSON or YAML, one or several documents, with Lists flattened.

use std::sync::Arc;

use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::json::{LIMIT, TOO_LARGE};
use super::record::{Document, Items, MOST_OBJECTS, Record};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::text::json::data_problem;

/// The command that records a whole snapshot.
pub(super) const HOW_TO_RECORD: &str =
    "record one with: kubectl get deploy,rs,sts,ds,controllerrevisions,pods,events -o yaml > snapshot.yaml";

/// The limit of YAML aliases, through which a small text could expand without bound; kubectl writes none.
const MOST_ALIASES: usize = 100;

/// The limit of YAML nodes, which take about 1 GiB of memory.
const MOST_NODES: usize = 5_000_000;

/// Parses every object in a text.
///
/// `origin` names the text in errors: a path, or `standard input`.
///
/// # Errors
/// When the text is empty, is neither JSON nor YAML, or contains a value that is not an object.
pub fn read_objects(text: String, origin: &str) -> Result<Vec<Object>> {
    parsed(&index(text, origin)?, origin, |object| object)
}

/// Parses the objects of records, and returns what `keep` makes of each.
///
/// # Errors
/// When an object cannot be parsed, or all of them together take too much memory.
pub(super) fn parsed<'r, T>(
    records: impl IntoIterator<Item = &'r Record>,
    origin: &str,
    keep: impl Fn(Object) -> T,
) -> Result<Vec<T>> {
    let mut size = 0_usize;
    let records = records.into_iter().map(|record| {
        size = size.saturating_add(record.parsed_size());
        if size > LIMIT {
            Err(unreadable(origin, "JSON", &TOO_LARGE))
        } else {
            object_of(record, origin).map(&keep)
        }
    });
    records.collect()
}

/// Parses the object of a record. `origin` names the text in errors.
///
/// # Errors
/// When the object is too large, or has too many levels.
pub(super) fn object_of(record: &Record, origin: &str) -> Result<Object> {
    record.object().map_err(|error| unreadable(origin, "JSON", &json_problem(&error)))
}

/// Finds every object in a text.
///
/// # Errors
/// As [`read_objects`].
pub(super) fn index(text: String, origin: &str) -> Result<Vec<Record>> {
    let start = text.trim_start();
    if start.is_empty() {
        return Err(Error::new(ErrorKind::File, format!("{origin} is empty")));
    }
    let json = if start.starts_with(['{', '[']) { text } else { json_of_yaml(&text, origin)? };
    let json = Arc::new(json);
    let mut records = Vec::new();
    let documents = serde_json::Deserializer::from_str(&json).into_iter();
    for document in documents {
        let document: &RawValue = document.map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let problem = format!("line {line} column {column}: {}", json_problem(&error));
            unreadable(origin, "JSON", &problem)
        })?;
        add_objects(document.get(), &json, origin, &mut records)?;
    }
    Ok(records)
}

/// Returns the documents of a YAML text as one JSON array.
fn json_of_yaml(text: &str, origin: &str) -> Result<String> {
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
        legacy_octal_numbers: true, // as in kubectl, `defaultMode: 0644` is 420
    };
    let documents = serde_saphyr::from_multiple_with_options::<Value>(text, options)
        .map_err(|error| unreadable(origin, "YAML", &error))?;
    serde_json::to_string(&documents).map_err(|error| unreadable(origin, "YAML", &error))
}

/// Adds the objects of a value, which is a part of a JSON text. The parser limits how deeply Lists are nested.
fn add_objects(part: &str, whole: &Arc<String>, origin: &str, records: &mut Vec<Record>) -> Result<()> {
    let invalid = |error| unreadable(origin, "JSON", &json_problem(&error));
    match part.as_bytes().first() {
        Some(b'{') => {
            let document: Document<'_> = serde_json::from_str(part).map_err(invalid)?;
            match document.list_items() {
                Some("null") => Ok(()),
                Some(items) if items.starts_with('[') => {
                    let Some(members) = document.members_of_items() else {
                        return add_objects(items, whole, origin, records);
                    };
                    let items: Items<'_> = serde_json::from_str(items).map_err(invalid)?;
                    items.0.into_iter().try_for_each(|item| match typed(item.get(), &members) {
                        Some(typed) => {
                            let typed = Arc::new(typed);
                            add_objects(&typed, &typed, origin, records)
                        }
                        None => add_objects(item.get(), whole, origin, records),
                    })
                }
                Some(_) => Err(not_objects(origin, "a List whose items are not a list")),
                None if records.len() == MOST_OBJECTS => Err(unreadable(origin, "JSON", &TOO_LARGE)),
                None => {
                    let header = document
                        .header()
                        .map_err(|why| not_objects(origin, &format!("a value that {why}")))?;
                    let start = part.as_ptr().addr() - whole.as_ptr().addr();
                    records.push(Record::new(header, whole, start..start + part.len()));
                    Ok(())
                }
            }
        }
        Some(b'[') => {
            let items: Items<'_> = serde_json::from_str(part).map_err(invalid)?;
            let mut items = items.0.into_iter();
            items.try_for_each(|item| add_objects(item.get(), whole, origin, records))
        }
        _ if part == "null" => Ok(()), // an empty document between two `---`
        _ => Err(not_objects(origin, "a value that is not a JSON object")),
    }
}

/// Returns an item of a typed list with these members, if it has no kind: the API server leaves it out in a `PodList`, and so do
/// `kubectl cluster-info dump` and must-gather.
fn typed(item: &str, members: &str) -> Option<String> {
    let document: Document<'_> = serde_json::from_str(item).ok()?;
    let rest = item.strip_prefix('{').filter(|_| document.has_no_kind())?;
    let separator = if rest.trim_start().starts_with('}') { "" } else { "," };
    Some(format!("{{{members}{separator}{rest}"))
}

/// Returns what is wrong with a JSON text. Our own readers report their limits as errors of data.
fn json_problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match error.classify() {
        Category::Eof => "it ends early".to_owned(),
        Category::Syntax if text.starts_with("recursion limit") => "it is nested too deeply".to_owned(),
        Category::Syntax | Category::Io => "invalid syntax".to_owned(),
        Category::Data => data_problem(error),
    }
}

/// A parser's message may span several lines to show the position; only the first describes the error. Two messages of
/// the YAML parser are for Rust programmers.
fn unreadable(origin: &str, format: &str, error: &dyn std::fmt::Display) -> Error {
    let cause = error.to_string();
    let cause = cause.lines().next().unwrap_or_default().trim();
    let cause = cause.strip_prefix("error: ").unwrap_or(cause);
    let position = |phrase: &'static str| cause.split_once(phrase);
    let cause = match (position("unexpected character: `\\u"), position("duplicate mapping key: ")) {
        (Some((position, _)), _) => format!("{position}a character that YAML does not allow"),
        (_, Some((position, key))) => {
            let key = key.rsplit_once(", set ").map_or(key, |(key, _)| key);
            format!("{position}the key {key:?} occurs twice")
        }
        _ => cause.to_owned(),
    };
    Error::new(ErrorKind::File, format!("cannot parse {origin} as {format}")).caused_by(cause)
}

fn not_objects(origin: &str, what: &str) -> Error {
    Error::new(ErrorKind::File, format!("{origin} does not contain Kubernetes objects: it has {what}"))
        .hint(HOW_TO_RECORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        read_objects(text.to_owned(), "x").unwrap().iter().map(|object| object.name().to_owned()).collect()
    }

    #[test]
    fn every_form_that_kubectl_writes_is_parsed() {
        for text in [
            r#"{"kind": "List", "items": [{"kind": "A", "metadata": {"name": "a"}}, {"kind": "A", "metadata": {"name": "b"}}]}"#,
            "{\"kind\": \"A\", \"metadata\": {\"name\": \"a\"}}\n{\"kind\": \"A\", \"metadata\": {\"name\": \"b\"}}",
            "kind: A\nmetadata: {name: a}\n---\n---\nkind: A\nmetadata: {name: b}\n",
            "kind: List\nitems:\n- kind: PodList\n  items:\n  - kind: A\n    metadata:\n      name: a\n- kind: A\n  metadata:\n    name: b\n",
        ] {
            assert_eq!(names(text), ["a", "b"], "{text}");
        }
        assert_eq!(names(r#"{"kind": "List", "items": []}"#), [""; 0]);
        // The items of a typed list have its kind, but for those with one of their own.
        let list = r#"{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}},
            {"kind": "B", "metadata": {"name": "b"}}, {"metadata": {"name": "c"}}]}"#;
        let records = index(list.to_owned(), "x.json").unwrap();
        let objects: Vec<_> = records.iter().map(|record| object_of(record, "x.json").unwrap()).collect();
        let kinds: Vec<_> = objects.iter().map(|object| (object.kind(), object.name())).collect();
        assert_eq!(kinds, [("Pod", "a"), ("B", "b"), ("Pod", "c")]);
    }

    #[test]
    fn a_mistake_in_json_has_a_line_and_a_column() {
        let object = r#"{"kind": "A", "metadata": {"name": "a"}}"#;
        for (text, problem) in [
            ("{\"kind\": \"A\",".to_owned(), "line 1 column 13: it ends early"),
            ("{\"kind\": \"A\" \"b\"}".to_owned(), "line 1 column 14: invalid syntax"),
            (format!("{object}\n\n  {{\"a\": 1,}}"), "line 3 column 11: invalid syntax"),
            (format!("{object} {{\n\"a\": 1,}}"), "line 2 column 8: invalid syntax"),
        ] {
            let error = read_objects(text, "x.json").unwrap_err();
            assert_eq!(error.to_string(), format!("cannot parse x.json as JSON: {problem}"));
        }
    }

    #[test]
    fn a_key_that_occurs_twice_is_named_with_its_position() {
        let text = "kind: A\nmetadata:\n  name: a\nspec:\n  replicas: 1\n  replicas: 2\n";
        let error = read_objects(text.to_owned(), "web.yaml").unwrap_err();
        let expected = "cannot parse web.yaml as YAML: line 6 column 3: the key \"replicas\" occurs twice";
        assert_eq!(error.to_string(), expected);
    }

    /// `sigs.k8s.io/yaml` reads YAML 1.1.
    #[test]
    fn numbers_of_yaml_are_those_of_kubectl() {
        for (text, expected) in [
            ("0644", serde_json::json!(420)),
            ("0o644", serde_json::json!(420)),
            ("644", serde_json::json!(644)),
            ("0", serde_json::json!(0)),
            ("'0644'", serde_json::json!("0644")),
        ] {
            let objects =
                read_objects(format!("kind: A\nmetadata: {{name: a}}\nspec: {text}\n"), "x").unwrap();
            assert_eq!(objects[0].at("/spec"), Some(&expected), "{text}");
        }
    }

    #[test]
    fn a_manifest_can_have_a_prefix_in_place_of_a_name() {
        let text = "kind: Job\nmetadata: {generateName: migrate-}\n---\nkind: A\nmetadata: {name: a}\n";
        assert_eq!(names(text), ["", "a"]);
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
            let error = read_objects(text.to_owned(), "x.yaml").unwrap_err();
            assert_eq!(error.exit().code(), 2, "{text:.20}");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
}
