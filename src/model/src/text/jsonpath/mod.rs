//! JSONPath in kubectl's dialect: the templates of `-o jsonpath` and the columns of `-o custom-columns`.
//!
//! It follows `client-go/util/jsonpath` of Kubernetes 1.36, which is older than RFC 9535 and differs from it:
//! text outside of braces, `{range}` and `{end}`, literals, a template without `$`, unions of paths, escaped dots in
//! keys, negative indices, and errors for an index out of bounds. The crates for RFC 9535 (`serde_json_path`,
//! `jsonpath-rust`) have none of these, so this is a separate evaluator. A missing field is no error, as with
//! kubectl's default `--allow-missing-template-keys`.
//!
//! It differs from kubectl in some ways. The members of an object are visited in the order of their names, while Go
//! has no order. `[*]` and `..` do not split a string into bytes. A template with `{range}` works for each of several
//! objects; kubectl's state is broken after the first. A loop without `{end}` ends with the template; kubectl then evaluates
//! its parts once more. Integers are printed as integers and compared with floats, also
//! those that kubectl reads as floats. Text in quotes has the escapes of JSON.

mod parse;

use std::cmp::Ordering;

use serde_json::Value;

use self::parse::{Filter, PathNode, Slice};
use crate::text::json::{go_json, go_text};

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    template: String,
    nodes: Vec<PathNode>,
}

impl JsonPath {
    /// Parses a template such as `{.metadata.name}`.
    ///
    /// # Errors
    /// kubectl's message.
    pub fn parse(template: &str) -> Result<Self, String> {
        Ok(Self { template: template.to_owned(), nodes: parse::parse(template)? })
    }

    /// Returns the template.
    #[must_use]
    pub fn template(&self) -> &str {
        &self.template
    }

    /// Returns what each part of the template finds in a document.
    ///
    /// # Errors
    /// kubectl's message, such as that of an index out of bounds.
    pub fn find<'a>(&'a self, document: &'a Value) -> Result<Vec<Vec<&'a Value>>, String> {
        let mut found = Vec::new();
        find_parts(&self.nodes, document, &mut found)?;
        Ok(found)
    }

    /// Returns the text that kubectl prints for a document.
    ///
    /// # Errors
    /// As [`JsonPath::find`].
    pub fn print(&self, document: &Value) -> Result<String, String> {
        let mut text = String::new();
        for found in self.find(document)? {
            text += &found.into_iter().map(printed).collect::<Vec<_>>().join(" ");
        }
        Ok(text)
    }
}

/// Returns the text for one result: compact JSON for objects and lists.
fn printed(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => go_json(value),
        Value::Null => "null".to_owned(),
        value => go_text(value),
    }
}

type FoundValues<'a> = Vec<&'a Value>;

/// Adds what each part of a template finds. The parts of a loop are evaluated for each value of its list.
fn find_parts<'a>(
    parts: &'a [PathNode],
    value: &'a Value,
    found: &mut Vec<FoundValues<'a>>,
) -> Result<(), String> {
    for part in parts {
        match part {
            PathNode::Range { list, parts } => {
                for value in walk_all(vec![value], list)? {
                    find_parts(parts, value, found)?;
                }
            }
            part => found.push(walk(vec![value], part)?),
        }
    }
    Ok(())
}

/// Evaluates parts one after another.
fn walk_all<'a>(values: FoundValues<'a>, nodes: &'a [PathNode]) -> Result<FoundValues<'a>, String> {
    nodes.iter().try_fold(values, walk)
}

fn walk<'a>(values: FoundValues<'a>, node: &'a PathNode) -> Result<FoundValues<'a>, String> {
    match node {
        PathNode::List(nodes) => walk_all(values, nodes),
        PathNode::Text(text) => Ok(vec![text]),
        PathNode::Literal(literal) => Ok(vec![literal; values.len()]),
        PathNode::Field(name) => {
            Ok(values.into_iter().filter_map(|value| value.as_object()?.get(name)).collect())
        }
        PathNode::Slice(slice) => elements(&values, *slice),
        PathNode::Filter(filter) => {
            let mut passed = Vec::new();
            for list in values {
                let Value::Array(elements) = list else {
                    let text = go_text(list);
                    return Err(format!("{text} is not array or slice and cannot be filtered"));
                };
                for element in elements {
                    if passes(element, filter)? {
                        passed.push(element);
                    }
                }
            }
            Ok(passed)
        }
        PathNode::Wildcard => Ok(values.into_iter().flat_map(children).collect()),
        PathNode::Recursive => Ok(values.into_iter().flat_map(descendants).collect()),
        PathNode::Union(parts) => {
            let parts = parts.iter().map(|nodes| walk_all(values.clone(), nodes));
            Ok(parts.collect::<Result<Vec<_>, _>>()?.concat())
        }
        PathNode::Range { list, .. } => walk_all(values, list),
        PathNode::Word(word) => Err(format!("unrecognized identifier {word}")),
    }
}

/// Whether an element passes a filter.
fn passes(element: &Value, filter: &Filter) -> Result<bool, String> {
    let left = walk_all(vec![element], &filter.left);
    let Some((operator, right)) = &filter.comparison else {
        return Ok(left.map_or(true, |left| !left.is_empty())); // in kubectl an error counts as a value
    };
    let Some(left) = only(&left?)? else { return Ok(false) };
    let right = walk_all(vec![element], right)?;
    let Some(right) = only(&right)? else { return Ok(false) };
    compare(operator, left, right)
}

/// Returns the members of an object, by name, or the elements of a list.
fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(elements) => elements.iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns a value and all values in it, each before those in it. A number, a flag and whatever is empty are left out.
fn descendants(value: &Value) -> Vec<&Value> {
    let inside = children(value);
    let is_text = value.as_str().is_some_and(|text| !text.is_empty());
    if inside.is_empty() && !is_text {
        return Vec::new();
    }
    std::iter::once(value).chain(inside.into_iter().flat_map(descendants)).collect()
}

/// Returns the elements of lists that a slice selects.
fn elements<'a>(lists: &[&'a Value], slice: Slice) -> Result<FoundValues<'a>, String> {
    let mut selected = Vec::new();
    for list in lists {
        let elements = match list {
            Value::Array(elements) => elements,
            Value::Null => continue,
            other => return Err(format!("{} is not array or slice", go_type(other))),
        };
        let length = i64::try_from(elements.len()).unwrap_or(i64::MAX);
        let from_end = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
        let (start, end) = (from_end(slice.start), slice.end.map_or(length, from_end));
        if start == end {
            break; // as kubectl, which leaves out the lists after an empty one
        }
        let out_of_bounds =
            |index: i64| Err(format!("array index out of bounds: index {index}, length {length}"));
        if !(0..length).contains(&start) {
            return out_of_bounds(start);
        }
        if !(0..=length).contains(&end) {
            return out_of_bounds(end - 1);
        }
        if start > end {
            return Err(format!("starting index {start} is greater than ending index {end}"));
        }
        let within = |index: usize| i64::try_from(index).is_ok_and(|index| (start..end).contains(&index));
        let within =
            elements.iter().enumerate().filter(|(index, _)| within(*index)).map(|(_, element)| element);
        selected.extend(within.step_by(slice.step));
    }
    Ok(selected)
}

/// Returns the name of a value's type in Go.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Returns the only value; none without one.
fn only<'a>(values: &[&'a Value]) -> Result<Option<&'a Value>, String> {
    match values {
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        _ => Err("can only compare one element at a time".to_owned()),
    }
}

/// Compares two values by an operator of a filter, as Go's templates do.
fn compare(operator: &str, left: &Value, right: &Value) -> Result<bool, String> {
    let order = match (left, right) {
        (Value::Bool(left), Value::Bool(right)) if ["==", "!="].contains(&operator) => Some(left.cmp(right)),
        (Value::Null | Value::Array(_) | Value::Object(_), _)
        | (_, Value::Null | Value::Array(_) | Value::Object(_))
        | (Value::Bool(_), Value::Bool(_)) => return Err("invalid type for comparison".to_owned()),
        (Value::Number(left), Value::Number(right)) => left.as_f64().partial_cmp(&right.as_f64()),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => return Err("incompatible types for comparison".to_owned()),
    };
    match operator {
        "==" => Ok(order == Some(Ordering::Equal)),
        "!=" => Ok(order != Some(Ordering::Equal)),
        "<" => Ok(order == Some(Ordering::Less)),
        "<=" => Ok(matches!(order, Some(Ordering::Less | Ordering::Equal))),
        ">" => Ok(order == Some(Ordering::Greater)),
        ">=" => Ok(matches!(order, Some(Ordering::Greater | Ordering::Equal))),
        other => Err(format!("unrecognized filter operator {other}")),
    }
}

#[cfg(test)]
mod tests;
