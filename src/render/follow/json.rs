//! What happens to rollouts, as JSON: one line a change, and a last one with the verdict.
//!
//! The README documents the fields; their names do not change.

use std::time::Duration;

use serde_json::{Value, json};

use crate::model::cause::Cause;
use crate::model::follow::{End, Event, Failure, Follower, Outcome, Step, TargetId, Track, Undone};
use crate::model::secret::without_secrets;
use crate::model::verdict::{Counts, Verdict};
use crate::model::workload::Workload;
use crate::render::status::{Standing, cause_json, pods_json, unknown};

/// One event on one line; none for what is not told.
#[must_use]
pub fn line(follower: &Follower, event: &Event, elapsed: Duration) -> Option<String> {
    let (target, kind, facts) = match event {
        Event::Stands { target, verdict, counts, is_way_back, .. } => {
            let mut facts = standing(follower, *target, verdict, *counts);
            facts["goingBack"] = json!(is_way_back);
            (target, "standing", facts)
        }
        Event::Cause { target, cause, step } => (target, "cause", cause_facts(cause, *step)),
        Event::Log { target, log } => {
            (target, "log", json!({"pod": log.pod, "container": log.container, "lines": log.lines}))
        }
        Event::Waits { target, reason } => (target, "waiting", json!({"reason": reason})),
        Event::GoesBack { target, end, revision } => {
            let mut facts = ended(end);
            facts["toRevision"] = json!(revision);
            (target, "going-back", facts)
        }
        Event::Ended { target, end } => (target, "ended", ended(end)),
        Event::Ask(_) => return None,
    };
    let track = follower.tracks().get(target.0)?;
    let mut document = document(kind, elapsed);
    document["workload"] = workload(track.workload());
    merge(&mut document, facts);
    Some(format!("{document}\n"))
}

/// The last line: how every target ended, and the exit code.
#[must_use]
pub fn verdict(follower: &Follower, exit: u8, elapsed: Duration) -> String {
    let mut document = document("verdict", elapsed);
    document["exitCode"] = json!(exit);
    document["workloads"] = follower.tracks().iter().map(final_standing).collect();
    format!("{document}\n")
}

fn final_standing(track: &Track) -> Value {
    let mut facts = json!({"workload": workload(track.workload())});
    if let Some(end) = track.end() {
        merge(&mut facts, ended(end));
    }
    facts["pods"] = pods_json(Counts::of(track.workload()));
    facts["revision"] = revision(track);
    facts["causes"] = track.causes().map(cause_json).collect();
    facts["unknown"] = json!(unknown_of(track));
    facts
}

/// What could not be read. Of a target that was never seen whole, everything.
fn unknown_of(track: &Track) -> Vec<&'static str> {
    match (track.observed(), track.verdict()) {
        (Some(observed), Some(verdict)) => unknown(&Standing { observed, verdict, causes: &[] }),
        _ => vec!["revisions", "pods", "events"],
    }
}

fn document(event: &str, elapsed: Duration) -> Value {
    let seconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    json!({"apiVersion": "rollout2/v1", "kind": "StatusEvent", "event": event, "elapsedMilliseconds": seconds})
}

pub(in crate::render) fn workload(workload: &Workload) -> Value {
    let object = workload.object();
    json!({
        "kind": object.kind(),
        "namespace": object.namespace(),
        "name": object.name(),
        "uid": object.uid(),
        "generation": object.generation(),
    })
}

fn revision(track: &Track) -> Value {
    let running = track.observed().and_then(|observed| observed.revisions.running());
    json!(running.and_then(|running| running.number.known()))
}

fn standing(follower: &Follower, target: TargetId, verdict: &Verdict, counts: Counts) -> Value {
    json!({
        "verdict": verdict.state.word(),
        "message": verdict.line,
        "revision": follower.tracks().get(target.0).map(revision),
        "pods": pods_json(counts),
    })
}

pub(in crate::render) fn cause_facts(cause: &Cause, step: Step) -> Value {
    let step = match step {
        Step::Appeared => "appeared",
        Step::Changed => "changed",
        Step::Gone => "gone",
    };
    json!({"step": step, "cause": cause_json(cause)})
}

fn ended(end: &End) -> Value {
    let reason = match &end.outcome {
        Outcome::Failed(failure) => Some(failure.word()),
        _ => None,
    };
    let limit = match &end.outcome {
        Outcome::TimedOut(limit)
        | Outcome::Failed(Failure::Deadline(limit) | Failure::Cause { grace: limit, .. }) => {
            Some(limit.as_secs_f64())
        }
        _ => None,
    };
    let error = match &end.outcome {
        Outcome::Unreadable(error) => Some(without_secrets(&error.sentence())),
        Outcome::Failed(Failure::TakenOver(line)) => Some(line.clone()),
        _ => None,
    };
    json!({
        "outcome": end.outcome.word(),
        "reason": reason,
        "limitSeconds": limit,
        "error": error,
        "message": end.line,
        "undone": end.undone.as_ref().map(undone),
    })
}

/// What became of the wish to undo it.
fn undone(undone: &Undone) -> Value {
    match undone {
        Undone::Not(why) => json!({"toRevision": null, "outcome": null, "whyNot": why}),
        Undone::To { revision, outcome } => {
            json!({"toRevision": revision, "outcome": outcome.word(), "whyNot": null})
        }
    }
}

pub(in crate::render) fn merge(document: &mut Value, facts: Value) {
    if let (Value::Object(document), Value::Object(facts)) = (document, facts) {
        document.extend(facts);
    }
}
