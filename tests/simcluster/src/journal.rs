//! What came over the wire, for tests that look at requests.

use bytes::Bytes;
use http::{HeaderMap, Method};

use crate::request::{Query, Route, Verb};

/// One request, as it arrived.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The HTTP method.
    pub method: Method,
    /// The path, as sent.
    pub path: String,
    /// The decoded query.
    pub query: Query,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// What it asks for, in the terms of the API.
    pub route: Route,
    /// Which connection it came over; 0 in process.
    pub connection: u64,
}

impl Recorded {
    /// The text of a header; empty when it is absent or no text.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The verb, for a request of a resource.
    #[must_use]
    pub fn verb(&self) -> Option<Verb> {
        match &self.route {
            Route::Resource(target) => Some(target.verb),
            Route::Path(_) => None,
        }
    }

    /// Method and path in one line, such as `GET /version`.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}
