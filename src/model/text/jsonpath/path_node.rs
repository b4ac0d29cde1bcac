//! The parts of a JSONPath template, and values as Go's `fmt` prints them with `%v`.

use serde_json::Value;

/// A part of a template. Each turns a list of values into another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathNode {
    /// What is between braces: its parts one after another.
    List(Vec<PathNode>),
    /// Text outside of braces, or a literal, for each value one.
    Literal(Value),
    /// Text in quotes: one value, however many there were.
    Text(Value),
    /// `.name`: a member of objects.
    Field(String),
    /// `[start:end:step]`: elements of lists.
    Slice(Slice),
    /// `[?(left == right)]`: the elements that pass.
    Filter(Box<Filter>),
    /// `.*`: all members or elements.
    Wildcard,
    /// `..`: the value and all values in it that have members or elements.
    Recursive,
    /// `[a,b]`: the results of several parts.
    Union(Vec<Vec<PathNode>>),
    /// `range`: what follows, up to `end`, is evaluated for each value.
    Range,
    /// `end`.
    End,
    /// Another word, which is an error when it is evaluated.
    Unknown(String),
}

/// The elements of a list that a slice selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slice {
    /// The first index; counted from the end if negative.
    pub(super) start: Option<i64>,
    /// The index after the last.
    pub(super) end: SliceEnd,
    /// The distance between two indices.
    pub(super) step: Option<i64>,
}

/// The end of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SliceEnd {
    /// That of the list.
    #[default]
    OfList,
    /// An index.
    At(i64),
    /// The index after the start: the slice is a single element.
    AfterStart,
}

/// A filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) left: Vec<PathNode>,
    /// The comparison and its right side; none if the left side must only exist.
    pub(super) comparison: Option<(String, Vec<PathNode>)>,
}

/// Returns a value as Go prints it: `map[a:1 b:[x y]]`, `<nil>` for null.
#[must_use]
pub fn go_text(value: &Value) -> String {
    let joined = |words: Vec<String>| words.join(" ");
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => go_float(float),
            None => number.to_string(),
        },
        Value::Array(elements) => format!("[{}]", joined(elements.iter().map(go_text).collect())),
        Value::Object(members) => {
            // Sorted, as serde_json keeps them.
            let words = members.iter().map(|(name, member)| format!("{name}:{}", go_text(member)));
            format!("map[{}]", joined(words.collect()))
        }
    }
}

/// Returns a float with the fewest digits that identify it; with an exponent from a million on, as
/// `1.0000005e+06`.
fn go_float(float: f64) -> String {
    let scientific = format!("{float:e}");
    let exponent = scientific
        .split_once('e')
        .and_then(|(digits, exponent)| Some((digits, exponent.parse::<i32>().ok()?)));
    match exponent {
        Some((digits, exponent)) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => float.to_string(),
    }
}
