//! Merges JSON, to write test objects as changes of others.

use serde_json::Value;

/// Merges `changes` into `base`: objects member by member, everything else as a whole.
pub fn merged(mut base: Value, changes: &Value) -> Value {
    match (&mut base, changes) {
        (Value::Object(members), Value::Object(changes)) => {
            for (name, change) in changes {
                let member = members.remove(name).unwrap_or(Value::Null);
                members.insert(name.clone(), merged(member, change));
            }
            base
        }
        (_, change) => change.clone(),
    }
}
