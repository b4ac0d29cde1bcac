//! Counts in specs and statuses.

use serde_json::{Map, Value};

use crate::object;

/// The number at a path; 0 when it is absent.
pub(super) fn at(value: &Value, path: &[&str]) -> i64 {
    object::at(value, path).and_then(Value::as_i64).unwrap_or(0)
}

/// `spec.replicas`, which the server has filled in.
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

/// How many of a list there are, as the API counts.
pub(super) fn of<T>(items: impl IntoIterator<Item = T>) -> i64 {
    i64::try_from(items.into_iter().count()).unwrap_or(i64::MAX)
}

/// A count as the length of something.
pub(super) fn as_len(count: i64) -> usize {
    usize::try_from(count).unwrap_or(0)
}

/// A status of counts; the API leaves most zeros out.
pub(super) fn without_zeros(counts: &[(&str, i64)]) -> Map<String, Value> {
    let worth_saying = counts.iter().filter(|(_, count)| *count != 0);
    worth_saying.map(|(name, count)| ((*name).to_owned(), (*count).into())).collect()
}
