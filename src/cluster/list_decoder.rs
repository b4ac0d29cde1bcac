//! Decodes a page of a list object by object, and keeps only what the caller makes of each.
//!
//! A page of 500 objects as JSON takes a hundred times the memory of the facts that are kept.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::api::object::{Object, drop_managed_fields};
use crate::model::api::resource_type::{CONTROLLER_REVISION, POD, ResourceType};
use crate::model::kind;

/// A decoded page.
#[derive(Debug)]
pub(super) struct Page<T> {
    /// The number of its items.
    pub(super) items: usize,
    /// What the caller kept of the objects.
    pub(super) kept: Vec<T>,
    /// Empty on the last page.
    pub(super) continue_token: String,
    /// The resourceVersion of the list.
    pub(super) version: String,
}

/// The JSON of a page, whose items are not parsed yet.
#[derive(Deserialize)]
struct RawPage<'a> {
    #[serde(default)]
    metadata: Value,
    /// Null for none; without this member it is no list.
    #[serde(borrow, deserialize_with = "Option::deserialize")]
    items: Option<Vec<&'a RawValue>>,
}

/// Decodes a page of objects of a type; none when the JSON is not a list of objects. `is_whole` says that the objects keep
/// their managed fields, as workloads, pods and ControllerRevisions always do: their stamps date changes. The kind and
/// apiVersion that items of a list lack are added.
pub(super) fn read_page<T>(
    json: &[u8],
    type_: &ResourceType,
    is_whole: bool,
    mut keep: impl FnMut(Object) -> Option<T>,
) -> Option<Page<T>> {
    let page: RawPage<'_> = serde_json::from_slice(json).ok()?;
    let items = page.items.unwrap_or_default();
    let is_dated = [&POD, &CONTROLLER_REVISION].contains(&type_) || kind::of_type(type_).is_some();
    let is_used = is_whole || is_dated;
    let mut kept = Vec::new();
    for item in &items {
        let mut item: Value = serde_json::from_str(item.get()).ok()?;
        if !is_used {
            drop_managed_fields(&mut item);
        }
        let members = item.as_object_mut()?;
        members.entry("kind").or_insert_with(|| type_.kind.into());
        members.entry("apiVersion").or_insert_with(|| type_.api_version().into());
        kept.extend(Object::read(item).ok().and_then(&mut keep));
    }
    let text = |name| page.metadata.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Page {
        items: items.len(),
        kept,
        continue_token: text("continue"),
        version: text("resourceVersion"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::resource_type::EVENT;
    use crate::model::kind::Kind;
    use crate::model::kind::deployment::Deployment;
    use serde_json::json;

    fn read(json: &str, type_: &ResourceType) -> Option<Page<Object>> {
        read_page(json.as_bytes(), type_, false, Some)
    }

    fn all(list: &Value, type_: &ResourceType) -> Option<Page<Object>> {
        read(&list.to_string(), type_)
    }

    #[test]
    fn items_get_the_kind_and_version_of_the_list() {
        let list = json!({
            "kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "on", "resourceVersion": "7"},
            "items": [{"metadata": {"name": "a"}}, {}, {"kind": "Pod", "metadata": {"name": "b"}}]
        });
        let list = all(&list, &POD).unwrap();
        assert_eq!((list.continue_token.as_str(), list.version.as_str()), ("on", "7"));
        assert_eq!(list.kept.iter().map(Object::name).collect::<Vec<_>>(), ["a", "b"]);
        assert!(list.kept.iter().all(|pod| pod.kind() == "Pod" && pod.text("/apiVersion") == Some("v1")));
        let list = all(&json!({"items": [{"metadata": {"name": "a"}}]}), Deployment.type_()).unwrap();
        assert_eq!(list.kept[0].text("/apiVersion"), Some("apps/v1"));
        assert!(all(&json!({"items": null}), &POD).unwrap().kept.is_empty());
    }

    #[test]
    fn only_objects_whose_changes_are_dated_keep_their_managed_fields() {
        let list = json!({"items": [{"metadata": {"name": "a", "managedFields": [{}]}, "spec": {"managedFields": 1}}]});
        let dated = [&POD, &CONTROLLER_REVISION, Deployment.type_()].map(|type_| (type_, true));
        for (type_, is_kept) in [(&EVENT, false)].into_iter().chain(dated) {
            let list = all(&list, type_).unwrap();
            assert_eq!(list.kept[0].at("/metadata/managedFields").is_some(), is_kept);
            assert!(list.kept[0].at("/spec/managedFields").is_some());
        }
    }

    #[test]
    fn other_json_is_not_a_list() {
        for other in [
            json!({"kind": "Status"}),
            json!({"items": {}}),
            json!({"items": [7]}),
            json!([]),
            json!("x"),
            json!(null),
        ] {
            assert!(all(&other, &POD).is_none(), "{other}");
        }
        for broken in ["", "{\"items\": [", "{\"items\": []} x", "<html>"] {
            assert!(read(broken, &POD).is_none(), "{broken}");
        }
    }
}
