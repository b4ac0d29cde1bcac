//! The reports of a follower as JSON: one document for each change, and a last one with the results.
//!
//! docs/json.md documents the fields.

use std::time::Duration;

use serde_json::{Value, json};

use crate::model::follow::{
    CauseChange, Follower, Outcome, Report, RollbackResult, RolloutFailure, TargetId, TargetResult,
    TargetTracker,
};
use crate::model::status::cause::Cause;
use crate::model::status::serving::is_outage;
use crate::model::text::secret::without_secrets;
use crate::model::workload::counts::Counts;
use crate::model::workload::verdict::Verdict;
use crate::render::status::{cause_json, pods_json, revision_json, workload_json};

/// Returns one report; none for a request of the follower.
#[must_use]
pub fn event(follower: &Follower, event: &Report, elapsed: Duration) -> Option<Value> {
    let (target, kind, facts) = match event {
        Report::Status { target, verdict, counts, is_rollback, .. } => {
            let mut facts = status(follower, *target, verdict, *counts);
            facts["rollingBack"] = json!(is_rollback);
            (target, "status", facts)
        }
        Report::Cause { target, cause, change } => (target, "cause", cause_facts(cause, *change)),
        Report::Log { target, log } => {
            (target, "log", json!({"pod": log.pod, "container": log.container, "lines": log.lines}))
        }
        Report::Waiting { target, reason } => (target, "waiting", json!({"reason": reason})),
        Report::RollbackStarted { target, result, revision } => {
            let mut facts = ended(result);
            facts["toRevision"] = revision_json(revision);
            (target, "rolling-back", facts)
        }
        Report::Ended { target, result } => (target, "ended", ended(result)),
        Report::Request(_) => return None,
    };
    let tracker = follower.targets().get(target.0)?;
    let mut document = document(kind, elapsed);
    document["workload"] = workload_json(tracker.workload());
    merge(&mut document, facts);
    Some(document)
}

/// Returns the last document: the result of every target, and the exit code.
#[must_use]
pub fn summary(follower: &Follower, exit: u8, elapsed: Duration) -> Value {
    let mut document = document("summary", elapsed);
    document["exitCode"] = json!(exit);
    document["workloads"] = follower.targets().iter().map(target_summary).collect();
    document
}

fn target_summary(tracker: &TargetTracker) -> Value {
    let mut facts = json!({"workload": workload_json(tracker.workload())});
    if let Some(result) = tracker.result() {
        merge(&mut facts, ended(result));
    }
    facts["pods"] = pods_json(Counts::of(tracker.workload()));
    facts["outage"] = json!(outage(tracker));
    facts["revision"] = revision(tracker);
    facts["causes"] = tracker.causes().map(cause_json).collect();
    facts["unknown"] = json!(unknown_of(tracker));
    facts
}

/// Returns the types that could not be read: all types for a target that was never observed completely.
fn unknown_of(tracker: &TargetTracker) -> Vec<&'static str> {
    match (tracker.observation(), tracker.verdict()) {
        (Some(observed), Some(verdict)) => observed.unread_types(verdict.state),
        _ => vec!["revisions", "pods", "events"],
    }
}

fn document(event: &str, elapsed: Duration) -> Value {
    let elapsed = milliseconds(elapsed);
    json!({"apiVersion": "rollout2/v1", "kind": "StatusEvent", "event": event, "elapsedMilliseconds": elapsed})
}

/// Returns a duration in whole milliseconds.
pub(in crate::render) fn milliseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

fn revision(tracker: &TargetTracker) -> Value {
    let running = tracker.observation().and_then(|observed| observed.revisions.current());
    json!(running.and_then(|running| running.number.known()))
}

/// Whether no pod serves; null for a target that was never observed completely.
fn outage(tracker: &TargetTracker) -> Option<bool> {
    Some(is_outage(tracker.observation()?, tracker.verdict()?.state))
}

fn status(follower: &Follower, target: TargetId, verdict: &Verdict, counts: Counts) -> Value {
    let tracker = follower.targets().get(target.0);
    json!({
        "verdict": verdict.state.word(),
        "message": verdict.line,
        "revision": tracker.map(revision),
        "pods": pods_json(counts),
        "outage": tracker.and_then(outage),
    })
}

pub(in crate::render) fn cause_facts(cause: &Cause, change: CauseChange) -> Value {
    let change = match change {
        CauseChange::Appeared => "appeared",
        CauseChange::Changed => "changed",
        CauseChange::Gone => "gone",
    };
    json!({"change": change, "cause": cause_json(cause)})
}

fn ended(result: &TargetResult) -> Value {
    let reason = match &result.outcome {
        Outcome::Failed(failure) => Some(failure.word()),
        _ => None,
    };
    let limit = match &result.outcome {
        Outcome::TimedOut(limit)
        | Outcome::Failed(RolloutFailure::Deadline(limit) | RolloutFailure::Cause { grace: limit, .. }) => {
            Some(limit.as_secs_f64())
        }
        _ => None,
    };
    let error = match &result.outcome {
        Outcome::Unreadable(error) => Some(without_secrets(&error.sentence())),
        Outcome::Failed(RolloutFailure::TakenOver(line)) => Some(line.clone()),
        _ => None,
    };
    json!({
        "outcome": result.outcome.word(),
        "reason": reason,
        "limitSeconds": limit,
        "error": error,
        "message": result.line,
        "rollback": result.rollback.as_ref().map(rollback),
    })
}

/// Returns the result of a rollback.
fn rollback(result: &RollbackResult) -> Value {
    match result {
        RollbackResult::NotStarted(why) => json!({"toRevision": null, "outcome": null, "reason": why}),
        RollbackResult::RolledBack { revision, outcome } => {
            json!({"toRevision": revision_json(revision), "outcome": outcome.word(), "reason": null})
        }
    }
}

pub(in crate::render) fn merge(document: &mut Value, facts: Value) {
    if let (Value::Object(document), Value::Object(facts)) = (document, facts) {
        document.extend(facts);
    }
}
