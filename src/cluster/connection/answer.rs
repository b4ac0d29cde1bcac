//! What the server answered.

use std::time::Duration;

use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderName, StatusCode};
use serde_json::Value;

/// A whole answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// Its status.
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    content: Content,
}

/// What an answer holds. The bytes of JSON are not kept beside it: lists are large.
#[derive(Clone, Debug)]
enum Content {
    Json(Value),
    Other(Vec<u8>),
}

impl Answer {
    /// An answer that has come whole.
    pub(super) fn new(status: StatusCode, headers: HeaderMap, body: Vec<u8>) -> Self {
        let content = serde_json::from_slice(&body).map_or(Content::Other(body), Content::Json);
        Self { status, headers, content }
    }

    /// Whether it is a yes, in JSON.
    pub(super) fn is_a_yes(&self) -> bool {
        self.status.is_success() && matches!(self.content, Content::Json(_))
    }

    /// The JSON in it; null when it is none.
    pub(crate) fn into_json(self) -> Value {
        match self.content {
            Content::Json(json) => json,
            Content::Other(_) => Value::Null,
        }
    }

    /// Whether it is an API server's no for this reason.
    pub(crate) fn is_no(&self, reason: &str) -> bool {
        !self.status.is_success() && self.refusal().is_some_and(|refusal| refusal.reason == reason)
    }

    /// The `Status` object with which an API server says no.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let Content::Json(status) = &self.content else {
            return None;
        };
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
        let Content::Json(status) = &self.content else { return Vec::new() };
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
        let Content::Json(status) = &self.content else { return None };
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
        let Content::Other(body) = &self.content else {
            return None;
        };
        let text = std::str::from_utf8(body).ok().filter(|_| self.content_type() == "text/plain")?;
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
