//! Durations in Go's syntax, as kubectl's flags accept them: `90s`, `1h30m`, `1.5m`.

use std::time::Duration;

/// The units of Go's `time.ParseDuration`, in seconds. `ms` precedes `m` and `s`.
const UNITS: [(&str, f64); 7] =
    [("ns", 1e-9), ("us", 1e-6), ("\u{b5}s", 1e-6), ("ms", 1e-3), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];

/// Parses a duration in Go's syntax. Returns none for other text and for negative durations.
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
    Duration::try_from_secs_f64(seconds).ok()
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
}
