use proptest::prelude::*;
use serde_json::json;

use super::*;

fn object(rest: &Value) -> Object {
    let mut object = json!({"kind": "StatefulSet", "metadata": {"name": "db", "uid": "u"}});
    for (name, value) in rest.as_object().cloned().unwrap_or_default() {
        match (object[&name].as_object_mut(), value) {
            (Some(members), Value::Object(more)) => members.extend(more),
            (_, value) => object[&name] = value,
        }
    }
    Object::read(object).unwrap()
}

fn lines(patch: &Patch) -> Vec<String> {
    patch.operations().iter().map(Value::to_string).collect()
}

#[test]
fn preconditions_come_first() {
    let object = object(&json!({"metadata": {"annotations": {"a/b": "1"}}, "spec": {"template": {"x": 1}}}));
    let mut patch = Patch::of(&object);
    patch.require_unchanged(FieldPath::of(["spec", "paused"]));
    patch.set(FieldPath::template(), json!({"x": 2}));
    patch.remove(FieldPath::annotation("a/b"));
    assert_eq!(
        lines(&patch),
        [
            r#"{"op":"test","path":"/metadata/uid","value":"u"}"#,
            r#"{"op":"test","path":"/spec/paused","value":null}"#,
            r#"{"op":"test","path":"/spec/template","value":{"x":1}}"#,
            r#"{"op":"test","path":"/metadata/annotations/a~1b","value":"1"}"#,
            r#"{"op":"replace","path":"/spec/template","value":{"x":2}}"#,
            r#"{"op":"remove","path":"/metadata/annotations/a~1b"}"#,
        ]
    );
    assert_eq!(patch.after()["spec"]["template"], json!({"x": 2}));
    assert_eq!(patch.after()["metadata"]["annotations"], json!({}));
}

#[test]
fn absent_maps_are_tested_and_created_once() {
    let mut patch = Patch::of(&object(&json!({})));
    patch.set(FieldPath::annotation("a"), json!("1"));
    patch.set(FieldPath::annotation("b"), json!("2"));
    patch.require_unchanged(FieldPath::annotation("c"));
    assert_eq!(
        lines(&patch)[1..],
        [
            r#"{"op":"test","path":"/metadata/annotations","value":null}"#,
            r#"{"op":"add","path":"/metadata/annotations","value":{"a":"1"}}"#,
            r#"{"op":"add","path":"/metadata/annotations/b","value":"2"}"#,
        ]
    );
}

#[test]
fn unchanged_fields_are_tested_and_not_written() {
    let mut patch = Patch::of(&object(&json!({"spec": {"paused": true}})));
    patch.set(FieldPath::of(["spec", "paused"]), json!(true));
    patch.remove(FieldPath::of(["spec", "strategy"]));
    assert!(patch.is_empty());
    assert_eq!(patch.operations().len(), 3);
}

#[test]
fn the_body_has_gos_escapes() {
    let mut patch = Patch::of(&object(&json!({"spec": {"template": {"args": "<a>&"}}})));
    patch.require_unchanged(FieldPath::template());
    assert!(patch.body().contains(r#"{"args":"\u003ca\u003e\u0026"}"#), "{}", patch.body());
}

#[test]
fn a_rebuilt_patch_has_the_same_preconditions() {
    let mut patch = Patch::of(&object(&json!({"spec": {"template": {"x": 1}}})));
    patch.require_unchanged(FieldPath::template());
    patch.set(FieldPath::annotation("cause"), json!("why"));
    let now = object(&json!({"metadata": {"annotations": {"other": "1"}}, "spec": {"template": {"x": 1}}}));
    assert_eq!(
        lines(&patch.rebased_on(&now))[1..],
        [
            r#"{"op":"test","path":"/spec/template","value":{"x":1}}"#,
            r#"{"op":"test","path":"/metadata/annotations/cause","value":null}"#,
            r#"{"op":"add","path":"/metadata/annotations/cause","value":"why"}"#,
        ]
    );
}

#[test]
fn failed_preconditions_are_those_whose_field_changed() {
    let mut patch = Patch::of(&object(&json!({"spec": {"template": {"x": 1}}})));
    patch.set(FieldPath::template(), json!({"x": 2}));
    patch.set(FieldPath::annotation("cause"), json!("why"));
    let broken = |now: Value| -> Vec<String> {
        let now = object(&now);
        patch.failed_preconditions(&now).map(|precondition| precondition.path.to_string()).collect()
    };
    assert_eq!(broken(json!({"spec": {"template": {"x": 1}, "replicas": 9}})), [""; 0]);
    // The absent map exists now, so the server's test would fail, although every precondition
    // holds.
    assert_eq!(
        broken(json!({"metadata": {"annotations": {"other": "1"}}, "spec": {"template": {"x": 1}}})),
        [""; 0]
    );
    let now = object(&json!({"metadata": {"annotations": {"other": "1"}}, "spec": {"template": {"x": 1}}}));
    let again = patch.rebased_on(&now);
    assert_eq!(again.after()["metadata"]["annotations"], json!({"other": "1", "cause": "why"}));
    assert!(again.is_applied_to(&Object::read(again.after().clone()).unwrap()) && !again.is_applied_to(&now));
    assert_eq!(broken(json!({"metadata": {"uid": "v"}})), ["/metadata/uid", "/spec/template"]);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        "[a-c<&]{0,2}".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c/~]{1,2}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_place() -> impl Strategy<Value = FieldPath> {
    prop::collection::vec("[a-c/~]{1,2}", 1..4).prop_map(|mut members| {
        members.insert(0, "spec".to_owned());
        FieldPath::of(members)
    })
}

/// Applies RFC 6902 as the API server does, for the operations in use.
fn apply(mut document: Value, operations: &[Value]) -> Option<Value> {
    for operation in operations {
        let path = operation["path"].as_str()?;
        let value = operation.get("value").cloned().unwrap_or_default();
        let (above, last) = path.rsplit_once('/')?;
        let parent = document.pointer_mut(above)?.as_object_mut()?;
        let last = last.replace("~1", "/").replace("~0", "~");
        match operation["op"].as_str()? {
            "test" if parent.get(&last).cloned().unwrap_or_default() != value => return None,
            "test" => {}
            "remove" => drop(parent.remove(&last)?),
            _ => drop(parent.insert(last, value)),
        }
    }
    Some(document)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_operations_lead_from_before_to_after(
        spec in any_json(),
        edits in prop::collection::vec((any_place(), prop::option::of(any_json())), 0..5),
    ) {
        let object = object(&json!({"spec": spec}));
        let mut patch = Patch::of(&object);
        for (path, value) in edits {
            patch.set_or_remove(path, value.filter(|value| !value.is_null()));
        }
        let applied = apply(object.json().clone(), &patch.operations());
        prop_assert_eq!(applied.as_ref(), Some(patch.after()));
        prop_assert_eq!(patch.failed_preconditions(&object).count(), 0);
    }
}

#[test]
fn a_recreated_object_is_not_patched() {
    let mut patch = Patch::of(&object(&json!({})));
    patch.set(FieldPath::of(["spec", "paused"]), json!(true));
    let after = |uid: &str| object(&json!({"metadata": {"uid": uid}, "spec": {"paused": true}}));
    assert!(patch.is_applied_to(&after("u")));
    assert!(!patch.is_applied_to(&after("another")));
}

/// The edit of a member precedes one of the whole object.
#[test]
fn the_last_of_overlapping_edits_counts() {
    let mut patch = Patch::of(&object(&json!({"spec": {"updateStrategy": {"paused": true}}})));
    patch.set(FieldPath::of(["spec", "updateStrategy", "paused"]), json!(false));
    patch.set(FieldPath::of(["spec", "updateStrategy"]), json!({"partition": 1}));
    assert!(patch.is_applied_to(&Object::read(patch.after().clone()).unwrap()));
}

#[test]
fn a_pointer_escapes_slashes_and_tildes() {
    assert_eq!(FieldPath::annotation("a/b~c").to_string(), "/metadata/annotations/a~1b~0c");
    assert_eq!(FieldPath::of([""; 0]).to_string(), "");
}

#[test]
fn null_and_non_maps_have_no_value() {
    let path = FieldPath::of(["a", "b"]);
    for root in [json!({}), json!({"a": null}), json!({"a": {"b": null}}), json!({"a": 1}), json!([{"b": 1}])]
    {
        assert_eq!(path.value_in(&root), None, "{root}");
    }
    assert_eq!(path.value_in(&json!({"a": {"b": 0}})), Some(&json!(0)));
}
