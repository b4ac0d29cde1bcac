//! The object that stores a revision, kept as text.

use std::ops::Range;

use serde_json::Value;

use crate::model::api::object::Object;

/// The ReplicaSet or ControllerRevision that stores a revision, unknown fields included.
///
/// Parsed JSON takes ten times the memory of its text, and most revisions are only counted. So the
/// text is kept and parsed on demand. Commands that never need it drop the text too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RevisionObject {
    text: Box<str>,
    /// The position of the template in the text.
    template: Range<usize>,
}

impl RevisionObject {
    pub(super) fn of(object: &Object, template: &Value) -> Self {
        let (text, part) = (object.json().to_string(), template.to_string());
        // The first equal text may be another field; its content is the same.
        let template = text.find(&part).map(|at| at..at + part.len()).unwrap_or_default();
        Self { text: text.into(), template }
    }

    /// Returns the JSON; null if it was not kept.
    pub(super) fn json(&self) -> Value {
        parsed(&self.text)
    }

    /// Returns the JSON of the template; null if it was not kept.
    pub(super) fn template(&self) -> Value {
        parsed(self.text.get(self.template.clone()).unwrap_or_default())
    }
}

/// Parses text that was serialized from JSON.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
