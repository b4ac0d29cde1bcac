//! Holds, `minReadySeconds`, and an exhausted `maxUnavailable`.

use super::context::CauseContext;
use super::{Cause, CauseId};
use crate::api::pod::Pod;
use crate::hold::plan::original_min_ready_seconds;
use crate::hold::{hold_words, pause_words};
use crate::kind::verdict::RolloutState;
use crate::kind::{Workload, strategy};
use crate::text::plural::plural;

/// Returns the holds: a pause, a plan, `OnDelete`, a partition or a node selector keeps pods outdated.
pub(super) fn holds(context: &CauseContext<'_>, state: RolloutState) -> impl Iterator<Item = Cause> {
    let found = [
        paused(context, state),
        plan(context, state),
        on_delete(context),
        partition(context),
        node_selector(context, state),
    ];
    found.into_iter().flatten()
}

fn paused(context: &CauseContext<'_>, state: RolloutState) -> Option<Cause> {
    let workload = &context.observed.workload;
    if workload.kind().runs_to_completion() && state == RolloutState::Held {
        return Some(Cause::new(CauseId::Paused, "spec.suspend is true"));
    }
    (state == RolloutState::Paused).then(|| Cause::new(CauseId::Paused, pause_words(workload)))
}

/// Returns the cause for a plan that holds no pod outdated, or that keeps updated pods from counting as available, with how far
/// it is.
fn plan(context: &CauseContext<'_>, state: RolloutState) -> Option<Cause> {
    let workload = &context.observed.workload;
    let counts = workload.counts();
    let is_unfinished = state == RolloutState::Held && counts.outdated() == 0;
    let is_shown = is_unfinished || workload.hold_blocks_availability();
    let until = is_shown.then(|| hold_words(workload))??;
    let revision = context
        .revision
        .map_or_else(|| "the new revision".to_owned(), |current| format!("revision {}", current.label()));
    let summary = format!("{} of {} pods on {revision}; {until}", counts.updated, counts.wanted);
    Some(Cause::new(CauseId::Plan, summary))
}

/// Returns the cause for `OnDelete`. Pods that are recreated, and pods on new nodes, run the new revision
/// anyway; the message must say so.
fn on_delete(context: &CauseContext<'_>) -> Option<Cause> {
    let workload = &context.observed.workload;
    let outdated = outdated(context);
    if !strategy::is_on_delete(workload) || outdated == 0 {
        return None;
    }
    let updated = workload.kind().pods().updated_under_on_delete();
    let (pods, are) = (plural(outdated, "pod"), if outdated == 1 { "it is" } else { "they are" });
    let kept: Vec<&Pod> = context.observed.outdated_pods().collect();
    let (revision, author) = (revision_text(&kept, context), hold_author(workload));
    let summary = format!(
        "OnDelete keeps {pods} on {revision} until {are} deleted; {updated} run the new revision{author}"
    );
    Some(Cause::new(CauseId::OnDelete, summary).with_pods(kept))
}

/// Returns the cause for the pods that a partition keeps on an old revision.
fn partition(context: &CauseContext<'_>) -> Option<Cause> {
    let workload = &context.observed.workload;
    let partition = strategy::partition(workload);
    if partition == 0 || outdated(context) == 0 {
        return None;
    }
    if strategy::partition_counts_pods(workload) {
        return Some(kept_count(context, partition));
    }
    let is_kept =
        |pod: &&Pod| strategy::partition_index(workload, &pod.name).is_some_and(|index| index < partition);
    let mut kept: Vec<&Pod> = context.observed.outdated_pods().filter(is_kept).collect();
    kept.sort_by_key(|pod| pod.ordinal);
    let names = match kept.as_slice() {
        [] if context.observed.pods.is_some() => return None,
        [] => "pods".to_owned(), // they could not be read
        [only] => only.name.clone(),
        [first, .., last] if is_unbroken(&kept) => format!("{}..{}", first.name, last.name),
        several => several.iter().map(|pod| pod.name.as_str()).collect::<Vec<_>>().join(", "),
    };
    let revision = revision_text(&kept, context);
    let summary = format!(
        "{} keeps {names} on {revision}{}",
        strategy::partition_words(partition),
        hold_author(workload)
    );
    let cause = Cause::new(CauseId::Partition, summary);
    Some(Cause { pods: kept.iter().map(|pod| pod.name.clone()).collect(), ..cause })
}

/// Returns the cause for the pods on nodes that the strategy does not select. They differ from other outdated pods
/// only once all others are updated.
fn node_selector(context: &CauseContext<'_>, state: RolloutState) -> Option<Cause> {
    let workload = &context.observed.workload;
    let has_other_hold = strategy::is_on_delete(workload) || strategy::partition(workload) > 0;
    if state != RolloutState::Held || has_other_hold || !strategy::has_node_selector(workload) {
        return None;
    }
    let kept: Vec<&Pod> = context.observed.outdated_pods().collect();
    let (pods, revision) = (plural(outdated(context), "pod"), revision_text(&kept, context));
    let summary = format!("the node selector of the update strategy keeps {pods} on {revision}");
    Some(Cause::new(CauseId::NodeSelector, summary).with_pods(kept))
}

/// Returns the cause for a partition that keeps a number of pods and not certain ones.
fn kept_count(context: &CauseContext<'_>, partition: i64) -> Cause {
    let count = outdated(context).min(partition);
    let outdated: Vec<&Pod> = context.observed.outdated_pods().collect();
    let revision = revision_text(&outdated, context);
    let author = hold_author(&context.observed.workload);
    let summary = format!("the partition keeps {} on {revision}{author}", plural(count, "pod"));
    let is_settled = i64::try_from(outdated.len()) == Ok(count);
    let cause = Cause::new(CauseId::Partition, summary);
    if is_settled { cause.with_pods(outdated) } else { cause }
}

/// Returns who set the hold, after a semicolon, if this program set it; empty for other holds.
fn hold_author(workload: &Workload) -> String {
    hold_words(workload).map(|words| format!("; {words}")).unwrap_or_default()
}

/// Returns `revision 3` if all pods run it, and `an old revision` otherwise.
fn revision_text(pods: &[&Pod], context: &CauseContext<'_>) -> String {
    match pods.first().and_then(|first| context.observed.revision_of(first)) {
        Some(common) if pods.iter().all(|pod| context.observed.workload.runs(pod, common)) => {
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

/// Returns the cause for updated pods that are ready for less than `minReadySeconds`. The ready time comes from
/// the clocks of the nodes, so the controller's own verdict takes precedence.
pub(super) fn min_ready(context: &CauseContext<'_>, state: RolloutState) -> Option<Cause> {
    let observed = context.observed;
    if state == RolloutState::Complete || observed.workload.held().is_lost() {
        return None;
    }
    let seconds = original_min_ready_seconds(&observed.workload);
    let waiting: Vec<_> =
        observed.updated_pods().filter(|pod| pod.ready && !pod.is_available(seconds, context.now)).collect();
    (!waiting.is_empty()).then(|| {
        let summary = format!("ready, but not for minReadySeconds ({seconds}s) yet");
        Cause::new(CauseId::MinReadySeconds, summary).with_pods(waiting)
    })
}

/// Returns the cause for unavailable pods that use up `maxUnavailable` of a StatefulSet. The controller counts
/// every unavailable pod, of any ordinal and revision, and then updates no other. Pods of the current revision
/// have causes of their own.
pub(super) fn unavailable(context: &CauseContext<'_>) -> Option<Cause> {
    let (observed, current) = (context.observed, context.revision?);
    let workload = &observed.workload;
    workload.object().at("/spec/updateStrategy/rollingUpdate/maxUnavailable")?;
    if !workload.kind().pods().are_ordered() || outdated(context) == 0 {
        return None;
    }
    let seconds = workload.min_ready_seconds();
    let missing: Vec<_> = observed
        .own_pods()
        .filter(|pod| !pod.is_available(seconds, context.now) && !pod.terminating)
        .collect();
    let allowed = workload.update_budget().unavailable;
    let is_used_up = i64::try_from(missing.len()).is_ok_and(|missing| missing >= allowed);
    let of_others = missing.iter().any(|pod| !workload.runs(pod, current) && !pod.is_updating_in_place());
    (is_used_up && of_others).then(|| {
        let summary = format!("not available, which uses up maxUnavailable {allowed}");
        Cause::new(CauseId::MaxUnavailable, summary).with_pods(missing)
    })
}

/// Returns the number of outdated pods, as the controller counts them.
fn outdated(context: &CauseContext<'_>) -> i64 {
    context.observed.workload.counts().outdated()
}
