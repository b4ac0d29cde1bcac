//! The time that `--since` names: a duration before now, a time of day, or an RFC 3339 time.

use std::time::Duration;

use k8s_openapi::jiff::civil::Time;
use k8s_openapi::jiff::tz::TimeZone;
use k8s_openapi::jiff::{SignedDuration, Timestamp, ToSpan as _};

use super::go_duration;

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
        if let Some(duration) = go_duration::parse(text) {
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
