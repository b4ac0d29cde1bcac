//! Applying changes to the template they start from.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::change::Change;
use super::keys;
use super::path::Step;
use crate::model::template::Template;

/// FROM with the changes made: TO, but with the elements of keyed lists in FROM's order, new ones
/// last. That is the form in which a line diff shows the changes and nothing else.
///
/// One walk, whatever the number of changes: taking them one after the other would search every list
/// once a change, and a megabyte of env takes minutes that way.
#[must_use]
pub fn apply(from: &Value, changes: &[Change]) -> Value {
    let edits = changes.iter().map(|change| Edit { steps: change.path.steps(), to: &change.to }).collect();
    let applied = edit("", Some(from.clone()), edits).unwrap_or(Value::Null);
    // An emptied map or list says the same as none; the canonical form says which.
    Template::new(&applied).canonical()
}

/// What remains to be done below some value.
struct Edit<'a> {
    steps: &'a [Step],
    to: &'a Option<Value>,
}

fn edit(member: &str, value: Option<Value>, edits: Vec<Edit<'_>>) -> Option<Value> {
    if let Some(here) = edits.iter().rfind(|edit| edit.steps.is_empty()) {
        return here.to.clone();
    }
    match edits.first().and_then(|edit| edit.steps.first()) {
        None => value,
        Some(Step::Member(_)) => Some(Value::Object(edit_members(value, edits))),
        Some(Step::Element(_)) => Some(Value::Array(edit_elements(member, value, edits))),
    }
}

fn edit_members(value: Option<Value>, edits: Vec<Edit<'_>>) -> Map<String, Value> {
    let mut members = match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    for (step, below) in by_first_step(edits) {
        let Step::Member(name) = step else { continue };
        let old = members.remove(name);
        if let Some(new) = edit(name, old, below) {
            members.insert(name.clone(), new);
        }
    }
    members
}

fn edit_elements(list: &str, value: Option<Value>, edits: Vec<Edit<'_>>) -> Vec<Value> {
    let elements = match value {
        Some(Value::Array(elements)) => elements,
        _ => Vec::new(),
    };
    let keys = keys::keys(list, &elements).unwrap_or_default();
    let places: HashMap<String, usize> =
        keys.into_iter().enumerate().map(|(place, key)| (key, place)).collect();
    let mut elements: Vec<Option<Value>> = elements.into_iter().map(Some).collect();
    for (step, below) in by_first_step(edits) {
        let Step::Element(key) = step else { continue };
        match places.get(key) {
            Some(&place) => elements[place] = edit("", elements[place].take(), below),
            None => elements.push(edit("", None, below)),
        }
    }
    elements.into_iter().flatten().collect()
}

/// The edits grouped by their first step, the groups in order of their first edit.
fn by_first_step(edits: Vec<Edit<'_>>) -> Vec<(&Step, Vec<Edit<'_>>)> {
    let mut groups: Vec<(&Step, Vec<Edit<'_>>)> = Vec::new();
    let mut places = HashMap::new();
    for Edit { steps, to } in edits {
        let Some((first, rest)) = steps.split_first() else { continue };
        let place = *places.entry(first).or_insert_with(|| {
            groups.push((first, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(Edit { steps: rest, to });
    }
    groups
}
