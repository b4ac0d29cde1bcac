//! The rules that the kinds of OpenKruise share.

use serde_json::Value;

use super::Workload;
use super::counts::Counts;
use super::pod_update::PodUpdatePolicy;
use super::strategy::{is_on_delete, partition, update_strategy};
use super::update_budget::IntOrPercent;
use super::verdict::{RolloutFacts, RolloutState};
use crate::model::api::object::Object;

/// The API group.
pub(super) const GROUP: &str = "apps.kruise.io";

/// Why `step` refuses these kinds.
pub(super) const NO_STEP: &str = "step does not support the kinds of OpenKruise yet";

/// Returns a field of an update strategy. `v1alpha1` of a CloneSet has no `rollingUpdate` around it.
pub(super) fn field<'a>(strategy: &'a Value, name: &str) -> Option<&'a Value> {
    strategy.get("rollingUpdate").and_then(|rolling| rolling.get(name)).or_else(|| strategy.get(name))
}

/// Returns a limit of the update strategy.
pub(super) fn limit(workload: &Workload, name: &str, default: IntOrPercent) -> IntOrPercent {
    let value = update_strategy(workload).and_then(|strategy| field(strategy, name));
    value.and_then(IntOrPercent::read).unwrap_or(default)
}

/// Returns the policy that a field of the strategy names. A pod that `OnDelete` replaces is always a new one.
pub(super) fn policy(workload: &Workload, name: &str) -> PodUpdatePolicy {
    let word = update_strategy(workload).and_then(|strategy| field(strategy, name)?.as_str());
    match word {
        _ if is_on_delete(workload) => PodUpdatePolicy::Recreate,
        Some("InPlaceIfPossible") => PodUpdatePolicy::InPlaceIfPossible,
        Some("InPlaceOnly") => PodUpdatePolicy::InPlaceOnly,
        _ => PodUpdatePolicy::Recreate,
    }
}

/// Returns the state of a workload whose outdated pods are kept: by `OnDelete` once the updated pods are ready,
/// by a pause that keeps pods which the partition releases, or by a partition that releases none.
pub(super) fn hold_state(
    workload: &Workload,
    facts: &RolloutFacts<'_>,
    counts: Counts,
) -> Option<RolloutState> {
    let kept = partition(workload);
    let released = counts.wanted - kept;
    let is_partition_hold = released == 0 && kept > 0;
    if counts.outdated() == 0 {
        return None;
    }
    if is_on_delete(workload) {
        return (!facts.is_starting).then_some(RolloutState::Held);
    }
    if workload.is_paused() && counts.updated < released {
        return Some(RolloutState::Paused);
    }
    is_partition_hold.then_some(RolloutState::Held)
}

/// Returns kubectl's refusal to print the status of a kind that it does not know.
pub(super) fn no_status_viewer(workload: &Workload) -> String {
    format!("no status viewer has been implemented for {}", workload.kind().type_().group_kind())
}

/// Returns how many ordinals from `start` to below `end` are reserved: numbers, or ranges such as `"3-5"`.
pub(super) fn reserved_between(object: &Object, start: i64, end: i64) -> i64 {
    let reserved = object.at("/spec/reserveOrdinals").and_then(Value::as_array).into_iter().flatten();
    let mut ranges: Vec<(i64, i64)> = reserved.filter_map(range).collect();
    ranges.sort_unstable();
    let mut count = 0;
    let mut from = start;
    for (first, last) in ranges {
        let first = first.max(from);
        let beyond = last.saturating_add(1).min(end);
        if beyond > first {
            count += beyond - first;
            from = beyond;
        }
    }
    count
}

fn range(value: &Value) -> Option<(i64, i64)> {
    let Some(text) = value.as_str() else { return value.as_i64().map(|ordinal| (ordinal, ordinal)) };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reserved_ordinals_are_numbers_or_ranges_and_count_once() {
        let object = json!({"kind": "StatefulSet", "metadata": {"name": "w"}, "spec": {"reserveOrdinals": [1, "3-5", "4", 5, "x", "9-7"]}});
        let object = Object::read(object).unwrap();
        for (start, end, expected) in [(0, 1, 0), (0, 2, 1), (0, 4, 2), (0, 9, 4), (4, 9, 2), (0, 0, 0)] {
            assert_eq!(reserved_between(&object, start, end), expected, "{start} {end}");
        }
    }
}
