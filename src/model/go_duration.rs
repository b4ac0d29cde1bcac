//! Durations as kubectl's flags take them: `90s`, `1h30m`, `1.5m`, and a bare number of seconds.

use std::time::Duration;

/// The units of Go's `time.ParseDuration`, each in seconds. `ms` stands before `m` and `s`.
const UNITS: [(&str, f64); 7] =
    [("ns", 1e-9), ("us", 1e-6), ("\u{b5}s", 1e-6), ("ms", 1e-3), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];

/// Reads a duration in Go's syntax; none when it is not one, or is negative.
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

/// Reads a duration in Go's syntax or a bare number of seconds, as `--request-timeout` has it.
#[must_use]
pub fn parse_or_seconds(text: &str) -> Option<Duration> {
    text.parse().map(Duration::from_secs).ok().or_else(|| parse(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gos_durations_are_read_and_nothing_else() {
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
}
