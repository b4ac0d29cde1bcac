//! The object that keeps a revision, held as text.

use std::ops::Range;

use serde_json::Value;

use crate::model::object::Object;

/// The ReplicaSet or ControllerRevision that keeps a revision, unknown fields included.
///
/// As parsed JSON an object takes ten times the room of its text, and most of the revisions that are read
/// are only counted. So the text is kept, and parsed where a command shows or writes what is in it. Where
/// revisions are only looked at, not even the text is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Document {
    text: Box<str>,
    /// Where in it the template is.
    template: Range<usize>,
}

impl Document {
    pub(super) fn of(object: &Object, template: &Value) -> Self {
        let (text, part) = (object.json().to_string(), template.to_string());
        // The first text like it is as good as the template's own.
        let template = text.find(&part).map(|at| at..at + part.len()).unwrap_or_default();
        Self { text: text.into(), template }
    }

    /// The JSON; null when it was not kept.
    pub(super) fn json(&self) -> Value {
        parsed(&self.text)
    }

    /// The template's JSON; null when it was not kept.
    pub(super) fn template(&self) -> Value {
        parsed(self.text.get(self.template.clone()).unwrap_or_default())
    }
}

/// What was JSON when it came is JSON still.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
