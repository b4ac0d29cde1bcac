//! The comparisons of filters, which compare values as Go's templates do.

use std::cmp::Ordering;

use serde_json::Value;

use super::path_node::{FoundValue, Numbers};

/// Compares two values by an operator of a filter.
pub(super) fn compare(
    operator: &str,
    left: FoundValue<'_>,
    right: FoundValue<'_>,
    of_document: Numbers,
) -> Result<bool, String> {
    passes(operator, Comparable::of(left, of_document)?, Comparable::of(right, of_document)?)
}

/// Returns the only value; none without one.
pub(super) fn only<'a>(values: &[FoundValue<'a>]) -> Result<Option<FoundValue<'a>>, String> {
    match values {
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        _ => Err("can only compare one element at a time".to_owned()),
    }
}

/// A value that Go's templates can compare.
#[derive(Clone, Copy)]
enum Comparable<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
}

impl<'a> Comparable<'a> {
    fn of(item: FoundValue<'a>, of_document: Numbers) -> Result<Self, String> {
        let is_exact = item.numbers(of_document) == Numbers::Exact;
        match item.value() {
            Value::Bool(flag) => Ok(Self::Bool(*flag)),
            Value::String(text) => Ok(Self::Text(text)),
            Value::Number(number) => match (number.as_i64().filter(|_| is_exact), number.as_f64()) {
                (Some(integer), _) => Ok(Self::Int(integer)),
                (None, Some(float)) => Ok(Self::Float(float)),
                (None, None) => Err(not_comparable()),
            },
            Value::Null | Value::Array(_) | Value::Object(_) => Err(not_comparable()),
        }
    }
}

fn passes(operator: &str, left: Comparable<'_>, right: Comparable<'_>) -> Result<bool, String> {
    let order = match (left, right) {
        (Comparable::Bool(left), Comparable::Bool(right)) => match operator {
            "==" => return Ok(left == right),
            "!=" => return Ok(left != right),
            _ => return Err(not_comparable()),
        },
        (Comparable::Int(left), Comparable::Int(right)) => Some(left.cmp(&right)),
        (Comparable::Float(left), Comparable::Float(right)) => left.partial_cmp(&right),
        (Comparable::Text(left), Comparable::Text(right)) => Some(left.cmp(right)),
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

fn not_comparable() -> String {
    "invalid type for comparison".to_owned()
}
