//! Masks values that look secret: in changes, without hiding that they changed, and in objects (`ROLLOUT2_REDACT`).
//!
//! A diff is always masked. Objects are printed as the cluster stores them, because users apply them again, unless
//! redaction is requested.

use std::borrow::Cow;

use serde_json::Value;

use super::change::Change;
use super::path;
use super::path::{PathStep, key_values};
use crate::api::managed_fields::LAST_APPLIED;
use crate::text::secret::{
    MASK, NAMED_VALUES, holds_secret, is_secret_flag, secret_assignment, without_secrets_as,
};

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

/// Returns a copy of a template, or of an object that contains one, with its secrets masked. The last-applied annotation
/// contains the whole object once more, and is masked in the same way.
#[must_use]
pub fn without_secret_values(object: &Value) -> Value {
    masked(object, "", MASK)
}

/// Returns a change with secret values masked. A change of only such a value is marked.
pub(super) fn mask_change(change: Change) -> Change {
    let steps = change.path.steps();
    let is_secret = value_names(steps).any(|name| holds_secret(&name));
    if let (true, Change { path, from, to }) = (is_secret, &change) {
        let changed = if from.is_some() { MASK_CHANGED } else { MASK };
        let (from, to) = (from.as_ref().map(|_| MASK.into()), to.as_ref().map(|_| changed.into()));
        return Change { path: path.clone(), from, to };
    }
    let member = steps.iter().rev().find_map(|step| match step {
        PathStep::Member(name) => Some(name.as_str()),
        PathStep::Element(_) => None,
    });
    let hide =
        |value: &Option<Value>, mask| value.as_ref().map(|value| masked(value, member.unwrap_or(""), mask));
    let (from, to) = (hide(&change.from, MASK), hide(&change.to, MASK));
    // Equal after masking: only the secrets differ.
    let to = if from == to { hide(&change.to, MASK_CHANGED) } else { to };
    Change { path: change.path, from, to }
}

/// The objects whose members are names with values: annotations, `csi.volumeAttributes` and `flexVolume.options`.
const MAPS_OF_VALUES: [&str; 3] = ["annotations", "volumeAttributes", "options"];

/// Returns the names of all values to or into which a path leads. Env can occur inside the value of an env, in hostile
/// snapshots.
fn value_names(steps: &[PathStep]) -> impl Iterator<Item = String> {
    let elements = steps.windows(3).filter_map(|window| match window {
        [PathStep::Member(list), PathStep::Element(key), PathStep::Member(member)]
            if NAMED_VALUES.contains(&list.as_str()) && member == "value" =>
        {
            Some(key_values(key))
        }
        _ => None,
    });
    let members = steps.windows(2).filter_map(|window| match window {
        [PathStep::Member(map), PathStep::Member(name)] if MAPS_OF_VALUES.contains(&map.as_str()) => {
            Some(name.clone())
        }
        _ => None,
    });
    elements.flatten().chain(members)
}

/// Returns a copy of a value with its secrets replaced by `mask`. `member` is the name of the member that the value is, or
/// of the list that it is an element of.
fn masked<'v>(value: &'v Value, member: &str, mask: &str) -> Value {
    match value {
        Value::Array(elements) => {
            let mut before = "";
            let hide = |element: &'v Value| {
                let flag = std::mem::replace(&mut before, element.as_str().unwrap_or_default());
                let is_value = |text: &str| is_secret_flag(flag) && !text.starts_with("--");
                let before_secret = |text| if is_value(text) { Some("") } else { secret_assignment(text) };
                match element.as_str().and_then(before_secret) {
                    Some(name) => format!("{name}{mask}").into(),
                    None => masked(element, member, mask),
                }
            };
            elements.iter().map(hide).collect()
        }
        Value::Object(members) => {
            let is_secret = NAMED_VALUES.contains(&member)
                && members.get("name").is_some_and(|name| holds_secret(&text(name)));
            let is_map = MAPS_OF_VALUES.contains(&member);
            let hides = |name: &str| (is_secret && name == "value") || (is_map && holds_secret(name));
            // The paths of changes contain these fields.
            let identity = path::identity_fields(member).unwrap_or_default();
            let hide = |(name, value): (&String, &Value)| {
                let value = match value {
                    _ if hides(name) => mask.into(),
                    Value::String(_) if identity.contains(&name.as_str()) => value.clone(),
                    value => masked(value, name, mask),
                };
                (name.clone(), value)
            };
            Value::Object(members.iter().map(hide).collect())
        }
        Value::String(applied) if member == LAST_APPLIED => match serde_json::from_str(applied) {
            Ok(applied) => masked(&applied, "", mask).to_string().into(),
            Err(_) => mask.into(),
        },
        Value::String(text) => without_secrets_as(text, mask).into(),
        scalar => scalar.clone(),
    }
}

/// Returns the text of a name, which hostile snapshots can write as another value.
fn text(name: &Value) -> Cow<'_, str> {
    name.as_str().map_or_else(|| name.to_string().into(), Cow::from)
}

/// Returns an object or template as a document shows it.
#[must_use]
pub fn shown(object: &Value, secrets: SecretValues) -> Cow<'_, Value> {
    match secrets {
        SecretValues::Masked => Cow::Owned(without_secret_values(object)),
        SecretValues::Shown => Cow::Borrowed(object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Diff;
    use crate::revision::template::Template;
    use serde_json::json;

    fn object(value: &str) -> Value {
        let env = json!([{"name": "DB_PASSWORD", "value": value}, {"name": "MODE", "value": "x"}]);
        json!({"kind": "A", "metadata": {"annotations": {"a": "b", "c": 3}},
            "spec": {"template": {"spec": {"initContainers": [{"env": env}], "containers": [{"env": env}]}}}})
    }

    #[test]
    fn an_object_in_an_annotation_is_masked_too() {
        let mut original = object("hunter2");
        let annotations = &mut original["metadata"]["annotations"];
        annotations["kubernetes.io/change-cause"] = "set env DB_PASSWORD=hunter2".into();
        annotations[LAST_APPLIED] = object("hunter2").to_string().into();
        let mut masked = object(MASK);
        let annotations = &mut masked["metadata"]["annotations"];
        annotations["kubernetes.io/change-cause"] = "set env DB_PASSWORD=***".into();
        annotations[LAST_APPLIED] = object(MASK).to_string().into();
        assert_eq!(without_secret_values(&original), masked);
        original["metadata"]["annotations"][LAST_APPLIED] = "{hunter2".into();
        assert_eq!(without_secret_values(&original)["metadata"]["annotations"][LAST_APPLIED], MASK);
    }

    #[test]
    fn secrets_of_volumes_are_masked() {
        let template = |secret: &str| {
            let attributes = json!({"password": secret, "share": "a"});
            json!({"spec": {"volumes": [{"name": "a", "csi": {"driver": "d", "volumeAttributes": attributes}},
                {"name": "b", "flexVolume": {"driver": "d", "options": {"token": secret, "share": "a"}}}]}})
        };
        assert_eq!(without_secret_values(&template("hunter2")), template(MASK));
        let [from, to] = ["hunter2", "hunter3"].map(|secret| Template::new(&template(secret)));
        let changes = Diff::between(&from, &to, SecretValues::Masked);
        let values = changes.changes.iter().map(|change| (change.from.clone(), change.to.clone()));
        let masked_pair = (Some(json!(MASK)), Some(json!(MASK_CHANGED)));
        assert_eq!(values.collect::<Vec<_>>(), [masked_pair.clone(), masked_pair]);
    }
}
