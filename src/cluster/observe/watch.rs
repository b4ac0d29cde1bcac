//! One watch, until it ends.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::fact::{Fact, What};
use super::feed::{Feed, Trouble};
use crate::cluster::page::percent_encoded;
use crate::model::object::Object;

/// How long a watch is asked to last. The server closes it then, in the ordinary way, so that one which
/// went silent, or holds on to a credential that ended, is not kept for longer.
const LASTS: Duration = Duration::from_secs(30);

/// What is not closed by this much later went silent.
const LATE: Duration = Duration::from_secs(5);

/// A watch that ends sooner and brought nothing is not opened again at once.
const TOO_SHORT: Duration = Duration::from_secs(1);

/// One line of a watch.
enum Line {
    Changed(Object),
    Deleted(Object),
    /// Only the version moved.
    Bookmark(String),
    /// The server has lost our place.
    Expired,
    /// The server has had enough of this watch, or the line is none of a watch's.
    Broken,
}

impl Feed {
    /// Watches from the version known to the end of the watch; every line moves the version on.
    pub(super) async fn watch(&mut self, sender: &mpsc::Sender<Fact>) -> Result<(), Trouble> {
        let begun = Instant::now();
        let deadline = begun + LASTS + LATE;
        let mut lines = self.link.connection.stream(&self.path()).await?;
        self.link.outage.is_over(self.id);
        let mut brought = 0_usize;
        while let Some(line) = lines.line(deadline).await? {
            match Line::read(&line) {
                Line::Changed(object) => {
                    self.move_on(&object);
                    let name = object.name().to_owned();
                    let kept = self.keep(object);
                    let what = kept.map_or(What::Removed(name), |kept| What::Changed(Box::new(kept)));
                    self.tell(what, sender).await?;
                }
                Line::Deleted(object) => {
                    self.move_on(&object);
                    self.tell(What::Removed(object.name().to_owned()), sender).await?;
                }
                Line::Bookmark(version) => self.version = Some(version),
                Line::Expired => return Err(Trouble::Forgotten),
                Line::Broken => break,
            }
            brought += 1;
        }
        if brought == 0 && begun.elapsed() < TOO_SHORT {
            sleep(TOO_SHORT).await;
        }
        Ok(())
    }

    fn path(&self) -> String {
        let version = self.version.as_deref().unwrap_or_default();
        let separator = if self.query.is_empty() { "" } else { "&" };
        format!(
            "{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}{separator}{}",
            self.collection,
            LASTS.as_secs(),
            percent_encoded(version),
            self.query
        )
    }

    fn move_on(&mut self, object: &Object) {
        if let Some(version) = object.text("/metadata/resourceVersion") {
            self.version = Some(version.to_owned());
        }
    }
}

impl Line {
    /// Reads a line. Half of one, or a web page, is the end of the watch and no more: what it would have
    /// told comes again, because the version has not moved.
    fn read(line: &[u8]) -> Self {
        let Ok(Value::Object(mut event)) = serde_json::from_slice(line) else {
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
