//! What the heads of the answers tell beside the answers: the server's time and its warnings.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use http::header::{DATE, WARNING};
use k8s_openapi::jiff::{SignedDuration, Timestamp, fmt::rfc2822};
use tokio::time::Instant;

use crate::world::Clock;

/// What the heads of the answers told so far.
#[derive(Debug)]
pub(super) struct Observations {
    clock: Clock,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The server's time, and when by our own monotonic clock we were told.
    date: Option<(Timestamp, Instant)>,
    warnings: HashSet<String>,
}

impl Observations {
    /// Nothing was told so far; the time is the machine's.
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, seen: Mutex::default() }
    }

    /// Takes note of the head of an answer, and returns the warnings in it that are new.
    pub(super) fn take(&self, headers: &HeaderMap) -> Vec<String> {
        let mut seen = self.seen();
        let date = headers.get(DATE).and_then(|date| date.to_str().ok());
        if let Some(date) = date.and_then(|date| rfc2822::parse(date).ok()) {
            seen.date = Some((date.timestamp(), Instant::now()));
        }
        // Webhooks warn in their own language: the text is UTF-8, which a header does not have to be.
        let texts = headers.get_all(WARNING).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        let warnings = texts.filter_map(|text| text_of(&text));
        warnings.filter(|warning| seen.warnings.insert(warning.clone())).collect()
    }

    /// The server's time by now.
    pub(super) fn now(&self) -> Timestamp {
        let told = self.seen().date;
        let passed =
            told.and_then(|(date, at)| date.checked_add(SignedDuration::try_from(at.elapsed()).ok()?).ok());
        passed.unwrap_or_else(|| self.clock.now())
    }

    /// How many different warnings there were.
    pub(super) fn warnings(&self) -> usize {
        self.seen().warnings.len()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of `299 - "TEXT"`: the only code that API servers send.
fn text_of(header: &str) -> Option<String> {
    let quoted = header.strip_prefix("299 ")?.split_once(' ')?.1.trim();
    let inner = quoted.strip_prefix('"')?;
    let mut text = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return Some(text),
            '\\' => text.extend(characters.next()),
            other => text.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn observations() -> Observations {
        Observations::new(Clock::Fixed(Timestamp::UNIX_EPOCH))
    }

    #[tokio::test(start_paused = true)]
    async fn the_servers_time_goes_on_between_answers() {
        let observations = observations();
        assert_eq!(observations.now(), Timestamp::UNIX_EPOCH);
        let head = HeaderMap::from_iter([(DATE, "Fri, 20 Nov 2026 16:01:06 GMT".parse().unwrap())]);
        observations.take(&head);
        assert_eq!(observations.now().to_string(), "2026-11-20T16:01:06Z");
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!(observations.now().to_string(), "2026-11-20T16:01:10Z");
    }

    #[test]
    fn a_warning_is_new_once() {
        let observations = observations();
        let head = |values: &[&str]| {
            values.iter().map(|value| (WARNING, value.parse().unwrap())).collect::<HeaderMap>()
        };
        let first =
            head(&[r#"299 - "old \"API\"""#, r#"299 - "other""#, "199 - \"not ours\"", "299 - broken"]);
        assert_eq!(observations.take(&first), [r#"old "API""#, "other"]);
        assert_eq!(observations.take(&head(&[r#"299 - "other""#])), [""; 0]);
        assert_eq!(observations.warnings(), 2);
    }

    #[test]
    fn a_warning_can_be_in_any_language() {
        let head = |bytes: &[u8]| HeaderMap::from_iter([(WARNING, bytes.try_into().unwrap())]);
        let observations = observations();
        assert_eq!(
            observations.take(&head("299 - \"veraltet: größe 大\"".as_bytes())),
            ["veraltet: größe 大"]
        );
        assert_eq!(observations.take(&head(b"299 - \"\xff\"")), ["\u{fffd}"]);
    }
}
