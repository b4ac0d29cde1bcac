//! The `Status` bodies of refused requests, with the reasons, codes and messages of apimachinery's `api/errors`.

mod causes;
mod reasons;

use std::{error::Error, fmt};

use serde_json::{Value, json};

pub use self::causes::Cause;
use crate::resource::Resource;

/// The error of a refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason; empty for an unknown one.
    pub reason: &'static str,
    /// The message.
    pub message: String,
    /// The `details` object of the body.
    pub details: Value,
    /// Seconds for the `Retry-After` header.
    pub retry_after: Option<u32>,
    /// The new continue token after an expired one.
    pub fresh_continue: Option<String>,
}

impl Refusal {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, reason, message, details: Value::Null, retry_after: None, fresh_continue: None }
    }

    /// Returns an error about no object, whose details are empty.
    fn bare(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { details: json!({}), ..Self::new(code, reason, message) }
    }

    fn about(self, resource: &Resource, name: &str) -> Self {
        self.naming(resource.group, resource.plural, name)
    }

    fn naming(mut self, group: &str, kind: &str, name: &str) -> Self {
        let mut details = serde_json::Map::new();
        for (field, text) in [("name", name), ("group", group), ("kind", kind)] {
            if !text.is_empty() {
                details.insert(field.to_owned(), text.into());
            }
        }
        self.details = details.into();
        self
    }

    /// Adds a `Retry-After` header and `details.retryAfterSeconds`.
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        if !self.details.is_object() {
            self.details = json!({});
        }
        self.details["retryAfterSeconds"] = seconds.into();
        self
    }

    /// The `Status` object.
    pub fn body(&self) -> Value {
        let mut body = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            body["reason"] = self.reason.into();
        }
        if !self.details.is_null() {
            body["details"] = self.details.clone();
        }
        if let Some(token) = &self.fresh_continue {
            body["metadata"]["continue"] = token.as_str().into();
        }
        body
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.code, self.reason, self.message)
    }
}

impl Error for Refusal {}
