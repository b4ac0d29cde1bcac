//! Decodes a list object by object, and keeps only what the caller makes of each.
//!
//! A page of 500 objects as JSON takes a hundred times the memory of the facts that are kept.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::connection::HeldMemory;
use crate::model::api::object::Object;
use crate::model::api::resource_type::{CONFIG_MAP, ResourceType, SECRET};
use crate::model::kind;
use crate::snapshot::json::{ObjectWithout, is_too_large, parsed_size};

/// The estimated memory of the facts that are kept of an object, in bytes.
const FACTS: usize = 2 << 10;

/// A decoded list.
#[derive(Debug)]
pub(super) struct List<T> {
    /// The number of its items.
    pub(super) items: usize,
    /// What the caller kept of the objects.
    pub(super) kept: Vec<T>,
    /// The `continue` token; empty on the last page.
    pub(super) rest: String,
    /// The resourceVersion of the list.
    pub(super) version: String,
}

/// Decodes the pages of a list.
#[derive(Debug)]
pub(super) struct ListReader<'a> {
    /// The type of the objects.
    pub(super) type_: &'a ResourceType,
    /// Whether the objects are kept as complete JSON.
    pub(super) is_whole: bool,
    /// The memory of what is kept of the objects.
    pub(super) held: HeldMemory,
    /// Whether they take more memory than is left.
    pub(super) is_too_large: bool,
}

impl ListReader<'_> {
    /// Decodes a page; none when the JSON is not a list of objects or does not fit into the memory.
    pub(super) fn read<T>(&mut self, json: &[u8], keep: impl FnMut(Object) -> Option<T>) -> Option<List<T>> {
        self.is_too_large = is_too_large(json) || self.is_whole && !self.held.grow(parsed_size(json));
        if self.is_too_large {
            return None;
        }
        let mut json = serde_json::Deserializer::from_slice(json);
        let items = ItemsSeed { reader: self, keep, kept: Vec::new(), read: 0 };
        let list = json.deserialize_map(ListVisitor(items)).ok()??;
        json.end().ok()?;
        Some(list)
    }
}

/// Decodes the list.
struct ListVisitor<'a, 'r, T, K>(ItemsSeed<'a, 'r, T, K>);

/// Decodes the items, and adds the kind and apiVersion that items of a list lack.
struct ItemsSeed<'a, 'r, T, K> {
    reader: &'a mut ListReader<'r>,
    keep: K,
    kept: Vec<T>,
    /// How many were read.
    read: usize,
}

impl<'de, T, K: FnMut(Object) -> Option<T>> Visitor<'de> for ListVisitor<'_, '_, T, K> {
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
        let items = self.0.read;
        let list =
            || List { items, kept: self.0.kept, rest: text("continue"), version: text("resourceVersion") };
        Ok(is_list.then(list))
    }
}

impl<'de, T, K: FnMut(Object) -> Option<T>> DeserializeSeed<'de> for &mut ItemsSeed<'_, '_, T, K> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, items: D) -> Result<(), D::Error> {
        items.deserialize_option(self)
    }
}

impl<'de, T, K: FnMut(Object) -> Option<T>> Visitor<'de> for &mut ItemsSeed<'_, '_, T, K> {
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
        let (type_, is_whole) = (self.reader.type_, self.reader.is_whole);
        // Only the managed fields of workloads, ConfigMaps and Secrets are used.
        let is_used = is_whole || kind::of_type(type_).is_some() || [&CONFIG_MAP, &SECRET].contains(&type_);
        let seed = || if is_used { ObjectWithout::NOTHING } else { ObjectWithout::MANAGED_FIELDS };
        while let Some(mut item) = items.next_element_seed(seed())? {
            self.read += 1;
            if !is_whole && !self.reader.held.grow(FACTS) {
                self.reader.is_too_large = true;
                return Err(A::Error::custom("no memory is left"));
            }
            if let Some(members) = item.as_object_mut() {
                members.entry("kind").or_insert_with(|| type_.title().into());
                members.entry("apiVersion").or_insert_with(|| type_.api_version().into());
            }
            self.kept.extend(Object::read(item).ok().and_then(&mut self.keep));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::connection::CommandMemory;
    use crate::model::api::resource_type::POD;
    use crate::model::kind::Kind;
    use crate::model::kind::deployment::Deployment;
    use serde_json::json;

    fn read(json: &str, type_: &ResourceType) -> Option<List<Object>> {
        let held = CommandMemory::default().hold();
        let mut reader = ListReader { type_, is_whole: false, held, is_too_large: false };
        reader.read(json.as_bytes(), Some)
    }

    fn all(list: &Value, type_: &ResourceType) -> Option<List<Object>> {
        read(&list.to_string(), type_)
    }

    #[test]
    fn items_get_the_kind_and_version_of_the_list() {
        let list = json!({
            "kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "on", "resourceVersion": "7"},
            "items": [{"metadata": {"name": "a"}}, {}, {"kind": "Pod", "metadata": {"name": "b"}}]
        });
        let list = all(&list, &POD).unwrap();
        assert_eq!((list.rest.as_str(), list.version.as_str()), ("on", "7"));
        assert_eq!(list.kept.iter().map(Object::name).collect::<Vec<_>>(), ["a", "b"]);
        assert!(list.kept.iter().all(|pod| pod.kind() == "Pod" && pod.text("/apiVersion") == Some("v1")));
        let list = all(&json!({"items": [{"metadata": {"name": "a"}}]}), Deployment.type_()).unwrap();
        assert_eq!(list.kept[0].text("/apiVersion"), Some("apps/v1"));
        assert!(all(&json!({"items": null}), &POD).unwrap().kept.is_empty());
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
