//! The representation of an object, which the `Accept` header selects.

use serde_json::{Value, json};

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

    /// Returns an object outside a list.
    pub(super) fn object(self, value: &Value) -> Value {
        match self {
            Self::Whole => value.clone(),
            Self::Metadata => {
                json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": value["metadata"] })
            }
        }
    }

    /// Returns an object in a list, where items have no `kind` and `apiVersion`.
    pub(super) fn item(self, value: &Value) -> Value {
        let mut item = self.object(value);
        if let (Self::Whole, Value::Object(members)) = (self, &mut item) {
            members.remove("kind");
            members.remove("apiVersion");
        }
        item
    }
}
