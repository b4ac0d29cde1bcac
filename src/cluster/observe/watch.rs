//! The watch of a reflector.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::collection::Update;
use super::reflector::{MIN_WATCH_TIME, Reflector, ReflectorError};
use crate::cluster::served_versions::percent_encoded;
use crate::model::api::object::Object;
use crate::snapshot::json::parse;

/// The `timeoutSeconds` of a watch. The server then closes it, so a silent watch or an expired credential
/// is used no longer than this.
const WATCH_TIMEOUT: Duration = Duration::from_secs(30);

/// A watch that is open this long after its timeout is silent and not trusted.
const WATCH_TIMEOUT_SLACK: Duration = Duration::from_secs(5);

impl Reflector {
    /// Watches from the last resourceVersion until the watch ends. Each event updates the resourceVersion.
    pub(super) async fn watch(&mut self, sender: &mpsc::Sender<Update>) -> Result<(), ReflectorError> {
        let begun = Instant::now();
        let deadline = begun + WATCH_TIMEOUT + WATCH_TIMEOUT_SLACK;
        let mut lines = self.shared.connection.stream(&self.path()).await?;
        self.shared.outage.record_success(self.reader());
        let mut event_count = 0_usize;
        loop {
            let line = match lines.next_line(deadline).await {
                Ok(Some(line)) => line,
                Ok(None) => break,
                // The watch went silent. Events that it lost may be lost again if the next watch starts at the same
                // version.
                Err(_) if Instant::now() >= deadline => return Err(ReflectorError::Expired),
                Err(error) => return Err(error.into()),
            };
            self.shared.outage.record_success(self.reader());
            match WatchEvent::read(&line) {
                WatchEvent::Changed(object) => self.send_state(object, false, sender).await?,
                WatchEvent::Deleted(object) => self.send_state(object, true, sender).await?,
                WatchEvent::Bookmark(version) => self.version = Some(version),
                WatchEvent::Expired => return Err(ReflectorError::Expired),
                WatchEvent::Broken => break,
            }
            event_count += 1;
        }
        if event_count == 0 && begun.elapsed() < MIN_WATCH_TIME {
            sleep(MIN_WATCH_TIME).await;
        }
        Ok(())
    }

    fn path(&self) -> String {
        let version = self.version.as_deref().unwrap_or_default();
        let separator = if self.query.is_empty() { "" } else { "&" };
        format!(
            "{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}{separator}{}",
            self.collection,
            WATCH_TIMEOUT.as_secs(),
            percent_encoded(version),
            self.query
        )
    }
}

/// A watch event.
#[derive(Debug)]
pub enum WatchEvent {
    /// `ADDED` or `MODIFIED`.
    Changed(Object),
    /// `DELETED`.
    Deleted(Object),
    /// `BOOKMARK`, with its resourceVersion.
    Bookmark(String),
    /// `ERROR` with 410: the resourceVersion has expired.
    Expired,
    /// Another `ERROR`, or a line that is no watch event.
    Broken,
}

impl WatchEvent {
    /// Decodes a line. An incomplete or foreign line ends the watch. No event is lost, because the next watch
    /// starts at the last resourceVersion.
    #[must_use]
    pub fn read(line: &[u8]) -> Self {
        let Ok(Value::Object(mut event)) = parse(line) else {
            return Self::Broken;
        };
        let object = event.remove("object").unwrap_or_default();
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match event.get("type").and_then(Value::as_str) {
            Some("BOOKMARK") if !text("/metadata/resourceVersion").is_empty() => {
                Self::Bookmark(text("/metadata/resourceVersion").to_owned())
            }
            Some("ERROR") if object.get("code") == Some(&Value::from(410)) => Self::Expired,
            Some("ADDED" | "MODIFIED") => Object::read(object).map_or(Self::Broken, Self::Changed),
            Some("DELETED") => Object::read(object).map_or(Self::Broken, Self::Deleted),
            _ => Self::Broken,
        }
    }
}
