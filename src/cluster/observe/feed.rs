//! One resource of one namespace, brought up to date for ever.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::Link;
use super::fact::{Fact, FeedId, Kept, What};
use crate::cluster::connection::{Failure, pause_after};
use crate::cluster::live::collection;
use crate::cluster::page::{label_query, percent_encoded, warning_query};
use crate::model::follow::TargetId;
use crate::model::kind::Kind;
use crate::model::object::Object;
use crate::model::resource_type::{EVENT, POD, ResourceType};

/// A server that has just been started may refuse what it is about to allow, and an authentication
/// that is out of order may be put in order again. After this long a no is a no.
const SECOND_THOUGHTS: Duration = Duration::from_secs(60);

/// One resource of one namespace, brought up to date for ever.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) id: FeedId,
    pub(super) type_: &'static ResourceType,
    pub(super) namespace: String,
    pub(super) link: Arc<Link>,
    /// `/apis/apps/v1/namespaces/shop/deployments`.
    pub(super) collection: String,
    /// What is asked of it beside, as a query; empty for everything.
    pub(super) query: String,
    /// How it gets what it brings.
    manner: Manner,
    /// The version from which a watch goes on; none to begin with a list.
    pub(super) version: Option<String>,
    /// What the server let us do before.
    allowed: BTreeSet<Verb>,
}

/// What a feed does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verb {
    List,
    Watch,
    Get,
}

/// How a feed gets what it brings. Each is for those who may not do the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// A list, then a watch.
    Watch,
    /// Lists, again and again.
    List,
    /// The targets themselves, again and again.
    Get,
}

/// What keeps a feed from going on.
pub(super) enum Trouble {
    /// A request failed.
    Failed(Failure),
    /// The server no longer remembers the version we know.
    Forgotten,
    /// Nobody listens any more: whoever followed is done.
    Unheard,
}

impl Feed {
    pub(super) fn new(id: FeedId, type_: &'static ResourceType, namespace: &str, link: Arc<Link>) -> Self {
        let mut feed = Self {
            id,
            type_,
            namespace: namespace.to_owned(),
            collection: collection(type_, Some(namespace)),
            query: String::new(),
            link,
            manner: Manner::Watch,
            version: None,
            allowed: BTreeSet::new(),
        };
        feed.query = feed.narrowed();
        feed
    }

    /// The targets it is for.
    pub(super) fn targets(&self) -> Vec<TargetId> {
        let here = self.link.interests.iter().filter(|interest| interest.namespace == self.namespace);
        here.filter(|interest| self.serves(interest.kind)).map(|interest| interest.target).collect()
    }

    fn serves(&self, kind: Kind) -> bool {
        if is_workload(self.type_) {
            kind.type_() == self.type_
        } else {
            !is_revision(self.type_) || kind.revision_type() == self.type_
        }
    }

    /// Brings it up to date until nobody listens.
    pub(super) async fn run(mut self, sender: mpsc::Sender<Fact>) {
        let mut tries = 0;
        let mut refused_since = None;
        loop {
            let begun = Instant::now();
            let verb = self.verb();
            let round = match verb {
                Verb::Watch => self.watch(&sender).await,
                Verb::List => self.list(&sender).await,
                Verb::Get => self.get(&sender).await,
            };
            let failure = match round {
                Ok(()) => {
                    self.link.outage.is_over(self.id);
                    (tries, refused_since) = (0, None);
                    self.allowed.insert(verb);
                    self.rest().await;
                    continue;
                }
                Err(Trouble::Unheard) => return,
                Err(Trouble::Forgotten) => {
                    self.version = None;
                    continue;
                }
                Err(Trouble::Failed(failure)) => failure,
            };
            if failure.is_forbidden() || failure.is_unauthorized() {
                let since = *refused_since.get_or_insert(begun);
                let is_new = failure.is_forbidden() && !self.allowed.contains(&verb);
                let is_final = is_new || since.elapsed() >= SECOND_THOUGHTS;
                if is_final {
                    if self.give_way(failure, &sender).await.is_break() {
                        return;
                    }
                    refused_since = None;
                    continue;
                }
            }
            self.link.outage.goes_on(self.id, &failure);
            sleep(pause_after(tries, &failure)).await;
            tries += 1;
        }
    }

    fn verb(&self) -> Verb {
        match self.manner {
            Manner::Watch if self.version.is_some() => Verb::Watch,
            Manner::Watch | Manner::List => Verb::List,
            Manner::Get => Verb::Get,
        }
    }

    /// Takes the next manner, for what the server will not let us do; gives up after the last.
    async fn give_way(&mut self, failure: Failure, sender: &mpsc::Sender<Fact>) -> ControlFlow<()> {
        let may_be_less = failure.is_forbidden();
        self.manner = match self.manner {
            Manner::Watch if may_be_less && self.version.is_some() => Manner::List,
            Manner::Watch | Manner::List if may_be_less && is_workload(self.type_) => Manner::Get,
            _ => {
                let lost = is_workload(self.type_);
                let what =
                    if lost { What::Lost(self.link.connection.explain(failure)) } else { What::Withheld };
                let _ = sender.send(Fact::Of(self.id, what)).await; // nobody may be waiting any more
                return ControlFlow::Break(());
            }
        };
        ControlFlow::Continue(())
    }

    /// What is to be kept of an object; none when it concerns nobody.
    pub(super) fn keep(&self, object: Object) -> Option<Kept> {
        Kept::of(object, self.type_, &self.namespace, &self.link.interests)
    }

    /// Hands on what there is to tell.
    pub(super) async fn tell(&self, what: What, sender: &mpsc::Sender<Fact>) -> Result<(), Trouble> {
        sender.send(Fact::Of(self.id, what)).await.map_err(|_| Trouble::Unheard)
    }

    /// A watch goes on at once; who has to ask again and again leaves the server some peace.
    async fn rest(&self) {
        if self.manner != Manner::Watch {
            sleep(super::poll::EVERY).await;
        }
    }

    /// Asks for no more than is needed: of a single target only what is its own, and of events only the
    /// warnings. RBAC can allow a watch of one name, which is why kubectl asks in the same way.
    fn narrowed(&self) -> String {
        if self.type_ == &EVENT {
            return warning_query();
        }
        let [target] = self.targets()[..] else {
            return String::new();
        };
        let Some(interest) = self.link.interests.get(target.0) else {
            return String::new();
        };
        if is_workload(self.type_) {
            return format!("fieldSelector={}", percent_encoded(&format!("metadata.name={}", interest.name)));
        }
        let selector = interest.selector.as_ref().filter(|_| self.type_ == &POD || is_revision(self.type_));
        selector.map_or_else(String::new, |selector| label_query(&selector.to_query()))
    }
}

fn is_workload(type_: &ResourceType) -> bool {
    Kind::of(type_.title()).is_some()
}

fn is_revision(type_: &ResourceType) -> bool {
    Kind::ALL.iter().any(|kind| kind.revision_type() == type_)
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        if failure.is_forgotten() { Self::Forgotten } else { Self::Failed(failure) }
    }
}
