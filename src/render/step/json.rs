//! JSON of `step`: a document for each report, and a last one with the outcome.
//!
//! docs/json.md documents the fields, which are stable.

use std::time::Duration;

use serde_json::{Value, json};

use super::Closing;
use super::hints;
use super::outcome::finding;
use crate::model::engine::Now;
use crate::model::hold::plan::{BatchFailure, BatchSize, CheckResult, Lock, Pace, Reach};
use crate::model::kind::Workload;
use crate::model::step::{
    BatchStage, BatchView, Origin, PlanView, RollbackOutcome, StepOutcome, StepReport, Stepper, StopReason,
};
use crate::render::finding::members;
use crate::render::json::{
    self, cause_json, event_document, merge, milliseconds, revision_json, workload_json,
};
use crate::render::pods;

/// Returns the document of a report; `None` for a decision.
#[must_use]
pub fn document(stepper: &Stepper, report: &StepReport, now: Now) -> Option<Value> {
    let (kind, facts) = match report {
        StepReport::ReplacesLock(lock) => ("lock-replaced", lock_facts(lock)),
        StepReport::HoldEnded { manager } => ("hold-ended", json!({"manager": manager})),
        StepReport::Began { origin, already_updated } => {
            let resumed = *origin == Origin::Plan;
            let mut facts = json!({"resumed": resumed, "alreadyUpdated": already_updated});
            let plan = stepper.view(now).map(|view| plan_facts(&view));
            merge(&mut facts, plan.unwrap_or_default());
            ("began", facts)
        }
        StepReport::Scaled { from, to } => ("scaled", json!({"from": from, "to": to})),
        StepReport::Waiting(reason) => ("waiting", json!({"reason": reason})),
        StepReport::Skipped(pods) => ("skipped", json!({"pods": pods})),
        StepReport::Batch(batch) => ("batch", json!({"batch": batch_facts(batch)})),
        StepReport::Released { batch, slot } => {
            ("released", json!({"batch": {"number": batch}, "slot": slot}))
        }
        StepReport::EvictionRefused { pod, message } => {
            ("eviction-refused", json!({"pod": pod, "message": message}))
        }
        StepReport::SoakRestarted { pod, why } => ("soak-restarted", json!({"pod": pod, "reason": why})),
        StepReport::Checked { batch, result, failures, .. } => {
            ("check", check_facts(Some(*batch), *result, *failures))
        }
        StepReport::AddedByController(pods) => ("added-by-controller", json!({"pods": pods})),
        StepReport::Cause { cause, change } => {
            ("cause", json!({"change": change, "cause": cause_json(cause)}))
        }
        StepReport::Log(log) => ("log", json!(log)),
        StepReport::RollingBack { revision } => {
            ("rolling-back", json!({"toRevision": revision_json(revision)}))
        }
        StepReport::ReplacesStuckPod(pod) => ("replacing-stuck-pod", json!({"pod": pod.name})),
        StepReport::Decision(_) => return None,
    };
    Some(event(kind, stepper.workload(), now, facts))
}

/// Returns the last document: the outcome and the exit code.
#[must_use]
pub fn outcome(closing: &Closing<'_>, outcome: &StepOutcome, exit: u8) -> Value {
    let Closing { workload, view, stepper, now, .. } = closing;
    let mut document = event("ended", workload, *now, finding_members(closing, outcome));
    document["exitCode"] = exit.into();
    if let Some(unanswered) = stepper.map(Stepper::unanswered).filter(|pods| !pods.is_empty()) {
        document["unanswered"] = unanswered.into();
    }
    document["held"] = workload.held().in_force().is_some().into();
    document["paused"] = workload.is_paused().into();
    if let Some(view) = view {
        document["toRevision"] = view.to.as_deref().map(revision_json).into();
        document["pods"] = json!({"wanted": view.wanted, "updated": view.updated});
        document["batches"] = view.batches.iter().map(batch_facts).collect();
    }
    document
}

/// Returns a plan before anything is written.
#[must_use]
pub fn plan(workload: &Workload, view: &PlanView, now: Now) -> Value {
    let mut document = plan_document(workload);
    merge(&mut document, plan_facts(view));
    let closing = Closing { view: Some(view.clone()), ..Closing::before(workload, now) };
    let stops =
        view.stops.as_ref().map(|reason| finding_members(&closing, &StepOutcome::Stopped(reason.clone())));
    document["blockedBy"] = stops.into();
    document
}

/// Returns the document of a dry run that has no plan to show: its outcome, such as `nothing-outdated`.
#[must_use]
pub fn no_plan(closing: &Closing<'_>, outcome: &StepOutcome, exit: u8) -> Value {
    let mut document = plan_document(closing.workload);
    document["exitCode"] = exit.into();
    merge(&mut document, finding_members(closing, outcome));
    document
}

/// Returns the finding of an outcome with its first hint and its facts. The reason of a failed batch is more than that of the
/// finding.
fn finding_members(closing: &Closing<'_>, outcome: &StepOutcome) -> Value {
    let mut finding = finding(closing, outcome);
    if !matches!(outcome, StepOutcome::Error(_)) {
        finding.hint = hints::of(closing, outcome).into_iter().next();
    }
    let mut members = members(&finding);
    merge(&mut members, outcome_facts(outcome));
    members
}

fn event(event: &str, workload: &Workload, now: Now, facts: Value) -> Value {
    let mut document = event_document("StepEvent", event, now.elapsed, facts);
    document["workload"] = workload_json(workload);
    document
}

fn plan_document(workload: &Workload) -> Value {
    json::document("StepPlan", json!({"workload": workload_json(workload)}))
}

/// Returns seconds, rounded to milliseconds.
fn seconds(duration: Duration) -> f64 {
    Duration::from_millis(milliseconds(duration)).as_secs_f64()
}

fn plan_facts(view: &PlanView) -> Value {
    json!({
        "fromRevision": view.from.as_deref().map(revision_json),
        "toRevision": view.to.as_deref().map(revision_json),
        "pods": {"wanted": view.wanted, "updated": view.updated},
        "pace": pace_facts(&view.pace),
        "maxUnavailable": view.max_unavailable,
        "podUpdate": pods::plan_update_json(&view.update),
        "holdsBy": view.holds_by.as_ref().map(|(field, value)| json!({"field": field, "value": value})),
        "reach": reach_word(view.reach),
        "batches": view.batches.iter().map(batch_facts).collect::<Vec<_>>(),
        "moreBatches": {"count": view.further.count, "size": view.further.size},
        "totalSoakSeconds": seconds(view.soaks),
        "skipped": view.skipped,
    })
}

fn reach_word(reach: Reach) -> String {
    match reach {
        Reach::Next => "next".to_owned(),
        Reach::All => "all".to_owned(),
        Reach::To(amount) => amount.to_string(),
    }
}

/// Returns the pace, with members named after the flags. The check is only a digest, as in the plan.
fn pace_facts(pace: &Pace) -> Value {
    let (by, batches) = match &pace.batch_size {
        BatchSize::By(amount) => (Some(amount.to_string()), None),
        BatchSize::Until(goals) => (None, Some(goals.iter().map(ToString::to_string).collect::<Vec<_>>())),
    };
    let watch = pace.check.as_ref().and_then(|check| check.watch);
    json!({
        "by": by,
        "batches": batches,
        "canary": pace.canary,
        "maxUnavailable": pace.max_unavailable.map(|amount| amount.to_string()),
        "soakSeconds": seconds(pace.soak),
        "finalSoakSeconds": seconds(pace.final_soak),
        "batchTimeoutSeconds": seconds(pace.batch_timeout),
        "checkSha256": pace.check.as_ref().map(|check| &check.digest),
        "checkEverySeconds": watch.map(|watch| seconds(watch.every)),
        "checkFailures": watch.map(|watch| watch.failures),
        "onFailure": pace.on_failure.word(),
        "ignoreUnreadyNodes": pace.ignore_unready_nodes,
        "order": pace.order,
        "nodeSelector": pace.node_selector,
        "evict": pace.evict,
    })
}

fn batch_facts(batch: &BatchView) -> Value {
    let (healthy, soak) = match &batch.stage {
        BatchStage::Soaking { healthy, of } => (Some(*healthy), Some(*of)),
        BatchStage::Done { healthy } => (Some(*healthy), None),
        _ => (None, None),
    };
    let slots = batch.slots.iter().map(|slot| json!({"name": slot.label, "state": slot.state.word()}));
    json!({
        "number": batch.number,
        "canary": batch.is_canary,
        "stage": batch.stage.word(),
        "healthySeconds": healthy.map(seconds),
        "soakSeconds": soak.map(seconds),
        "size": batch.slots.len(),
        "slots": slots.collect::<Vec<_>>(),
    })
}

fn outcome_facts(outcome: &StepOutcome) -> Value {
    let mut facts = match outcome {
        StepOutcome::Stopped(reason) => stopped_facts(reason),
        StepOutcome::Failed { failure, rollback } => {
            let mut facts = failure_facts(failure.as_ref());
            facts["rollback"] = rollback.as_ref().map(rollback_facts).unwrap_or_default();
            facts
        }
        StepOutcome::TimedOut(limit) => json!({"limitSeconds": seconds(*limit)}),
        _ => json!({}),
    };
    facts["outcome"] = outcome.word().into();
    facts
}

fn stopped_facts(reason: &StopReason) -> Value {
    match reason {
        StopReason::Paused | StopReason::NoReplicas => json!({}),
        StopReason::Locked(lock) => lock_facts(lock),
        StopReason::TakenOver { by } => json!({"by": by}),
        StopReason::Changed { manager, changes, rolled_back_to, .. } => json!({
            "manager": manager, "changes": changes,
            "rolledBackTo": rolled_back_to.as_deref().map(revision_json),
        }),
        StopReason::Unhealthy { pods, allowed } => {
            let pods: Vec<_> = pods.iter().map(|(pod, why)| json!({"name": pod, "reason": why})).collect();
            json!({"unavailable": pods, "allowed": allowed})
        }
        StopReason::OwnPartition { partition, outdated } => {
            json!({"partition": partition, "outdated": outdated})
        }
        StopReason::NotSelected { others } => json!({"others": others}),
        StopReason::OnUnreadyNodes(nodes) => json!({"nodes": nodes}),
        StopReason::OnUnreadyNode { pod, node } => {
            json!({"pod": pod, "node": node})
        }
    }
}

fn lock_facts(lock: &Lock) -> Value {
    json!({"by": lock.by, "lastWrite": lock.written})
}

fn failure_facts(failure: Option<&BatchFailure>) -> Value {
    match failure {
        None => json!({"reason": "earlier"}),
        Some(BatchFailure::Cause { batch: None, id, pods }) => {
            json!({"reason": id, "unavailable": named(pods)})
        }
        Some(BatchFailure::Cause { batch: Some(batch), id, pods }) => {
            json!({"reason": id, "batch": {"number": batch}, "unavailable": named(pods)})
        }
        Some(BatchFailure::TimedOut { batch, after, pods }) => json!({
            "reason": "batch-timeout", "batch": {"number": batch},
            "limitSeconds": seconds(*after), "unavailable": named(pods),
        }),
        Some(BatchFailure::Check { batch, result, failures }) => {
            let mut facts = check_facts(*batch, *result, *failures);
            facts["reason"] = "check".into();
            facts
        }
    }
}

fn check_facts(batch: Option<usize>, result: CheckResult, failures: u32) -> Value {
    let code = if let CheckResult::Failed(code) = result { code } else { None };
    let mut facts = json!({"check": result.json_name(), "checkExitCode": code, "failuresInRow": failures});
    if let Some(number) = batch {
        facts["batch"] = json!({"number": number});
    }
    facts
}

fn named(pods: &[String]) -> Vec<Value> {
    pods.iter().map(|pod| json!({"name": pod})).collect()
}

fn rollback_facts(rollback: &RollbackOutcome) -> Value {
    match rollback {
        RollbackOutcome::Done { revision } => {
            json!({"outcome": "reached", "toRevision": revision_json(revision), "reason": null})
        }
        RollbackOutcome::Unfinished { revision, why } => {
            json!({"outcome": "unfinished", "toRevision": revision_json(revision), "reason": why})
        }
        RollbackOutcome::NotStarted(why) => {
            json!({"outcome": "not-started", "toRevision": null, "reason": why})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::hold::plan::Check;

    #[test]
    fn a_workload_that_is_gone_was_deleted_or_recreated() {
        for (recreated, word) in [(false, "deleted"), (true, "recreated")] {
            assert_eq!(outcome_facts(&StepOutcome::Gone { recreated })["outcome"], word);
        }
    }

    #[test]
    fn a_batch_timeout_lists_the_pods_that_are_not_available() {
        let pods = vec!["db-1".to_owned()];
        let failure = BatchFailure::TimedOut { batch: 2, after: Duration::from_secs(90), pods };
        let facts = json!({"reason": "batch-timeout", "batch": {"number": 2}, "limitSeconds": 90.0,
            "unavailable": [{"name": "db-1"}]});
        assert_eq!(failure_facts(Some(&failure)), facts);
    }

    #[test]
    fn the_pace_has_both_soaks() {
        let [soak, final_soak] = [60, 90].map(Duration::from_secs);
        let facts = pace_facts(&Pace { soak, final_soak, ..Pace::default() });
        assert_eq!((&facts["soakSeconds"], &facts["finalSoakSeconds"]), (&json!(60.0), &json!(90.0)));
    }

    #[test]
    fn the_pace_has_the_digest_of_the_check() {
        let check = Check { digest: "ab".to_owned(), watch: None };
        let facts = pace_facts(&Pace { check: Some(check), ..Pace::default() });
        assert_eq!(facts["checkSha256"], "ab");
    }
}
