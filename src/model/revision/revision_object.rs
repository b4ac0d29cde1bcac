//! The object that stores a revision, kept as text.

use serde_json::Value;

use super::template::Template;
use crate::model::api::object::Object;

/// What is kept of the ReplicaSet or ControllerRevision that stores a revision, unknown fields included.
///
/// Parsed JSON takes ten times the memory of its text, and most revisions are only counted. So text is
/// kept and parsed on demand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RevisionObject {
    template: Box<str>,
    /// The whole object; none unless a command prints it.
    document: Option<Box<str>>,
}

impl RevisionObject {
    /// Keeps the template.
    pub(super) fn of(template: &Template) -> Self {
        Self { template: text(template.json()), document: None }
    }

    /// Keeps the whole object too.
    pub(super) fn with_document(self, object: &Object) -> Self {
        Self { document: Some(text(object.json())), ..self }
    }

    /// Returns the JSON of the object; null if it was not kept.
    pub(super) fn json(&self) -> Value {
        parsed(self.document.as_deref().unwrap_or_default())
    }

    /// Returns the JSON of the template; null if it was not kept.
    pub(super) fn template(&self) -> Value {
        parsed(&self.template)
    }
}

/// Returns the text of a value, which always has one.
fn text(value: &Value) -> Box<str> {
    serde_json::to_string(value).unwrap_or_default().into()
}

/// Parses text that was serialized from JSON.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
