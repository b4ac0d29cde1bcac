//! Decodes one line of a watch.

use serde_json::Value;

use crate::model::api::object::Object;
use crate::snapshot::json_decoder::read_json;

/// A watch event.
#[derive(Debug)]
pub enum WatchEvent {
    /// `ADDED` or `MODIFIED`.
    Changed(Object),
    /// `DELETED`.
    Deleted(Object),
    /// `BOOKMARK`, with its resourceVersion.
    Bookmark(String),
    /// `ERROR` with 410: the resourceVersion has expired.
    Expired,
    /// Another `ERROR`, or a line that is no watch event.
    Broken,
}

impl WatchEvent {
    /// Decodes a line. An incomplete or foreign line ends the watch. No event is lost, because the next watch
    /// starts at the last resourceVersion.
    #[must_use]
    pub fn read(line: &[u8]) -> Self {
        let Some(Value::Object(mut event)) = read_json(line) else {
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
