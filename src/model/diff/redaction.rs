//! Objects without values that look secret (`ROLLOUT2_REDACT`).
//!
//! A diff is always masked. Objects are printed as the cluster stores them, because users apply
//! them again, unless redaction is requested.

use std::borrow::Cow;

use serde_json::Value;

use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::diff::{SecretValues, without_secret_env};
use crate::model::text::secret::{MASK, without_secrets};

/// Returns an object or template as a document shows it.
#[must_use]
pub fn shown(object: &Value, secrets: SecretValues) -> Cow<'_, Value> {
    match secrets {
        SecretValues::Masked => Cow::Owned(redacted(object)),
        SecretValues::Shown => Cow::Borrowed(object),
    }
}

/// Returns a copy of an object or template with the secret-looking values of env and annotations
/// masked. The last-applied annotation contains the whole object once more and is redacted the same
/// way.
fn redacted(object: &Value) -> Value {
    let mut object = without_secret_env(object);
    for place in ["/metadata/annotations", "/spec/template/metadata/annotations"] {
        let annotations = object.pointer_mut(place).and_then(Value::as_object_mut);
        for (name, value) in annotations.into_iter().flatten() {
            if let Some(text) = value.as_str() {
                *value = annotation(name, text).into();
            }
        }
    }
    object
}

fn annotation(name: &str, text: &str) -> String {
    if name != LAST_APPLIED {
        return without_secrets(text);
    }
    match serde_json::from_str::<Value>(text) {
        Ok(applied) => redacted(&applied).to_string(),
        Err(_) => MASK.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: &str) -> Value {
        let env = json!([{"name": "DB_PASSWORD", "value": value}, {"name": "MODE", "value": "x"}]);
        json!({"kind": "A", "metadata": {"annotations": {"a": "b", "c": 3}},
            "spec": {"template": {"spec": {"initContainers": [{"env": env}], "containers": [{"env": env}]}}}})
    }

    #[test]
    fn only_env_and_annotations_are_masked() {
        let mut original = object("hunter2");
        let annotations = &mut original["metadata"]["annotations"];
        annotations["kubernetes.io/change-cause"] = "set env DB_PASSWORD=hunter2".into();
        annotations[LAST_APPLIED] = object("hunter2").to_string().into();
        let mut masked = object(MASK);
        let annotations = &mut masked["metadata"]["annotations"];
        annotations["kubernetes.io/change-cause"] = "set env DB_PASSWORD=***".into();
        annotations[LAST_APPLIED] = object(MASK).to_string().into();
        assert_eq!(redacted(&original), masked);
        original["metadata"]["annotations"][LAST_APPLIED] = "{hunter2".into();
        assert_eq!(redacted(&original)["metadata"]["annotations"][LAST_APPLIED], MASK);
    }
}
