//! The errors of the API server, with code, reason and message.

use serde_json::json;

use super::{Cause, Refusal, causes::causes_json};
use crate::resource::Resource;

impl Refusal {
    /// 404 for an object.
    pub fn not_found(resource: &Resource, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} \"{name}\" not found", resource.qualified()))
            .about(resource, name)
    }

    /// 404 for a path that is not served.
    pub fn no_such_path() -> Self {
        Self::bare(404, "NotFound", "the server could not find the requested resource")
    }

    /// 409 for a name that exists already.
    pub fn already_exists(resource: &Resource, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{} \"{name}\" already exists", resource.qualified()))
            .about(resource, name)
    }

    /// 409 for an update of an object that has changed.
    pub fn modified(resource: &Resource, name: &str) -> Self {
        Self::conflict(
            resource,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// 409 with another message.
    pub fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", resource.qualified());
        Self::new(409, "Conflict", message).about(resource, name)
    }

    /// 409 for a precondition of a deletion. Its message has the kind instead of the resource.
    pub fn precondition(resource: &Resource, name: &str, why: &str) -> Self {
        let kind = resource.qualified_kind();
        let message = format!("Operation cannot be fulfilled on {kind} \"{name}\": {why}");
        Self::new(409, "Conflict", message).naming(resource.group, resource.kind, name)
    }

    /// 422 with its causes.
    pub fn invalid(resource: &Resource, name: &str, causes: &[Cause]) -> Self {
        let kind = resource.qualified_kind();
        let causes_text: Vec<String> =
            causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let message = match causes_text.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let mut refusal = Self::new(422, "Invalid", format!("{kind} \"{name}\" is invalid: {message}"))
            .naming(resource.group, resource.kind, name);
        refusal.details["causes"] = causes_json(causes);
        refusal
    }

    /// 422 for a patch whose result cannot be decoded as the kind.
    pub fn unreadable_patch(patch: &str, why: &str) -> Self {
        let cause = Cause {
            reason: "FieldValueInvalid",
            field: "patch".to_owned(),
            message: format!("Invalid value: {patch:?}: {why}"),
        };
        let mut refusal = Self::new(422, "Invalid", format!(" \"\" is invalid: patch: {}", cause.message));
        refusal.details = json!({ "causes": causes_json(&[cause]) });
        refusal
    }

    /// 422 for a JSON Patch that does not apply, without a cause and without the operation that failed.
    pub fn patch_failed() -> Self {
        Self::bare(422, "Invalid", "the server rejected our request due to an error in our request")
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 401, without details.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 403 for a resource.
    pub fn forbidden(resource: &Resource, name: &str, why: &str) -> Self {
        let what = if name.is_empty() {
            resource.qualified()
        } else {
            format!("{} \"{name}\"", resource.qualified())
        };
        Self::new(403, "Forbidden", format!("{what} is forbidden: {why}")).about(resource, name)
    }

    /// 403 for a path of no resource.
    pub fn forbidden_path(why: &str) -> Self {
        Self::bare(403, "Forbidden", format!("forbidden: {why}"))
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::bare(405, "MethodNotAllowed", message)
    }

    /// 415, with the supported media types.
    pub fn unsupported_media_type(allowed: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            allowed.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 410 for a resourceVersion that is older than the history.
    pub fn expired(asked: u64, oldest: u64) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {asked} ({oldest})"))
    }

    /// 410 for a continue token; `fresh` continues at the present revision.
    pub fn continue_expired(fresh: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start a new list without \
                       the continue parameter, or use the continue token in this response to retrieve the remainder of the results. \
                       Continuing with the provided token results in an inconsistent list - objects that were created, modified, or \
                       deleted between the time the first chunk was returned and now may show up in the list.";
        Self { fresh_continue: Some(fresh), ..Self::new(410, "Expired", message) }
    }

    /// Any other error, for faults and admission plugins.
    pub fn with_status(code: u16, message: impl Into<String>) -> Self {
        let reason = match code {
            400 => "BadRequest",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "NotFound",
            409 => "Conflict",
            410 => "Expired",
            429 => "TooManyRequests",
            503 => "ServiceUnavailable",
            504 => "Timeout",
            500..=599 => "InternalError",
            _ => "",
        };
        Self::new(code, reason, message)
    }
}
