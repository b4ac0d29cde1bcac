//! Rollouts that somebody holds, or that wait for time to pass.

use super::sight::Sight;
use super::{Cause, CauseId};
use crate::model::hold::Story;
use crate::model::pod::Pod;
use crate::model::rounding::Budget;
use crate::model::strategy;
use crate::model::verdict::{Counts, State};
use crate::model::workload::Workload;

/// Every hold that keeps pods from being updated, or updated pods from being available.
pub(super) fn causes(sight: &Sight<'_>, state: State) -> Vec<Cause> {
    let holds = [
        paused(sight, state),
        on_delete(sight),
        partition(sight),
        min_ready(sight, state),
        unavailable(sight),
    ];
    holds.into_iter().flatten().collect()
}

fn paused(sight: &Sight<'_>, state: State) -> Option<Cause> {
    let workload = &sight.observed.workload;
    (state == State::Paused).then(|| {
        let how = format!("paused, until kubectl rollout2 resume {}", workload.command_target());
        Cause::of_workload(CauseId::Paused, how)
    })
}

/// Pods that die, and those of new nodes, get the new revision all the same; who relies on the hold
/// must know.
fn on_delete(sight: &Sight<'_>) -> Option<Cause> {
    let workload = &sight.observed.workload;
    let outdated = outdated(sight);
    if !strategy::is_on_delete(workload) || outdated == 0 {
        return None;
    }
    let until = match workload {
        Workload::DaemonSet(_) => "deleted; pods that die and new nodes get the new one",
        Workload::Deployment(_) | Workload::StatefulSet(_) => "deleted; pods that die get the new one",
    };
    let are = if outdated == 1 { "1 pod stays".to_owned() } else { format!("{outdated} pods stay") };
    let kept: Vec<&Pod> = outdated_pods(sight).collect();
    let summary = format!("OnDelete, {are} on {} until {until}", what_they_run(&kept, sight));
    let summary = summary + &by_whom(workload);
    Some(Cause::of_workload(CauseId::OnDelete, summary).of_pods(kept))
}

/// Which ordinals a partition keeps on an old revision.
fn partition(sight: &Sight<'_>) -> Option<Cause> {
    let workload = &sight.observed.workload;
    let partition = strategy::partition(workload);
    if partition == 0 || outdated(sight) == 0 {
        return None;
    }
    let start = workload.object().int("/spec/ordinals/start").unwrap_or_default();
    let is_kept = |pod: &&Pod| pod.ordinal.is_some_and(|ordinal| ordinal < start.saturating_add(partition));
    let mut kept: Vec<&Pod> = outdated_pods(sight).filter(is_kept).collect();
    kept.sort_by_key(|pod| pod.ordinal);
    let whom = match kept.as_slice() {
        [] if sight.observed.pods.is_some() => return None,
        [] => "pods".to_owned(), // they could not be read
        [only] => only.name.clone(),
        [first, .., last] if is_unbroken(&kept) => format!("{}..{}", first.name, last.name),
        several => several.iter().map(|pod| pod.name.as_str()).collect::<Vec<_>>().join(", "),
    };
    let what = what_they_run(&kept, sight);
    let summary = format!("partition {partition} keeps {whom} on {what}{}", by_whom(workload));
    let cause = Cause::of_workload(CauseId::Partition, summary);
    Some(Cause { pods: kept.iter().map(|pod| pod.name.clone()).collect(), ..cause })
}

/// Whose hold it is, where it is one of ours.
fn by_whom(workload: &Workload) -> String {
    Story::of(workload).map(|story| format!("; {}", story.words(workload))).unwrap_or_default()
}

/// `revision 3`, where all of some pods run the same one.
fn what_they_run(pods: &[&Pod], sight: &Sight<'_>) -> String {
    let (revisions, workload) = (&sight.observed.revisions, &sight.observed.workload);
    let common =
        pods.first().and_then(|first| revisions.iter().find(|revision| workload.runs(first, revision)));
    match common {
        Some(common) if pods.iter().all(|pod| workload.runs(pod, common)) => {
            format!("revision {}", common.label())
        }
        _ => "an old revision".to_owned(),
    }
}

fn is_unbroken(pods: &[&Pod]) -> bool {
    pods.windows(2).all(|pair| match pair {
        [a, b] => a.ordinal.and_then(|ordinal| ordinal.checked_add(1)) == b.ordinal,
        _ => true,
    })
}

/// Updated pods that are ready, and not for long enough. Since when they are is told by the clocks of
/// their nodes, so a controller that is content knows better.
fn min_ready(sight: &Sight<'_>, state: State) -> Option<Cause> {
    let (observed, running) = (sight.observed, sight.running?);
    if state == State::Complete {
        return None;
    }
    let seconds = observed.workload.min_ready_seconds();
    let waiting: Vec<_> = observed
        .pods_of(running)
        .filter(|pod| pod.ready && !pod.terminating && !pod.is_available(seconds, sight.now))
        .collect();
    (!waiting.is_empty()).then(|| {
        let summary = format!("ready, but not for minReadySeconds ({seconds}s) yet");
        Cause::of_workload(CauseId::MinReadySeconds, summary).of_pods(waiting)
    })
}

/// A StatefulSet that may lose several pods at a time counts every pod that is not available against
/// them, whatever its ordinal and revision: enough of them, and no other is updated. Pods of the
/// revision being rolled out have causes of their own.
fn unavailable(sight: &Sight<'_>) -> Option<Cause> {
    let (observed, running) = (sight.observed, sight.running?);
    let workload = &observed.workload;
    workload.object().at("/spec/updateStrategy/rollingUpdate/maxUnavailable")?;
    if !matches!(workload, Workload::StatefulSet(_)) || outdated(sight) == 0 {
        return None;
    }
    let seconds = workload.min_ready_seconds();
    let missing: Vec<_> =
        observed.own_pods().filter(|pod| !pod.is_available(seconds, sight.now) && !pod.terminating).collect();
    let allowed = Budget::of(workload).unavailable;
    let is_used_up = i64::try_from(missing.len()).is_ok_and(|missing| missing >= allowed);
    let of_others = missing.iter().any(|pod| !workload.runs(pod, running));
    (is_used_up && of_others).then(|| {
        let summary = format!("not available, which uses up maxUnavailable {allowed}");
        Cause::of_workload(CauseId::MaxUnavailable, summary).of_pods(missing)
    })
}

/// How many pods are of another revision than the one to be rolled out, as their controller counts.
fn outdated(sight: &Sight<'_>) -> i64 {
    Counts::of(&sight.observed.workload).outdated()
}

fn outdated_pods<'a>(sight: &Sight<'a>) -> impl Iterator<Item = &'a Pod> {
    let Sight { observed, running, .. } = *sight;
    observed.own_pods().filter(move |pod| {
        pod.is_active() && running.is_none_or(|running| !observed.workload.runs(pod, running))
    })
}
