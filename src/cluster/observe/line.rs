//! One line of a watch, decoded.

use serde_json::Value;

use crate::model::object::Object;

/// One line of a watch.
#[derive(Debug)]
pub enum Line {
    /// An object is new, or has changed.
    Changed(Object),
    /// An object is gone.
    Deleted(Object),
    /// Only the version moved.
    Bookmark(String),
    /// The server has lost our place.
    Expired,
    /// The server has had enough of this watch, or the line is none of a watch's.
    Broken,
}

impl Line {
    /// Reads a line. Half of one, or a web page, is the end of the watch and no more: what it would have
    /// told comes again, because the version has not moved.
    #[must_use]
    pub fn read(line: &[u8]) -> Self {
        let Ok(Value::Object(mut event)) = serde_json::from_slice(line) else {
            return Self::Broken;
        };
        let object = event.remove("object").unwrap_or_default();
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match event.get("type").and_then(Value::as_str) {
            Some("BOOKMARK") if !text("/metadata/resourceVersion").is_empty() => {
                Self::Bookmark(text("/metadata/resourceVersion").to_owned())
            }
            Some("ERROR") if object.get("code") == Some(&Value::from(410)) => Self::Expired,
            Some("ADDED" | "MODIFIED") => Object::read(object).map_or(Self::Broken, Self::Changed),
            Some("DELETED") => Object::read(object).map_or(Self::Broken, Self::Deleted),
            _ => Self::Broken,
        }
    }
}
