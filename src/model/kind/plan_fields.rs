//! The fields that a plan of `step` replaces, as one value.
//!
//! For most kinds that is the update strategy. For a kind with several such fields, the value is an object with those
//! that the workload has, so that an absent field stays absent.

use serde_json::{Map, Value};

use super::rolling_hold::{NEVER_AVAILABLE, NO_DEADLINE};
use super::{Workload, strategy, strategy_fields};
use crate::model::api::field_path::FieldPath;

/// The name of the annotation that keeps the original fields.
pub const HOLD_ANNOTATION: &str = "kubectl-rollout2/held";

/// Whether a plan replaces several fields of this kind, and not the update strategy alone.
#[must_use]
pub fn are_several(workload: &Workload) -> bool {
    !workload.kind().plan_fields().is_empty()
}

/// Returns the value of the fields; none where the update strategy is absent.
#[must_use]
pub fn live(workload: &Workload) -> Option<Value> {
    if !are_several(workload) {
        return strategy::update_strategy(workload).cloned();
    }
    let value = |(path, name): &(FieldPath, &str)| {
        Some(((*name).to_owned(), path.value_in(workload.object().json())?.clone()))
    };
    Some(Value::Object(several(workload).iter().filter_map(value).collect::<Map<_, _>>()))
}

/// Returns the path of each field.
#[must_use]
pub fn paths(workload: &Workload) -> Vec<FieldPath> {
    match several(workload) {
        fields if fields.is_empty() => vec![strategy::strategy_path(workload)],
        fields => fields.into_iter().map(|(path, _)| path).collect(),
    }
}

/// Returns each field with its part of a value; none where the value has no such member.
#[must_use]
pub fn parts(workload: &Workload, value: Option<&Value>) -> Vec<(FieldPath, Option<Value>)> {
    match several(workload) {
        fields if fields.is_empty() => vec![(strategy::strategy_path(workload), value.cloned())],
        fields => {
            let part = |name| value.and_then(|value| value.get(name)).filter(|part| !part.is_null());
            fields.into_iter().map(|(path, name)| (path, part(name).cloned())).collect()
        }
    }
}

/// Whether a value of a field is one that only a hold has.
#[must_use]
pub fn is_of_a_hold(place: &FieldPath, value: Option<&Value>) -> bool {
    let number = value.and_then(Value::as_i64);
    match place.members() {
        [_, field] if field == "minReadySeconds" => number == Some(NEVER_AVAILABLE),
        [_, field] if field == "progressDeadlineSeconds" => number == Some(NO_DEADLINE),
        _ => false,
    }
}

/// Checks a value before it is written.
///
/// # Errors
/// The invalid field, as a fragment.
pub fn check(workload: &Workload, value: &Value) -> Result<(), String> {
    let fields = workload.kind().plan_fields();
    if fields.is_empty() {
        return strategy_fields::check(workload, value);
    }
    let members = value.as_object().ok_or("the hold is not an object")?;
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let shown: String = name.chars().take(64).collect();
        let field = fields.iter().find(|(known, _)| known == name);
        let (known, field) = field.ok_or_else(|| format!("the hold has no field {shown:?}"))?;
        if !field.has(value) {
            return Err(format!("{known} has a value of another type"));
        }
        if *known == "strategy" {
            strategy_fields::check(workload, value)?;
        }
    }
    Ok(())
}

fn several(workload: &Workload) -> Vec<(FieldPath, &'static str)> {
    workload.kind().plan_fields().iter().map(|(name, _)| (FieldPath::of(["spec", name]), *name)).collect()
}
