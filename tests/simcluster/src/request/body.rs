//! The body of a request.

use serde_json::Value;

use super::Call;
use crate::refusal::Refusal;

/// Reads the object of a POST or PUT, which must be JSON.
pub(super) fn read(call: &Call) -> Result<Value, Refusal> {
    let media_type = call.content_type.split(';').next().unwrap_or_default().trim();
    if !matches!(media_type, "" | "application/json") {
        return Err(Refusal::unsupported_media_type(&["application/json"]));
    }
    parse(&call.body)
}

/// Reads JSON.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(bytes)
        .map_err(|error| Refusal::bad_request(format!("error decoding the body: {error}")))
}
