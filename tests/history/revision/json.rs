//! JSON, compared with the output of kubectl.

use rollout2::render::kubectl_json::kubectl_json;
use serde_json::Value;

use crate::history::revision::recorded;

#[test]
fn a_stateful_set_with_an_earlier_template() {
    let db = recorded::object("shop", "StatefulSet", "db");
    let mut earlier = recorded::without_managed_fields(db.clone());
    let mut template = recorded::stored_template(&db, "2");
    template.as_object_mut().expect("a template").remove("$patch");
    earlier["spec"]["template"] = template;
    let printed = recorded::run("shop", "db.history-revision-2-json").stdout;
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(serde_json::from_str::<Value>(&kubectl_json(&earlier)).expect("JSON"), printed);
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
