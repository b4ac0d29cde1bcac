//! An error as a JSON document.

use serde_json::{Value, json};

use crate::error::Error;
use crate::model::text::secret::without_secrets;

/// Returns the document of an error, with the exit code that it causes.
#[must_use]
pub fn error_document(error: &Error, exit: u8) -> Value {
    json!({
        "apiVersion": "rollout2/v1", "kind": "Error",
        "error": without_secrets(&error.sentence()), "reason": error.kind().word(), "exitCode": exit,
    })
}
