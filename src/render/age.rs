//! Formats ages as `kubectl get` does, estimates, and the start of a `--since`.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::tz::TimeZone;

use crate::model::status::uses::UseStart;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Formats the time from `then` to `now`: `45s`, `3m10s`, `5h2m`, `3d2h`, `2y40d`.
///
/// The units and thresholds are those of apimachinery's `HumanDuration`. A time up to one second ahead of
/// `now` is `0s`, because clocks differ; a later one is `<invalid>`.
#[must_use]
pub fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - then.as_second();
    if seconds < -1 { "<invalid>".to_owned() } else { seconds_text(seconds.max(0)) }
}

/// Formats a duration as an age.
#[must_use]
pub fn duration_text(duration: Duration) -> String {
    seconds_text(i64::try_from(duration.as_secs()).unwrap_or(i64::MAX))
}

/// Formats an estimate, rounded up to 5 s below one minute, to 30 s below ten minutes, and to 60 s above.
pub(super) fn estimate_text(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let grain = match seconds {
        ..60 => 5,
        60..600 => 30,
        _ => 60,
    };
    duration_text(Duration::from_secs(seconds.div_ceil(grain).max(1) * grain))
}

/// Formats seconds as an age.
fn seconds_text(seconds: i64) -> String {
    let (minutes, hours, days, years) = (seconds / MINUTE, seconds / HOUR, seconds / DAY, seconds / YEAR);
    match seconds {
        ..120 => format!("{seconds}s"),
        120..600 => pair(minutes, "m", seconds % MINUTE, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => pair(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => pair(days, "d", hours % 24, "h"),
        _ if years < 2 => format!("{days}d"),
        _ if years < 8 => pair(years, "y", days % 365, "d"),
        _ => format!("{years}y"),
    }
}

fn pair(large: i64, large_unit: &str, small: i64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large}{large_unit}")
    } else {
        format!("{large}{large_unit}{small}{small_unit}")
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_printed_as_in_kubectl() {
        for (seconds, text) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (190, "3m10s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (5 * HOUR + 120, "5h2m"),
            (8 * HOUR + 120, "8h"),
            (47 * HOUR, "47h"),
            (2 * DAY, "2d"),
            (3 * DAY + 2 * HOUR, "3d2h"),
            (8 * DAY + 2 * HOUR, "8d"),
            (400 * DAY, "400d"),
            (2 * YEAR + 40 * DAY, "2y40d"),
            (9 * YEAR + 40 * DAY, "9y"),
        ] {
            let then = Timestamp::UNIX_EPOCH;
            let now = Timestamp::from_second(seconds).unwrap();
            assert_eq!(age(then, now), text, "{seconds} seconds");
        }
    }

    #[test]
    fn estimates_are_rounded_up() {
        for (seconds, words) in
            [(1, "5s"), (17, "20s"), (60, "60s"), (61, "90s"), (200, "3m30s"), (601, "11m"), (4000, "67m")]
        {
            assert_eq!(estimate_text(Duration::from_secs(seconds)), words);
        }
    }
}
