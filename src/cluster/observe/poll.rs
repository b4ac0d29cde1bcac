//! Lists and single reads, with which a feed begins, or makes do.

use std::time::Duration;

use tokio::sync::mpsc;

use super::fact::{Fact, What};
use super::feed::{Feed, Trouble};
use crate::cluster::connection::Failure;
use crate::cluster::live::is_not_found;
use crate::cluster::page::{Pages, percent_encoded};
use crate::error::{Error, ErrorKind};
use crate::model::object::Object;

/// How often who may not watch asks instead.
pub(super) const EVERY: Duration = Duration::from_secs(2);

impl Feed {
    /// Reads all objects, and from where a watch goes on.
    pub(super) async fn list(&mut self, sender: &mpsc::Sender<Fact>) -> Result<(), Trouble> {
        let mut pages = Pages::of(self.type_, &self.collection, &self.query);
        while let Some(path) = pages.next() {
            let answer = self.link.connection.attempt(&path, |answer| pages.may_begin_anew(answer)).await?;
            if !pages.take(&answer, |object| self.keep(object)) {
                return Err(Trouble::Failed(no_list()));
            }
        }
        let (listed, version) = (pages.kept, pages.version);
        self.tell(What::Listed(listed), sender).await?;
        self.version = Some(version);
        Ok(())
    }

    /// Reads the targets one by one, for who may do nothing else.
    pub(super) async fn get(&mut self, sender: &mpsc::Sender<Fact>) -> Result<(), Trouble> {
        let mut kept = Vec::new();
        for target in self.targets() {
            let Some(interest) = self.link.interests.get(target.0) else {
                continue;
            };
            let path = format!("{}/{}", self.collection, percent_encoded(&interest.name));
            let answer = self.link.connection.attempt(&path, is_not_found).await?;
            if !is_not_found(&answer) {
                kept.extend(Object::read(answer.json()).ok().and_then(|object| self.keep(object)));
            }
        }
        self.tell(What::Listed(kept), sender).await
    }
}

/// Something answered that is no API server; it may be one again.
pub(super) fn no_list() -> Failure {
    Failure::NotSent(Error::new(ErrorKind::Malformed, "the server's list is no list"))
}
