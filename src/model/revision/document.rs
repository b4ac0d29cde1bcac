//! The object that keeps a revision, held as text.

use serde_json::Value;

use crate::model::object::Object;

/// The ReplicaSet or ControllerRevision that keeps a revision, unknown fields included.
///
/// As parsed JSON an object takes ten times the room of its text, and most of the revisions that are read
/// are only counted. So the text is kept, and parsed where a command shows or writes what is in it. Where
/// revisions are only looked at, not even the text is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Document(Option<Box<str>>);

impl Document {
    pub(super) fn of(object: &Object) -> Self {
        Self(Some(object.json().to_string().into()))
    }

    /// The JSON; null when it was not kept.
    pub(super) fn json(&self) -> Value {
        let text = self.0.as_deref().unwrap_or("null");
        serde_json::from_str(text).unwrap_or_default() // it was JSON when it came
    }
}
