//! Watching workloads and what belongs to them, as facts.
//!
//! One watch a resource and namespace, shared by all targets in it. A watch is a stream that breaks:
//! every one is opened again by itself, from where it broke off or from a fresh list, for ever. What
//! comes out are whole states, so whoever reads them need not know about any of this.

mod fact;
mod feed;
mod interest;
pub mod line;
mod look;
mod outage;
mod poll;
mod store;
mod watch;

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use self::fact::{Fact, FeedId};
use self::feed::Feed;
use self::interest::Interest;
use self::outage::Outage;
use self::store::Store;
use super::connection::Connection;
use crate::model::follow::{News, Seen, TargetId};
use crate::model::notice::Notice;
use crate::model::resource_type::{EVENT, POD, ResourceType};
use crate::model::workload::Workload;

/// Facts that may wait to be read. When more come, the watches wait, and the server in the end closes
/// those that are too slow, which they get over.
const WAITING: usize = 256;

/// What all feeds share.
#[derive(Debug)]
struct Link {
    connection: Arc<Connection>,
    interests: Vec<Interest>,
    outage: Outage,
}

/// Watches a set of workloads. Everything stops when it is dropped.
#[derive(Debug)]
pub struct Observer {
    link: Arc<Link>,
    stores: Vec<Store>,
    tasks: JoinSet<()>,
    sender: mpsc::Sender<Fact>,
    facts: mpsc::Receiver<Fact>,
    /// What was said to be withheld.
    said: BTreeSet<&'static str>,
}

/// How much of a workload is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// The workload, its revisions and its pods.
    All,
    /// Only the workload, as kubectl does.
    WorkloadOnly,
}

impl Observer {
    /// Begins to watch workloads as they were found.
    pub(super) fn new(connection: Arc<Connection>, found: &[Workload], breadth: Breadth) -> Self {
        let (sender, facts) = mpsc::channel(WAITING);
        let outage = Outage::new(Arc::clone(&connection));
        let interests = found.iter().enumerate().map(|(index, found)| Interest::of(TargetId(index), found));
        let link = Arc::new(Link { connection, interests: interests.collect(), outage });
        let (tasks, said) = (JoinSet::new(), BTreeSet::new());
        let mut observer = Self { link, stores: Vec::new(), tasks, sender, facts, said };
        observer.begin_each(|interest| interest.kind.type_());
        if breadth == Breadth::All {
            observer.begin_each(|interest| interest.kind.revision_type());
            observer.begin_each(|_| &POD);
        }
        observer
    }

    /// Begins to watch the warnings about the workloads too, which most rollouts never need.
    pub fn watch_warnings(&mut self) {
        self.begin_each(|_| &EVENT);
    }

    /// Reads everything about a target again. What it brings comes out of [`Observer::next`].
    pub fn look(&mut self, target: TargetId) {
        let (link, sender) = (Arc::clone(&self.link), self.sender.clone());
        self.tasks.spawn(async move {
            if let Some(interest) = link.interests.get(target.0) {
                let news = look::again(&link, interest).await;
                let _ = sender.send(Fact::Looked(target, Box::new(news))).await; // nobody may be waiting any more
            }
        });
    }

    /// Waits for something new, and returns all of it: a workload's states one by one, since each may
    /// have its own line, everything else as it is by now. Nothing is lost when it is not waited for to
    /// the end.
    pub async fn next(&mut self) -> Vec<Seen> {
        let Some(first) = self.facts.recv().await else {
            return Vec::new();
        };
        let mut seen = Vec::new();
        self.take(first, &mut seen);
        while let Ok(fact) = self.facts.try_recv() {
            self.take(fact, &mut seen);
        }
        for store in &mut self.stores {
            store.flush(&mut seen);
        }
        self.say_what_is_withheld();
        seen
    }

    /// One line for all that may not be read, once it is known of everything that is watched.
    fn say_what_is_withheld(&mut self) {
        if !self.stores.iter().all(Store::has_reported) {
            return;
        }
        let before = self.said.len();
        let withheld = self.stores.iter().filter_map(Store::withheld);
        let news: Vec<_> = withheld.filter(|what| self.said.insert(what)).collect();
        // Warnings are asked for later. Who was told that pods are withheld expects no more of them.
        let is_one_more = before > 0 && news == [EVENT.plural()];
        if !news.is_empty() && !is_one_more {
            self.link.connection.tell(&Notice::Withheld(news));
        }
    }

    /// Begins to watch a type in every namespace that has a target, each once.
    fn begin_each(&mut self, type_of: fn(&Interest) -> &'static ResourceType) {
        let interests = self.link.interests.iter();
        let wanted: Vec<_> =
            interests.map(|interest| (type_of(interest), interest.namespace.clone())).collect();
        let mut begun = BTreeSet::new();
        for (type_, namespace) in wanted {
            if begun.insert((type_.plural(), namespace.clone())) {
                self.begin(type_, &namespace);
            }
        }
    }

    fn begin(&mut self, type_: &'static ResourceType, namespace: &str) {
        let id = FeedId(self.stores.len());
        let feed = Feed::new(id, type_, namespace, Arc::clone(&self.link));
        self.stores.push(Store::new(type_, feed.targets()));
        let sender = self.sender.clone();
        self.tasks.spawn(feed.run(sender));
    }

    fn take(&mut self, fact: Fact, seen: &mut Vec<Seen>) {
        match fact {
            Fact::Of(FeedId(index), what) => {
                // A workload is judged by the revisions that were there before it.
                for store in self.stores.iter_mut().filter(|store| store.keeps_revisions()) {
                    store.flush(seen);
                }
                if let Some(store) = self.stores.get_mut(index) {
                    store.take(what, seen);
                }
            }
            Fact::Looked(target, news) => {
                if let News::Look(observed) = &*news {
                    for store in &mut self.stores {
                        store.looked(target, &observed.workload);
                    }
                }
                seen.push(Seen::News(target, *news));
            }
        }
    }
}
