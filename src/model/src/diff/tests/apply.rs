//! The oracle of the list of changes: applied to the first template they give the second.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Change, PathStep, Template, element_keys};

/// Returns FROM with the changes applied, with new elements last in their lists.
pub(super) fn apply(from: &Value, changes: &[Change]) -> Value {
    let edits = changes.iter().map(|Change { path, to, .. }| (path.steps(), to));
    let applied = edit("", Some(from.clone()), edits.collect()).unwrap_or_default();
    // The canonical form removes emptied maps and lists.
    Template::new(&applied).canonical()
}

/// What remains of the paths below some value, with the value to set.
type Edits<'a> = Vec<(&'a [PathStep], &'a Option<Value>)>;

fn edit(member: &str, value: Option<Value>, edits: Edits<'_>) -> Option<Value> {
    if let Some((_, here)) = edits.iter().rfind(|(steps, _)| steps.is_empty()) {
        return Option::clone(here);
    }
    match edits.first().and_then(|(steps, _)| steps.first()) {
        None => value,
        Some(PathStep::Member(_)) => Some(edit_members(value, edits).into()),
        Some(PathStep::Element(_)) => Some(edit_elements(member, value, edits).into()),
    }
}

fn edit_members(value: Option<Value>, edits: Edits<'_>) -> Map<String, Value> {
    let mut members = match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    for (step, below) in by_first_step(edits) {
        let PathStep::Member(name) = step else { continue };
        let new = edit(name, members.remove(name), below);
        members.extend(new.map(|new| (name.clone(), new)));
    }
    members
}

fn edit_elements(list: &str, value: Option<Value>, edits: Edits<'_>) -> Vec<Value> {
    let elements = match value {
        Some(Value::Array(elements)) => elements,
        _ => Vec::new(),
    };
    let keys = element_keys(list, &elements).unwrap_or_default();
    let mut elements: Vec<Option<Value>> = elements.into_iter().map(Some).collect();
    for (step, below) in by_first_step(edits) {
        let PathStep::Element(key) = step else { continue };
        match keys.iter().position(|known| known == key) {
            Some(index) => elements[index] = edit("", elements[index].take(), below),
            None => elements.push(edit("", None, below)),
        }
    }
    elements.into_iter().flatten().collect()
}

/// Groups the edits by their first step, in the order of their first edit.
fn by_first_step(edits: Edits<'_>) -> Vec<(&PathStep, Edits<'_>)> {
    let mut groups: Vec<(&PathStep, Edits<'_>)> = Vec::new();
    let mut indexes = HashMap::new();
    for (steps, to) in edits {
        let Some((first, rest)) = steps.split_first() else { continue };
        let index = *indexes.entry(first).or_insert_with(|| {
            groups.push((first, Vec::new()));
            groups.len() - 1
        });
        groups[index].1.push((rest, to));
    }
    groups
}
