//! Masks values that look secret: in changes, without hiding that they changed, and in objects (`ROLLOUT2_REDACT`).
//!
//! A diff is always masked. Objects are printed as the cluster stores them, because users apply them again, unless
//! redaction is requested.

use std::borrow::Cow;

use serde_json::Value;

use super::change::Change;
use super::path::{PathStep, key_values};
use crate::model::api::managed_fields::LAST_APPLIED;
use crate::model::text::secret::{MASK, looks_secret, without_secrets, without_url_secrets};

/// Whether values that look secret are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretValues {
    /// As `***`.
    Masked,
    /// In full (`--show-values`).
    Shown,
}

/// The text for a secret value that changed. `kubectl diff` marks its sides in a similar way (`***
/// (before)`, `*** (after)`). An unchanged value is [`MASK`].
pub const MASK_CHANGED: &str = "*** (changed)";

/// Returns a copy of a template, or of an object that contains one, with the secret values of env
/// masked.
#[must_use]
pub fn without_secret_env(template: &Value) -> Value {
    masked(template, "", MASK)
}

/// Returns the changes with secret values masked. A change of only such a value is marked.
pub(super) fn mask_changes(changes: Vec<Change>) -> Vec<Change> {
    changes.into_iter().map(mask_change).collect()
}

fn mask_change(change: Change) -> Change {
    let is_secret = env_values(change.path.steps()).flatten().any(|name| looks_secret(&name));
    if let (true, Change { path, from, to }) = (is_secret, &change) {
        let changed = if from.is_some() { MASK_CHANGED } else { MASK };
        let (from, to) = (from.as_ref().map(|_| MASK.into()), to.as_ref().map(|_| changed.into()));
        return Change { path: path.clone(), from, to };
    }
    let is_env_value = env_values(change.path.steps()).next().is_some();
    let list = change.path.steps().iter().rev().find_map(|step| match step {
        PathStep::Member(name) => Some(name.as_str()),
        PathStep::Element(_) => None,
    });
    let hide = |value: &Option<Value>, mask| {
        value.as_ref().map(|value| match value {
            Value::String(text) if is_env_value => without_url_secrets(text, mask).into(),
            value => masked(value, list.unwrap_or(""), mask),
        })
    };
    let (from, to) = (hide(&change.from, MASK), hide(&change.to, MASK));
    // Equal after masking: only the secrets differ.
    let to = if from == to { hide(&change.to, MASK_CHANGED) } else { to };
    Change { path: change.path, from, to }
}

/// Returns the names of all env to or into whose values a path leads. Env can occur inside the value of an env, in hostile
/// snapshots.
fn env_values(steps: &[PathStep]) -> impl Iterator<Item = Vec<String>> {
    steps.windows(3).filter_map(|window| match window {
        [PathStep::Member(list), PathStep::Element(key), PathStep::Member(member)]
            if list == "env" && member == "value" =>
        {
            Some(key_values(key))
        }
        _ => None,
    })
}

/// Returns a value without the passwords in its URLs. A value that is no string can contain
/// anything, env included.
fn without_url(value: &Value, mask: &str) -> Value {
    value.as_str().map_or_else(|| masked(value, "value", mask), |text| without_url_secrets(text, mask).into())
}

/// Returns a copy of a value with its secrets replaced by `mask`. `list` is the name of the list
/// that the value is, or is an element of.
fn masked(value: &Value, list: &str, mask: &str) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(|element| masked(element, list, mask)).collect(),
        Value::Object(members) => {
            let is_env = list == "env";
            let secret = is_env && members.get("name").is_some_and(is_secret_name);
            let hide = |(name, member): (&String, &Value)| {
                let member = match (is_env && name == "value", secret) {
                    (true, true) => mask.into(),
                    (true, false) => without_url(member, mask),
                    (false, _) => masked(member, name, mask),
                };
                (name.clone(), member)
            };
            Value::Object(members.iter().map(hide).collect())
        }
        scalar => scalar.clone(),
    }
}

fn is_secret_name(name: &Value) -> bool {
    name.as_str().map_or_else(|| looks_secret(&name.to_string()), looks_secret)
}

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
