//! What the server answered.

use std::time::Duration;

use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderName, StatusCode};
use serde::de::IgnoredAny;
use serde_json::Value;

/// A whole answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// Its status.
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    /// The bytes as they came. Parsed at once, a list would be ten times as large.
    body: Vec<u8>,
    is_json: bool,
}

impl Answer {
    /// An answer that has come whole.
    pub(super) fn new(status: StatusCode, headers: HeaderMap, body: Vec<u8>) -> Self {
        let is_json = serde_json::from_slice::<IgnoredAny>(&body).is_ok();
        Self { status, headers, body, is_json }
    }

    /// Whether it is a yes, in JSON.
    pub(super) fn is_a_yes(&self) -> bool {
        self.status.is_success() && self.is_json
    }

    /// The JSON in it; null when it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The bytes in it, JSON or not.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whether it is an API server's no for this reason.
    pub(crate) fn is_no(&self, reason: &str) -> bool {
        !self.status.is_success() && self.refusal().is_some_and(|refusal| refusal.reason == reason)
    }

    /// The `Status` object with which an API server says no.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let status = self.json();
        if status.get("kind").and_then(Value::as_str) != Some("Status") {
            return None;
        }
        let text = |name: &str| status.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Refusal { reason: text("reason"), message: text("message") })
    }

    /// The sentence of an API server's no.
    pub(crate) fn message(&self) -> Option<String> {
        self.refusal().map(|refusal| refusal.message).filter(|message| !message.is_empty())
    }

    /// What exactly the server does not accept: `spec.replicas: Invalid value: -1: must be ...`.
    pub(crate) fn causes(&self) -> Vec<String> {
        let status = self.json();
        let causes = status.pointer("/details/causes").and_then(Value::as_array).into_iter().flatten();
        let text = |cause: &Value, name: &str| {
            cause.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        causes
            .map(|cause| match text(cause, "field") {
                field if field.is_empty() => text(cause, "message"),
                field => format!("{field}: {}", text(cause, "message")),
            })
            .collect()
    }

    /// The kind and name of what a no is about.
    pub(crate) fn subject(&self) -> Option<(String, String)> {
        let status = self.json();
        let text = |name: &str| Some(status.get("details")?.get(name)?.as_str()?.to_owned());
        Some((text("kind")?, text("name")?))
    }

    /// How long the server wants to be left alone (`Retry-After`, in seconds).
    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.header(&RETRY_AFTER)?.trim().parse().ok().map(Duration::from_secs)
    }

    /// What it says it is: `text/html`.
    pub(super) fn content_type(&self) -> &str {
        self.header(&CONTENT_TYPE).and_then(|value| value.split(';').next()).unwrap_or("of no type").trim()
    }

    /// The host that it sends us to instead.
    pub(super) fn redirect(&self) -> Option<String> {
        let location = self.header(&LOCATION).filter(|_| self.status.is_redirection())?;
        let elsewhere: http::Uri = location.parse().ok()?;
        Some(elsewhere.host().unwrap_or("another path").to_owned())
    }

    /// The first words of a plain text, which small servers answer with.
    pub(super) fn words(&self) -> Option<String> {
        let text = std::str::from_utf8(&self.body).ok();
        let text = text.filter(|_| !self.is_json && self.content_type() == "text/plain")?;
        let line = text.lines().next().unwrap_or_default().trim();
        (!line.is_empty()).then(|| line.chars().take(120).collect())
    }

    fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// An API server's no.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cluster::connection) struct Refusal {
    /// One word for programs: `Forbidden`.
    pub(super) reason: String,
    /// A sentence for people.
    pub(super) message: String,
}
