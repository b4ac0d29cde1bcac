//! The conditions of a Deployment (reference section 6.5).

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::clock::stamp;
use crate::object;

/// The condition that tells how a rollout goes.
pub(super) const PROGRESSING: &str = "Progressing";
/// The condition that tells whether enough pods are available.
pub(super) const AVAILABLE: &str = "Available";
/// The condition that tells that pods cannot be made or removed.
pub(super) const REPLICA_FAILURE: &str = "ReplicaFailure";

/// A deadline that is never reached.
const NEVER: i64 = i32::MAX as i64;

/// What is to be said of one type of condition.
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

    /// The condition as it is stored, with both times now.
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

/// Says a condition; one with the same status and reason stays as it is, message and times included.
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

/// Says a condition anew, even if it had been said; the transition is new only if its status is.
pub(super) fn renew(status: &mut Value, mut condition: Value) {
    let kind = object::text(&condition, &["type"]).to_owned();
    if let Some(known) = find(status, &kind).filter(|known| known["status"] == condition["status"]) {
        condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
    }
    replace(status, condition);
}

/// Says nothing of a type any more.
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

/// `progressDeadlineSeconds`, unless it means never.
pub(super) fn deadline(deployment: &Value) -> Option<i64> {
    object::at(deployment, &["spec", "progressDeadlineSeconds"])
        .and_then(Value::as_i64)
        .filter(|seconds| *seconds != NEVER)
}

/// When the deadline of a status passes: so many seconds after the last news of progress.
pub(super) fn deadline_passes(deployment: &Value, status: &Value) -> Option<Timestamp> {
    let news: Timestamp = object::text(find(status, PROGRESSING)?, &["lastUpdateTime"]).parse().ok()?;
    news.checked_add(SignedDuration::from_secs(deadline(deployment)?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(seconds: Option<i64>) -> Value {
        json!({ "spec": { "progressDeadlineSeconds": seconds } })
    }

    fn status(reason: &str) -> Value {
        let printed = json!({
            "type": PROGRESSING, "status": "True", "reason": reason, "message": "as told",
            "lastUpdateTime": "2026-11-20T13:00:00Z", "lastTransitionTime": "2026-11-20T12:00:00Z",
        });
        json!({ "conditions": [printed] })
    }

    /// Rows of Kubernetes' `TestDeploymentTimedOut`.
    #[test]
    fn the_deadline_starts_at_the_last_progress() {
        let passes = |seconds| deadline_passes(&deployment(seconds), &status("ReplicaSetUpdated"));
        assert_eq!(passes(None), None);
        assert_eq!(passes(Some(NEVER)), None);
        assert_eq!(passes(Some(10)), Some("2026-11-20T13:00:10Z".parse().unwrap()));
        assert_eq!(deadline_passes(&deployment(Some(10)), &json!({})), None);
    }

    /// Rows of Kubernetes' `TestSyncRolloutStatus`, as far as they are about conditions.
    #[test]
    fn an_unchanged_condition_keeps_its_timestamps() {
        let now = "2026-11-20T14:00:00Z".parse().unwrap();
        let say = |status, reason| Condition::progressing(status, reason, "anew".to_owned()).value(now);
        let times = |status: &Value| {
            let printed = find(status, PROGRESSING).unwrap();
            (
                object::text(printed, &["lastUpdateTime"])[11..13].to_owned(),
                object::text(printed, &["lastTransitionTime"])[11..13].to_owned(),
            )
        };
        let mut same = status("ReplicaSetUpdated");
        set(&mut same, say("True", "ReplicaSetUpdated"));
        assert_eq!(same, status("ReplicaSetUpdated"));
        let mut other_reason = status("ReplicaSetUpdated");
        set(&mut other_reason, say("True", "NewReplicaSetAvailable"));
        assert_eq!(times(&other_reason), ("14".to_owned(), "12".to_owned()));
        let mut other_status = status("ReplicaSetUpdated");
        set(&mut other_status, say("False", "ProgressDeadlineExceeded"));
        assert_eq!(times(&other_status), ("14".to_owned(), "14".to_owned()));
        let mut renewed = status("ReplicaSetUpdated");
        renew(&mut renewed, say("True", "ReplicaSetUpdated"));
        assert_eq!(times(&renewed), ("14".to_owned(), "12".to_owned()));
        remove(&mut renewed, PROGRESSING);
        assert_eq!(renewed, json!({}));
    }
}
