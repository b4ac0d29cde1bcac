//! The conditions of a Deployment.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::clock::stamp;
use crate::object;

/// The condition with the progress of a rollout.
pub(super) const PROGRESSING: &str = "Progressing";
/// The condition whether enough pods are available.
pub(super) const AVAILABLE: &str = "Available";
/// The condition that pods cannot be created or deleted.
pub(super) const REPLICA_FAILURE: &str = "ReplicaFailure";

/// A deadline that is never reached.
const NEVER: i64 = i32::MAX as i64;

/// The new status, reason and message of a condition.
pub(super) struct Condition {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Condition {
    pub(super) fn progressing(status: &'static str, reason: &'static str, message: String) -> Self {
        Self { kind: PROGRESSING, status, reason, message }
    }

    /// Returns the condition with both times set to now.
    pub(super) fn value(&self, now: Timestamp) -> Value {
        json!({
            "type": self.kind, "status": self.status, "reason": self.reason, "message": self.message,
            "lastUpdateTime": stamp(now), "lastTransitionTime": stamp(now),
        })
    }
}

/// The condition of a type in a status.
pub(super) fn find<'v>(status: &'v Value, kind: &str) -> Option<&'v Value> {
    object::list(status, &["conditions"]).iter().find(|condition| condition["type"] == kind)
}

/// The reason of a condition; empty when it is absent.
pub(super) fn reason<'v>(status: &'v Value, kind: &str) -> &'v str {
    find(status, kind).map_or("", |condition| object::text(condition, &["reason"]))
}

/// Sets a condition. One with the same status and reason is not changed.
pub(super) fn set(status: &mut Value, mut condition: Value) {
    let kind = object::text(&condition, &["type"]).to_owned();
    if let Some(known) = find(status, &kind) {
        if known["status"] == condition["status"] && known["reason"] == condition["reason"] {
            return;
        }
        if known["status"] == condition["status"] {
            condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
        }
    }
    replace(status, condition);
}

/// Replaces a condition, even if it has the same status and reason. Its transition time changes only with its status.
pub(super) fn renew(status: &mut Value, mut condition: Value) {
    let kind = object::text(&condition, &["type"]).to_owned();
    if let Some(known) = find(status, &kind).filter(|known| known["status"] == condition["status"]) {
        condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
    }
    replace(status, condition);
}

/// Removes a condition.
pub(super) fn remove(status: &mut Value, kind: &str) {
    let members = object::members(status);
    if let Some(Value::Array(conditions)) = members.get_mut("conditions") {
        conditions.retain(|condition| condition["type"] != kind);
        if conditions.is_empty() {
            members.remove("conditions");
        }
    }
}

fn replace(status: &mut Value, condition: Value) {
    remove(status, object::text(&condition, &["type"]));
    let conditions = object::members(status).entry("conditions").or_insert_with(|| json!([]));
    if let Value::Array(conditions) = conditions {
        conditions.push(condition);
    }
}

/// `progressDeadlineSeconds`; `None` if it means never.
pub(super) fn deadline(deployment: &Value) -> Option<i64> {
    object::at(deployment, &["spec", "progressDeadlineSeconds"])
        .and_then(Value::as_i64)
        .filter(|seconds| *seconds != NEVER)
}

/// Returns when the progress deadline expires, from the last update of the condition.
pub(super) fn deadline_passes(deployment: &Value, status: &Value) -> Option<Timestamp> {
    let updated: Timestamp = object::text(find(status, PROGRESSING)?, &["lastUpdateTime"]).parse().ok()?;
    updated.checked_add(SignedDuration::from_secs(deadline(deployment)?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(reason: &str) -> Value {
        let progressing = json!({
            "type": PROGRESSING, "status": "True", "reason": reason, "message": "message",
            "lastUpdateTime": "2026-11-20T13:00:00Z", "lastTransitionTime": "2026-11-20T12:00:00Z",
        });
        json!({ "conditions": [progressing] })
    }

    /// Rows of Kubernetes' `TestSyncRolloutStatus`, as far as they are about conditions.
    #[test]
    fn an_unchanged_condition_keeps_its_timestamps() {
        let now = "2026-11-20T14:00:00Z".parse().unwrap();
        let condition =
            |status, reason| Condition::progressing(status, reason, "again".to_owned()).value(now);
        let times = |status: &Value| {
            let progressing = find(status, PROGRESSING).unwrap();
            (
                object::text(progressing, &["lastUpdateTime"])[11..13].to_owned(),
                object::text(progressing, &["lastTransitionTime"])[11..13].to_owned(),
            )
        };
        let mut same = status("ReplicaSetUpdated");
        set(&mut same, condition("True", "ReplicaSetUpdated"));
        assert_eq!(same, status("ReplicaSetUpdated"));
        let mut other_reason = status("ReplicaSetUpdated");
        set(&mut other_reason, condition("True", "NewReplicaSetAvailable"));
        assert_eq!(times(&other_reason), ("14".to_owned(), "12".to_owned()));
        let mut other_status = status("ReplicaSetUpdated");
        set(&mut other_status, condition("False", "ProgressDeadlineExceeded"));
        assert_eq!(times(&other_status), ("14".to_owned(), "14".to_owned()));
        let mut renewed = status("ReplicaSetUpdated");
        renew(&mut renewed, condition("True", "ReplicaSetUpdated"));
        assert_eq!(times(&renewed), ("14".to_owned(), "12".to_owned()));
        remove(&mut renewed, PROGRESSING);
        assert_eq!(renewed, json!({}));
    }
}
