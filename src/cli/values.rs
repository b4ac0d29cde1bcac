//! Parses the values of flags: durations in Go's syntax, counts, times and revisions.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::error;
use crate::model::revision::RevisionWord;
use crate::model::text::go_duration;
use crate::model::text::start_time::StartTime;

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

/// Parses a duration before now, a time of day in UTC, or an RFC 3339 time.
pub(super) fn start_time(word: &str) -> Result<StartTime, &'static str> {
    StartTime::parse(word).ok_or(
        "expected a duration such as 1h or 30m, a time of day such as 14:10 (UTC), or a time such as 2026-11-24T14:10:00Z",
    )
}

/// Returns the revision of a verb's `--revision`, if it selects one. As in kubectl, 0 selects none.
pub(super) fn revision(word: Option<&str>) -> error::Result<Option<RevisionWord>> {
    let word = word.map(RevisionWord::read).transpose()?;
    Ok(word.filter(|word| *word != RevisionWord::Number(0)))
}
