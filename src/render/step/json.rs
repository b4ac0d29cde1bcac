//! What happens while a workload is stepped, as JSON: one line an event, and a last one with the end.
//!
//! The README documents the fields; their names do not change.

use std::time::Duration;

use serde_json::{Value, json};

use super::Scene;
use crate::model::follow::Moment;
use crate::model::step::{
    Back, Batch, Batches, Beginning, Checked, End, Event, Failure, Pacing, PlaceState, Stage, Stepper, View,
    Why,
};
use crate::model::workload::Workload;
use crate::render::follow::json::{cause_facts, merge, workload as workload_json};

/// One event on one line; none for the end, which has a line of its own.
#[must_use]
pub fn line(stepper: &Stepper, event: &Event, now: Moment) -> Option<String> {
    let (kind, facts) = match event {
        Event::Leased { lease, patience } => {
            ("leased", json!({"by": lease.by, "since": lease.since, "patienceSeconds": seconds(*patience)}))
        }
        Event::HoldEnded { manager } => ("hold-ended", json!({"manager": manager})),
        Event::Began { how, went_without } => {
            let goes_on = *how == Beginning::GoesOn;
            let mut facts = json!({"goesOn": goes_on, "wentWithout": went_without});
            merge(&mut facts, stepper.view(now).as_ref().map(plan_facts).unwrap_or_default());
            ("began", facts)
        }
        Event::Waits(reason) => ("waiting", json!({"reason": reason})),
        Event::LeftOut(pods) => ("left-out", json!({"pods": pods})),
        Event::Batch(batch) => ("batch", json!({"batch": batch_facts(batch)})),
        Event::Released { batch, place } => ("released", json!({"batch": {"number": batch}, "place": place})),
        Event::Refused { pod, message } => ("refused", json!({"pod": pod, "message": message})),
        Event::SoakBeginsAnew { pod, why } => ("soak-begins-anew", json!({"pod": pod, "reason": why})),
        Event::AddedByCluster(pods) => ("added-by-cluster", json!({"pods": pods})),
        Event::BackToCanary => ("back-to-canary", json!({})),
        Event::FinalSoak(of) => ("final-soak", json!({"soakSeconds": seconds(*of)})),
        Event::Cause { cause, step } => ("cause", cause_facts(cause, *step)),
        Event::Log(log) => ("log", json!({"pod": log.pod, "container": log.container, "lines": log.lines})),
        Event::GoesBack { revision } => ("going-back", json!({"toRevision": revision})),
        Event::Heals(pod) => ("heals", json!({"pod": pod})),
        Event::Ended(_) => return None,
    };
    let mut document = document("StepEvent", stepper.workload());
    document["event"] = kind.into();
    document["elapsedMilliseconds"] = milliseconds(now.elapsed);
    merge(&mut document, facts);
    Some(format!("{document}\n"))
}

/// The last line: how it ended, and the exit code.
#[must_use]
pub fn ended(scene: Scene<'_>, end: &End, exit: u8, elapsed: Duration) -> String {
    let Scene { workload, view, way_back, .. } = scene;
    let mut document = document("StepEvent", workload);
    document["event"] = "ended".into();
    document["elapsedMilliseconds"] = milliseconds(elapsed);
    document["exitCode"] = exit.into();
    merge(&mut document, end_facts(end));
    if let (None, Some((failure, revision))) = (document.get("back"), way_back) {
        merge(&mut document, failure_facts(failure));
        document["back"] = json!({"outcome": "unfinished", "toRevision": revision, "whyNot": null});
    }
    if let Some(view) = view {
        document["pods"] = json!({"wanted": view.wanted, "updated": view.updated});
        document["batches"] = view.batches.iter().map(batch_facts).collect();
    }
    format!("{document}\n")
}

/// A plan before anything is written, as one document.
#[must_use]
pub fn plan(workload: &Workload, view: &View) -> String {
    let mut document = document("StepPlan", workload);
    merge(&mut document, plan_facts(view));
    document["stops"] = view.stops.as_ref().map(|why| end_facts(&End::Stopped(why.clone()))).into();
    document["steppedBy"] =
        view.lease.as_ref().map(|lease| json!({"by": lease.by, "since": lease.since})).into();
    format!("{document}\n")
}

fn document(kind: &str, workload: &Workload) -> Value {
    json!({"apiVersion": "rollout2/v1", "kind": kind, "workload": workload_json(workload)})
}

fn milliseconds(elapsed: Duration) -> Value {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).into()
}

/// No more exact than anybody measures.
fn seconds(duration: Duration) -> f64 {
    let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(milliseconds).as_secs_f64()
}

fn plan_facts(view: &View) -> Value {
    json!({
        "fromRevision": view.from,
        "toRevision": view.to,
        "pods": {"wanted": view.wanted, "updated": view.updated},
        "pace": pace_facts(&view.pacing),
        "maxUnavailable": view.max_unavailable,
        "reach": view.reach.to_string(),
        "batches": view.batches.iter().map(batch_facts).collect::<Vec<_>>(),
        "moreBatches": view.has_more_batches,
        "soaksSeconds": seconds(view.soaks),
        "leftOut": view.left_out,
    })
}

/// In the words of the flags. Of a check the digest, as the cluster keeps it.
fn pace_facts(pacing: &Pacing) -> Value {
    let (by, batches) = match &pacing.batches {
        Batches::By(amount) => (Some(amount.to_string()), None),
        Batches::Until(goals) => (None, Some(goals.iter().map(ToString::to_string).collect::<Vec<_>>())),
    };
    json!({
        "by": by,
        "batches": batches,
        "canary": pacing.canary,
        "maxUnavailable": pacing.max_unavailable.map(|amount| amount.to_string()),
        "soakSeconds": seconds(pacing.soak),
        "finalSoakSeconds": seconds(pacing.final_soak),
        "batchTimeoutSeconds": seconds(pacing.batch_timeout),
        "checkSha256": pacing.check.as_ref().map(|check| &check.digest),
        "checkTimeoutSeconds": pacing.check.as_ref().map(|check| seconds(check.timeout)),
        "onFailure": pacing.on_failure.word(),
        "ignoreUnreadyNodes": pacing.ignore_unready_nodes,
        "order": pacing.order,
        "nodeSelector": pacing.node_selector,
        "evict": pacing.evict,
    })
}

fn batch_facts(batch: &Batch) -> Value {
    let (stage, healthy, soak) = match &batch.stage {
        Stage::Waiting => ("waiting", None, None),
        Stage::Updating => ("updating", None, None),
        Stage::Soaking { healthy, of } => ("soaking", Some(*healthy), Some(*of)),
        Stage::Checking => ("checking", None, None),
        Stage::Done { healthy } => ("done", Some(*healthy).filter(|_| !batch.places.is_empty()), None),
        Stage::Failed => ("failed", None, None),
    };
    let places = batch.places.iter().map(|place| {
        let word = match place.state {
            PlaceState::Outdated => "outdated",
            PlaceState::Moving => "moving",
            PlaceState::Updated => "updated",
        };
        json!({"name": place.name, "state": word})
    });
    json!({
        "number": batch.number,
        "canary": batch.is_canary,
        "stage": stage,
        "healthySeconds": healthy.map(seconds),
        "soakSeconds": soak.map(seconds),
        "size": batch.size,
        "places": places.collect::<Vec<_>>(),
    })
}

fn end_facts(end: &End) -> Value {
    let outcome = match end {
        End::NothingOutdated => "nothing-outdated",
        End::Reached { .. } => "reached",
        End::Complete => "complete",
        End::Stopped(_) => "stopped",
        End::Failed { .. } => "failed",
        End::TimedOut(_) => "timed-out",
        End::Interrupted => "interrupted",
        End::Terminated => "terminated",
        End::Gone { is_another: false } => "deleted",
        End::Gone { is_another: true } => "recreated",
        End::Error(_) => "error",
    };
    let mut facts = match end {
        End::Stopped(why) => stopped_facts(why),
        End::Failed { failure, back } => {
            let mut facts = failure_facts(failure);
            facts["back"] = back.as_ref().map(back_facts).unwrap_or_default();
            facts
        }
        End::Error(error) => json!({"error": error.sentence()}),
        End::TimedOut(limit) => json!({"limitSeconds": seconds(*limit)}),
        _ => json!({}),
    };
    facts["outcome"] = outcome.into();
    facts
}

fn stopped_facts(why: &Why) -> Value {
    match why {
        Why::Paused => json!({"reason": "paused"}),
        Why::LeaseLost { by } => json!({"reason": "lease-lost", "by": by}),
        Why::Changed { manager, changes } => {
            json!({"reason": "changed", "manager": manager, "changes": changes})
        }
        Why::Unhealthy { pods, allowed } => {
            let pods: Vec<_> = pods.iter().map(|(pod, why)| json!({"name": pod, "why": why})).collect();
            json!({"reason": "unhealthy", "unavailable": pods, "allowed": allowed})
        }
        Why::OwnPartition { partition } => json!({"reason": "own-partition", "partition": partition}),
        Why::NotSelected { others } => json!({"reason": "not-selected", "others": others}),
        Why::OnUnreadyNodes(nodes) => json!({"reason": "node-not-ready", "nodes": nodes}),
        Why::OnUnreadyNode { pod, node } => json!({"reason": "node-not-ready", "pod": pod, "node": node}),
    }
}

fn failure_facts(failure: &Failure) -> Value {
    match failure {
        Failure::Cause { batch, id, pods } => {
            json!({"reason": id, "batch": {"number": batch}, "unavailable": named(pods)})
        }
        Failure::TimedOut { batch, after, pods } => json!({
            "reason": "batch-timeout", "batch": {"number": batch},
            "limitSeconds": seconds(*after), "unavailable": named(pods),
        }),
        Failure::NotReplaced { batch, after, pods } => json!({
            "reason": "batch-timeout", "batch": {"number": batch},
            "limitSeconds": seconds(*after), "notReplaced": named(pods),
        }),
        Failure::Earlier => json!({"reason": "earlier"}),
        Failure::Check { batch, said } => {
            let code = if let Checked::Failed(code) = said { *code } else { None };
            let said = match said {
                Checked::Passed => "passed",
                Checked::Failed(_) => "failed",
                Checked::TimedOut => "timed-out",
                Checked::NotRun => "not-run",
            };
            json!({"reason": "check", "batch": {"number": batch}, "check": said, "checkExitCode": code})
        }
    }
}

fn named(pods: &[String]) -> Vec<Value> {
    pods.iter().map(|pod| json!({"name": pod})).collect()
}

fn back_facts(back: &Back) -> Value {
    match back {
        Back::Done { revision } => json!({"outcome": "reached", "toRevision": revision, "whyNot": null}),
        Back::Unfinished { revision, why } => {
            json!({"outcome": "unfinished", "toRevision": revision, "whyNot": why})
        }
        Back::Not(why) => json!({"outcome": "not-written", "toRevision": null, "whyNot": why}),
    }
}
