//! Conditions of an object.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::object::Object;

/// One entry of `status.conditions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// `True`, `False` or `Unknown`; empty if absent.
    pub status: String,
    /// The reason in CamelCase.
    pub reason: String,
    /// The message.
    pub message: String,
    /// `lastTransitionTime`: when the status changed last.
    pub since: Option<Timestamp>,
    /// `lastUpdateTime`: when the status or the reason changed last. Only Deployments have it.
    pub updated: Option<Timestamp>,
}

impl Condition {
    /// Reads the condition of a type, if the object has it.
    #[must_use]
    pub fn read(object: &Object, type_: &str) -> Option<Self> {
        let conditions = object.at("/status/conditions")?.as_array()?;
        let is_it = |condition: &&Value| condition.get("type").and_then(Value::as_str) == Some(type_);
        let condition = conditions.iter().find(is_it)?;
        let text = |field: &str| condition.get(field).and_then(Value::as_str).unwrap_or_default();
        Some(Self {
            status: text("status").to_owned(),
            reason: text("reason").to_owned(),
            message: text("message").to_owned(),
            since: text("lastTransitionTime").parse().ok(),
            updated: text("lastUpdateTime").parse().ok(),
        })
    }

    /// Whether the status is `True`.
    #[must_use]
    pub fn is_true(&self) -> bool {
        self.status == "True"
    }
}
