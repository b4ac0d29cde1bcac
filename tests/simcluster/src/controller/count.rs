//! Numbers in specs and statuses.

use serde_json::{Map, Value};

use crate::object;

/// Returns the number at a path; 0 if it is absent.
pub(super) fn at(value: &Value, path: &[&str]) -> i64 {
    object::at(value, path).and_then(Value::as_i64).unwrap_or(0)
}

/// `spec.replicas`, whose default the server has set.
pub(super) fn wanted(workload: &Value) -> i64 {
    at(workload, &["spec", "replicas"])
}

/// A count of the status.
pub(super) fn status(value: &Value, member: &str) -> i64 {
    at(value, &["status", member])
}

/// `spec.minReadySeconds`.
pub(super) fn min_ready(workload: &Value) -> i64 {
    at(workload, &["spec", "minReadySeconds"])
}

/// Returns the number of items.
pub(super) fn of<T>(items: impl IntoIterator<Item = T>) -> i64 {
    i64::try_from(items.into_iter().count()).unwrap_or(i64::MAX)
}

/// Returns a number as a length; 0 if it is negative.
pub(super) fn as_len(count: i64) -> usize {
    usize::try_from(count).unwrap_or(0)
}

/// Returns a status with these counts. The API omits most zeros.
pub(super) fn without_zeros(counts: &[(&str, i64)]) -> Map<String, Value> {
    let worth_saying = counts.iter().filter(|(_, count)| *count != 0);
    worth_saying.map(|(name, count)| ((*name).to_owned(), (*count).into())).collect()
}
