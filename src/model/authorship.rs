//! Who changed a field last, as far as `managedFields` tell.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::object::Object;
use super::patch::Place;

/// The latest writer of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorship {
    /// The field manager: a program's name for itself, such as `helm` or `kubectl-set`.
    pub manager: String,
    /// When it last wrote any of its fields.
    pub time: Timestamp,
}

/// The manager that owns fields of `spec.template` and wrote last.
///
/// Managed fields remember one time a manager, so this is the best there is, and it is absent where
/// the server was told not to keep them.
#[must_use]
pub fn last_template_author(workload: &Object) -> Option<Authorship> {
    last_author(workload, &Place::of(["spec", "template"]))
}

/// The manager that owns fields at a place of an object, or below it, and wrote last.
#[must_use]
pub fn last_author(object: &Object, place: &Place) -> Option<Authorship> {
    let entries = object.at("/metadata/managedFields")?.as_array()?;
    let authors = entries.iter().filter_map(|entry| {
        let fields = place.members().iter().map(|member| format!("f:{member}"));
        fields.fold(entry.get("fieldsV1"), |owned, field| owned?.get(&field))?;
        let time = entry.get("time").and_then(Value::as_str)?.parse().ok()?;
        Some(Authorship { manager: entry.get("manager")?.as_str()?.to_owned(), time })
    });
    authors.max_by_key(|author| author.time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_writer_of_the_template_is_named() {
        let entry = |manager: &str, time: &str, fields: Value| json!({"manager": manager, "time": time, "fieldsV1": fields});
        let template = json!({"f:spec": {"f:template": {}}});
        let object =
            Object::read(json!({"kind": "Deployment", "metadata": {"name": "web", "managedFields": [
                entry("helm", "2026-11-20T13:00:00Z", template.clone()),
                entry("kubectl-set", "2026-11-20T13:05:00Z", template),
                entry("autoscaler", "2026-11-20T14:00:00Z", json!({"f:spec": {"f:replicas": {}}})),
            ]}}));
        let author = last_template_author(&object.unwrap()).unwrap();
        assert_eq!(
            (author.manager.as_str(), author.time.to_string().as_str()),
            ("kubectl-set", "2026-11-20T13:05:00Z")
        );
    }

    #[test]
    fn nobody_is_named_where_nothing_is_kept() {
        for fields in [
            json!(null),
            json!("x"),
            json!([{"manager": 1}]),
            json!([{"fieldsV1": {"f:spec": {"f:template": {}}}}]),
        ] {
            let object = Object::read(
                json!({"kind": "Deployment", "metadata": {"name": "web", "managedFields": fields}}),
            );
            assert_eq!(last_template_author(&object.unwrap()), None);
        }
    }
}
