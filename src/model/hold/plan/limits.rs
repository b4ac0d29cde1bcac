//! Limits the values in the annotation. Any client that may patch a workload can write it, and the process that
//! continues the plan may have more permissions than that client.

use serde_json::{Map, Value};

/// The limit of a text in bytes. No name, digest or selector is longer.
const LONGEST_TEXT: usize = 253;

/// The limit of a number: pods and batches are 32-bit integers.
const LARGEST_NUMBER: u64 = i32::MAX as u64;

/// The limit of nesting: `plan`, `pace`, `check`, and some more for later versions.
const DEEPEST: usize = 8;

/// The member with a kubectl command, which contains the original fields.
const END_BY_HAND: &str = "endByHand";

/// The limit of that command in bytes.
const LONGEST_COMMAND: usize = 2048;

/// Checks the members of an annotation before they are used, without the fields of the workload, which have types.
///
/// # Errors
/// The invalid member, as a fragment: `plan.batch.number is out of range`.
pub(super) fn check(members: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in members {
        let is_command =
            name == END_BY_HAND && value.as_str().is_some_and(|text| text.len() <= LONGEST_COMMAND);
        if !is_command {
            check_member(&short(name), value, DEEPEST)?;
        }
    }
    Ok(())
}

fn check_member(path: &str, value: &Value, depth: usize) -> Result<(), String> {
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => Err(format!("{path} is too long")),
        Value::Number(number) if number.as_u64().is_none_or(|number| number > LARGEST_NUMBER) => {
            Err(format!("{path} is out of range"))
        }
        Value::Array(_) | Value::Object(_) if depth == 0 => Err(format!("{path} is too deep")),
        Value::Array(items) => items.iter().try_for_each(|item| check_member(path, item, depth - 1)),
        Value::Object(members) => members
            .iter()
            .try_for_each(|(name, value)| check_member(&format!("{path}.{}", short(name)), value, depth - 1)),
        _ => Ok(()),
    }
}

fn short(name: &str) -> String {
    name.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_members_are_rejected_by_name() {
        let mut deep = json!("x");
        for _ in 0..20 {
            deep = json!([deep]);
        }
        for (annotation, error) in [
            (json!({"plan": {"batch": {"number": u64::MAX}}}), Some("plan.batch.number is out of range")),
            (json!({"plan": {"done": [1, -1]}}), Some("plan.done is out of range")),
            (json!({"lock": {"turn": 1.5}}), Some("lock.turn is out of range")),
            (json!({"by": "x".repeat(254)}), Some("by is too long")),
            (json!({"later": deep}), Some("later is too deep")),
            (json!({"reason": "pause", "by": "ada@laptop", "later": {"a": [1, true]}}), None),
        ] {
            let checked = check(annotation.as_object().unwrap());
            assert_eq!(checked.err().as_deref(), error, "{annotation}");
        }
    }
}
