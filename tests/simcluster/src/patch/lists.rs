//! Strategic merge of lists: by item if there is a merge key.

use serde_json::Value;

use super::{
    merge_keys::{is_set, merge_key},
    strategic::{PATCH, directive, merge_objects, unknown_directive, without_directives},
};
use crate::refusal::Refusal;

/// Returns the patched list; `order` is the wanted order of its items.
pub(super) fn merge_lists(
    list: &str,
    current: &[Value],
    wanted: &[Value],
    order: Option<&Vec<Value>>,
) -> Result<Vec<Value>, Refusal> {
    if is_set(list) {
        let added = wanted.iter().filter(|item| !current.contains(item));
        return Ok(current.iter().chain(added).cloned().collect());
    }
    let Some(key) = merge_key(list) else {
        return Ok(wanted.iter().map(without_directives).collect());
    };
    if wanted.iter().any(|item| directive(item) == Some("replace")) {
        return Ok(wanted
            .iter()
            .filter(|item| directive(item) != Some("replace"))
            .map(without_directives)
            .collect());
    }
    let mut merged = current.to_vec();
    for item in wanted {
        let identity = item.get(key).ok_or_else(|| missing_merge_key(item, key))?;
        let place = merged.iter().position(|there| there.get(key) == Some(identity));
        match (directive(item), place) {
            (Some("delete"), place) => {
                place.map(|place| merged.remove(place));
            }
            (Some(other), _) if other != "merge" => return Err(unknown_directive(&item[PATCH])),
            (_, None) => merged.push(without_directives(item)),
            (_, Some(place)) => {
                if let (Value::Object(there), Value::Object(item)) = (&mut merged[place], item) {
                    merge_objects(there, item)?;
                }
            }
        }
    }
    Ok(match order {
        Some(order) => in_order(merged, current, order, key),
        None => merged,
    })
}

/// Sorts the items into `order`. An item that is not in `order` stays before the items that it preceded.
fn in_order(merged: Vec<Value>, before: &[Value], order: &[Value], key: &str) -> Vec<Value> {
    let place_in =
        |list: &[Value], item: &Value| list.iter().position(|other| other.get(key) == item.get(key));
    let (mut named, unnamed): (Vec<Value>, Vec<Value>) =
        merged.into_iter().partition(|item| place_in(order, item).is_some());
    named.sort_by_key(|item| place_in(order, item));
    let mut unnamed = unnamed.into_iter().peekable();
    let mut ordered = Vec::new();
    for item in named {
        if let Some(here) = place_in(before, &item) {
            while let Some(earlier) = unnamed.next_if(|other| place_in(before, other) < Some(here)) {
                ordered.push(earlier);
            }
        }
        ordered.push(item);
    }
    ordered.extend(unnamed);
    ordered
}

fn missing_merge_key(item: &Value, key: &str) -> Refusal {
    Refusal::bad_request(format!("map: {item} does not contain declared merge key: {key}"))
}
