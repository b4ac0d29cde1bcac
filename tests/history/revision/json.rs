//! JSON, compared with the output of kubectl.

use rollout2::render::kubectl_json::kubectl_json;
use serde_json::{Map, Value};

use crate::history::revision::recorded;

#[test]
fn a_stateful_set_with_an_earlier_template() {
    let db = recorded::object("shop", "StatefulSet", "db");
    let mut earlier = recorded::without_managed_fields(db.clone());
    let mut template = recorded::stored_template(&db, "2");
    template.as_object_mut().expect("a template").remove("$patch");
    earlier["spec"]["template"] = template;
    assert_eq!(kubectl_json(&earlier), recorded::run("shop", "db.history-revision-2-json").stdout);
}

/// A real kubectl (1.33) printed these files for objects with nearly every field set.
#[test]
fn the_fields_have_the_order_of_kubectl() {
    for printed in [
        include_str!("typed/statefulset.json"),
        include_str!("typed/deployment.json"),
        include_str!("typed/replicaset.json"),
        include_str!("typed/daemonset.json"),
    ] {
        let object: Value = serde_json::from_str(printed).expect("JSON");
        assert_eq!(kubectl_json(&reversed(object)), printed);
    }
}

#[test]
fn no_field_is_lost() {
    for kind in ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision", "Pod"] {
        for object in recorded::objects("shop", kind) {
            let read: Value = serde_json::from_str(&kubectl_json(&object)).expect("JSON");
            assert_eq!(read, object);
        }
    }
}

/// Returns the object with its members in reverse order.
fn reversed(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .rev()
            .map(|(name, member)| (name, reversed(member)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.into_iter().map(reversed).collect(),
        other => other,
    }
}
