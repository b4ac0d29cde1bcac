//! Masks values that look secret, without hiding that they changed.

use serde_json::Value;

use super::change::Change;
use super::path::{PathStep, key_values};
use crate::model::text::secret::{MASK, looks_secret, without_url_secrets};

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
    if let (true, Change { path, from, to }) = (is_in_secret(change.path.steps()), &change) {
        let changed = if from.is_some() { MASK_CHANGED } else { MASK };
        let (from, to) = (from.as_ref().map(|_| MASK.into()), to.as_ref().map(|_| changed.into()));
        return Change { path: path.clone(), from, to };
    }
    let is_env_value = is_in_env_value(change.path.steps());
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

/// Whether a path leads to or into the value of an env that looks secret.
fn is_in_secret(steps: &[PathStep]) -> bool {
    env_values(steps).flatten().any(|name| looks_secret(&name))
}

/// Whether a path leads to or into the value of any env.
fn is_in_env_value(steps: &[PathStep]) -> bool {
    env_values(steps).next().is_some()
}

/// Returns the names of all env on a path. Env can occur inside the value of an env, in hostile
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
