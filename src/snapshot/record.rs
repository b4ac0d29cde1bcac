//! One object of a text: what finds it, and its JSON, which is parsed when a command asks for it.
//!
//! Parsed JSON takes seven times the memory of its text, and a command reads few of the objects of a snapshot.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::json_decoder::{ItemSeed, TOO_LARGE};
use super::memory_budget::MemoryBudget;
use crate::model::api::object::Object;
use crate::model::api::resource_type::ResourceType;
use crate::model::api::selector::Selector;

/// One object of a text.
#[derive(Debug)]
pub(super) struct Record {
    header: Header,
    text: Arc<String>,
    range: Range<usize>,
}

/// What finds an object without its JSON.
#[derive(Debug)]
pub(super) struct Header {
    api_version: Box<str>,
    kind: Box<str>,
    namespace: Box<str>,
    name: Box<str>,
    labels: Box<[(Box<str>, Box<str>)]>,
    newest_stamp: Option<Timestamp>,
}

impl Record {
    /// Creates the record of the object whose JSON is a range of a text.
    pub(super) fn new(header: Header, text: &Arc<String>, range: Range<usize>) -> Self {
        Self { header, text: Arc::clone(text), range }
    }

    /// Parses the object, within a memory budget.
    ///
    /// # Errors
    /// When the object does not fit into the budget, or has too many levels.
    pub(super) fn object(&self, budget: &mut MemoryBudget) -> Result<Object, serde_json::Error> {
        let text = self.text.get(self.range.clone()).unwrap_or_default();
        let value = ItemSeed::whole(budget).deserialize(&mut serde_json::Deserializer::from_str(text))?;
        Object::read(value).map_err(serde_json::Error::custom)
    }

    /// Returns `metadata.namespace`; empty if there is none.
    pub(super) fn namespace(&self) -> &str {
        &self.header.namespace
    }

    /// Returns `metadata.name`.
    pub(super) fn name(&self) -> &str {
        &self.header.name
    }

    /// Returns the newest time that the server or a controller wrote into the object. This ignores annotations and the
    /// spec, which users write, and `deletionTimestamp`, which is in the future by the grace period.
    pub(super) fn newest_stamp(&self) -> Option<Timestamp> {
        self.header.newest_stamp
    }

    /// Compares kind and group, and ignores the version. `apps.kruise.io` has kinds with the same names.
    pub(super) fn is_a(&self, type_: &ResourceType) -> bool {
        let group = self.header.api_version.split_once('/').map_or("", |(group, _)| group);
        *self.header.kind == *type_.title() && group == type_.group()
    }

    /// Whether the object's labels satisfy a selector.
    pub(super) fn matches(&self, selector: &Selector) -> bool {
        let labels = &self.header.labels;
        selector
            .matches_labels(|key| labels.iter().find(|(name, _)| **name == *key).map(|(_, value)| &**value))
    }
}

impl Header {
    /// Returns the memory that it takes, without what the allocator adds.
    pub(super) fn size(&self) -> usize {
        let labels =
            self.labels.iter().map(|(name, value)| size_of::<[Box<str>; 2]>() + name.len() + value.len());
        let texts = [&self.api_version, &self.kind, &self.namespace, &self.name].map(|text| text.len());
        size_of::<Record>() + texts.into_iter().sum::<usize>() + labels.sum::<usize>()
    }
}

/// A JSON document that is an object, with what an index needs of it. Members of an unexpected type count as missing.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Document<'a> {
    api_version: Value,
    kind: Value,
    metadata: Metadata,
    #[serde(borrow)]
    items: Option<&'a RawValue>,
    // The times of a workload or a pod, and of an event.
    status: NewestStamp,
    last_timestamp: NewestStamp,
    event_time: NewestStamp,
    series: NewestStamp,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    namespace: Value,
    name: Value,
    labels: Value,
    creation_timestamp: NewestStamp,
    managed_fields: NewestStamp,
}

impl<'a> Document<'a> {
    /// Returns the member `items` of a `List`, a `DeploymentList` or the like, which has no name. `null` stands for a
    /// List without items.
    pub(super) fn list_items(&self) -> Option<&'a str> {
        let is_list = self.kind.as_str().is_some_and(|kind| kind.ends_with("List"));
        (is_list && self.metadata.name.is_null()).then(|| self.items.map_or("null", RawValue::get))
    }

    /// Returns the header of an object.
    ///
    /// # Errors
    /// If `kind` or `metadata.name` is missing.
    pub(super) fn header(self) -> Result<Header, &'static str> {
        let text = |value: &Value| value.as_str().unwrap_or_default().into();
        let metadata = self.metadata;
        let labels = metadata.labels.as_object().into_iter().flatten();
        let labels = labels.filter_map(|(name, value)| Some((name.as_str().into(), value.as_str()?.into())));
        let times = [self.status, self.last_timestamp, self.event_time, self.series];
        let times = times.into_iter().chain([metadata.creation_timestamp, metadata.managed_fields]);
        let header = Header {
            api_version: text(&self.api_version),
            kind: text(&self.kind),
            namespace: text(&metadata.namespace),
            name: text(&metadata.name),
            labels: labels.collect(),
            newest_stamp: times.filter_map(|time| time.0).max(),
        };
        match (&*header.kind, &*header.name) {
            ("", _) => Err("has no kind"),
            (_, "") => Err("has no metadata.name"),
            _ => Ok(header),
        }
    }
}

/// The limit of items in one List. 16 bytes of memory find each.
const MOST_ITEMS: usize = 10_000_000;

/// The JSON of each item of a List.
pub(super) struct Items<'a>(pub(super) Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_seq(Items(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Items<'de> {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Self, A::Error> {
        while let Some(item) = items.next_element()? {
            if self.0.len() == MOST_ITEMS {
                return Err(A::Error::custom(TOO_LARGE));
            }
            self.0.push(item);
        }
        Ok(self)
    }
}

/// The newest time within a JSON value, in the format that the API server writes.
#[derive(Clone, Copy, Default)]
struct NewestStamp(Option<Timestamp>);

impl<'de> Deserialize<'de> for NewestStamp {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Self::default())
    }
}

impl<'de> Visitor<'de> for NewestStamp {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self, E> {
        let is_stamp = text.len() >= 20 && text.as_bytes().get(10) == Some(&b'T');
        Ok(Self(is_stamp.then(|| text.parse().ok()).flatten()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        let mut newest = self;
        while let Some(item) = items.next_element::<Self>()? {
            newest.0 = newest.0.max(item.0);
        }
        Ok(newest)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut newest = self;
        while let Some((_, value)) = members.next_entry::<IgnoredAny, Self>()? {
            newest.0 = newest.0.max(value.0);
        }
        Ok(newest)
    }
}
