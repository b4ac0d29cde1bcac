//! Ordinals that a set leaves out: `spec.reserveOrdinals` of an Advanced StatefulSet.

use serde_json::Value;

use crate::model::api::object::Object;

/// Returns how many ordinals from `start` to below `end` are reserved: numbers, or ranges such as `"3-5"`.
pub(super) fn reserved_between(object: &Object, start: i64, end: i64) -> i64 {
    let mut count = 0;
    let mut from = start;
    for (first, last) in reserved(object) {
        let first = first.max(from);
        let beyond = last.saturating_add(1).min(end);
        if beyond > first {
            count += beyond - first;
            from = beyond;
        }
    }
    count
}

/// Returns the first `count` ordinals from `start` that are not reserved.
pub(in crate::model) fn ordinals(object: &Object, start: i64, count: i64) -> Vec<i64> {
    let mut ordinals = Vec::new();
    let mut next = start;
    let is_full = |ordinals: &Vec<i64>| i64::try_from(ordinals.len()).is_ok_and(|length| length >= count);
    for (first, last) in reserved(object) {
        while next < first && !is_full(&ordinals) {
            ordinals.push(next);
            next = next.saturating_add(1);
        }
        next = next.max(last.saturating_add(1));
    }
    while !is_full(&ordinals) {
        ordinals.push(next);
        next = next.saturating_add(1);
    }
    ordinals
}

/// Returns the reserved ranges in ascending order. They may overlap.
fn reserved(object: &Object) -> Vec<(i64, i64)> {
    let reserved = object.at("/spec/reserveOrdinals").and_then(Value::as_array).into_iter().flatten();
    let mut ranges: Vec<(i64, i64)> =
        reserved.filter_map(range).filter(|(first, last)| first <= last).collect();
    ranges.sort_unstable();
    ranges
}

fn range(value: &Value) -> Option<(i64, i64)> {
    let Some(text) = value.as_str() else { return value.as_i64().map(|ordinal| (ordinal, ordinal)) };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reserved_ordinals_are_numbers_or_ranges_and_count_once() {
        let object = json!({"kind": "StatefulSet", "metadata": {"name": "w"}, "spec": {"reserveOrdinals": [1, "3-5", "4", 5, "x", "9-7"]}});
        let object = Object::read(object).unwrap();
        for (start, end, expected) in [(0, 1, 0), (0, 2, 1), (0, 4, 2), (0, 9, 4), (4, 9, 2), (0, 0, 0)] {
            assert_eq!(reserved_between(&object, start, end), expected, "{start} {end}");
        }
        assert_eq!(ordinals(&object, 0, 4), [0, 2, 6, 7]);
        assert_eq!(ordinals(&object, 4, 2), [6, 7]);
        assert!(ordinals(&object, 0, 0).is_empty());
    }
}
