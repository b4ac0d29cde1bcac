//! Types of fields, as far as tests need them. There is no full schema.

use serde_json::Value;

use crate::object;

/// Fields of `spec` that are 32-bit integers.
pub(super) const INTEGERS: [&[&str]; 5] = [
    &["spec", "replicas"],
    &["spec", "minReadySeconds"],
    &["spec", "revisionHistoryLimit"],
    &["spec", "progressDeadlineSeconds"],
    &["spec", "updateStrategy", "rollingUpdate", "partition"],
];

/// Returns the decoder's error about the first field with a wrong type.
pub(super) fn wrong_type(value: &Value) -> Option<String> {
    let integers =
        INTEGERS.iter().filter_map(|path| object::at(value, path)).filter(|member| !member.is_null());
    for member in integers {
        let fits = member.as_i64().is_some_and(|number| i32::try_from(number).is_ok());
        if !fits {
            return Some("unrecognized type: int32".to_owned());
        }
    }
    if object::at(value, &["spec", "paused"]).is_some_and(|paused| !paused.is_boolean() && !paused.is_null())
    {
        return Some("unrecognized type: bool".to_owned());
    }
    ["labels", "annotations"].into_iter().find_map(|map| not_texts(value, map))
}

fn not_texts(value: &Value, map: &str) -> Option<String> {
    let members = object::at(value, &["metadata", map])?;
    let all_texts = members.is_null()
        || members
            .as_object()
            .is_some_and(|members| members.values().all(|member| member.is_string() || member.is_null()));
    (!all_texts).then(|| {
        format!(
            "json: cannot unmarshal into Go struct field ObjectMeta.metadata.{map} of type map[string]string"
        )
    })
}
