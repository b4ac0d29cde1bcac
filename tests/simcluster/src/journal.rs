//! The recorded requests, for assertions.

use std::ops::Range;

use bytes::Bytes;
use http::{HeaderMap, Method, Version};
use jiff::Timestamp;

use crate::request::{Query, Route, Verb};

/// A request as it arrived.
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
    /// The verb and the resource.
    pub route: Route,
    /// The number of the connection; 0 in process.
    pub connection: u64,
    /// The HTTP version.
    pub version: Version,
    /// The user of the client certificate, or of the service in process.
    pub user: Option<String>,
    /// When it arrived.
    pub at: Timestamp,
    /// The newest revision at its arrival.
    pub arrived: u64,
    /// The revisions that it created; empty if it was refused or lost. The range of a read is empty and begins after
    /// the revision of the response. `0..0` until there is a response.
    pub made: Range<u64>,
}

/// The recorded requests.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    forgotten: usize,
    requests: Vec<RecordedRequest>,
}

impl Journal {
    /// Records a request, and returns its number.
    pub(crate) fn record(&mut self, request: RecordedRequest) -> usize {
        self.requests.push(request);
        self.forgotten + self.requests.len() - 1
    }

    /// Records the revisions of a request.
    pub(crate) fn record_revisions(&mut self, number: usize, made: Range<u64>) {
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
    /// Returns a header; empty if it is absent or no text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the verb of a request for a resource.
    pub fn verb(&self) -> Option<Verb> {
        match &self.route {
            Route::Resource(target) => Some(target.verb),
            Route::Path(_) => None,
        }
    }

    /// Returns method and path, such as `GET /version`.
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}
