//! StatefulSets: pods by ordinal, some of which a partition may keep on the old revision.

use super::{Counts, State, Told, Verdict, refuse_other_strategies, updated_pods_are_starting};
use crate::model::hold::Hold;
use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::step::goes_back;
use crate::model::strategy;
use crate::model::workload::Workload;

pub(super) fn verdict(observed: &Observed) -> Verdict {
    let workload = &observed.workload;
    if !is_observed(workload) {
        return Verdict::new(State::Unobserved, unobserved().line);
    }
    let counts = Counts::of(workload);
    if strategy::is_on_delete(workload) && counts.outdated() > 0 && !updated_pods_are_starting(observed) {
        return Verdict::new(State::Held, waiting_at_revision(workload, counts).line);
    }
    let available = available(workload, counts);
    if available < counts.wanted {
        return not_ready(counts.wanted - available).into();
    }
    if strategy::is_on_delete(workload) {
        return complete_at_revision(counts.updated, revision(workload, "updateRevision")).into();
    }
    if !has_rolling_update(workload) {
        return unpartitioned(workload, counts).into();
    }
    let kept = if is_still_going_back(observed) { 0 } else { strategy::partition(workload) };
    let released = counts.wanted - kept.min(counts.wanted);
    let told = partitioned(released, counts);
    let is_held = released == 0 && strategy::partition(workload) > 0 || is_held_by_us(workload);
    if told.done && is_held && counts.outdated() > 0 {
        return Verdict::new(State::Held, told.line);
    }
    told.into()
}

pub(super) fn kubectl(workload: &Workload) -> Result<Told, String> {
    refuse_other_strategies(workload)?;
    if !is_observed(workload) {
        return Ok(unobserved());
    }
    let counts = Counts::of(workload);
    if counts.ready < counts.wanted {
        return Ok(not_ready(counts.wanted - counts.ready));
    }
    if !has_rolling_update(workload) {
        return Ok(unpartitioned(workload, counts));
    }
    let released = match workload.object().int("/spec/updateStrategy/rollingUpdate/partition") {
        Some(_) => counts.wanted - strategy::partition(workload),
        None => 0,
    };
    Ok(partitioned(released, counts))
}

/// Whether a pause or a plan of ours keeps the rest back, however much it let go.
fn is_held_by_us(workload: &Workload) -> bool {
    Hold::in_force(workload).is_some()
}

/// Whether pods that go back with a hold of ours are not there yet. What a partition keeps runs what they go
/// back to already, so that kubectl's own sum would be content with as many fewer.
fn is_still_going_back(observed: &Observed) -> bool {
    let (workload, live) = (&observed.workload, observed.revisions.running());
    let is_back = |pod: &Pod| live.is_some_and(|live| workload.runs(pod, live));
    let is_let_go = |pod: &Pod| strategy::index(workload, &pod.name) >= Some(strategy::partition(workload));
    goes_back(workload) && observed.own_pods().any(|pod| is_let_go(pod) && !is_back(pod))
}

/// Ready is not enough with `minReadySeconds`; kubectl takes it for enough.
fn available(workload: &Workload, counts: Counts) -> i64 {
    if workload.min_ready_seconds() > 0 { counts.available.unwrap_or(counts.ready) } else { counts.ready }
}

fn partitioned(released: i64, counts: Counts) -> Told {
    let updated = counts.updated;
    if updated < released {
        return Told::waiting(format!(
            "Waiting for partitioned roll out to finish: {updated} out of {released} new pods have been updated..."
        ));
    }
    Told::done(format!("partitioned roll out complete: {updated} new pods have been updated..."))
}

/// The strategy was written without `rollingUpdate`: only the revisions' names tell.
fn unpartitioned(workload: &Workload, counts: Counts) -> Told {
    let current = revision(workload, "currentRevision");
    if revision(workload, "updateRevision") != current {
        return waiting_at_revision(workload, counts);
    }
    let replicas = workload.object().int("/status/currentReplicas").unwrap_or_default();
    complete_at_revision(replicas, current)
}

fn waiting_at_revision(workload: &Workload, counts: Counts) -> Told {
    let (updated, revision) = (counts.updated, revision(workload, "updateRevision"));
    Told::waiting(format!(
        "waiting for statefulset rolling update to complete {updated} pods at revision {revision}..."
    ))
}

fn complete_at_revision(pods: i64, revision: &str) -> Told {
    Told::done(format!("statefulset rolling update complete {pods} pods at revision {revision}..."))
}

fn not_ready(pods: i64) -> Told {
    Told::waiting(format!("Waiting for {pods} pods to be ready..."))
}

fn unobserved() -> Told {
    Told::waiting("Waiting for statefulset spec update to be observed...")
}

/// A StatefulSet that was never observed has no generation to compare with either.
fn is_observed(workload: &Workload) -> bool {
    workload.is_observed() && workload.object().int("/status/observedGeneration").unwrap_or_default() != 0
}

/// The API fills `rollingUpdate` in unless somebody wrote the strategy's type and nothing else.
fn has_rolling_update(workload: &Workload) -> bool {
    workload.object().at("/spec/updateStrategy/rollingUpdate").is_some_and(|value| !value.is_null())
}

fn revision<'a>(workload: &'a Workload, which: &str) -> &'a str {
    workload.object().text(&format!("/status/{which}")).unwrap_or_default()
}
