//! One watch, until it ends.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::fact::{Fact, What};
use super::feed::{Feed, Trouble};
use super::line::Line;
use crate::cluster::page::percent_encoded;
use crate::model::object::Object;

/// How long a watch is asked to last. The server closes it then, in the ordinary way, so that one which
/// went silent, or holds on to a credential that ended, is not kept for longer.
const LASTS: Duration = Duration::from_secs(30);

/// What is not closed by this much later went silent.
const LATE: Duration = Duration::from_secs(5);

/// A watch that ends sooner and brought nothing is not opened again at once.
const TOO_SHORT: Duration = Duration::from_secs(1);

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
