//! The representation of an object, which the `Accept` header selects.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::object::json_text;
use crate::refusal::Refusal;

/// The representation of the objects in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum View {
    /// The full objects.
    #[default]
    Whole,
    /// `PartialObjectMetadata`.
    Metadata,
}

impl View {
    /// Reads an `Accept` header.
    pub fn of_accept(accept: &str) -> Result<Self, Refusal> {
        if accept.is_empty() {
            return Ok(Self::Whole);
        }
        accept.split(',').find_map(Self::of_media_type).ok_or_else(|| {
            let message = "only the following media types are accepted: application/json, application/json;stream=watch";
            Refusal { reason: "NotAcceptable", ..Refusal::with_status(406, message) }
        })
    }

    fn of_media_type(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        if !matches!(media_type, "application/json" | "application/*" | "*/*" | "text/plain") {
            return None;
        }
        match parts.find_map(|parameter| parameter.strip_prefix("as=")) {
            None => Some(Self::Whole),
            Some(form) if form.starts_with("PartialObjectMetadata") => Some(Self::Metadata),
            Some(_) => None,
        }
    }

    /// Returns an object outside a list, as JSON.
    pub(super) fn object(self, value: &Value) -> String {
        json_text(&self.shown(value))
    }

    /// Returns an object in a list, as JSON. There, whole objects have no `kind` and `apiVersion`.
    pub(super) fn item(self, value: &Value) -> String {
        let shown = self.shown(value);
        let Some(members) = shown.as_object().filter(|_| self == Self::Whole) else {
            return json_text(&shown);
        };
        let members = members.iter().filter(|(name, _)| !matches!(name.as_str(), "kind" | "apiVersion"));
        let members: Vec<String> = members
            .map(|(name, member)| format!("{}:{}", Value::from(name.as_str()), json_text(member)))
            .collect();
        format!("{{{}}}", members.join(","))
    }

    fn shown(self, value: &Value) -> Cow<'_, Value> {
        match self {
            Self::Whole => Cow::Borrowed(value),
            Self::Metadata => Cow::Owned(
                json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": value["metadata"] }),
            ),
        }
    }
}
