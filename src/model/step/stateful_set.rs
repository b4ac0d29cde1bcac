//! Stepping a StatefulSet: its partition walks down from the highest ordinal.

use super::kind::Release;
use super::plan::Begun;
use super::request::Request;
use super::spot::{Kept, Sight, Spot};
use crate::error::Result;
use crate::model::strategy;
use crate::model::workload::Workload;

/// What only a DaemonSet has is refused.
pub(super) fn check(request: &Request) -> Result<()> {
    request.given.check_stateful_set()
}

/// The ordinals from the highest on.
pub(super) fn spots<'a>(sight: &Sight<'a>) -> Vec<Spot<'a>> {
    let workload = &sight.observed.workload;
    let start = workload.object().int("/spec/ordinals/start").unwrap_or_default();
    let (partition, own) = (released_from(workload), own_partition(sight));
    let mut pods: Vec<_> = sight.observed.own_pods().filter_map(|pod| Some((pod.ordinal?, pod))).collect();
    pods.sort_by_key(|(ordinal, _)| *ordinal);
    let spot = |index: i64| {
        let ordinal = start.saturating_add(index);
        let pod = pods.binary_search_by_key(&ordinal, |(ordinal, _)| *ordinal).ok();
        let pod = pod.and_then(|found| Some(pods.get(found)?.1));
        let is_new = pod.is_some_and(|pod| sight.is_new(pod));
        let is_available = pod.is_some_and(|pod| sight.is_available(pod));
        let is_released = index >= partition;
        let name = format!("{}-{ordinal}", workload.name());
        Spot {
            is_of_last_batch: sight.is_of_last_batch(&name),
            soaks: true, // those that a scale-up adds on the new revision too
            name,
            pod,
            is_new,
            is_available,
            is_released,
            goes_down: is_released && !is_new,
            kept: (index < own).then_some(Kept::OwnPartition),
            unready_node: sight.unready_node_of(pod),
            group: None,
        }
    };
    (0..workload.wanted()).rev().map(spot).collect()
}

/// Lowers the partition over the next places of a batch, as far as the budget goes: a place whose pod
/// is available costs one, and one whose pod is missing or updated already costs nothing more. Where
/// more are missing than may be, not even that: what is missing may come back as it was, and then the
/// controller would take it down beside the others.
pub(super) fn release(
    sight: &Sight<'_>,
    spots: &[Spot<'_>],
    batch: &Begun,
    free: Option<usize>,
) -> Option<Release> {
    let workload = &sight.observed.workload;
    let last = spots.iter().rposition(|spot| batch.places.contains(&spot.name))?;
    let (mut free, mut places) = (free?, Vec::new());
    for spot in spots.get(..=last)?.iter().filter(|spot| !spot.is_released) {
        let costs_one = spot.is_available && !spot.is_new && spot.counts(sight.pacing);
        match free.checked_sub(usize::from(costs_one)) {
            Some(rest) => free = rest,
            None => break,
        }
        places.push(spot.name.clone());
    }
    let partition = strategy::index(workload, places.last()?)?;
    Some(Release::Strategy { set: strategy::with_partition(workload, partition), places })
}

/// Every pod that its own partition does not keep is updated; and when it keeps none, the controller
/// must have taken the new revision for the current one: until then it would make those below a
/// partition, and those of another strategy, on the old one again.
pub(super) fn is_complete(sight: &Sight<'_>) -> bool {
    let status = |name: &str| sight.observed.workload.object().text(&format!("/status/{name}"));
    own_partition(sight) > 0 || status("currentRevision") == status("updateRevision")
}

/// The index from which on pods may be updated now.
fn released_from(workload: &Workload) -> i64 {
    if strategy::is_on_delete(workload) { strategy::EVERY_POD } else { strategy::partition(workload) }
}

/// The index below which the set by itself updates no pod.
fn own_partition(sight: &Sight<'_>) -> i64 {
    if sight.beyond { 0 } else { sight.own.map_or(0, strategy::partition_of) }
}
