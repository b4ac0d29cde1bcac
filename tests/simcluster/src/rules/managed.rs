//! `metadata.managedFields`.

use serde_json::{Value, json};

use super::{
    Author, Part,
    fields::{Fields, changed, intersect, subtract, unite},
};
use crate::object;

/// Records in `after` that `author` changed it from `before` at `time`.
///
/// An entry has the updates of one manager through one subresource. The author gets the fields that differ. Every
/// other entry loses those fields and all that the object no longer has.
pub(super) fn note(
    before: &Value,
    after: &mut Value,
    author: &Author,
    part: Part,
    api_version: &str,
    time: &str,
) {
    let written = changed(before, after);
    let present = changed(&json!({}), after);
    let mut entries = object::list(before, &["metadata", "managedFields"]).to_vec();
    if before != after || entries.is_empty() {
        let subresource = match part {
            Part::Object => Value::Null,
            Part::Status => "status".into(),
        };
        for entry in &mut entries {
            update_fields(entry, |fields| {
                intersect(fields, &present);
                subtract(fields, &written);
            });
        }
        let is_mine = |entry: &Value| {
            entry["manager"] == author.manager.as_str()
                && entry["operation"] == "Update"
                && entry["apiVersion"] == api_version
                && entry.get("subresource").unwrap_or(&Value::Null) == &subresource
        };
        if !written.is_empty() {
            add_written(
                &mut entries,
                is_mine,
                || new_entry(author, api_version, subresource.clone()),
                &written,
                time,
            );
        }
        entries.retain(|entry| entry["fieldsV1"].as_object().is_some_and(|fields| !fields.is_empty()));
    }
    object::metadata(after).insert("managedFields".to_owned(), entries.into());
}

fn add_written(
    entries: &mut Vec<Value>,
    is_mine: impl Fn(&Value) -> bool,
    fresh: impl Fn() -> Value,
    written: &Fields,
    time: &str,
) {
    let mut mine = entries.iter().position(is_mine).map_or_else(fresh, |place| entries.remove(place));
    update_fields(&mut mine, |fields| unite(fields, written));
    mine["time"] = time.into();
    entries.push(mine);
}

fn new_entry(author: &Author, api_version: &str, subresource: Value) -> Value {
    let mut entry = json!({
        "manager": author.manager, "operation": "Update", "apiVersion": api_version, "fieldsType": "FieldsV1", "fieldsV1": {},
    });
    if !subresource.is_null() {
        entry["subresource"] = subresource;
    }
    entry
}

fn update_fields(entry: &mut Value, update: impl FnOnce(&mut Fields)) {
    if let Some(Value::Object(fields)) = entry.get_mut("fieldsV1") {
        update(fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_belongs_to_its_last_writer() {
        let mut first = json!({ "metadata": {}, "spec": { "replicas": 1, "paused": true } });
        note(&json!({}), &mut first, &Author::new("kubectl"), Part::Object, "apps/v1", "T1");
        let mut second = first.clone();
        second["spec"]["replicas"] = 2.into();
        note(&first, &mut second, &Author::new("hpa"), Part::Object, "apps/v1", "T2");
        let entries = second["metadata"]["managedFields"].as_array().unwrap();
        let managers: Vec<(&str, &str, &Value)> = entries
            .iter()
            .map(|entry| {
                (entry["manager"].as_str().unwrap(), entry["time"].as_str().unwrap(), &entry["fieldsV1"])
            })
            .collect();
        assert_eq!(managers[0], ("kubectl", "T1", &json!({ "f:spec": { "f:paused": {} } })));
        assert_eq!(managers[1], ("hpa", "T2", &json!({ "f:spec": { "f:replicas": {} } })));
    }

    #[test]
    fn a_status_has_a_separate_entry() {
        let mut object = json!({ "metadata": {}, "status": { "replicas": 1 } });
        note(&json!({}), &mut object, &Author::new("kcm"), Part::Status, "apps/v1", "T1");
        assert_eq!(object["metadata"]["managedFields"][0]["subresource"], "status");
    }
}
