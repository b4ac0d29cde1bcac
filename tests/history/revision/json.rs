//! JSON of kubectl's objects.

use harness::prelude::*;
use rollout2::render::json::kubectl_json;

#[test]
fn no_field_is_lost() {
    for object in snapshot("shop")["items"].as_array().expect("items") {
        let read: Value = serde_json::from_str(&kubectl_json(object)).expect("JSON");
        assert_eq!(read, *object);
    }
}
