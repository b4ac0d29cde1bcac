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
