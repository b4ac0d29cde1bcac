//! What the responses of a connection said, and what was reported of them.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use http::header::{DATE, WARNING};
use k8s_openapi::jiff::{SignedDuration, Timestamp, fmt::rfc2822};
use tokio::time::Instant;

use crate::world::Clock;

/// The server's time and warnings, from the headers of all responses, and the last notices.
#[derive(Debug)]
pub(super) struct ResponseLog {
    clock: Clock,
    recorded: Mutex<Recorded>,
}

/// A `Date` that is older than the time by less than this is that of a delayed response, and does not move the time back.
const LONGEST_DELAY: SignedDuration = SignedDuration::from_secs(10);

/// The limit of different warnings. A webhook may put the number of the request into each.
const MOST_WARNINGS: usize = 20;

/// What is reported in place of further warnings.
const MORE_WARNINGS: &str = "further warnings are not shown";

#[derive(Debug, Default)]
struct Recorded {
    /// The latest `Date`, and the monotonic time at which it arrived.
    date: Option<(Timestamp, Instant)>,
    warnings: HashSet<String>,
    /// The keys of the notices that were reported, each with the time until which it is suppressed.
    notices: Vec<(&'static str, Instant)>,
}

impl Recorded {
    /// Keeps a warning, and returns what to report: the warning if it is new, or that further ones are not shown.
    fn keep_warning(&mut self, warning: String) -> Option<String> {
        match self.warnings.len() {
            MOST_WARNINGS.. => None,
            _ if !self.warnings.insert(warning.clone()) => None,
            before => Some(if before + 1 == MOST_WARNINGS { MORE_WARNINGS.to_owned() } else { warning }),
        }
    }

    /// Returns the server's time now; none before the first response.
    fn time(&self) -> Option<Timestamp> {
        let (date, at) = self.date?;
        date.checked_add(SignedDuration::try_from(at.elapsed()).ok()?).ok()
    }
}

impl ResponseLog {
    /// Creates an empty record; until the first response, `clock` gives the time.
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, recorded: Mutex::default() }
    }

    /// Records the headers of a response, and returns the warnings that are new.
    pub(super) fn record(&self, headers: &HeaderMap) -> Vec<String> {
        let mut recorded = self.recorded();
        let date = headers.get(DATE).and_then(|date| date.to_str().ok());
        if let Some(date) = date.and_then(|date| rfc2822::parse(date).ok()) {
            let date = date.timestamp();
            let known = recorded.time().filter(|known| date < *known && *known < date + LONGEST_DELAY);
            recorded.date = Some((known.unwrap_or(date), Instant::now()));
        }
        // Admission webhooks send warnings in UTF-8, and a header value need not be valid UTF-8.
        let texts = headers.get_all(WARNING).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        let warnings = texts.filter_map(|text| text_of(&text));
        warnings.filter_map(|warning| recorded.keep_warning(warning)).collect()
    }

    /// Returns the server's time now.
    pub(super) fn now(&self) -> Timestamp {
        self.recorded().time().unwrap_or_else(|| self.clock.now())
    }

    /// Counts a warning, unless it is known.
    pub(super) fn count_warning(&self, warning: &str) {
        self.recorded().keep_warning(warning.to_owned());
    }

    /// Returns the number of distinct warnings, up to a limit.
    pub(super) fn warnings(&self) -> usize {
        self.recorded().warnings.len()
    }

    /// Whether to report a notice, which several concurrent requests may repeat. If so, further notices with its key are
    /// suppressed for the time `lasts`.
    pub(super) fn is_due(&self, key: &'static str, lasts: Duration) -> bool {
        let (now, mut recorded) = (Instant::now(), self.recorded());
        recorded.notices.retain(|(_, until)| *until > now);
        let is_due = recorded.notices.iter().all(|(other, _)| *other != key);
        if is_due {
            recorded.notices.push((key, now + lasts));
        }
        is_due
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the text of `299 - "TEXT"`; API servers send no other warn-code, and no date behind it.
fn text_of(header: &str) -> Option<String> {
    let quoted = header.strip_prefix("299 ")?.split_once(' ')?.1.trim();
    let text = quoted.strip_prefix('"')?.strip_suffix('"')?;
    Some(text.replace(r#"\""#, "\"").replace(r"\\", r"\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection_log() -> ResponseLog {
        ResponseLog::new(Clock::Fixed(Timestamp::UNIX_EPOCH))
    }

    #[tokio::test(start_paused = true)]
    async fn server_time_advances_between_responses() {
        let connection_log = connection_log();
        assert_eq!(connection_log.now(), Timestamp::UNIX_EPOCH);
        let head = HeaderMap::from_iter([(DATE, "Fri, 20 Nov 2026 16:01:06 GMT".parse().unwrap())]);
        connection_log.record(&head);
        assert_eq!(connection_log.now().to_string(), "2026-11-20T16:01:06Z");
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!(connection_log.now().to_string(), "2026-11-20T16:01:10Z");
        let delayed = HeaderMap::from_iter([(DATE, "Fri, 20 Nov 2026 16:01:07 GMT".parse().unwrap())]);
        connection_log.record(&delayed);
        assert_eq!(connection_log.now().to_string(), "2026-11-20T16:01:10Z");
    }

    /// Of several API servers one may have a wrong clock.
    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_ahead_does_not_win_for_good() {
        let connection_log = connection_log();
        for date in ["Fri, 20 Nov 2026 16:06:06 GMT", "Fri, 20 Nov 2026 16:01:06 GMT"] {
            connection_log.record(&HeaderMap::from_iter([(DATE, date.parse().unwrap())]));
        }
        assert_eq!(connection_log.now().to_string(), "2026-11-20T16:01:06Z");
    }

    #[test]
    fn a_repeated_warning_is_reported_once() {
        let connection_log = connection_log();
        let head = |values: &[&str]| {
            values.iter().map(|value| (WARNING, value.parse().unwrap())).collect::<HeaderMap>()
        };
        let first =
            head(&[r#"299 - "old \"API\"""#, r#"299 - "other""#, "199 - \"not ours\"", "299 - broken"]);
        assert_eq!(connection_log.record(&first), [r#"old "API""#, "other"]);
        assert_eq!(connection_log.record(&head(&[r#"299 - "other""#])), [""; 0]);
        assert_eq!(connection_log.warnings(), 2);
    }

    #[test]
    fn different_warnings_without_an_end_are_reported_up_to_a_limit() {
        let log = connection_log();
        let reported: Vec<_> = (0..1_000)
            .flat_map(|id| {
                let warning = format!("299 - \"request {id} is deprecated\"");
                log.record(&HeaderMap::from_iter([(WARNING, warning.parse().unwrap())]))
            })
            .collect();
        assert_eq!((reported.len(), log.warnings()), (MOST_WARNINGS, MOST_WARNINGS));
        assert_eq!(reported.last().map(String::as_str), Some(MORE_WARNINGS));
    }

    #[test]
    fn a_warning_can_be_in_any_language() {
        let head = |bytes: &[u8]| HeaderMap::from_iter([(WARNING, bytes.try_into().unwrap())]);
        let connection_log = connection_log();
        assert_eq!(
            connection_log.record(&head("299 - \"veraltet: größe 大\"".as_bytes())),
            ["veraltet: größe 大"]
        );
        assert_eq!(connection_log.record(&head(b"299 - \"\xff\"")), ["\u{fffd}"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_similar_notice_is_suppressed_for_a_while() {
        let (second, notices) = (Duration::from_secs(1), connection_log());
        assert!(notices.is_due("retrying", second));
        assert!(!notices.is_due("retrying", second));
        assert!(notices.is_due("slow response", second));
        tokio::time::advance(second).await;
        assert!(notices.is_due("retrying", second));
    }
}
