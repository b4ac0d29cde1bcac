//! The contexts of a command, as rows and in documents.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::json::error_document;
use crate::error::{Error, ErrorKind};
use crate::model::text::plural::plural;

/// A context that was read.
#[derive(Debug)]
pub struct ReadContext {
    /// Its name.
    pub name: String,
    /// The version of its API server, if it was read.
    pub server_version: Option<String>,
    /// Why nothing of it was read.
    pub error: Option<Error>,
    /// The time of its server, or of its recorded objects.
    pub now: Timestamp,
    /// Whether it is a live cluster, whose clock can differ from that of this computer.
    pub is_live: bool,
}

impl ReadContext {
    /// Returns it as JSON. docs/json.md documents the fields.
    pub(super) fn json(&self, local_time: Timestamp) -> Value {
        let is_known = self.is_live && self.error.is_none();
        let ahead = is_known.then(|| self.now.duration_since(local_time).as_secs());
        json!({
            "name": self.name,
            "serverVersion": self.server_version,
            "error": self.error.as_ref().map(|error| error_document(error, error.exit().code())),
            "clockAheadSeconds": ahead,
        })
    }
}

/// Returns the state of a context that cannot be read.
pub(super) fn unread_state(error: &Error) -> &'static str {
    if error.kind() == ErrorKind::Unreachable { "unreachable" } else { "unreadable" }
}

/// Counts the contexts, and those that cannot be read: `4 contexts`, with `1 unreachable`.
pub(super) fn counts(contexts: &[ReadContext]) -> (String, Vec<String>) {
    let errors = || contexts.iter().filter_map(|one| one.error.as_ref());
    let unread = ["unreachable", "unreadable"].into_iter().filter_map(|state| {
        let count = errors().filter(|error| unread_state(error) == state).count();
        (count > 0).then(|| format!("{count} {state}"))
    });
    (plural(contexts.len(), "context"), unread.collect())
}
