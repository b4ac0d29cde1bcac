//! Bringing `kubectl apply`'s memory in line with a rollback.
//!
//! `kubectl apply` removes what its memory names and the manifest no longer does. After a rollback
//! the memory still names the later release's fields, so applying the earlier release's manifest
//! would change the template once more. Here every field that the memory's own template names gets
//! the value it has in the revision, or goes when it has none there. Nothing is added: what the
//! memory does not name, `apply` leaves to others, and so do we.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::model::diff;
use crate::model::go_json::go_json;
use crate::model::workload::Workload;

/// The memory's text with its template in line with the revision's.
///
/// # Errors
/// When the memory is no JSON object.
pub(super) fn synced(text: &str, template: &Value, workload: &Workload) -> Result<String> {
    let mut memory: Value =
        serde_json::from_str(text).ok().filter(Value::is_object).ok_or_else(|| unreadable(workload))?;
    if let Some(named) = memory.pointer_mut("/spec/template") {
        align("template", named, template);
    }
    // kubectl writes a line; so that an unchanged memory stays the same to the byte, so do we.
    let end = if text.ends_with('\n') { "\n" } else { "" };
    Ok(go_json(&memory) + end)
}

fn align(name: &str, named: &mut Value, revision: &Value) {
    match (&mut *named, revision) {
        (Value::Object(members), Value::Object(theirs)) => members.retain(|member, value| {
            let Some(theirs) = theirs.get(member) else { return false };
            align(member, value, theirs);
            true
        }),
        (Value::Array(elements), Value::Array(theirs)) => match diff::identity_fields(name) {
            Some(fields) => elements.retain_mut(|element| match namesake(element, theirs, fields) {
                Some(theirs) => {
                    align("", element, theirs);
                    true
                }
                None => false,
            }),
            None => *named = revision.clone(),
        },
        _ => *named = revision.clone(),
    }
}

/// The element with the same identity, as far as the memory names it: what the server adds by
/// default, such as a port's protocol, is in the revision alone.
fn namesake<'a>(element: &Value, theirs: &'a [Value], fields: &[&str]) -> Option<&'a Value> {
    let field = |of: &Value, path: &str| -> Option<Value> {
        path.split('.').try_fold(of, |value, member| value.get(member)).cloned()
    };
    let named: Vec<(&str, Value)> =
        fields.iter().filter_map(|path| Some((*path, field(element, path)?))).collect();
    let is_same = |other: &&Value| {
        !named.is_empty() && named.iter().all(|(path, value)| field(other, path).as_ref() == Some(value))
    };
    theirs.iter().find(is_same)
}

fn unreadable(workload: &Workload) -> Error {
    let message = format!(
        "the last-applied configuration of {} is not readable, so it cannot be synced",
        workload.target()
    );
    Error::new(ErrorKind::Malformed, message).hint("undo without --sync-last-applied")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::object::Object;
    use serde_json::json;

    fn synced_template(named: &Value, revision: &Value) -> Value {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "web"}});
        let workload = Workload::of(Object::read(workload).unwrap()).unwrap();
        let text = json!({"spec": {"replicas": 3, "template": named}}).to_string();
        let memory: Value = serde_json::from_str(&synced(&text, revision, &workload).unwrap()).unwrap();
        assert_eq!(memory["spec"]["replicas"], 3);
        memory["spec"]["template"].clone()
    }

    #[test]
    fn named_fields_follow_the_revision_and_nothing_is_added() {
        let named = json!({"metadata": {"labels": {"app": "web", "new": "1"}}, "spec": {"containers": [
            {"name": "web", "image": "web:2", "args": ["-a"], "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "2"}]},
            {"name": "sidecar", "image": "s:1"},
        ]}});
        let revision = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"dnsPolicy": "ClusterFirst", "containers": [
            {"name": "init", "image": "i:1"},
            {"name": "web", "image": "web:1", "args": ["-b", "-c"], "imagePullPolicy": "Always", "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "env": [{"name": "C", "value": "1"}, {"name": "A", "value": "1"}]},
        ]}});
        assert_eq!(
            synced_template(&named, &revision),
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
                {"name": "web", "image": "web:1", "args": ["-b", "-c"], "ports": [{"containerPort": 80}],
                    "env": [{"name": "A", "value": "1"}]},
            ]}})
        );
    }

    #[test]
    fn a_memory_that_says_the_same_stays_the_same_to_the_byte() {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "web"}});
        let workload = Workload::of(Object::read(workload).unwrap()).unwrap();
        let text = "{\"kind\":\"Deployment\",\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"args\":[\"\\u003ca\"],\"name\":\"c\"}]}}}}\n";
        let template = json!({"spec": {"containers": [{"name": "c", "args": ["<a"], "image": "x"}]}});
        assert_eq!(synced(text, &template, &workload).unwrap(), text);
    }

    #[test]
    fn what_is_no_memory_is_refused() {
        let workload = json!({"kind": "Deployment", "metadata": {"name": "web"}});
        let workload = Workload::of(Object::read(workload).unwrap()).unwrap();
        for text in ["", "{", "[]", "1"] {
            assert!(synced(text, &json!({}), &workload).is_err(), "{text:?}");
        }
        assert_eq!(synced("{}", &json!({}), &workload).unwrap(), "{}");
    }
}
