//! The warnings in `Warning` headers.

use serde_json::Value;

use crate::{object, resource::Resource};

/// Returns the warnings about a written object.
pub(crate) fn warnings(resource: &Resource, value: &Value) -> Vec<String> {
    let limit = object::at(value, &["spec", "revisionHistoryLimit"]).and_then(Value::as_i64);
    if resource.own_kind() == "StatefulSet" && limit.is_some_and(|limit| limit < 0) {
        return vec!["spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended".to_owned()];
    }
    Vec::new()
}
