//! The fields of update strategies.
//!
//! `pause` and `step` store the strategy of a workload in an annotation and restore it later. Every
//! client that can write annotations can change it, so it is checked against these fields first.

use serde_json::Value;

use super::{Workload, strategy};

/// Checks a strategy before it is restored. A field of the live strategy is accepted even if this
/// version does not know it.
///
/// # Errors
/// The invalid field, as a fragment: `rollingUpdate.replicas is no field of ...`.
pub fn check(workload: &Workload, kept: &Value) -> Result<(), String> {
    let place = workload.kind().strategy().last().copied().unwrap_or_default();
    let Some(members) = kept.as_object() else {
        return Err(format!("{place} is not an object"));
    };
    let live = strategy::update_strategy(workload).unwrap_or(&Value::Null);
    let fields = workload.kind().strategy_fields();
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
                        None if is_live => {}
                        _ => return Err(wrong(place, &format!("{name}.{inner}"), field.is_some())),
                    }
                }
            }
            (None, _) if below.is_empty() && live.get(name).is_some() => {}
            (known, _) => return Err(wrong(place, name, known.is_some() || !below.is_empty())),
        }
    }
    Ok(())
}

/// The name of the field comes from outside. It is shortened here and escaped by the renderer.
fn wrong(place: &str, field: &str, is_known: bool) -> String {
    let field: String = field.chars().take(64).collect();
    if is_known {
        format!("{place}.{field} has a value of another type")
    } else {
        format!("{place} has no field {field:?}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::api::object::Object;

    fn workload(kind: &str, strategy: &Value) -> Workload {
        let object = json!({
            "kind": kind, "apiVersion": "apps/v1", "metadata": {"name": "w"}, "spec": {"updateStrategy": strategy},
        });
        Workload::of(Object::read(object).unwrap()).unwrap()
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
            assert_eq!(check(&workload(kind, &json!({})), &strategy), Ok(()), "{kind} {strategy}");
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
            let error = check(&workload(kind, &json!({})), &strategy).unwrap_err();
            assert!(error.contains(name) && error.len() < 200, "{kind} {strategy}: {error}");
        }
    }

    #[test]
    fn fields_that_the_server_has_are_accepted() {
        let live =
            json!({"type": "RollingUpdate", "later": {"a": 1}, "rollingUpdate": {"partition": 1, "new": []}});
        assert_eq!(check(&workload("StatefulSet", &live), &live), Ok(()));
        assert!(check(&workload("StatefulSet", &json!({})), &live).is_err());
    }
}
