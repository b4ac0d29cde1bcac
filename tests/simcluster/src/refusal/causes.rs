//! The invalid fields in `details.causes` of a 422.

use serde_json::{Value, json};

/// An invalid field in `details.causes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Such as `FieldValueInvalid`.
    pub reason: &'static str,
    /// The path of the field.
    pub field: String,
    /// The message about the field.
    pub message: String,
}

impl Cause {
    /// `field: Invalid value: shown: why`.
    pub fn invalid(field: impl Into<String>, shown: &Value, why: &str) -> Self {
        Self {
            reason: "FieldValueInvalid",
            field: field.into(),
            message: format!("Invalid value: {shown}: {why}"),
        }
    }

    /// `field: Required value`, with a reason when there is one.
    pub fn required(field: impl Into<String>, why: &str) -> Self {
        let message =
            if why.is_empty() { "Required value".to_owned() } else { format!("Required value: {why}") };
        Self { reason: "FieldValueRequired", field: field.into(), message }
    }

    /// `field: Forbidden: why`.
    pub fn forbidden(field: impl Into<String>, why: &str) -> Self {
        Self { reason: "FieldValueForbidden", field: field.into(), message: format!("Forbidden: {why}") }
    }
}

/// The `causes` of a body.
pub(super) fn causes_json(causes: &[Cause]) -> Value {
    causes
        .iter()
        .map(|cause| json!({ "reason": cause.reason, "message": cause.message, "field": cause.field }))
        .collect()
}
