//! The three patch formats.

mod json;
mod merge;
mod merge_keys;
mod strategic;

use serde_json::Value;

use crate::refusal::Refusal;

pub(crate) use self::merge_keys::merge_key;

/// A patch format, by the `Content-Type` of a PATCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON Patch (RFC 6902), as in the API server's library.
    Json,
    /// JSON Merge Patch (RFC 7386).
    Merge,
    /// Strategic merge patch.
    Strategic,
}

impl Format {
    /// The supported media types of a PATCH.
    pub(crate) const MEDIA_TYPES: [&'static str; 3] = [
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    ];

    /// The format of a media type; parameters such as `charset` are ignored.
    pub fn of_media_type(media_type: &str) -> Result<Self, Refusal> {
        match media_type.split(';').next().unwrap_or_default().trim() {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" => Ok(Self::Strategic),
            _ => Err(Refusal::unsupported_media_type(&Self::MEDIA_TYPES)),
        }
    }

    /// Returns the patched document.
    pub fn apply(self, document: &Value, patch: &Value) -> Result<Value, Refusal> {
        let mut document = document.clone();
        match self {
            Self::Json => json::apply(&mut document, patch)?,
            Self::Merge => merge::apply(&mut document, patch),
            Self::Strategic => strategic::apply(&mut document, patch)?,
        }
        Ok(document)
    }
}
