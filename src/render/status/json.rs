//! `status` as JSON: one document for each report, and a last one with the results; or the status of each workload.
//!
//! docs/json.md documents the fields.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::outcome::hints;
use crate::model::cause::Cause;
use crate::model::cause::container_logs::LogLines;
use crate::model::engine::Now;
use crate::model::follow::{
    Followed, FollowedTarget, Follower, NoRollback, Outcome, Report, Rollbacks, RolloutFailure, TargetResult,
};
use crate::model::observation::Observation;
use crate::model::revision::references::Configuration;
use crate::model::status::stale_configuration::StaleConfiguration;
use crate::model::text::secret::without_secrets;
use crate::model::view::RolloutView;
use crate::render::age::duration_text;
use crate::render::json::{
    self, cause_json, event_document, merge, pods_json, remarks_json, revision_json, rollout_json,
    workload_json,
};
use crate::render::message_writer::{add_flags_to_hints, context_flag};

/// Returns one report.
#[must_use]
pub fn event(followed: Followed<'_>, report: &Report, now: Now) -> Value {
    let target = followed.target;
    let (kind, facts) = match report {
        Report::Status { verdict, .. } => {
            let view = target.view(now.server_time); // none for a target that was never observed completely
            let counts = target.workload().counts();
            let available = view.as_ref().map_or(counts.available, |view| view.available);
            let facts = json!({
                "state": verdict.state.word(),
                "message": verdict.line,
                "revision": view.as_ref().and_then(|view| view.revision),
                "pods": pods_json(counts, available),
                "outage": view.as_ref().map(|view| view.is_outage),
                "rollingBack": followed.is_rollback_written(),
            });
            ("status", facts)
        }
        Report::Cause { cause, change } => ("cause", json!({"change": change, "cause": cause_json(cause)})),
        Report::Log(log) => ("log", json!(log)),
        Report::Waiting(reason) => ("waiting", json!({"reason": reason})),
        Report::RollbackTarget(target) => {
            let facts = match target {
                Ok((label, images)) => {
                    json!({"toRevision": revision_json(label), "images": images, "reason": null})
                }
                Err(why) => json!({"toRevision": null, "images": [], "reason": why.words()}),
            };
            ("rollback-target", facts)
        }
        Report::ReplacesStuckPod(pod) => ("replacing-stuck-pod", json!({"pod": pod.name})),
        Report::Ended(_) => ("ended", result_json(followed)),
    };
    target_event(followed, kind, facts, now)
}

/// Returns that the rollback of a target begins.
#[must_use]
pub fn rollback_started(followed: Followed<'_>, now: Now) -> Value {
    let mut facts = result_json(followed);
    facts["toRevision"] = followed.rollback.map(|rollback| revision_json(&rollback.revision)).into();
    target_event(followed, "rolling-back", facts, now)
}

fn target_event(followed: Followed<'_>, kind: &str, facts: Value, now: Now) -> Value {
    let mut document = event_document("StatusEvent", kind, now.elapsed, facts);
    document["workload"] = workload_json(followed.target.workload());
    with_context(followed.target, document)
}

/// Adds the context of a target to its document, and to the commands in its hints, if there are several.
#[must_use]
pub fn with_context(target: &FollowedTarget, mut document: Value) -> Value {
    if let Some(context) = target.context() {
        document["context"] = context.into();
        add_flags_to_hints(&mut document, &context_flag(context));
    }
    document
}

/// Returns the last document: of every target what `Status` says of a rollout, and how it ended; and the exit code. The rollback
/// of a target has the causes of the failure, because its state, message and causes are those after the rollback.
#[must_use]
pub fn summary(
    follower: &Follower,
    rollbacks: &Rollbacks,
    configuration: &[Vec<Configuration>],
    exit: u8,
    now: Now,
) -> Value {
    let all = follower.followed(rollbacks);
    let summaries = all.map(|one| {
        let target = one.target;
        let configuration = configuration.get(target.id().context).map_or(&[][..], Vec::as_slice);
        with_context(target, target_summary(one, configuration, target.at(now).server_time))
    });
    let facts = json!({"exitCode": exit, "workloads": summaries.collect::<Value>()});
    event_document("StatusEvent", "summary", now.elapsed, facts)
}

fn target_summary(followed: Followed<'_>, configuration: &[Configuration], now: Timestamp) -> Value {
    // Of a target that was never observed completely only the workload is known.
    let Followed { target, rollback } = followed;
    let alone = || RolloutView::of(&Observation::of_alone(target.workload().clone()), now);
    let view = target.view(now);
    let log_of = |cause: &_| target.log_for(cause);
    let mut facts = rollout(&view.clone().unwrap_or_else(alone), log_of);
    if followed.result().is_some() {
        let message = facts["message"].take();
        merge(&mut facts, result_json(followed));
        if followed.is_rollback_written() {
            facts["message"] = message;
        }
        let first = hints(followed, view.as_ref()).into_iter().next();
        let hold = || view.as_ref()?.brief_hold().map(|(_, command)| command.to_string());
        let take_back = || rollback?.written.as_ref()?.as_ref().ok()?.clone();
        facts["hint"] = first.or_else(hold).or_else(take_back).into();
    }
    if let (Some(rollback), Some(Value::Object(result))) = (rollback, facts.get_mut("rollback")) {
        let causes = rollback.causes.iter().map(|cause| with_log(cause, log_of(cause)));
        result.insert("causes".to_owned(), causes.collect());
    }
    facts["remarks"] = remarks_json(target.workload(), &target.stale_configuration(configuration));
    facts
}

/// Returns the facts of a rollout, with the lines of logs in its causes.
fn rollout<'l>(view: &RolloutView, log_of: impl Fn(&Cause) -> Option<&'l LogLines>) -> Value {
    let mut facts = rollout_json(view);
    facts["causes"] = view.causes.iter().map(|cause| with_log(cause, log_of(cause))).collect();
    facts
}

/// Returns a cause with the line of its container's log that explains it best, if the log was read.
fn with_log(cause: &Cause, log: Option<&LogLines>) -> Value {
    let mut facts = cause_json(cause);
    if let Some(line) = log.and_then(LogLines::error_line) {
        facts["logLine"] = line.into();
    }
    facts
}

/// Returns how the rollout ended, and its rollback.
fn result_json(followed: Followed<'_>) -> Value {
    let Some(TargetResult { outcome, line, .. }) = followed.failed_or_result() else { return json!({}) };
    let since_answer = followed.result().and_then(|result| result.since_answer);
    let (reason, limit, error) = match outcome {
        Outcome::Failed(failure) => match failure {
            RolloutFailure::Deadline(limit) | RolloutFailure::Cause { grace: limit, .. } => {
                (Some(failure.json_name()), Some(*limit), None)
            }
            RolloutFailure::Replaced(line) => (Some(failure.json_name()), None, Some(line.clone())),
            RolloutFailure::Condition => (Some(failure.json_name()), None, Some(line.clone())),
            RolloutFailure::ProgressDeadline(_) => (Some(failure.json_name()), None, None),
        },
        Outcome::TimedOut(limit) => {
            let ago = since_answer.map(duration_text);
            let error = ago.map(|ago| format!("the server does not answer; known {ago} ago"));
            (None, Some(*limit), error)
        }
        Outcome::Unreadable(error) => (None, None, Some(without_secrets(&error.to_string()))),
        Outcome::OtherTargetFailed(other) => (None, None, Some(format!("{other} failed"))),
        _ => (None, None, None),
    };
    json!({
        "outcome": outcome.json_name(),
        "reason": reason,
        "limitSeconds": limit.map(|limit| limit.as_secs_f64()),
        "error": error,
        "message": line,
        "rollback": rollback(followed),
    })
}

/// Returns the result of a rollback, once there is one.
fn rollback(followed: Followed<'_>) -> Option<Value> {
    let (outcome, reason) = match (followed.rolled_back(), followed.no_rollback()) {
        (Some((_, outcome)), _) => (outcome.json_name(), None),
        (None, Some(why @ NoRollback::Unknown(_))) => ("unknown", Some(why.words())),
        (None, Some(why)) => ("not-started", Some(why.words())),
        (None, None) => return None,
    };
    let to = followed.rollback.map(|rollback| revision_json(&rollback.revision));
    Some(json!({"toRevision": to, "outcome": outcome, "reason": reason}))
}

/// Returns the status of one workload as JSON, with the log of each cause if it was read, and the ConfigMaps and Secrets of
/// which pods have earlier values.
#[must_use]
pub fn document<'l>(
    view: &RolloutView,
    log_of: impl Fn(&Cause) -> Option<&'l LogLines>,
    stale: &[StaleConfiguration],
) -> Value {
    let mut facts = rollout(view, log_of);
    facts["remarks"] = remarks_json(&view.workload, stale);
    json::document("Status", facts)
}
