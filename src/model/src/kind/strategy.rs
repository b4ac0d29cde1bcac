//! The update strategy of a workload: which pods an update replaces, and which it holds.

use serde_json::{Value, json};

use super::Workload;
use super::fields::{HoldFields, spec_path, without_pause};
use super::update_budget::{IntOrPercent, PodUpdatePolicy, UpdateBudget};
use crate::api::object::Object;
use crate::api::patch::FieldPath;
use crate::api::selector::Selector;
use crate::error::{Error, ErrorKind, Result};

/// Returns the path of the update strategy.
#[must_use]
pub fn strategy_path(workload: &Workload) -> FieldPath {
    spec_path(workload.kind().strategy())
}

/// Returns the path of the field that a pause changes: the kind's own field, or the strategy.
#[must_use]
pub fn hold_path(workload: &Workload) -> FieldPath {
    workload.pause_field().unwrap_or_else(|| strategy_path(workload))
}

/// Returns the update strategy; none if the object has none.
#[must_use]
pub fn update_strategy(workload: &Workload) -> Option<&Value> {
    strategy_path(workload).value_in(workload.object().json())
}

/// Returns an update strategy as the only field of a hold.
#[must_use]
pub fn as_fields(workload: &Workload, strategy: Value) -> HoldFields {
    HoldFields::from([(workload.kind().strategy(), strategy)])
}

/// Whether the strategy is `OnDelete`: the controller replaces a pod only after it was deleted.
#[must_use]
pub fn is_on_delete(workload: &Workload) -> bool {
    update_strategy(workload).is_some_and(is_on_delete_strategy)
}

/// Whether a strategy is `OnDelete`.
#[must_use]
pub fn is_on_delete_strategy(strategy: &Value) -> bool {
    strategy.get("type").and_then(Value::as_str) == Some("OnDelete")
}

/// Whether the strategy has a node selector. The controller updates no pod on another node.
#[must_use]
pub fn has_node_selector(workload: &Workload) -> bool {
    let is_empty = |part: &Value| {
        part.as_array().is_none_or(Vec::is_empty) && part.as_object().is_none_or(serde_json::Map::is_empty)
    };
    selector_value(workload).and_then(Value::as_object).is_some_and(|parts| !parts.values().all(is_empty))
}

/// Returns the selector of the nodes on which the controller of an Advanced DaemonSet updates pods; none for all nodes.
pub(crate) fn node_selector(workload: &Workload) -> Option<Selector> {
    selector_value(workload).and_then(Selector::read)
}

fn selector_value(workload: &Workload) -> Option<&Value> {
    update_strategy(workload)?.pointer("/rollingUpdate/selector")
}

/// Returns how many pods the partition holds. For a StatefulSet this is the first index that is
/// updated. 0 without a partition.
#[must_use]
pub fn partition(workload: &Workload) -> i64 {
    update_strategy(workload).map_or(0, |strategy| partition_of(workload, strategy))
}

/// Whether a number is one that no workload needs, and that only holds: a partition above every pod, a time that never passes.
#[must_use]
pub fn only_holds(value: i64) -> bool {
    value >= i64::from(i32::MAX) - 1 // `minReadySeconds` has to be less than `progressDeadlineSeconds`
}

/// Returns a partition in words: `partition 3`; `the partition` for the one of a pause, which is above every pod.
#[must_use]
pub fn partition_words(partition: i64) -> String {
    if only_holds(partition) { "the partition".to_owned() } else { format!("partition {partition}") }
}

/// Returns how many pods the partition of another strategy of a workload holds.
#[must_use]
pub fn partition_of(workload: &Workload, strategy: &Value) -> i64 {
    workload.kind().kept_by_partition(strategy, workload.wanted())
}

/// Whether the partition is a number of pods, whichever they are: where pods have no ordinal, and where the controller
/// updates them in another order (`unorderedUpdate` of an Advanced StatefulSet).
#[must_use]
pub fn partition_counts_pods(workload: &Workload) -> bool {
    let is_unordered = update_strategy(workload)
        .and_then(|strategy| strategy.pointer("/rollingUpdate/unorderedUpdate"))
        .is_some_and(|order| !order.is_null());
    !workload.kind().pods().are_ordered() || is_unordered
}

/// Returns the partition in a strategy as it is written: a number of pods, or a percentage.
#[must_use]
pub fn written_partition(strategy: &Value) -> Option<&Value> {
    field(strategy, "partition").filter(|partition| !partition.is_null())
}

/// Returns how a partition that keeps this many pods is written. For pods that nothing tells apart it is a percentage if
/// one keeps exactly as many, so that a scale-up creates no more than its share on the new revision. Up to 100 pods there
/// is always one.
fn partition_value(workload: &Workload, kept: i64) -> Value {
    let wanted = workload.wanted();
    let is_share = workload.kind().pods().are_interchangeable() && (1..=wanted).contains(&kept);
    let share = is_share.then(|| json!({"partition": format!("{}%", kept * 100 / wanted)}));
    match share {
        Some(share) if partition_of(workload, &share) == kept => share["partition"].clone(),
        _ => kept.into(),
    }
}

/// Returns the first index that a StatefulSet with this strategy updates.
pub(super) fn effective_partition(strategy: &Value) -> i64 {
    let partition = strategy.pointer("/rollingUpdate/partition").and_then(Value::as_i64);
    if is_on_delete_strategy(strategy) { 0 } else { partition.unwrap_or_default().max(0) }
}

/// The types of strategy by which a controller replaces outdated pods gradually. `v1alpha1` of a CloneSet has a
/// type for each way to update a pod.
const ROLLING: [&str; 4] = ["RollingUpdate", "ReCreate", "InPlaceIfPossible", "InPlaceOnly"];

/// Whether the controller replaces outdated pods gradually, which is the API's default.
pub(crate) fn is_rolling(workload: &Workload) -> bool {
    strategy_type(workload).is_none_or(|type_| ROLLING.contains(&type_))
}

/// Whether the controller stops every outdated pod before it creates an updated one.
#[must_use]
pub fn is_recreate(workload: &Workload) -> bool {
    strategy_type(workload) == Some("Recreate")
}

/// Returns the type of the update strategy, if it has one.
fn strategy_type(workload: &Workload) -> Option<&str> {
    update_strategy(workload).and_then(|strategy| strategy.get("type")?.as_str())
}

/// Refuses to hold a workload whose strategy has nothing between two pods, or is not known to this version. `verb` is
/// `stepped` or `paused`.
///
/// # Errors
/// With the type of the strategy.
pub fn require_gradual(workload: &Workload, verb: &str) -> Result<()> {
    if is_rolling(workload) || is_on_delete(workload) {
        return Ok(());
    }
    let (target, type_) = (workload.target(), strategy_type(workload).unwrap_or_default());
    let why = if is_recreate(workload) {
        "its strategy Recreate stops every outdated pod before it creates an updated one, so nothing can be held in between"
            .to_owned()
    } else {
        format!("this version does not know its update strategy {type_:?}")
    };
    let error = Error::new(ErrorKind::Refused, format!("{target} cannot be {verb}: {why}"));
    Err(error.hint("use the strategy RollingUpdate"))
}

/// Returns how many pods an update always leaves available. Returns none for `Recreate`, `OnDelete`
/// and a budget of all pods, which guarantee nothing.
#[must_use]
pub fn min_available(workload: &Workload) -> Option<i64> {
    let floor = workload.wanted().saturating_sub(workload.update_budget().unavailable);
    (is_rolling(workload) && floor > 0).then_some(floor)
}

/// Returns a limit of a strategy.
pub(crate) fn limit(strategy: Option<&Value>, name: &str, default: IntOrPercent) -> IntOrPercent {
    strategy.and_then(|strategy| field(strategy, name)).and_then(IntOrPercent::read).unwrap_or(default)
}

/// Returns the budget of the kinds whose pods have an ordinal: rounded down, at least 1, and no surge
/// (`getStatefulSetMaxUnavailable` in the StatefulSet controller).
pub(super) fn ordinal_budget(workload: &Workload) -> UpdateBudget {
    let unavailable = limit(update_strategy(workload), "maxUnavailable", IntOrPercent::Int(1));
    UpdateBudget { unavailable: unavailable.rounded_down(workload.wanted()).max(1), surge: 0 }
}

/// Returns the budget of the kinds with one pod on each node. Rounds both limits up (`unavailableCount` and
/// `surgeCount` in the DaemonSet controller).
pub(super) fn node_budget(workload: &Workload) -> UpdateBudget {
    let (strategy, wanted) = (update_strategy(workload), workload.wanted());
    let rounded = |name, default| limit(strategy, name, IntOrPercent::Int(default)).rounded_up(wanted);
    UpdateBudget { unavailable: rounded("maxUnavailable", 1), surge: rounded("maxSurge", 0) }
}

/// The API server's default of `maxSurge` and `maxUnavailable` of a Deployment.
pub(crate) const DEPLOYMENT_LIMIT: IntOrPercent = IntOrPercent::Percent(25);

/// Returns the budget of the strategy of a Deployment. Rounds surge up and unavailable down. If both are zero, one pod may be
/// unavailable (`ResolveFenceposts` in the Deployment controller).
#[must_use]
pub fn surge_budget(strategy: Option<&Value>, wanted: i64) -> UpdateBudget {
    let limit = |name| limit(strategy, name, DEPLOYMENT_LIMIT);
    let surge = limit("maxSurge").rounded_up(wanted);
    let unavailable = limit("maxUnavailable").rounded_down(wanted).min(wanted);
    let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
    UpdateBudget { unavailable, surge }
}

/// A partition above every possible pod. With a partition of `replicas`, a scale-up would start
/// pods on the new revision.
pub const ABOVE_EVERY_POD: i64 = i32::MAX as i64;

/// Returns the strategy of a workload with another partition, by which its controller replaces pods gradually. Its other
/// fields stay, known or not, except a pause.
#[must_use]
pub fn with_partition(workload: &Workload, partition: i64) -> Value {
    let mut strategy = match update_strategy(workload) {
        Some(strategy) if strategy.is_object() => without_pause(strategy.clone()),
        _ => json!({}),
    };
    let is_nested = has_rolling_update(workload);
    let type_ = strategy.get("type").and_then(Value::as_str);
    if !type_.is_some_and(|type_| ROLLING.contains(&type_)) {
        strategy["type"] = if is_nested { "RollingUpdate".into() } else { "ReCreate".into() };
    }
    let limits = if is_nested { &mut strategy["rollingUpdate"] } else { &mut strategy };
    let partition = partition_value(workload, partition);
    match limits.as_object_mut() {
        Some(limits) => drop(limits.insert("partition".to_owned(), partition)),
        None => *limits = json!({"partition": partition}),
    }
    strategy
}

/// The field `paused` of the kinds of OpenKruise, but for `v1alpha1` of a CloneSet.
pub(super) const PAUSED: &[&str] = &["spec", "updateStrategy", "rollingUpdate", "paused"];

/// Returns the policy that a field of the strategy of a kind of OpenKruise names. A pod that `OnDelete` replaces is always a
/// new one.
pub(super) fn pod_update_policy(workload: &Workload, name: &str) -> PodUpdatePolicy {
    let word = update_strategy(workload).and_then(|strategy| field(strategy, name)?.as_str());
    match word {
        _ if is_on_delete(workload) => PodUpdatePolicy::Recreate,
        Some("InPlaceIfPossible") => PodUpdatePolicy::InPlaceIfPossible,
        Some("InPlaceOnly") => PodUpdatePolicy::InPlaceOnly,
        _ => PodUpdatePolicy::Recreate,
    }
}

/// Returns a field of an update strategy. `v1alpha1` of a CloneSet has no `rollingUpdate` around it.
pub(crate) fn field<'a>(strategy: &'a Value, name: &str) -> Option<&'a Value> {
    strategy.get("rollingUpdate").and_then(|rolling| rolling.get(name)).or_else(|| strategy.get(name))
}

/// Whether the limits of an update are in `rollingUpdate`, and not in the strategy itself as in `v1alpha1` of a CloneSet.
fn has_rolling_update(workload: &Workload) -> bool {
    let strategy = workload.kind().strategy();
    workload.pause_members().is_none_or(|path| path.contains(&"rollingUpdate") || !path.contains(&strategy))
}

/// Returns the update strategy after the end of a hold. If another client changed nothing but what a hold writes, it is the
/// original one. Otherwise it is the live one with the original partition, without a pause, and with the original type
/// and the limits that the hold writes. Those stay if they differ from the strategy `held` that the hold
/// wrote.
pub(crate) fn restored(
    workload: &Workload,
    held: Option<&Value>,
    original: Option<&Value>,
    held_limits: &[&str],
) -> Option<Value> {
    let absent = json!({});
    let own = original.unwrap_or(&absent);
    let live = match update_strategy(workload) {
        // The API server refuses limits with `OnDelete`.
        Some(live) if live.is_object() && !is_on_delete_strategy(own) => live,
        _ => return original.cloned(),
    };
    let mut restored = live.clone();
    if live.get("rollingUpdate").is_none() {
        set_member("rollingUpdate", own.get("rollingUpdate"), &mut restored); // a hold by `OnDelete` has none
    }
    let limits = if has_rolling_update(workload) { "/rollingUpdate" } else { "" };
    let names = ["partition", "paused"].iter().chain(held_limits);
    for (object, name) in [("", "type")].into_iter().chain(names.map(|name| (limits, *name))) {
        let member = |strategy: &'_ Value| strategy.pointer(object).and_then(|one| one.get(name)).cloned();
        let is_of_hold = matches!(name, "partition" | "paused") || held.and_then(member) == member(live);
        if let Some(to) = restored.pointer_mut(object).filter(|_| is_of_hold) {
            set_member(name, field(own, name), to); // another version may have stored the original
        }
    }
    if without_empty(&restored) == without_empty(own) { original.cloned() } else { Some(restored) }
}

/// Sets a member of an object, or removes it if there is no value.
fn set_member(name: &str, value: Option<&Value>, to: &mut Value) {
    let Some(to) = to.as_object_mut() else { return };
    match value {
        Some(value) => drop(to.insert(name.to_owned(), value.clone())),
        None => drop(to.remove(name)),
    }
}

/// Returns a value without members that are empty or null; none if nothing is left.
fn without_empty(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(members) => {
            let kept = members.iter().filter_map(|(name, value)| Some((name.clone(), without_empty(value)?)));
            let kept: serde_json::Map<_, _> = kept.collect();
            (!kept.is_empty()).then(|| kept.into())
        }
        value => Some(value.clone()),
    }
}

/// Returns the path of the partition.
pub(crate) fn partition_path(workload: &Workload) -> FieldPath {
    let nested = has_rolling_update(workload).then_some("rollingUpdate");
    FieldPath::of(["spec", workload.kind().strategy()].into_iter().chain(nested).chain(["partition"]))
}

/// Returns the index of a pod by its ordinal, as partitions count: the number of ordinals below it, from
/// `spec.ordinals.start` and without `spec.reserveOrdinals`. Returns none for other names, and where the partition
/// counts pods.
#[must_use]
pub fn partition_index(workload: &Workload, pod: &str) -> Option<i64> {
    if partition_counts_pods(workload) {
        return None;
    }
    let ordinal: i64 = pod.strip_prefix(workload.name())?.strip_prefix('-')?.parse().ok()?;
    let start = workload.object().int("/spec/ordinals/start").unwrap_or_default();
    let index = ordinal.checked_sub(start).filter(|index| *index >= 0)?;
    Some(index - reserved_between(workload.object(), start, ordinal))
}

/// Returns how many ordinals from `start` to below `end` are reserved: numbers, or ranges such as `"3-5"`.
fn reserved_between(object: &Object, start: i64, end: i64) -> i64 {
    let mut count = 0;
    let mut from = start;
    for (first, last) in reserved(object) {
        let first = first.max(from);
        let beyond = last.saturating_add(1).min(end);
        if beyond > first {
            count += beyond - first;
            from = beyond;
        }
    }
    count
}

/// Returns the first `count` ordinals from `start` that are not reserved.
pub(crate) fn ordinals(object: &Object, start: i64, count: i64) -> Vec<i64> {
    let mut ordinals = Vec::new();
    let mut next = start;
    let is_full = |ordinals: &Vec<i64>| i64::try_from(ordinals.len()).is_ok_and(|length| length >= count);
    for (first, last) in reserved(object) {
        while next < first && !is_full(&ordinals) {
            ordinals.push(next);
            next = next.saturating_add(1);
        }
        next = next.max(last.saturating_add(1));
    }
    while !is_full(&ordinals) {
        ordinals.push(next);
        next = next.saturating_add(1);
    }
    ordinals
}

/// Returns the reserved ranges in ascending order. They may overlap.
fn reserved(object: &Object) -> Vec<(i64, i64)> {
    let reserved = object.at("/spec/reserveOrdinals").and_then(Value::as_array).into_iter().flatten();
    let mut ranges: Vec<(i64, i64)> =
        reserved.filter_map(range).filter(|(first, last)| first <= last).collect();
    ranges.sort_unstable();
    ranges
}

fn range(value: &Value) -> Option<(i64, i64)> {
    let Some(text) = value.as_str() else { return value.as_i64().map(|ordinal| (ordinal, ordinal)) };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde_json::json;

    use crate::api::object::Object;

    fn stateful_set(spec: &Value) -> Workload {
        let object = json!({"kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec});
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    #[test]
    fn partitions_count_from_the_first_ordinal() {
        let set = stateful_set(&json!({"ordinals": {"start": 5}}));
        for (pod, expected) in
            [("db-5", Some(0)), ("db-12", Some(7)), ("db-4", None), ("dbx-9", None), ("db-x", None)]
        {
            assert_eq!(partition_index(&set, pod), expected, "{pod}");
        }
    }

    #[test]
    fn partitions_do_not_count_reserved_ordinals() {
        let set = json!({"apiVersion": "apps.kruise.io/v1beta1", "kind": "StatefulSet", "metadata": {"name": "db"},
            "spec": {"reserveOrdinals": [1]}});
        let set = Workload::of_json(&set).unwrap();
        assert_eq!(
            ["db-0", "db-2", "db-3"].map(|pod| partition_index(&set, pod)),
            [Some(0), Some(1), Some(2)]
        );
    }

    #[test]
    fn a_strategy_reads_as_the_controller_reads_it() {
        for (strategy, expected) in [
            (json!(null), (false, 0)),
            (json!({"type": "RollingUpdate"}), (false, 0)),
            (json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}), (false, 3)),
            (json!({"type": "OnDelete", "rollingUpdate": {"partition": 3}}), (true, 0)),
            (json!({"type": 7, "rollingUpdate": {"partition": "3"}}), (false, 0)),
        ] {
            let set = stateful_set(&json!({"updateStrategy": strategy}));
            assert_eq!((is_on_delete(&set), partition(&set)), expected, "{strategy}");
        }
    }

    /// The server was upgraded during the hold.
    #[test]
    fn an_original_of_another_version_is_restored() {
        let set = json!({"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": {"name": "w"},
            "spec": {"updateStrategy": {"rollingUpdate": {"partition": 4, "maxSurge": 1}}}});
        let set = Workload::of_json(&set).unwrap();
        let [held, original] = [4, 2].map(|partition| json!({"partition": partition, "maxSurge": 1})); // v1alpha1
        let expected = json!({"rollingUpdate": {"partition": 2, "maxSurge": 1}});
        assert_eq!(restored(&set, Some(&held), Some(&original), &[]), Some(expected));
    }

    /// Of more than 100 pods, no percentage keeps some numbers of pods.
    #[test]
    fn a_partition_is_a_percentage_only_if_that_keeps_as_many_pods() {
        let set = json!({"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": {"name": "w"},
            "spec": {"replicas": 150}});
        let set = Workload::of_json(&set).unwrap();
        for (kept, written) in
            [(75, json!("50%")), (149, json!("99%")), (4, json!(4)), (1, json!(1)), (0, json!(0))]
        {
            assert_eq!(with_partition(&set, kept)["rollingUpdate"]["partition"], written, "{kept}");
        }
    }

    #[test]
    fn reserved_ordinals_are_numbers_or_ranges_and_count_once() {
        let object = json!({"kind": "StatefulSet", "metadata": {"name": "w"}, "spec": {"reserveOrdinals": [1, "3-5", "4", 5, "x", "9-7"]}});
        let object = Object::read(object).unwrap();
        for (start, end, expected) in [(0, 1, 0), (0, 2, 1), (0, 4, 2), (0, 9, 4), (4, 9, 2), (0, 0, 0)] {
            assert_eq!(reserved_between(&object, start, end), expected, "{start} {end}");
        }
        assert_eq!(ordinals(&object, 0, 4), [0, 2, 6, 7]);
        assert_eq!(ordinals(&object, 4, 2), [6, 7]);
        assert!(ordinals(&object, 0, 0).is_empty());
    }
}
