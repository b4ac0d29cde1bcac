//! The three patch formats, each a function from a document and a patch to a document.

mod json;
mod lists;
mod merge;
mod merge_keys;
mod strategic;

use serde_json::Value;

use crate::refusal::Refusal;

pub(crate) use self::merge_keys::merge_key;

/// A patch format, told by the `Content-Type` of a PATCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RFC 6902, as the API server's library reads it.
    Json,
    /// RFC 7386.
    Merge,
    /// Kubernetes' own.
    Strategic,
}

impl Format {
    /// The media types that a PATCH may have here.
    pub(crate) const MEDIA_TYPES: [&'static str; 3] = [
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    ];

    /// The format of a media type; parameters such as `charset` are ignored.
    ///
    /// # Errors
    /// 415 for any other, server-side apply included.
    pub fn of_media_type(media_type: &str) -> Result<Self, Refusal> {
        match media_type.split(';').next().unwrap_or_default().trim() {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" => Ok(Self::Strategic),
            _ => Err(Refusal::unsupported_media_type(&Self::MEDIA_TYPES)),
        }
    }

    /// What `document` becomes.
    ///
    /// # Errors
    /// 400 for a patch that is not of the format, 422 for one that does not apply.
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
