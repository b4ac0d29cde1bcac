//! One request, as often as it has to be made.

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE};
use http::{Method, Request};
use kube::client::Body;

use crate::error::{Error, ErrorKind, Result};

/// One request to make.
#[derive(Clone, Debug)]
pub(crate) struct Ask<'a> {
    method: Method,
    path: &'a str,
    content: Option<(&'static str, String)>,
    as_it_comes: bool,
}

impl<'a> Ask<'a> {
    /// Reads a path, with its query.
    pub(crate) fn get(path: &'a str) -> Self {
        Self { method: Method::GET, path, content: None, as_it_comes: false }
    }

    /// Reads a path whose answer goes on coming. It is not to be compressed: compression would hold
    /// events back until there are enough of them.
    pub(crate) fn stream(path: &'a str) -> Self {
        Self { as_it_comes: true, ..Self::get(path) }
    }

    /// Sends a JSON Patch of RFC 6902.
    pub(crate) fn json_patch(path: &'a str, body: String) -> Self {
        Self {
            method: Method::PATCH,
            path,
            content: Some(("application/json-patch+json", body)),
            as_it_comes: false,
        }
    }

    /// Deletes what is at a path, under the conditions in `body`.
    pub(crate) fn delete(path: &'a str, body: String) -> Self {
        Self { method: Method::DELETE, path, content: Some(("application/json", body)), as_it_comes: false }
    }

    /// Makes something new at a path.
    pub(crate) fn post(path: &'a str, body: String) -> Self {
        Self { method: Method::POST, ..Self::delete(path, body) }
    }

    pub(super) fn request(&self) -> Result<Request<Body>> {
        let request =
            Request::builder().method(&self.method).uri(self.path).header(ACCEPT, "application/json");
        let request = if self.as_it_comes { request.header(ACCEPT_ENCODING, "identity") } else { request };
        let request = match &self.content {
            Some((type_, body)) => {
                request.header(CONTENT_TYPE, *type_).body(Body::from(body.clone().into_bytes()))
            }
            None => request.body(Body::empty()),
        };
        request.map_err(|error| {
            Error::new(ErrorKind::Malformed, "no request can be made of that").caused_by(error)
        })
    }
}
