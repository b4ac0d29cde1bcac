//! clap value parsers for durations in Go's syntax, and for counts.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::model::text::go_duration;

const NEEDS_UNIT: &str = "expected a duration with a unit, such as 90s or 1h30m";
const NEEDS_SECONDS: &str = "expected a duration such as 30s or 2m, or a number of seconds";

/// Parses a duration with a unit.
pub(super) fn duration(word: &str) -> Result<Duration, &'static str> {
    go_duration::parse(word).ok_or(NEEDS_UNIT)
}

/// Parses a duration that must not be 0.
pub(super) fn positive_duration(word: &str) -> Result<Duration, &'static str> {
    match duration(word)? {
        Duration::ZERO => Err("must be more than 0"),
        duration => Ok(duration),
    }
}

/// Parses `--request-timeout`: a duration, or a number of seconds.
pub(super) fn seconds_or_duration(word: &str) -> Result<Duration, &'static str> {
    go_duration::parse_or_seconds(word).ok_or(NEEDS_SECONDS)
}

/// Parses a count that must not be 0.
pub(super) fn positive_count(word: &str) -> Result<NonZeroU32, String> {
    NonZeroU32::new(count(word)?).ok_or_else(|| "must be more than 0".to_owned())
}

/// Parses a count. The parsers of the standard library describe a bad one in words of Rust.
pub(super) fn count<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| {
        let is_number = !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_digit());
        if is_number { "the number is too large" } else { "expected a whole number, such as 3" }.to_owned()
    })
}
