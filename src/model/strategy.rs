//! What a workload's own strategy lets an update do: which pods it replaces, and which it leaves.

use serde_json::{Value, json};

use super::patch::Place;
use super::workload::Workload;

/// Where the strategy is.
#[must_use]
pub fn place(workload: &Workload) -> Place {
    Place::of([
        "spec",
        if matches!(workload, Workload::Deployment(_)) { "strategy" } else { "updateStrategy" },
    ])
}

/// The strategy, raw; none where the API was not asked for its default.
#[must_use]
pub fn strategy(workload: &Workload) -> Option<&Value> {
    place(workload).of_value(workload.object().json())
}

/// Whether running pods are left alone until somebody deletes them.
#[must_use]
pub fn is_on_delete(workload: &Workload) -> bool {
    strategy(workload).is_some_and(says_on_delete)
}

/// Whether a strategy says `OnDelete`.
#[must_use]
pub fn says_on_delete(strategy: &Value) -> bool {
    strategy.get("type").and_then(Value::as_str) == Some("OnDelete")
}

/// The index from which on a StatefulSet updates its pods; 0 where there is none, and for the other
/// kinds.
#[must_use]
pub fn partition(workload: &Workload) -> i64 {
    match workload {
        Workload::StatefulSet(_) => strategy(workload).map_or(0, partition_of),
        _ => 0,
    }
}

/// The index from which on a StatefulSet with this strategy updates its pods.
#[must_use]
pub fn partition_of(strategy: &Value) -> i64 {
    if says_on_delete(strategy) { 0 } else { partition_in(strategy).max(0) }
}

/// `rollingUpdate.partition` of a strategy.
#[must_use]
pub fn partition_in(strategy: &Value) -> i64 {
    strategy.pointer("/rollingUpdate/partition").and_then(Value::as_i64).unwrap_or_default()
}

/// The partition above every pod there can be. One of just `replicas` would let a scale-up start pods
/// on the new revision.
pub const EVERY_POD: i64 = i32::MAX as i64;

/// A StatefulSet's strategy with another partition. What else it says stays, so that a server that
/// knows more of it than we do finds it again.
#[must_use]
pub fn with_partition(workload: &Workload, partition: i64) -> Value {
    let mut strategy = match strategy(workload) {
        Some(strategy) if strategy.is_object() => strategy.clone(),
        _ => json!({}),
    };
    strategy["type"] = "RollingUpdate".into();
    match strategy.get_mut("rollingUpdate").and_then(Value::as_object_mut) {
        Some(rolling) => drop(rolling.insert("partition".to_owned(), partition.into())),
        None => strategy["rollingUpdate"] = json!({"partition": partition}),
    }
    strategy
}

/// The index of a StatefulSet's pod: its ordinal, counted from `spec.ordinals.start`, as partitions
/// count. None for a name that is not one the controller gives,
/// and for the pods of other kinds.
#[must_use]
pub fn index(workload: &Workload, pod: &str) -> Option<i64> {
    if !matches!(workload, Workload::StatefulSet(_)) {
        return None;
    }
    let ordinal: i64 = pod.strip_prefix(workload.name())?.strip_prefix('-')?.parse().ok()?;
    let start = workload.object().int("/spec/ordinals/start").unwrap_or_default();
    ordinal.checked_sub(start).filter(|index| *index >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::object::Object;

    fn stateful_set(spec: &Value) -> Workload {
        let object = json!({"kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec});
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    #[test]
    fn partitions_count_from_where_the_ordinals_start() {
        let set = stateful_set(&json!({"ordinals": {"start": 5}}));
        for (pod, expected) in
            [("db-5", Some(0)), ("db-12", Some(7)), ("db-4", None), ("dbx-9", None), ("db-x", None)]
        {
            assert_eq!(index(&set, pod), expected, "{pod}");
        }
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
}
