//! What came over the wire, for tests that look at requests.

use std::ops::Range;

use bytes::Bytes;
use http::{HeaderMap, Method, Version};
use jiff::Timestamp;

use crate::request::{Query, Route, Verb};

/// One request, as it arrived.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
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
    /// The HTTP version it came with.
    pub version: Version,
    /// Whom the connection's certificate names, or in whose name the service is used in process.
    pub user: Option<String>,
    /// When it arrived.
    pub at: Timestamp,
    /// The newest revision when it arrived.
    pub arrived: u64,
    /// What it changed: the revisions it made, none if it was refused or lost, or is a
    /// read, which begins after the revision it answers. `0..0` while it is not done.
    pub made: Range<u64>,
}

/// All requests, or those since it was emptied.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    forgotten: usize,
    requests: Vec<RecordedRequest>,
}

impl Journal {
    /// Keeps a request; its number among all that ever came.
    pub(crate) fn record(&mut self, request: RecordedRequest) -> usize {
        self.requests.push(request);
        self.forgotten + self.requests.len() - 1
    }

    /// Notes what a request changed.
    pub(crate) fn note(&mut self, number: usize, made: Range<u64>) {
        let place = number.checked_sub(self.forgotten);
        if let Some(request) = place.and_then(|place| self.requests.get_mut(place)) {
            request.made = made;
        }
    }

    pub(crate) fn requests(&self) -> &[RecordedRequest] {
        &self.requests
    }

    pub(crate) fn forget(&mut self) {
        self.forgotten += self.requests.len();
        self.requests.clear();
    }
}

impl RecordedRequest {
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
