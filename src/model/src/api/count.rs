//! Numbers of pods: signed in the API, and unsigned where pods are counted.

/// Returns a number of the API as a count; 0 for a negative one.
#[must_use]
pub fn as_count(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// Returns a count as a number of the API.
#[must_use]
pub fn as_number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
