//! The fields of a workload that a hold writes and restores: members of its `spec`.
//!
//! `pause` and `step` store the original fields of a workload in an annotation and restore them later. Every client that
//! can write annotations can change their values, but not choose other fields.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::api::patch::FieldPath;

/// The name of the annotation that stores the original fields of a workload.
pub const HOLD_ANNOTATION: &str = "kubectl-rollout2/held";

/// The limit of stored fields in bytes. The API server limits all annotations of an object to 256 KiB.
const LARGEST: usize = 64 << 10;

/// The field that is stored as its value, because the kinds that have it are held by no other one.
pub(crate) const UPDATE_STRATEGY: &str = "updateStrategy";

/// Members of `spec` with their values. A field without a value is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HoldFields(Map<String, Value>);

impl HoldFields {
    /// Returns the fields with these names of an object.
    #[must_use]
    pub fn of(object: &Value, names: &[&str]) -> Self {
        let field = |name: &&str| Some(((*name).to_owned(), spec_path(name).value_in(object)?.clone()));
        Self(names.iter().filter_map(field).collect())
    }

    /// Reads stored fields, of which one is an update strategy, and ignores other members. The API server validates the values when they are restored.
    ///
    /// # Errors
    /// Why they are not those of a hold, as a fragment: `updateStrategy is not an object`.
    pub fn read(names: &[&str], strategy: &str, stored: Value) -> Result<Self, String> {
        if stored.to_string().len() > LARGEST {
            return Err("the fields of the hold are too large".to_owned());
        }
        let spec = if names == [UPDATE_STRATEGY] { json!({UPDATE_STRATEGY: stored}) } else { stored };
        let fields = Self::of(&json!({"spec": spec}), names);
        match fields.get(strategy) {
            Some(value) if !value.is_object() => Err(format!("{strategy} is not an object")),
            _ => Ok(fields),
        }
    }

    /// Returns the value that stores the fields; none if all are absent. An update strategy alone is stored as its value.
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        self.get(UPDATE_STRATEGY).cloned().or_else(|| (!self.are_absent()).then(|| self.0.clone().into()))
    }

    /// Returns the value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Whether no field has a value.
    #[must_use]
    pub fn are_absent(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an object still has the value of a field. A server may have added defaults to it.
    #[must_use]
    pub fn is_unchanged(&self, name: &str, object: &Value) -> bool {
        match (self.get(name), spec_path(name).value_in(object)) {
            (Some(value), Some(live)) => is_contained(value, live),
            (value, live) => value.is_none() && live.is_none(),
        }
    }

    /// Returns the same fields with another one.
    #[must_use]
    pub fn and(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Returns the same fields without a pause, which is one of them or in the update strategy.
    #[must_use]
    pub fn without_pause(self) -> Self {
        let Value::Object(fields) = without_pause(self.0.into()) else { return Self::default() };
        Self(fields.into_iter().map(|(name, value)| (name, without_pause(value))).collect())
    }
}

impl<const N: usize> From<[(&str, Value); N]> for HoldFields {
    fn from(fields: [(&str, Value); N]) -> Self {
        Self(fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
    }
}

/// Returns the path of a member of `spec`.
#[must_use]
pub fn spec_path(name: &str) -> FieldPath {
    FieldPath::of(["spec", name])
}

/// Returns members without a pause among them or in `rollingUpdate`.
pub(super) fn without_pause(mut members: Value) -> Value {
    for pointer in ["", "/rollingUpdate"] {
        if let Some(members) = members.pointer_mut(pointer).and_then(Value::as_object_mut)
            && members.get("paused") == Some(&Value::Bool(true))
        {
            members.remove("paused");
        }
    }
    members
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::object::Object;
    use crate::kind::Workload;

    fn workload(kind: &str, strategy: &Value) -> Workload {
        let object = json!({
            "kind": kind, "apiVersion": "apps/v1", "metadata": {"name": "w"}, "spec": {"updateStrategy": strategy},
        });
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    fn read(workload: &Workload, stored: &Value) -> Result<Option<Value>, String> {
        let fields = HoldFields::read(workload.hold_fields(), workload.kind().strategy(), stored.clone());
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
