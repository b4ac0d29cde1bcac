//! Words for when the use of a revision began, and for the time of `--since`.

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::tz::TimeZone;

use super::age::age;
use crate::model::status::uses::UseStart;

/// Returns how long ago a use of a revision began: `9m`, or `at most 9m`.
pub(super) fn start_age(start: UseStart, now: Timestamp) -> String {
    match start {
        UseStart::At(time) => age(time, now),
        UseStart::Between { earliest, .. } => format!("at most {}", age(earliest, now)),
    }
}

/// Returns a time in minutes: `14:10 UTC` for the day of `now`, else `2026-11-23 14:10 UTC`.
pub(super) fn in_utc(time: Timestamp, now: Timestamp) -> String {
    let [time, now] = [time, now].map(|time| time.to_zoned(TimeZone::UTC));
    let format = if time.date() == now.date() { "%H:%M UTC" } else { "%Y-%m-%d %H:%M UTC" };
    time.strftime(format).to_string()
}
