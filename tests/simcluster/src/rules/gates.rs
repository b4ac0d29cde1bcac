//! Fields of disabled feature gates. The server drops them, unless the stored object has them already.

use serde_json::Value;

use crate::{object, resource::Resource, store::Store};

/// Drops the fields of disabled feature gates from `wanted`; `current` is the stored object, if there is one.
pub(super) fn drop_disabled(store: &Store, resource: &Resource, current: Option<&Value>, wanted: &mut Value) {
    if !store.allows_max_unavailable_stateful_set() {
        drop_max_unavailable(resource, current, wanted);
    }
}

fn drop_max_unavailable(resource: &Resource, current: Option<&Value>, wanted: &mut Value) {
    // MaxUnavailableStatefulSet: beta and enabled in 1.35, disabled by default since then.
    let path = ["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"];
    if resource.kind != "StatefulSet" || current.is_some_and(|current| object::at(current, &path).is_some()) {
        return;
    }
    if let Some(Value::Object(rolling)) = wanted.pointer_mut("/spec/updateStrategy/rollingUpdate") {
        rolling.remove("maxUnavailable");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resource::{DAEMONSETS, STATEFULSETS};

    #[test]
    fn a_statefulset_keeps_max_unavailable_only_if_it_had_it() {
        let has = json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": 1, "maxUnavailable": 2 } } } });
        let after = |resource: &Resource, current: Option<&Value>| {
            let mut wanted = has.clone();
            drop_max_unavailable(resource, current, &mut wanted);
            wanted["spec"]["updateStrategy"]["rollingUpdate"].clone()
        };
        assert_eq!(after(&STATEFULSETS, None), json!({ "partition": 1 }));
        assert_eq!(after(&STATEFULSETS, Some(&json!({}))), json!({ "partition": 1 }));
        assert_eq!(after(&STATEFULSETS, Some(&has))["maxUnavailable"], 2);
        assert_eq!(after(&DAEMONSETS, None)["maxUnavailable"], 2);
    }
}
