//! One object of a text: what finds it, and its JSON, which is parsed when a command asks for it.
//!
//! Parsed JSON takes seven times the memory of its text, and a command reads few of the objects of a snapshot.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::json::{TOO_LARGE, parse, parsed_size};
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
    resource_version: Option<u64>,
    labels: Box<[(Box<str>, Box<str>)]>,
    newest_stamp: Option<Timestamp>,
}

impl Record {
    /// Creates the record of the object whose JSON is a range of a text.
    pub(super) fn new(header: Header, text: &Arc<String>, range: Range<usize>) -> Self {
        Self { header, text: Arc::clone(text), range }
    }

    fn json(&self) -> &[u8] {
        self.text.as_bytes().get(self.range.clone()).unwrap_or_default()
    }

    /// Returns about how much memory the object takes when it is parsed, in bytes.
    pub(super) fn parsed_size(&self) -> usize {
        parsed_size(self.json())
    }

    /// Parses the object.
    ///
    /// # Errors
    /// When the object is too large, or has too many levels.
    pub(super) fn object(&self) -> Result<Object, serde_json::Error> {
        Object::declared(parse(self.json())?).map_err(serde_json::Error::custom)
    }

    /// Returns `metadata.namespace`; empty if there is none.
    pub(super) fn namespace(&self) -> &str {
        &self.header.namespace
    }

    /// Returns `metadata.name`; empty for an object of a manifest that has `generateName` only.
    pub(super) fn name(&self) -> &str {
        &self.header.name
    }

    /// Returns what no two objects of a cluster have in common: group, kind, namespace and name.
    pub(super) fn identity(&self) -> [&str; 4] {
        [self.group(), &self.header.kind, self.namespace(), self.name()]
    }

    /// Whether it was recorded before another record of the same object, which comes later in the snapshot. Without two
    /// resource versions the later record is the newer one.
    pub(super) fn is_older_than(&self, later: &Self) -> bool {
        let versions = self.header.resource_version.zip(later.header.resource_version);
        versions.is_none_or(|(own, other)| own <= other)
    }

    /// Returns the newest time that the server or a controller wrote into the object. This ignores annotations and the
    /// spec, which users write, and `deletionTimestamp`, which is in the future by the grace period.
    pub(super) fn newest_stamp(&self) -> Option<Timestamp> {
        self.header.newest_stamp
    }

    /// Compares kind and group, and ignores the version. `apps.kruise.io` has kinds with the same names.
    pub(super) fn is_a(&self, type_: &ResourceType) -> bool {
        *self.header.kind == *type_.kind && self.group() == type_.group
    }

    fn group(&self) -> &str {
        self.header.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Whether the object's labels satisfy a selector.
    pub(super) fn matches(&self, selector: &Selector) -> bool {
        let labels = &self.header.labels;
        selector
            .matches_labels(|key| labels.iter().find(|(name, _)| **name == *key).map(|(_, value)| &**value))
    }
}

/// A JSON document that is an object, with what an index needs of it: nothing is parsed but texts and labels. Members of an
/// unexpected type count as missing.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Document<'a> {
    #[serde(borrow)]
    api_version: Option<&'a RawValue>,
    kind: Option<&'a RawValue>,
    metadata: Metadata<'a>,
    items: Option<&'a RawValue>,
    // The times of a workload or a pod, and of an event.
    status: Option<&'a RawValue>,
    last_timestamp: Option<&'a RawValue>,
    event_time: Option<&'a RawValue>,
    series: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow)]
    namespace: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
    generate_name: Option<&'a RawValue>,
    resource_version: Option<&'a RawValue>,
    labels: Option<&'a RawValue>,
    creation_timestamp: Option<&'a RawValue>,
    managed_fields: Option<&'a RawValue>,
}

impl<'a> Document<'a> {
    /// Returns the member `items` of a `List`, a `DeploymentList` or the like, which has no name. `null` stands for a
    /// List without items.
    pub(super) fn list_items(&self) -> Option<&'a str> {
        let is_list = text(self.kind).ends_with("List");
        (is_list && self.metadata.name.is_none()).then(|| self.items.map_or("null", RawValue::get))
    }

    /// Whether it has no kind.
    pub(super) fn has_no_kind(&self) -> bool {
        self.kind.is_none()
    }

    /// Returns the members `apiVersion` and `kind` that the items of a typed list have in common, as JSON; none for another
    /// value, such as a `List` of any objects.
    pub(super) fn members_of_items(&self) -> Option<String> {
        let kind = text(self.kind);
        let kind = kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        let version = self.api_version?.get();
        Some(format!("\"apiVersion\":{version},\"kind\":{}", serde_json::to_string(kind).ok()?))
    }

    /// Returns the header of an object.
    ///
    /// # Errors
    /// If `kind` is missing, or `metadata.name` without a `generateName` in its place.
    pub(super) fn header(self) -> Result<Header, &'static str> {
        let metadata = self.metadata;
        let labels = metadata.labels.and_then(|json| parse(json.get().as_bytes()).ok()).unwrap_or_default();
        let labels = labels.as_object().into_iter().flatten();
        let labels = labels.filter_map(|(name, value)| Some((name.as_str().into(), value.as_str()?.into())));
        let times = [self.status, self.last_timestamp, self.event_time, self.series];
        let times = times.into_iter().chain([metadata.creation_timestamp, metadata.managed_fields]);
        let header = Header {
            api_version: text(self.api_version),
            kind: text(self.kind),
            namespace: text(metadata.namespace),
            name: text(metadata.name),
            resource_version: text(metadata.resource_version).parse().ok(),
            labels: labels.collect(),
            newest_stamp: times.flatten().filter_map(|json| newest_stamp(json.get())).max(),
        };
        match (&*header.kind, &*header.name) {
            ("", _) => Err("has no kind"),
            (_, "") if text(metadata.generate_name).is_empty() => Err("has no metadata.name"),
            _ => Ok(header),
        }
    }
}

/// Returns a string; an empty one for another value.
fn text(json: Option<&RawValue>) -> Box<str> {
    json.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default()
}

/// The limit of objects in one text. About 300 bytes of memory find each.
pub(super) const MOST_OBJECTS: usize = 2_000_000;

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
            if self.0.len() == MOST_OBJECTS {
                return Err(A::Error::custom(TOO_LARGE));
            }
            self.0.push(item);
        }
        Ok(self)
    }
}

/// Returns the newest time among the strings of a JSON text, in the format that the API server writes. A time in quotes
/// within a string ends with a backslash here, and is none.
fn newest_stamp(json: &str) -> Option<Timestamp> {
    let is_stamp = |text: &&str| text.len() >= 20 && text.as_bytes().get(10) == Some(&b'T');
    json.split('"').filter(is_stamp).filter_map(|text| text.parse().ok()).max()
}
