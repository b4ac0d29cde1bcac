//! The fields of a workload that a hold writes and restores, and the check of stored values.
//!
//! `pause` and `step` store the original fields of a workload in an annotation and restore them later. Every client that
//! can write annotations can change them, so they are checked first.

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::model::api::patch::FieldPath;

/// The name of the annotation that stores the original fields of a workload.
pub const HOLD_ANNOTATION: &str = "kubectl-rollout2/held";

/// Fields of a workload with their values, in order. A field without a value is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HoldFields(Vec<(FieldPath, Option<Value>)>);

impl HoldFields {
    /// Returns fields of an object.
    #[must_use]
    pub fn of(object: &Value, paths: impl IntoIterator<Item = FieldPath>) -> Self {
        let field = |path: FieldPath| {
            let value = path.value_in(object).cloned();
            (path, value)
        };
        Self(paths.into_iter().map(field).collect())
    }

    /// Reads the stored fields of an object. A field of its update strategy is accepted even if this version does not know
    /// it.
    ///
    /// # Errors
    /// The invalid field, as a fragment: `updateStrategy.partition has a value of another type`.
    pub fn read(types: &[(FieldPath, FieldType)], object: &Value, stored: &Value) -> Result<Self, String> {
        let depth = common_depth(types.iter().map(|(path, _)| path));
        check_members(stored, types, depth)?;
        let read = |(path, type_): &(FieldPath, FieldType)| {
            let below = path.members().iter().skip(depth);
            let value = below.into_iter().try_fold(stored, |value, member| value.get(member));
            let value = value.filter(|value| !value.is_null()).cloned();
            if let Some(value) = &value {
                let name = path.members().last().map_or("", String::as_str);
                type_.check(name, value, path.value_in(object).unwrap_or(&Value::Null))?;
            }
            Ok((path.clone(), value))
        };
        types.iter().map(read).collect::<Result<_, String>>().map(Self)
    }

    /// Returns the value that stores the fields; none if all are absent. It has what is below their common path: one field
    /// is stored as its value, and several members of `spec` as an object.
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        let depth = common_depth(self.0.iter().map(|(path, _)| path));
        let mut json = Value::Null;
        for (path, value) in self.iter() {
            let Some(value) = value else { continue };
            let below = path.members().iter().skip(depth);
            *below.fold(&mut json, |json, name| &mut json[name.as_str()]) = value.clone();
        }
        Some(json).filter(|json| !json.is_null())
    }

    /// Returns each field with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&FieldPath, Option<&Value>)> {
        self.0.iter().map(|(path, value)| (path, value.as_ref()))
    }

    /// Returns the value of a field.
    #[must_use]
    pub fn get(&self, path: &FieldPath) -> Option<&Value> {
        self.iter().find(|(known, _)| *known == path)?.1
    }

    /// Whether a field is one of these.
    #[must_use]
    pub fn have(&self, path: &FieldPath) -> bool {
        self.iter().any(|(known, _)| known == path)
    }

    /// Whether no field has a value.
    #[must_use]
    pub fn are_absent(&self) -> bool {
        self.0.iter().all(|(_, value)| value.is_none())
    }

    /// Whether an object still has the value of a field. A server may have added defaults to it.
    #[must_use]
    pub fn is_unchanged(&self, path: &FieldPath, object: &Value) -> bool {
        match (self.get(path), path.value_in(object)) {
            (Some(value), Some(live)) => is_contained(value, live),
            (value, live) => value.is_none() && live.is_none(),
        }
    }

    /// Returns the same fields without a pause, which is one of them or in the update strategy.
    #[must_use]
    pub fn without_pause(mut self, pause: Option<&FieldPath>) -> Self {
        for (path, value) in &mut self.0 {
            let is_pause = pause == Some(path) && *value == Some(Value::Bool(true));
            *value = value.take().filter(|_| !is_pause).map(without_pause);
        }
        self
    }
}

impl<const N: usize> From<[(FieldPath, Option<Value>); N]> for HoldFields {
    fn from(fields: [(FieldPath, Option<Value>); N]) -> Self {
        Self(fields.into())
    }
}

/// Returns a strategy without a pause.
pub(super) fn without_pause(mut fields: Value) -> Value {
    for pointer in ["", "/rollingUpdate"] {
        if let Some(members) = fields.pointer_mut(pointer).and_then(Value::as_object_mut)
            && members.get("paused") == Some(&Value::Bool(true))
        {
            members.remove("paused");
        }
    }
    fields
}

/// Whether each member of one value is in another, with the same value.
fn is_contained(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| is_contained(value, whole.get(name).unwrap_or(&Value::Null)))
        }
        (part, whole) => part == whole,
    }
}

/// Stores the fields as [`HoldFields::to_json`] returns them.
impl Serialize for HoldFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

/// The type of a field that can be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// A word: `RollingUpdate`.
    Word,
    /// `true` or `false`.
    Flag,
    /// A number of pods or seconds, at least 0.
    Count,
    /// A number of pods, or a percentage: `25%`.
    CountOrPercent,
    /// An update strategy with these fields, each by its path.
    Strategy(&'static [(&'static str, FieldType)]),
    /// A list or an object whose own fields this version does not know, such as a selector.
    Nested,
}

impl FieldType {
    /// Whether a value has this type.
    fn has(self, value: &Value) -> bool {
        match self {
            Self::Word => value.as_str().is_some_and(is_word),
            Self::Flag => value.is_boolean(),
            Self::Count => value.as_i64().is_some_and(|count| (0..=i64::from(i32::MAX)).contains(&count)),
            Self::CountOrPercent => Self::Count.has(value) || value.as_str().is_some_and(is_percent),
            Self::Strategy(_) => value.is_object(),
            Self::Nested => (value.is_object() || value.is_array()) && is_small(value, DEEPEST),
        }
    }

    /// Checks the value of a field with a name. A field of the live value is accepted even if this version does not know
    /// it.
    fn check(self, name: &str, value: &Value, live: &Value) -> Result<(), String> {
        match self {
            Self::Strategy(fields) => check_strategy(name, fields, live, value),
            type_ if type_.has(value) => Ok(()),
            _ => Err(format!("{name} has a value of another type")),
        }
    }
}

/// The limit of nesting of a value whose own fields are not known. A selector has 3 levels.
const DEEPEST: usize = 8;

/// The limit of members, and of the bytes of each text, in such a value.
const LARGEST: usize = 256;

/// Whether a value is neither deeper nor larger than any of OpenKruise's.
fn is_small(value: &Value, depth: usize) -> bool {
    match value {
        Value::String(text) => text.len() <= LARGEST,
        Value::Array(items) => {
            depth > 0 && items.len() <= LARGEST && items.iter().all(|item| is_small(item, depth - 1))
        }
        Value::Object(members) => {
            let is_member_small =
                |(name, value): (&String, &Value)| name.len() <= LARGEST && is_small(value, depth - 1);
            depth > 0 && members.len() <= LARGEST && members.iter().all(is_member_small)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Whether a text can be a value such as `RollingUpdate`. A longer one fills the errors of the API server.
fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_percent(text: &str) -> bool {
    let digits = text.strip_suffix('%').unwrap_or_default();
    (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns how many members from the root all paths have in common.
fn common_depth<'a>(mut paths: impl Iterator<Item = &'a FieldPath>) -> usize {
    let Some(first) = paths.next() else { return 0 };
    let alike =
        |one: &FieldPath| first.members().iter().zip(one.members()).take_while(|(a, b)| a == b).count();
    paths.map(alike).min().unwrap_or(first.members().len())
}

/// Checks that stored fields have no members but the known ones. A single field is stored as its value.
fn check_members(stored: &Value, fields: &[(FieldPath, FieldType)], depth: usize) -> Result<(), String> {
    let names = fields.iter().map(|(path, _)| path.members().get(depth));
    if stored.is_null() || names.clone().any(|name| name.is_none()) {
        return Ok(());
    }
    let members = stored.as_object().ok_or("the hold is not an object")?;
    let mut present = members.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name);
    match present.find(|present| !names.clone().any(|name| name == Some(*present))) {
        Some(unknown) => Err(format!("the hold has no field {:?}", shortened(unknown))),
        None => Ok(()),
    }
}

/// Checks a strategy before it is restored.
fn check_strategy(
    place: &str,
    fields: &[(&str, FieldType)],
    live: &Value,
    kept: &Value,
) -> Result<(), String> {
    let members = kept.as_object().ok_or_else(|| format!("{place} is not an object"))?;
    for (name, value) in members {
        let below = fields.iter().filter_map(|(path, field)| {
            let (parent, name) = path.split_once('.')?;
            Some((parent, name, field))
        });
        let below: Vec<_> = below.filter(|(parent, ..)| parent == name).collect();
        match (fields.iter().find(|(path, _)| path == name), value) {
            (_, Value::Null) => {}
            (Some((_, field)), value) if field.has(value) => {}
            (None, Value::Object(members)) if !below.is_empty() => {
                for (inner, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                    let field = below.iter().find(|(_, name, _)| name == inner);
                    let is_live = live.get(name).is_some_and(|live| live.get(inner).is_some());
                    match field {
                        Some((.., field)) if field.has(value) => {}
                        None if is_live && is_small(value, DEEPEST) => {}
                        _ => return Err(wrong(place, &format!("{name}.{inner}"), field.is_some())),
                    }
                }
            }
            (None, value) if below.is_empty() && live.get(name).is_some() && is_small(value, DEEPEST) => {}
            (known, _) => return Err(wrong(place, name, known.is_some() || !below.is_empty())),
        }
    }
    Ok(())
}

/// The name of the field comes from outside. It is shortened here and escaped by the renderer.
fn wrong(place: &str, field: &str, is_known: bool) -> String {
    let field = shortened(field);
    if is_known {
        format!("{place}.{field} has a value of another type")
    } else {
        format!("{place} has no field {field:?}")
    }
}

fn shortened(name: &str) -> String {
    name.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;
    use crate::model::kind::Workload;

    fn workload(kind: &str, strategy: &Value) -> Workload {
        let object = json!({
            "kind": kind, "apiVersion": "apps/v1", "metadata": {"name": "w"}, "spec": {"updateStrategy": strategy},
        });
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    fn read(workload: &Workload, stored: &Value) -> Result<Option<Value>, String> {
        let fields = HoldFields::read(&workload.field_types(), workload.object().json(), stored);
        fields.map(|fields| fields.to_json())
    }

    #[test]
    fn strategy_fields_of_every_kind_are_restored() {
        for (kind, strategy) in [
            ("StatefulSet", json!({})),
            ("StatefulSet", json!({"type": "OnDelete"})),
            (
                "StatefulSet",
                json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3, "maxUnavailable": "25%"}}),
            ),
            ("StatefulSet", json!({"rollingUpdate": null})),
            (
                "DaemonSet",
                json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}, "type": "RollingUpdate"}),
            ),
        ] {
            let read = read(&workload(kind, &json!({})), &strategy);
            assert_eq!(read, Ok(Some(strategy.clone())), "{kind} {strategy}");
        }
    }

    #[test]
    fn unknown_strategy_fields_are_rejected_by_name() {
        let mut deep = json!(1);
        for _ in 0..50 {
            deep = json!({ "rollingUpdate": deep });
        }
        let huge = "x".repeat(100_000);
        for (kind, strategy, name) in [
            ("StatefulSet", json!("RollingUpdate"), "updateStrategy"),
            ("StatefulSet", json!(["type"]), "updateStrategy"),
            ("StatefulSet", json!({"template": {}}), "template"),
            ("StatefulSet", json!({"type": 1}), "type"),
            ("StatefulSet", json!({"type": "On Delete; x"}), "type"),
            ("StatefulSet", json!({"type": huge}), "type"),
            ("StatefulSet", json!({"rollingUpdate": 1}), "rollingUpdate"),
            ("StatefulSet", json!({"rollingUpdate": {"maxSurge": 1}}), "rollingUpdate.maxSurge"),
            ("StatefulSet", json!({"rollingUpdate": {"partition": -1}}), "rollingUpdate.partition"),
            ("StatefulSet", json!({"rollingUpdate": {"partition": 1_u64 << 40}}), "rollingUpdate.partition"),
            ("StatefulSet", json!({"rollingUpdate": {"partition": {}}}), "rollingUpdate.partition"),
            (
                "StatefulSet",
                json!({"rollingUpdate": {"maxUnavailable": "x%"}}),
                "rollingUpdate.maxUnavailable",
            ),
            ("StatefulSet", deep, "rollingUpdate.rollingUpdate"),
            ("StatefulSet", json!({ huge.clone(): huge }), "xxxx"),
            ("DaemonSet", json!({"rollingUpdate": {"partition": 1}}), "rollingUpdate.partition"),
        ] {
            let error = read(&workload(kind, &json!({})), &strategy).unwrap_err();
            assert!(error.contains(name) && error.len() < 200, "{kind} {strategy}: {error}");
        }
    }

    #[test]
    fn fields_of_another_api_are_limited() {
        let clone_set = json!({"kind": "CloneSet", "apiVersion": "apps.kruise.io/v1beta1",
            "metadata": {"name": "w"}, "spec": {"updateStrategy": {"later": 1}}});
        let clone_set = Workload::of_json(&clone_set).unwrap();
        let mut deep = json!({});
        for _ in 0..20 {
            deep = json!([deep]);
        }
        let weights =
            json!({"weightPriority": [{"weight": 5, "matchSelector": {"matchLabels": {"a": "b"}}}]});
        let of_later = |value: &Value| read(&clone_set, &json!({"later": value})).is_ok();
        for (value, is_accepted, is_accepted_later) in [
            (weights, true, true),
            (json!([{"key": "a", "value": "b"}]), true, true),
            (json!("x"), false, true),
            (json!(1), false, true),
            (deep, false, false),
            (json!({"a": "x".repeat(257)}), false, false),
            (json!({"x".repeat(257): 1}), false, false),
            (json!(vec![1; 257]), false, false),
        ] {
            let strategy = json!({"rollingUpdate": {"priorityStrategy": value}});
            assert_eq!(read(&clone_set, &strategy).is_ok(), is_accepted, "{value}");
            assert_eq!(of_later(&value), is_accepted_later, "{value}");
        }
    }

    /// The annotations of earlier versions have this form.
    #[test]
    fn one_field_is_stored_as_its_value_and_several_as_members() {
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}});
        let set = workload("DaemonSet", &strategy);
        assert_eq!(set.replaceable_fields().to_json(), Some(strategy.clone()));
        let deployment = json!({"kind": "Deployment", "metadata": {"name": "w"},
            "spec": {"minReadySeconds": 5, "strategy": strategy, "replicas": 2}});
        let deployment = Workload::of_json(&deployment).unwrap();
        let stored = json!({"minReadySeconds": 5, "strategy": strategy});
        let fields = deployment.replaceable_fields();
        assert_eq!(fields.to_json(), Some(stored.clone()));
        assert_eq!(read(&deployment, &stored), Ok(Some(stored)));
        for (stored, error) in [
            (json!({"replicas": 2}), "the hold has no field \"replicas\""),
            (json!({"minReadySeconds": "5"}), "minReadySeconds has a value of another type"),
            (json!({"strategy": {"template": {}}}), "strategy has no field \"template\""),
            (json!([]), "the hold is not an object"),
        ] {
            assert_eq!(read(&deployment, &stored), Err(error.to_owned()));
        }
        for absent in [json!(null), json!({}), json!({"paused": null})] {
            assert_eq!(read(&deployment, &absent), Ok(None));
        }
    }

    #[test]
    fn fields_that_the_server_has_are_accepted() {
        let live =
            json!({"type": "RollingUpdate", "later": {"a": 1}, "rollingUpdate": {"partition": 1, "new": []}});
        assert_eq!(read(&workload("StatefulSet", &live), &live), Ok(Some(live.clone())));
        assert!(read(&workload("StatefulSet", &json!({})), &live).is_err());
    }
}
