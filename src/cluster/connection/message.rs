//! A request to the API server, independent of the client that sends it, and its complete response.

use std::time::Duration;

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, Method, Request, StatusCode};
use kube::client::Body;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::json::parse;

/// The longest text of an error response, in bytes. The API server's own are shorter; a webhook can send any.
const LONGEST_TEXT: usize = 4 << 10;

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

    /// Creates a write with a body of a media type.
    pub(crate) fn write(method: Method, path: &'a str, type_: &'static str, body: String) -> Self {
        Self { method, content: Some((type_, body)), ..Self::get(path) }
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

/// A complete response.
#[derive(Clone, Debug)]
pub(crate) struct ApiResponse {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    /// The bytes as received. A list that is parsed at once takes ten times the memory.
    body: Vec<u8>,
}

impl ApiResponse {
    /// Wraps a response whose body was read completely.
    pub(in crate::cluster) fn new(status: StatusCode, headers: HeaderMap, body: Vec<u8>) -> Self {
        Self { status, headers, body }
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

    /// Returns the body as JSON; null when it is not JSON or too large.
    pub(crate) fn json(&self) -> Value {
        parse(&self.body).unwrap_or_default()
    }

    /// Returns the raw body.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whether the API server answered that the object does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        !self.status.is_success() && self.status_text("reason").as_deref() == Some("NotFound")
    }

    /// Returns a field of the `Status` object in the body, such as `message`; none if there is no such object.
    pub(super) fn status_text(&self, field: &str) -> Option<String> {
        let status = self.json();
        let text = |name: &str| status.get(name).and_then(Value::as_str);
        (text("kind") == Some("Status")).then(|| cut(text(field).unwrap_or_default()))
    }

    /// Returns the message of the `Status` object, if it has one.
    pub(crate) fn message(&self) -> Option<String> {
        self.status_text("message").filter(|message| !message.is_empty())
    }

    /// Whether a PodDisruptionBudget refused an eviction, by the types of the causes: `DisruptionBudget` (429), and since 1.37
    /// `DisruptionBudgetNegativeAllowedDisruptions` and `DisruptionBudgetTooManyDisruptedPods` (403).
    pub(crate) fn is_refused_by_budget(&self) -> bool {
        if !matches!(self.status, StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS) {
            return false;
        }
        let status = self.json();
        let causes = status.pointer("/details/causes").and_then(Value::as_array).into_iter().flatten();
        let mut types = causes.filter_map(|cause| cause.get("reason").and_then(Value::as_str));
        types.any(|type_| type_.starts_with("DisruptionBudget"))
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
