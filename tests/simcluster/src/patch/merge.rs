//! JSON Merge Patch (RFC 7386).

use serde_json::Value;

use crate::object;

/// Merges `patch` into `document`: null removes, objects merge, everything else replaces.
pub(super) fn apply(document: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *document = patch.clone();
        return;
    };
    let document = object::members(document);
    for (member, wanted) in patch {
        if wanted.is_null() {
            document.remove(member);
        } else {
            apply(document.entry(member).or_insert(Value::Null), wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_removes_objects_merge_lists_replace() {
        let mut document = json!({ "a": { "b": 1, "c": 2 }, "list": [1, 2], "gone": true });
        apply(&mut document, &json!({ "a": { "b": null, "d": { "e": null } }, "list": [3], "gone": null }));
        assert_eq!(document, json!({ "a": { "c": 2, "d": {} }, "list": [3] }));
    }
}
