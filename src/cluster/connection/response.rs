//! A complete response of the server, and the `Status` object in an error response.

use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderName, StatusCode};
use serde_json::Value;

use crate::snapshot::json_decoder::read_json;
use crate::snapshot::memory_budget::MemoryBudget;

/// The longest text of an error response, in bytes. The API server's own are shorter; a webhook can send any.
const LONGEST_TEXT: usize = 4 << 10;

/// A complete response.
#[derive(Clone, Debug)]
pub(crate) struct ApiResponse {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    /// The bytes as received. A list that is parsed at once takes ten times the memory.
    body: Vec<u8>,
    /// The memory of the body, until the last clone is dropped.
    _memory: Option<Arc<MemoryBudget>>,
}

impl ApiResponse {
    /// Wraps a response whose body was read completely.
    pub(in crate::cluster) fn new(status: StatusCode, headers: HeaderMap, body: Vec<u8>) -> Self {
        Self { status, headers, body, _memory: None }
    }

    /// Adds the budget that the body was taken from.
    pub(super) fn holding(self, memory: MemoryBudget) -> Self {
        Self { _memory: Some(Arc::new(memory)), ..self }
    }

    /// Whether the status is 2xx and the body has the form of a JSON object, as every response of the API server.
    /// Its content is checked when it is parsed: to parse a long list only for this took a tenth of the time.
    pub(super) fn is_json_success(&self) -> bool {
        self.status.is_success() && self.is_braced()
    }

    fn is_braced(&self) -> bool {
        let body = self.body.trim_ascii();
        body.starts_with(b"{") && body.ends_with(b"}")
    }

    /// Returns the body as JSON; null when it is not JSON or exceeds the size of an object.
    pub(crate) fn json(&self) -> Value {
        read_json(&self.body).unwrap_or_default()
    }

    /// Returns the raw body.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whether this is an error response with this `Status` reason, such as `NotFound`.
    pub(crate) fn has_reason(&self, reason: &str) -> bool {
        !self.status.is_success()
            && self.status_error().is_some_and(|status_error| status_error.reason == reason)
    }

    /// Whether the API server answered that the object does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.has_reason("NotFound")
    }

    /// Returns the reason and message of the `Status` object in the body, if there is one.
    pub(super) fn status_error(&self) -> Option<StatusError> {
        let status = self.json();
        if status.get("kind").and_then(Value::as_str) != Some("Status") {
            return None;
        }
        let text = |name: &str| cut(status.get(name).and_then(Value::as_str).unwrap_or_default());
        Some(StatusError { reason: text("reason"), message: text("message") })
    }

    /// Returns the message of the `Status` object, if it has one.
    pub(crate) fn message(&self) -> Option<String> {
        self.status_error().map(|status_error| status_error.message).filter(|message| !message.is_empty())
    }

    /// Returns the causes of a `Status`, each as `FIELD: MESSAGE`, such as `spec.replicas: Invalid value: -1`.
    pub(crate) fn causes(&self) -> Vec<String> {
        let status = self.json();
        let causes = status.pointer("/details/causes").and_then(Value::as_array).into_iter().flatten();
        let text =
            |cause: &Value, name: &str| cut(cause.get(name).and_then(Value::as_str).unwrap_or_default());
        causes
            .map(|cause| match text(cause, "field") {
                field if field.is_empty() => text(cause, "message"),
                field => format!("{field}: {}", text(cause, "message")),
            })
            .collect()
    }

    /// Returns the delay that the server asks for in `Retry-After`, which is in seconds.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.header(&RETRY_AFTER)?.trim().parse().ok().map(Duration::from_secs)
    }

    /// Returns the media type without parameters: `text/html`.
    pub(super) fn content_type(&self) -> &str {
        self.header(&CONTENT_TYPE)
            .and_then(|value| value.split(';').next())
            .unwrap_or("no content type")
            .trim()
    }

    /// Returns the host of a redirect's `Location`.
    pub(super) fn redirect_host(&self) -> Option<String> {
        let location = self.header(&LOCATION).filter(|_| self.status.is_redirection())?;
        let elsewhere: http::Uri = location.parse().ok()?;
        Some(elsewhere.host().unwrap_or("another path").to_owned())
    }

    /// Returns the first line of a plain-text body, up to 120 characters.
    pub(super) fn plain_text(&self) -> Option<String> {
        let text = std::str::from_utf8(&self.body).ok();
        let text = text.filter(|_| !self.is_braced() && self.content_type() == "text/plain")?;
        let line = text.lines().next().unwrap_or_default().trim();
        (!line.is_empty()).then(|| line.chars().take(120).collect())
    }

    fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Cuts a text of the server after [`LONGEST_TEXT`] bytes, and says so.
fn cut(text: &str) -> String {
    let end = (0..=LONGEST_TEXT.min(text.len())).rfind(|end| text.is_char_boundary(*end)).unwrap_or_default();
    let (shown, rest) = text.split_at(end);
    if rest.is_empty() { shown.to_owned() } else { format!("{shown}... ({} more bytes)", rest.len()) }
}

/// The reason and message of a Kubernetes `Status` object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cluster::connection) struct StatusError {
    /// The machine-readable reason: `Forbidden`.
    pub(super) reason: String,
    /// The human-readable message.
    pub(super) message: String,
}
