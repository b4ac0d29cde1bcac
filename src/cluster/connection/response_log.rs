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

/// A `Date` that is older than the time by less than this is that of a delayed response, and does not change the time.
const LONGEST_DELAY: SignedDuration = SignedDuration::from_secs(10);

/// The limit of different warnings. A webhook may put the number of the request into each.
const MOST_WARNINGS: usize = 20;

/// What is reported in place of further warnings.
const MORE_WARNINGS: &str = "further warnings are not shown";

/// An estimate gains or loses at most this part of the elapsed time: a second in ten.
const SLOWEST: i32 = 10;

/// An estimate of the server's time. The `Date` of one response is not the time: the clocks of several API servers may differ.
/// So the first one sets the estimate, and later ones make it run faster or slower. It never goes back, because ages and
/// grace periods are measured with it.
#[derive(Clone, Copy, Debug)]
struct ServerTime {
    /// The estimate when the last response arrived.
    time: Timestamp,
    /// When that was.
    at: Instant,
    /// The time of this computer then. A computer that was suspended has a later one than its monotonic clock.
    local: Timestamp,
    /// How far the `Date` of that response was ahead of the estimate.
    ahead: SignedDuration,
}

impl ServerTime {
    /// Returns the estimate for now.
    fn now(self) -> Option<Timestamp> {
        let elapsed = SignedDuration::try_from(self.at.elapsed()).ok()?;
        let most = elapsed / SLOWEST;
        self.time.checked_add(elapsed + self.ahead.clamp(-most, most)).ok()
    }

    /// Returns the estimate after a response with this `Date`.
    fn after(self, date: Timestamp, local: Timestamp) -> Self {
        let (time, at) = (self.now().unwrap_or(date), Instant::now());
        let suspended =
            local.duration_since(self.local) - SignedDuration::try_from(at - self.at).unwrap_or_default();
        let ahead = date.duration_since(time);
        if suspended > LONGEST_DELAY && ahead.is_positive() {
            return Self { time: date, at, local, ahead: SignedDuration::ZERO };
        }
        let is_delayed = -LONGEST_DELAY < ahead && ahead.is_negative();
        Self { time, at, local, ahead: if is_delayed { SignedDuration::ZERO } else { ahead } }
    }
}

#[derive(Debug, Default)]
struct Recorded {
    /// None before the first response.
    time: Option<ServerTime>,
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
            let (date, local) = (date.timestamp(), self.clock.now());
            let first = ServerTime { time: date, at: Instant::now(), local, ahead: SignedDuration::ZERO };
            recorded.time = Some(recorded.time.map_or(first, |known| known.after(date, local)));
        }
        // Admission webhooks send warnings in UTF-8, and a header value need not be valid UTF-8.
        let texts = headers.get_all(WARNING).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        let warnings = texts.filter_map(|text| text_of(&text));
        warnings.filter_map(|warning| recorded.keep_warning(warning)).collect()
    }

    /// Returns the server's time now.
    pub(super) fn now(&self) -> Timestamp {
        self.recorded().time.and_then(ServerTime::now).unwrap_or_else(|| self.clock.now())
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

    /// Two API servers whose clocks differ by a minute answer in turn.
    #[tokio::test(start_paused = true)]
    async fn clocks_that_differ_move_the_time_slowly_and_never_back() {
        let connection_log = connection_log();
        let start: Timestamp = "2026-11-20T16:00:00Z".parse().unwrap();
        let mut before = start;
        for second in 0..600 {
            let ahead = if second % 2 == 0 { 0 } else { 60 };
            let date = rfc2822::DateTimePrinter::new()
                .timestamp_to_rfc9110_string(&(start + SignedDuration::from_secs(second + ahead)))
                .unwrap();
            connection_log.record(&HeaderMap::from_iter([(DATE, date.parse().unwrap())]));
            let now = connection_log.now();
            let moved = now.duration_since(before).as_millis();
            assert!((0..=1_100).contains(&moved), "{second}: {moved} ms");
            before = now;
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        let ahead = before.duration_since(start).as_secs() - 599;
        assert!((0..=60).contains(&ahead), "{ahead}");
    }

    /// Of several API servers one may have a wrong clock.
    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_ahead_does_not_win_for_good() {
        let connection_log = connection_log();
        let answer = |date: &str| {
            connection_log.record(&HeaderMap::from_iter([(DATE, date.parse().unwrap())]));
            connection_log.now().to_string()
        };
        assert_eq!(answer("Fri, 20 Nov 2026 16:01:40 GMT"), "2026-11-20T16:01:40Z");
        assert_eq!(answer("Fri, 20 Nov 2026 16:01:10 GMT"), "2026-11-20T16:01:40Z", "it never goes back");
        for _ in 0..400 {
            tokio::time::advance(Duration::from_secs(1)).await;
            let date = connection_log.now();
            assert!(date.to_string().as_str() > "2026-11-20T16:01:39Z");
        }
        // It ran slower for as long as the difference lasted.
        assert_eq!(connection_log.now().to_string(), "2026-11-20T16:07:50Z");
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
