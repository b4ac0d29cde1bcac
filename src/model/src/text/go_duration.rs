//! Durations in Go's syntax, as kubectl's flags accept them (`90s`, `1h30m`, `1.5m`), and the time that `--since` names: a
//! duration before now, a time of day, or an RFC 3339 time.

use std::time::Duration;

use k8s_openapi::jiff::civil::Time;
use k8s_openapi::jiff::tz::TimeZone;
use k8s_openapi::jiff::{SignedDuration, Timestamp, ToSpan as _};

/// The units of Go's `time.ParseDuration`, in seconds. `ms` precedes `m` and `s`.
const UNITS: [(&str, f64); 7] =
    [("ns", 1e-9), ("us", 1e-6), ("\u{b5}s", 1e-6), ("ms", 1e-3), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];

/// The longest duration. Two of them can be added, and to the time of a clock: Linux counts its seconds in 63 bits.
const LONGEST: Duration = Duration::from_secs(1 << 61);

/// Parses a duration in Go's syntax. Returns none for other text, for negative durations and for those that no clock counts.
#[must_use]
pub fn parse(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest.get(..digits)?.parse().ok()?;
        rest = rest.get(digits..)?;
        let (unit, factor) = UNITS.into_iter().find(|(unit, _)| rest.starts_with(unit))?;
        seconds += number * factor;
        rest = rest.get(unit.len()..)?;
    }
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| *duration <= LONGEST)
}

/// Parses a duration in Go's syntax, or a number of seconds, as `--request-timeout` accepts both.
#[must_use]
pub fn parse_or_seconds(text: &str) -> Option<Duration> {
    text.parse().map(Duration::from_secs).ok().or_else(|| parse(text))
}

/// Formats a duration as Go does: `5m0s`, `1h0m30s`, `1.5s`, `250ms`.
#[must_use]
pub fn write(duration: Duration) -> String {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    if seconds == 0 && nanos > 0 {
        let (value, unit) = match nanos {
            1_000_000.. => (f64::from(nanos) / 1e6, "ms"),
            1_000.. => (f64::from(nanos) / 1e3, "\u{b5}s"),
            _ => (f64::from(nanos), "ns"),
        };
        return format!("{value}{unit}");
    }
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = if nanos == 0 { String::new() } else { format!(".{nanos:09}") };
    let fraction = fraction.trim_end_matches('0');
    match (hours, minutes) {
        (0, 0) => format!("{seconds}{fraction}s"),
        (0, _) => format!("{minutes}m{seconds}{fraction}s"),
        _ => format!("{hours}h{minutes}m{seconds}{fraction}s"),
    }
}

/// Formats a duration as flags are typed: `5m`, `1h30m`, `90s` as `1m30s`.
#[must_use]
pub fn short(duration: Duration) -> String {
    let mut text = write(duration);
    for (long, short) in [("m0s", "m"), ("h0m", "h")] {
        if text.ends_with(long) {
            text.truncate(text.len() - long.len());
            text += short;
        }
    }
    text
}

/// Since when changes are asked for. Times of day are in UTC, as the stamps of a cluster are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartTime {
    /// This long before now: `1h`.
    Ago(Duration),
    /// The last time that it was this time of day: `14:10`.
    TimeOfDay(Time),
    /// A time: `2026-11-24T14:10:00Z`.
    At(Timestamp),
}

impl StartTime {
    /// Parses the word. Returns none for other text and for a duration of 0.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(duration) = parse(text) {
            return (!duration.is_zero()).then_some(Self::Ago(duration));
        }
        match time_of_day(text) {
            Some(time) => Some(Self::TimeOfDay(time)),
            None => text.parse().ok().map(Self::At),
        }
    }

    /// Returns the time, in whole seconds as the stamps of a cluster. A duration that reaches before the first possible time
    /// is that time.
    #[must_use]
    pub fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(duration) => {
                let before =
                    SignedDuration::try_from(duration).and_then(|duration| now.checked_sub(duration));
                let before = before.and_then(|before| Timestamp::from_second(before.as_second()));
                before.unwrap_or(Timestamp::MIN)
            }
            Self::TimeOfDay(time) => {
                let today = now.to_zoned(TimeZone::UTC).date();
                let on =
                    |date: k8s_openapi::jiff::civil::Date| date.to_datetime(time).to_zoned(TimeZone::UTC);
                let today_at = on(today).map(|zoned| zoned.timestamp());
                let is_past = |at: &Timestamp| *at <= now;
                let yesterday_at = || Some(on(today.checked_sub(1.day()).ok()?).ok()?.timestamp());
                today_at.ok().filter(is_past).or_else(yesterday_at).unwrap_or(Timestamp::MIN)
            }
            Self::At(time) => time,
        }
    }
}

/// Parses `14:10` or `14:10:30`. The formats would skip blanks before numbers.
fn time_of_day(text: &str) -> Option<Time> {
    let mut formats = ["%H:%M", "%H:%M:%S"].into_iter().filter(|_| !text.contains(char::is_whitespace));
    formats.find_map(|format| Time::strptime(format, text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_durations_of_go_are_parsed() {
        for (text, milliseconds) in [
            ("0", Some(0)),
            ("0s", Some(0)),
            ("90s", Some(90_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5m", Some(90_000)),
            ("+250ms", Some(250)),
            ("2m3s4ms", Some(123_004)),
            ("", None),
            ("+", None),
            ("5", None),
            ("-5s", None),
            ("1d", None),
            ("s", None),
            ("1.2.3s", None),
            ("1 s", None),
            ("2562047h", Some(9_223_369_200_000)),
            ("3000000000000000h", None),
            ("99999999999999999999h", None),
        ] {
            assert_eq!(parse(text), milliseconds.map(Duration::from_millis), "{text}");
        }
        assert_eq!(parse_or_seconds("7"), Some(Duration::from_secs(7)));
        assert_eq!(parse_or_seconds("7s"), Some(Duration::from_secs(7)));
        assert_eq!(parse_or_seconds("x"), None);
    }

    #[test]
    fn durations_are_written_as_go_writes_them() {
        for (milliseconds, text) in [
            (0, "0s"),
            (250, "250ms"),
            (1500, "1.5s"),
            (90_000, "1m30s"),
            (300_000, "5m0s"),
            (3_600_000, "1h0m0s"),
            (5_430_250, "1h30m30.25s"),
        ] {
            let duration = Duration::from_millis(milliseconds);
            assert_eq!(write(duration), text);
            assert_eq!(parse(text), Some(duration));
        }
    }

    #[test]
    fn durations_are_shortened_to_the_form_of_flags() {
        for (seconds, text) in
            [(0, "0s"), (300, "5m"), (3600, "1h"), (5400, "1h30m"), (90, "1m30s"), (3605, "1h0m5s")]
        {
            assert_eq!(short(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn each_form_names_a_time() {
        let now: Timestamp = "2026-11-24T15:10:00Z".parse().unwrap();
        for (text, expected) in [
            ("1h", Some("2026-11-24T14:10:00Z")),
            ("90s", Some("2026-11-24T15:08:30Z")),
            ("14:10", Some("2026-11-24T14:10:00Z")),
            ("9:05", Some("2026-11-24T09:05:00Z")),
            ("15:10", Some("2026-11-24T15:10:00Z")),
            ("15:10:01", Some("2026-11-23T15:10:01Z")),
            ("23:59", Some("2026-11-23T23:59:00Z")),
            ("2026-11-20T14:10:00Z", Some("2026-11-20T14:10:00Z")),
            ("2026-11-24T14:10:00+01:00", Some("2026-11-24T13:10:00Z")),
            ("", None),
            ("0s", None),
            ("0", None),
            ("5", None),
            ("2d", None),
            ("-1h", None),
            ("24:00", None),
            ("14:60", None),
            ("14:10:61", None),
            ("14:10:00:00", None),
            ("14:", None),
            ("14: 10", None),
            ("+14:10", None),
            ("014:10", None),
            ("yesterday", None),
            ("2026-11-20", None),
            ("2026-11-20T14:10:00", None),
        ] {
            let time = StartTime::parse(text).map(|start| start.resolve(now).to_string());
            assert_eq!(time.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_duration_ends_at_a_whole_second_and_a_long_one_is_the_first_time() {
        let long = StartTime::parse("2540400h10m").unwrap(); // 289 years
        assert_eq!(long.resolve("2026-11-24T15:10:00Z".parse().unwrap()).to_string(), "1737-02-02T15:00:00Z");
        let before = StartTime::parse("1h").unwrap().resolve("2026-11-24T15:10:00.75Z".parse().unwrap());
        assert_eq!(before.to_string(), "2026-11-24T14:10:00Z");
        let longest = StartTime::parse("9999999999h").unwrap();
        assert_eq!(longest.resolve(Timestamp::UNIX_EPOCH), Timestamp::MIN);
        let midnight = StartTime::parse("0:01").unwrap();
        assert_eq!(midnight.resolve(Timestamp::MIN), Timestamp::MIN);
    }
}
