//! clap value parsers for durations in Go's syntax, and for counts.

use std::fmt;
use std::time::Duration;

use crate::model::text::go_duration;

/// The rejection of a value that is not a valid duration.
#[derive(Clone, Debug)]
pub(super) struct InvalidDuration {
    word: String,
    reason: &'static str,
}

impl InvalidDuration {
    fn new(word: &str, reason: &'static str) -> Self {
        Self { word: word.to_owned(), reason }
    }

    /// Returns the rejection of a word that contains the invalid value.
    pub(super) fn of(self, word: &str) -> Self {
        Self { word: word.to_owned(), ..self }
    }

    /// Returns kubectl's text for this value of `flag`; `help` is the command that prints the usage.
    pub(super) fn kubectl_message(&self, flag: &str, help: &str) -> String {
        if self.reason == NEEDS_SECONDS {
            return "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed \
                    by a corresponding time unit (e.g. 1s | 2m | 3h)"
                .to_owned();
        }
        let is_number = self.word.parse::<f64>().is_ok();
        let reason = if is_number { "missing unit in duration" } else { "invalid duration" };
        let word = &self.word;
        format!(
            "invalid argument {word:?} for {flag:?} flag: time: {reason} {word:?}\nSee '{help}' for usage."
        )
    }
}

impl fmt::Display for InvalidDuration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.reason)
    }
}

impl std::error::Error for InvalidDuration {}

const NEEDS_UNIT: &str = "expected a duration with a unit, such as 90s or 1h30m";
const NEEDS_SECONDS: &str = "expected a duration such as 30s or 2m, or a number of seconds";

/// Parses a duration with a unit.
pub(super) fn duration(word: &str) -> Result<Duration, InvalidDuration> {
    go_duration::parse(word).ok_or_else(|| InvalidDuration::new(word, NEEDS_UNIT))
}

/// Parses a duration that must not be 0.
pub(super) fn positive_duration(word: &str) -> Result<Duration, InvalidDuration> {
    match duration(word)? {
        Duration::ZERO => Err(InvalidDuration::new(word, "must be more than 0")),
        duration => Ok(duration),
    }
}

/// Parses `--request-timeout`: a duration, or a number of seconds.
pub(super) fn seconds_or_duration(word: &str) -> Result<Duration, InvalidDuration> {
    go_duration::parse_or_seconds(word).ok_or_else(|| InvalidDuration::new(word, NEEDS_SECONDS))
}

/// Parses a count. The parsers of the standard library describe a bad one in words of Rust.
pub(super) fn count<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| {
        let is_number = !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_digit());
        if is_number { "the number is too large" } else { "expected a whole number, such as 3" }.to_owned()
    })
}
