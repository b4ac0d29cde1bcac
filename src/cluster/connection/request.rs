//! A request to the API server, independent of the client that sends it.

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE};
use http::{Method, Request};
use kube::client::Body;

use crate::error::{Error, ErrorKind, Result};

/// A request, which can be turned into an HTTP request once for each attempt.
#[derive(Clone, Debug)]
pub(crate) struct ApiRequest<'a> {
    method: Method,
    path: &'a str,
    content: Option<(&'static str, String)>,
    uncompressed: bool,
    accept: &'static str,
}

/// The form of an object that has its metadata only. Without another form behind it, a server that does not know this
/// one answers 406 and not with the object (`k8s.io/apiserver/pkg/endpoints/handlers/negotiation`).
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// The same form of a list.
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

impl<'a> ApiRequest<'a> {
    /// Creates a GET of a path, with its query.
    pub(crate) fn get(path: &'a str) -> Self {
        Self { method: Method::GET, path, content: None, uncompressed: false, accept: "application/json" }
    }

    /// Creates a GET of the metadata of an object: the values of a Secret are never sent.
    pub(crate) fn metadata(path: &'a str) -> Self {
        Self { accept: METADATA, ..Self::get(path) }
    }

    /// Creates a GET of the metadata of the objects of a list.
    pub(crate) fn metadata_list(path: &'a str) -> Self {
        Self { accept: METADATA_LIST, ..Self::get(path) }
    }

    /// Creates a GET of a streamed response. It asks for no compression, because a compressor delays events
    /// until its buffer is full.
    pub(crate) fn stream(path: &'a str) -> Self {
        Self { uncompressed: true, ..Self::get(path) }
    }

    /// Creates a PATCH with a JSON Patch (RFC 6902) as its body.
    pub(crate) fn json_patch(path: &'a str, body: String) -> Self {
        Self {
            method: Method::PATCH,
            content: Some(("application/json-patch+json", body)),
            ..Self::get(path)
        }
    }

    /// Creates a DELETE with `DeleteOptions` as its body.
    pub(crate) fn delete(path: &'a str, body: String) -> Self {
        Self { method: Method::DELETE, content: Some(("application/json", body)), ..Self::get(path) }
    }

    /// Creates a POST with a JSON body.
    pub(crate) fn post(path: &'a str, body: String) -> Self {
        Self { method: Method::POST, ..Self::delete(path, body) }
    }

    pub(super) fn to_http(&self) -> Result<Request<Body>> {
        let request = Request::builder().method(&self.method).uri(self.path).header(ACCEPT, self.accept);
        let request = if self.uncompressed { request.header(ACCEPT_ENCODING, "identity") } else { request };
        let request = match &self.content {
            Some((type_, body)) => {
                request.header(CONTENT_TYPE, *type_).body(Body::from(body.clone().into_bytes()))
            }
            None => request.body(Body::empty()),
        };
        request.map_err(|error| Error::new(ErrorKind::Malformed, "cannot build the request").caused_by(error))
    }
}
