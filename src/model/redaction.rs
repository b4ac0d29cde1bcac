//! Whole objects without the values that look secret: for those who asked for that (`ROLLOUT2_REDACT`).
//!
//! A diff is masked in any case; objects are printed as the cluster keeps them, because people apply them
//! again, unless somebody says that nobody is to see them.

use serde_json::Value;

use super::diff::without_secret_env;
use super::owners::LAST_APPLIED;
use super::secret::{MASK, without_secrets};

/// A copy of an object, or of a template, in which no env tells what looks secret; neither does an
/// annotation, of which one is the whole object again, as it was applied.
#[must_use]
pub fn redacted(object: &Value) -> Value {
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
            "spec": {"template": {"spec": {"containers": [{"env": env}]}}}})
    }

    #[test]
    fn env_and_annotations_are_masked_and_nothing_else_is() {
        let mut told = object("hunter2");
        let annotations = &mut told["metadata"]["annotations"];
        annotations["kubernetes.io/change-cause"] = "set env DB_PASSWORD=hunter2".into();
        annotations[LAST_APPLIED] = object("hunter2").to_string().into();
        let mut masked = object(MASK);
        let annotations = &mut masked["metadata"]["annotations"];
        annotations["kubernetes.io/change-cause"] = "set env DB_PASSWORD=***".into();
        annotations[LAST_APPLIED] = object(MASK).to_string().into();
        assert_eq!(redacted(&told), masked);
        told["metadata"]["annotations"][LAST_APPLIED] = "{hunter2".into();
        assert_eq!(redacted(&told)["metadata"]["annotations"][LAST_APPLIED], MASK);
    }
}
