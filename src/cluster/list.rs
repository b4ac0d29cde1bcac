//! A list, read object by object: of each only what somebody makes of it stays.
//!
//! A page of five hundred objects parsed whole would be a hundred times what is kept of it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::item::Item;
use crate::model::object::Object;
use crate::model::resource_type::ResourceType;

/// What was read of a list.
#[derive(Debug)]
pub(super) struct List<T> {
    /// What was kept of its objects.
    pub(super) kept: Vec<T>,
    /// Where the next page begins; empty when there is none.
    pub(super) rest: String,
    /// The version of the whole list.
    pub(super) version: String,
}

/// Reads a list of objects of a type; none when it is no list.
pub(super) fn read<T>(
    json: &[u8],
    type_: &ResourceType,
    item: Item,
    keep: impl FnMut(Object) -> Option<T>,
) -> Option<List<T>> {
    let mut json = serde_json::Deserializer::from_slice(json);
    let list = json.deserialize_map(Reader(Items { type_, item, keep, kept: Vec::new() })).ok()??;
    json.end().ok()?;
    Some(list)
}

/// Reads the list itself.
struct Reader<'a, T, K>(Items<'a, T, K>);

/// Reads its items. They leave out their own kind and version, which are the list's.
struct Items<'a, T, K> {
    type_: &'a ResourceType,
    item: Item,
    keep: K,
    kept: Vec<T>,
}

impl<'de, T, K: FnMut(Object) -> Option<T>> Visitor<'de> for Reader<'_, T, K> {
    type Value = Option<List<T>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut metadata, mut is_list) = (Value::Null, false);
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "metadata" => metadata = members.next_value()?,
                "items" => {
                    is_list = true;
                    members.next_value_seed(&mut self.0)?;
                }
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        let text = |name| metadata.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let list = || List { kept: self.0.kept, rest: text("continue"), version: text("resourceVersion") };
        Ok(is_list.then(list))
    }
}

impl<'de, T, K: FnMut(Object) -> Option<T>> DeserializeSeed<'de> for &mut Items<'_, T, K> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, items: D) -> Result<(), D::Error> {
        items.deserialize_option(self)
    }
}

impl<'de, T, K: FnMut(Object) -> Option<T>> Visitor<'de> for &mut Items<'_, T, K> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("objects, or null for none")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, items: D) -> Result<(), D::Error> {
        items.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(mut item) = items.next_element_seed(self.item)? {
            if let Some(members) = item.as_object_mut() {
                members.entry("kind").or_insert_with(|| self.type_.title().into());
                members.entry("apiVersion").or_insert_with(|| self.type_.api_version().into());
            }
            self.kept.extend(Object::read(item).ok().and_then(&mut self.keep));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::resource_type::{DEPLOYMENT, POD};
    use serde_json::json;

    fn all(list: &Value, type_: &ResourceType) -> Option<List<Object>> {
        read(list.to_string().as_bytes(), type_, Item::of(type_), Some)
    }

    #[test]
    fn items_get_the_kind_that_they_leave_out() {
        let list = json!({
            "kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "on", "resourceVersion": "7"},
            "items": [{"metadata": {"name": "a"}}, 7, {"kind": "Pod", "metadata": {"name": "b"}}]
        });
        let list = all(&list, &POD).unwrap();
        assert_eq!((list.rest.as_str(), list.version.as_str()), ("on", "7"));
        assert_eq!(list.kept.iter().map(Object::name).collect::<Vec<_>>(), ["a", "b"]);
        assert!(list.kept.iter().all(|pod| pod.kind() == "Pod" && pod.text("/apiVersion") == Some("v1")));
        let list = all(&json!({"items": [{"metadata": {"name": "a"}}]}), &DEPLOYMENT).unwrap();
        assert_eq!(list.kept[0].text("/apiVersion"), Some("apps/v1"));
        assert!(all(&json!({"items": null}), &POD).unwrap().kept.is_empty());
    }

    #[test]
    fn what_is_no_list_is_none() {
        for other in [json!({"kind": "Status"}), json!({"items": {}}), json!([]), json!("x"), json!(null)] {
            assert!(all(&other, &POD).is_none(), "{other}");
        }
        for broken in ["", "{\"items\": [", "{\"items\": []} x", "<html>"] {
            assert!(read(broken.as_bytes(), &POD, Item::WHOLE, Some).is_none(), "{broken}");
        }
    }
}
