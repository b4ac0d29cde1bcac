//! Lists and watches one resource in one namespace, as client-go's Reflector does.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::facts::{Facts, Removed, Update, Wanted};
use super::outage::Attempts;
use super::refresh::Shared;
use crate::cluster::connection::{Policy, RequestError};
use crate::cluster::list::ListQuery;
use crate::model::api::object::Object;
use crate::model::kind::{self, Workload};
use crate::model::text::untrusted::percent_encoded;
use crate::snapshot::json::parse;

/// The interval of lists and gets when RBAC forbids a watch.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// A watch that ends sooner without an event is reopened after this pause, and a list follows one that is refused sooner.
pub(super) const MIN_WATCH_TIME: Duration = Duration::from_secs(1);

/// How many watches in a row may be refused, or end at once without an event, before a list follows: the server may not accept
/// the resourceVersion.
const MAX_FRUITLESS_WATCHES: u32 = 3;

/// Lists and watches one resource in one namespace, or in all, until the observer is dropped.
#[derive(Debug)]
pub(super) struct Reflector {
    index: usize,
    shared: Arc<Shared>,
    /// What is listed and watched.
    query: ListQuery,
    /// The resourceVersion at which the next watch starts; none to start with a list.
    version: Option<String>,
    /// How many watches in a row were fruitless.
    fruitless_watches: u32,
    /// The verbs that succeeded before.
    allowed: BTreeSet<ApiVerb>,
    /// The verb in use. A final 401 or 403 moves it to the next one.
    mode: ApiVerb,
    attempts: Attempts,
}

/// A Kubernetes API verb, in the order in which a reflector tries them: a list and then a watch, lists at an interval, and
/// gets of the targets at an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ApiVerb {
    Watch,
    List,
    Get,
}

impl Reflector {
    pub(super) fn new(index: usize, query: ListQuery, shared: Arc<Shared>) -> Self {
        let attempts = Attempts::new(query.type_, &shared.outage);
        let (allowed, mode) = (BTreeSet::new(), ApiVerb::Watch);
        Self { index, shared, query, version: None, fruitless_watches: 0, allowed, mode, attempts }
    }

    /// Takes its only workload, as it was just read, for the first list, and starts the watch at its resourceVersion. If
    /// that has expired, the reflector lists.
    pub(super) fn start_from(&mut self, found: &Workload, sender: &mpsc::Sender<Update>) {
        let object = found.object();
        let facts = self.facts(object.clone()).into_iter().collect();
        if let Some(version) = object.resource_version()
            && sender.try_send(Update::Listed(self.index, (facts, String::new()))).is_ok()
        {
            self.version = Some(version.to_owned());
        }
    }

    /// Lists and watches until the observer is dropped or the objects cannot be read.
    pub(super) async fn run(mut self, sender: mpsc::Sender<Update>) {
        loop {
            let begun = Instant::now();
            let verb = self.verb();
            let round = match verb {
                ApiVerb::Watch => self.watch(&sender).await,
                ApiVerb::List => self.list(&sender).await,
                ApiVerb::Get => self.get(&sender).await,
            };
            match round {
                Ok(()) => {
                    self.attempts.succeed();
                    self.allowed.insert(verb);
                    if self.mode != ApiVerb::Watch {
                        sleep(POLL_INTERVAL).await; // a watch starts again at once
                    }
                }
                Err(failure) if failure.is_expired() => {
                    self.version = None;
                    if begun.elapsed() < MIN_WATCH_TIME {
                        sleep(MIN_WATCH_TIME).await; // a server may refuse every version at once
                    }
                }
                Err(failure) => {
                    let is_new = failure.is_forbidden() && !self.allowed.contains(&verb);
                    if let Err(failure) = self.attempts.fail(failure, is_new).await
                        && self.fall_back(verb, failure, &sender).await.is_break()
                    {
                        return self.attempts.give_up();
                    }
                }
            }
            if self.fruitless_watches >= MAX_FRUITLESS_WATCHES {
                (self.version, self.fruitless_watches) = (None, 0);
            }
        }
    }

    fn verb(&self) -> ApiVerb {
        if self.mode == ApiVerb::Watch && self.version.is_none() { ApiVerb::List } else { self.mode }
    }

    /// Falls back to the next verb after a final 403. Ends the reflector after the last one, and one of workloads after a final
    /// 401. Of other objects a 401 is no lack of a right: once credentials are accepted again, they are read.
    async fn fall_back(
        &mut self,
        verb: ApiVerb,
        failure: RequestError,
        sender: &mpsc::Sender<Update>,
    ) -> ControlFlow<()> {
        let is_workload = kind::of_type(self.query.type_).is_some();
        if !is_workload && !failure.is_forbidden() {
            return ControlFlow::Continue(());
        }
        let next = match verb {
            ApiVerb::Watch => Some(ApiVerb::List),
            ApiVerb::List if is_workload && matches!(self.shared.wanted, Wanted::Found(_)) => {
                Some(ApiVerb::Get)
            }
            ApiVerb::List | ApiVerb::Get => None,
        };
        if let Some(next) = next.filter(|_| failure.is_forbidden()) {
            self.mode = next;
            return ControlFlow::Continue(());
        }
        let error = self.shared.cluster.explain_reading(self.query.type_, &failure);
        self.send(Update::Unreadable(self.index, error), sender).await;
        ControlFlow::Break(())
    }

    /// Lists all objects, and records the resourceVersion at which a watch starts.
    async fn list(&mut self, sender: &mpsc::Sender<Update>) -> Result<(), RequestError> {
        let keep = |object| self.facts(object);
        let listed = self.query.read(Policy::QUIET, &self.shared.cluster, keep).await?;
        self.version = Some(listed.1.clone());
        self.send(Update::Listed(self.index, listed), sender).await;
        Ok(())
    }

    /// Gets each workload, when RBAC allows neither watch nor list.
    async fn get(&mut self, sender: &mpsc::Sender<Update>) -> Result<(), RequestError> {
        let (type_, namespace) = (self.query.type_, self.query.namespace.as_deref());
        let is_here = |found: &&Workload| {
            found.kind().type_() == type_
                && namespace.is_none_or(|namespace| found.object().namespace() == namespace)
        };
        let mut all = Vec::new();
        for found in self.shared.wanted.found().iter().filter(is_here) {
            let object = self.shared.get(found, Policy::QUIET).await?;
            all.extend(object.and_then(|object| self.facts(object)));
        }
        self.send(Update::Listed(self.index, (all, String::new())), sender).await;
        Ok(())
    }

    /// Sends a new state of an object, or that it is gone or no longer wanted.
    async fn send_state(&mut self, event: WatchEvent, sender: &mpsc::Sender<Update>) {
        let (is_added, is_deleted) =
            (matches!(event, WatchEvent::Added(_)), matches!(event, WatchEvent::Deleted(_)));
        let (WatchEvent::Added(object) | WatchEvent::Changed(object) | WatchEvent::Deleted(object)) = event
        else {
            return;
        };
        if let Some(version) = object.resource_version() {
            self.version = Some(version.to_owned());
        }
        // The facts take the object: a second owner of it would make them copy all of it.
        let (collection, removed) = (self.index, Removed::of(&object));
        let facts = if is_deleted { None } else { self.facts(object) };
        let update = match facts {
            Some(facts) => Update::Changed { collection, facts, version: removed.version, is_added },
            None => Update::Removed(collection, removed),
        };
        self.send(update, sender).await;
    }

    /// Returns the facts of an object; none when it is not wanted.
    fn facts(&self, object: Object) -> Option<Facts> {
        self.shared.wanted.facts(object, self.query.type_)
    }

    /// Sends an update to the observer.
    async fn send(&self, update: Update, sender: &mpsc::Sender<Update>) {
        let _ = sender.send(update).await; // the observer may have been dropped
    }
}

/// The `timeoutSeconds` of a watch. The server then closes it, so a silent watch or an expired credential
/// is used no longer than this.
const WATCH_TIMEOUT: Duration = Duration::from_secs(30);

/// A watch that is open this long after its timeout is silent and not trusted.
const WATCH_TIMEOUT_SLACK: Duration = Duration::from_secs(5);

impl Reflector {
    /// Watches from the last resourceVersion until the watch ends. Each event updates the resourceVersion.
    pub(super) async fn watch(&mut self, sender: &mpsc::Sender<Update>) -> Result<(), RequestError> {
        let begun = Instant::now();
        let deadline = begun + WATCH_TIMEOUT + WATCH_TIMEOUT_SLACK;
        let version = percent_encoded(self.version.as_deref().unwrap_or_default(), "");
        let seconds = WATCH_TIMEOUT.as_secs();
        let parameters =
            format!("watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion={version}");
        let path = self.query.path(&parameters, &self.shared.cluster);
        let opened = self.shared.cluster.stream(&path).await;
        if opened.as_ref().err().is_none_or(RequestError::may_concern_version) {
            self.fruitless_watches += 1;
        }
        let mut lines = opened?;
        self.attempts.record_answer();
        loop {
            let line = match lines.next_line(deadline).await {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(failure) => {
                    if Instant::now() >= deadline {
                        // The watch went silent. Events that it lost may be lost again if the next watch starts at the
                        // same version.
                        self.version = None;
                    }
                    return Err(failure);
                }
            };
            self.attempts.record_answer();
            match WatchEvent::read(&line) {
                WatchEvent::Bookmark(version) => self.version = Some(version),
                WatchEvent::Broken => {
                    self.version = None;
                    break;
                }
                event => self.send_state(event, sender).await,
            }
            self.fruitless_watches = 0;
        }
        if begun.elapsed() >= MIN_WATCH_TIME {
            self.fruitless_watches = 0;
        } else if self.fruitless_watches > 0 {
            sleep(MIN_WATCH_TIME).await;
        }
        Ok(())
    }
}

/// A watch event.
#[derive(Debug)]
pub enum WatchEvent {
    /// `ADDED`.
    Added(Object),
    /// `MODIFIED`.
    Changed(Object),
    /// `DELETED`.
    Deleted(Object),
    /// `BOOKMARK`, with its resourceVersion.
    Bookmark(String),
    /// `ERROR`, most often because the resourceVersion has expired, or a line that is no watch event. A list follows.
    Broken,
}

impl WatchEvent {
    /// Decodes a line.
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
            Some("ADDED") => Object::read(object).map_or(Self::Broken, Self::Added),
            Some("MODIFIED") => Object::read(object).map_or(Self::Broken, Self::Changed),
            Some("DELETED") => Object::read(object).map_or(Self::Broken, Self::Deleted),
            _ => Self::Broken,
        }
    }
}
