//! Finds the objects in a text: JSON or YAML, one or several documents, with Lists flattened.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::budget::{ALL_OBJECTS, MemoryBudget};
use super::item::TOO_LARGE;
use super::record::{Document, Items, Record};
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
pub fn read_objects(text: String, origin: &str) -> Result<Vec<Object>> {
    let mut budget = MemoryBudget::new(ALL_OBJECTS);
    let records = index(text, origin, &mut budget)?;
    records.iter().map(|record| parse(record, origin, &mut budget)).collect()
}

/// Parses the object of a record.
pub(super) fn parse(record: &Record, origin: &str, budget: &mut MemoryBudget) -> Result<Object> {
    record.object(budget).map_err(|error| unreadable(origin, "JSON", &error))
}

/// Finds every object in a text, within a memory budget that several texts share.
///
/// # Errors
/// As [`read_objects`].
pub(super) fn index(text: String, origin: &str, budget: &mut MemoryBudget) -> Result<Vec<Record>> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.is_empty() {
        return Err(Error::new(ErrorKind::File, format!("{origin} is empty")));
    }
    let json = if start.starts_with(['{', '[']) { text } else { json_of_yaml(&text, origin)? };
    let json = Arc::new(json);
    let mut index = Index { json: &json, origin, budget, records: Vec::new() };
    let mut rest = json.trim_start_matches('\u{feff}');
    while !rest.trim_start().is_empty() {
        rest = index.add(rest.trim_start(), DEEPEST_LIST)?;
    }
    Ok(index.records)
}

/// Returns the documents of a YAML text as one JSON array.
fn json_of_yaml(text: &str, origin: &str) -> Result<String> {
    let text = text.trim_start_matches('\u{feff}');
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
    let documents = serde_saphyr::from_multiple_with_options::<Value>(text, options)
        .map_err(|error| unreadable(origin, "YAML", &error))?;
    serde_json::to_string(&documents).map_err(|error| unreadable(origin, "YAML", &error))
}

/// The objects that were found in a JSON text.
struct Index<'a> {
    json: &'a Arc<String>,
    origin: &'a str,
    budget: &'a mut MemoryBudget,
    records: Vec<Record>,
}

impl<'a> Index<'a> {
    /// Adds the objects of the first value in a part of the text. Returns the text after this value.
    fn add(&mut self, text: &'a str, depth: usize) -> Result<&'a str> {
        match text.as_bytes().first() {
            Some(b'{') => {
                let (document, rest) = self.read::<Document<'a>>(text)?;
                match document.list_items().map(|items| items.map_or("null", RawValue::get)) {
                    Some("null") => {}
                    Some(items) if items.starts_with('[') => drop(self.add(items, depth)?),
                    Some(_) => return Err(not_objects(self.origin, "a List whose items are not a list")),
                    None => self.add_object(document, text, rest)?,
                }
                Ok(rest)
            }
            Some(b'[') if depth == 0 => Err(not_objects(self.origin, "Lists nested too deeply")),
            Some(b'[') => {
                let (items, rest) = self.read::<Items<'a>>(text)?;
                for item in items.0 {
                    self.add(item.get(), depth - 1)?;
                }
                Ok(rest)
            }
            _ => match self.read::<&RawValue>(text)? {
                (value, rest) if value.get() == "null" => Ok(rest), // an empty document between two `---`
                _ => Err(not_objects(self.origin, "a value that is not a JSON object")),
            },
        }
    }

    /// Adds the object at the start of `text`. `rest` is the text after it.
    fn add_object(&mut self, document: Document<'a>, text: &str, rest: &str) -> Result<()> {
        let header =
            document.header().map_err(|why| not_objects(self.origin, &format!("a value that {why}")))?;
        if !self.budget.take(header.size()) {
            return Err(unreadable(self.origin, "JSON", &TOO_LARGE));
        }
        // `text` is a part of `json`.
        let start = text.as_ptr().addr() - self.json.as_ptr().addr();
        let end = start + text.len() - rest.len();
        self.records.push(Record::new(header, self.json, start..end));
        Ok(())
    }

    /// Reads the first value of a text.
    fn read<T: Deserialize<'a>>(&self, text: &'a str) -> Result<(T, &'a str)> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter();
        match values.next() {
            Some(Ok(value)) => Ok((value, text.get(values.byte_offset()..).unwrap_or_default())),
            Some(Err(error)) => Err(unreadable(self.origin, "JSON", &error)),
            None => Err(unreadable(self.origin, "JSON", &"it ends early")),
        }
    }
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
        read_objects(text.to_owned(), "x").unwrap().iter().map(|object| object.name().to_owned()).collect()
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
            let error = read_objects(text.to_owned(), "x.yaml").unwrap_err();
            assert_eq!(error.exit().code(), 2, "{text:.20}");
            assert_eq!(error.sentence().lines().count(), 1, "{}", error.sentence());
        }
    }
}
