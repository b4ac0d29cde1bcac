//! Aligns the last-applied configuration with a rollback (`--sync-last-applied`).
//!
//! `kubectl apply` removes fields that the last-applied configuration contains and the manifest
//! lacks. After a rollback it still contains the fields of the later release, so applying the
//! earlier manifest would change the template again. Each field of its template takes the value of
//! the revision, or is removed if the revision lacks it. Nothing is added, because `kubectl apply`
//! ignores fields that it never applied.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::model::diff;
use crate::model::kind::Workload;
use crate::model::text::go_json::go_json;

/// Returns the last-applied configuration with the template of the revision.
///
/// # Errors
/// If it is not a JSON object.
pub(super) fn synced(text: &str, template: &Value, workload: &Workload) -> Result<String> {
    let mut applied_config: Value =
        serde_json::from_str(text).ok().filter(Value::is_object).ok_or_else(|| unreadable(workload))?;
    if let Some(applied) = applied_config.pointer_mut("/spec/template") {
        align("template", applied, template);
    }
    // kubectl ends it with a newline; an unchanged configuration stays equal byte by byte.
    let end = if text.ends_with('\n') { "\n" } else { "" };
    Ok(go_json(&applied_config) + end)
}

fn align(name: &str, applied: &mut Value, revision: &Value) {
    match (&mut *applied, revision) {
        (Value::Object(members), Value::Object(revision_value)) => members.retain(|member, value| {
            let Some(revision_value) = revision_value.get(member) else { return false };
            align(member, value, revision_value);
            true
        }),
        (Value::Array(elements), Value::Array(revision_value)) => match diff::identity_fields(name) {
            Some(fields) => {
                elements.retain_mut(|element| match matching_element(element, revision_value, fields) {
                    Some(revision_value) => {
                        align("", element, revision_value);
                        true
                    }
                    None => false,
                });
            }
            None => *applied = revision.clone(),
        },
        _ => *applied = revision.clone(),
    }
}

/// Returns the element with the same key fields, as far as the configuration contains them.
/// Defaults such as a port's protocol are only in the revision.
fn matching_element<'a>(element: &Value, revision_value: &'a [Value], fields: &[&str]) -> Option<&'a Value> {
    let field = |of: &Value, path: &str| -> Option<Value> {
        path.split('.').try_fold(of, |value, member| value.get(member)).cloned()
    };
    let applied: Vec<(&str, Value)> =
        fields.iter().filter_map(|path| Some((*path, field(element, path)?))).collect();
    let is_same = |other: &&Value| {
        !applied.is_empty() && applied.iter().all(|(path, value)| field(other, path).as_ref() == Some(value))
    };
    revision_value.iter().find(is_same)
}

fn unreadable(workload: &Workload) -> Error {
    let message = format!(
        "the last-applied configuration of {} is not readable, so it cannot be synced",
        workload.target()
    );
    Error::new(ErrorKind::Malformed, message).hint("run undo without --sync-last-applied")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::object::Object;
    use serde_json::json;

    fn synced_template(applied: &Value, revision: &Value) -> Value {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "web"}});
        let workload = Workload::of(Object::read(workload).unwrap()).unwrap();
        let text = json!({"spec": {"replicas": 3, "template": applied}}).to_string();
        let applied_config: Value =
            serde_json::from_str(&synced(&text, revision, &workload).unwrap()).unwrap();
        assert_eq!(applied_config["spec"]["replicas"], 3);
        applied_config["spec"]["template"].clone()
    }

    #[test]
    fn applied_fields_follow_the_revision_and_nothing_is_added() {
        let applied = json!({"metadata": {"labels": {"app": "web", "new": "1"}}, "spec": {"containers": [
            {"name": "web", "image": "web:2", "args": ["-a"], "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "2"}]},
            {"name": "sidecar", "image": "s:1"},
        ]}});
        let revision = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"dnsPolicy": "ClusterFirst", "containers": [
            {"name": "init", "image": "i:1"},
            {"name": "web", "image": "web:1", "args": ["-b", "-c"], "imagePullPolicy": "Always", "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "env": [{"name": "C", "value": "1"}, {"name": "A", "value": "1"}]},
        ]}});
        assert_eq!(
            synced_template(&applied, &revision),
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
                {"name": "web", "image": "web:1", "args": ["-b", "-c"], "ports": [{"containerPort": 80}],
                    "env": [{"name": "A", "value": "1"}]},
            ]}})
        );
    }

    #[test]
    fn an_equal_configuration_stays_unchanged() {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "web"}});
        let workload = Workload::of(Object::read(workload).unwrap()).unwrap();
        let text = "{\"kind\":\"Deployment\",\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"args\":[\"\\u003ca\"],\"name\":\"c\"}]}}}}\n";
        let template = json!({"spec": {"containers": [{"name": "c", "args": ["<a"], "image": "x"}]}});
        assert_eq!(synced(text, &template, &workload).unwrap(), text);
    }

    #[test]
    fn an_invalid_configuration_is_refused() {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "web"}});
        let workload = Workload::of(Object::read(workload).unwrap()).unwrap();
        for text in ["", "{", "[]", "1"] {
            assert!(synced(text, &json!({}), &workload).is_err(), "{text:?}");
        }
        assert_eq!(synced("{}", &json!({}), &workload).unwrap(), "{}");
    }

    /// Two ports can share a number and differ in protocol, so every key field must match.
    #[test]
    fn an_element_is_matched_by_all_of_its_key_fields() {
        let port =
            |protocol: &str, name: &str| json!({"containerPort": 53, "protocol": protocol, "name": name});
        let containers = |ports: Value| json!({"spec": {"containers": [{"name": "dns", "ports": ports}]}});
        let applied_config = containers(json!([port("TCP", "new")]));
        let revision = containers(json!([port("UDP", "udp"), port("TCP", "tcp")]));
        assert_eq!(synced_template(&applied_config, &revision), containers(json!([port("TCP", "tcp")])));
    }
}
