//! The fields of a workload that a hold writes and restores.
//!
//! `pause` and `step` store the original fields of a workload in an annotation and restore them later. Every client that
//! can write annotations can change their values, but not choose other fields.

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::model::api::patch::FieldPath;

/// The name of the annotation that stores the original fields of a workload.
pub const HOLD_ANNOTATION: &str = "kubectl-rollout2/held";

/// The limit of stored fields in bytes. The API server limits all annotations of an object to 256 KiB.
const LARGEST: usize = 64 << 10;

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

    /// Reads stored fields, of which one is an update strategy, and ignores other members. The API server validates the
    /// values when they are restored.
    ///
    /// # Errors
    /// Why they are not those of a hold, as a fragment: `updateStrategy is not an object`.
    pub fn read(paths: Vec<FieldPath>, strategy: &FieldPath, stored: &Value) -> Result<Self, String> {
        if stored.to_string().len() > LARGEST {
            return Err("the fields of the hold are too large".to_owned());
        }
        let depth = common_depth(paths.iter());
        let read = |path: FieldPath| {
            let below = path.members().iter().skip(depth);
            let value = below.into_iter().try_fold(stored, |value, member| value.get(member));
            let value = value.filter(|value| !value.is_null());
            if path == *strategy && value.is_some_and(|value| !value.is_object()) {
                let name = path.members().last().map_or("", String::as_str);
                return Err(format!("{name} is not an object"));
            }
            let value = value.cloned();
            Ok((path, value))
        };
        paths.into_iter().map(read).collect::<Result<_, String>>().map(Self)
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

/// Returns how many members from the root all paths have in common.
fn common_depth<'a>(mut paths: impl Iterator<Item = &'a FieldPath>) -> usize {
    let Some(first) = paths.next() else { return 0 };
    let alike =
        |one: &FieldPath| first.members().iter().zip(one.members()).take_while(|(a, b)| a == b).count();
    paths.map(alike).min().unwrap_or(first.members().len())
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
        let strategy = FieldPath::of(workload.kind().strategy().iter().copied());
        let fields = HoldFields::read(workload.hold_fields(), &strategy, stored);
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

    /// The API server knows which values are valid, also those of later versions.
    #[test]
    fn any_strategy_is_read_unless_it_is_no_object_or_is_too_large() {
        for strategy in [
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "1000%"}}),
            json!({"type": "Later", "later": {"a": 1}, "rollingUpdate": {"partition": 1, "new": []}}),
        ] {
            let set = workload("StatefulSet", &json!({}));
            assert_eq!(read(&set, &strategy), Ok(Some(strategy.clone())), "{strategy}");
        }
        for (strategy, error) in [
            (json!("RollingUpdate"), "updateStrategy is not an object"),
            (json!(["type"]), "updateStrategy is not an object"),
            (json!({"type": "x".repeat(LARGEST)}), "the fields of the hold are too large"),
        ] {
            assert_eq!(read(&workload("StatefulSet", &json!({})), &strategy), Err(error.to_owned()));
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
        let error = read(&deployment, &json!({"strategy": []}));
        assert_eq!(error, Err("strategy is not an object".to_owned()));
        for absent in [json!(null), json!({}), json!({"paused": null}), json!({"replicas": 2})] {
            assert_eq!(read(&deployment, &absent), Ok(None));
        }
    }
}
