//! The clap value parser of `--since`.

use crate::model::text::start_time::StartTime;

/// Parses a duration before now, a time of day in UTC, or an RFC 3339 time.
pub(super) fn start_time(word: &str) -> Result<StartTime, &'static str> {
    StartTime::parse(word).ok_or(
        "expected a duration such as 1h or 30m, a time of day such as 14:10 (UTC), or a time such as 2026-11-24T14:10:00Z",
    )
}
