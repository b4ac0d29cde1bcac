//! Lists and watches one resource in one namespace, as client-go's Reflector does.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::outage::ReaderId;
use super::shared::Shared;
use super::update::{Delta, ReflectorId, StoredObject, Update};
use crate::cluster::connection::RequestError;
use crate::cluster::page::{label_query, warning_query};
use crate::model::api::object::Object;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::follow::TargetId;
use crate::model::kind::Workload;
use crate::model::kind::{self, Kind};

/// A 401 or 403 is final after this long. A server that just started, or whose authenticator fails, may
/// refuse requests for a while.
pub(super) const REFUSAL_GRACE: Duration = Duration::from_secs(30);

/// The interval of lists and gets when RBAC forbids a watch.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// A watch that ends sooner without an event is reopened after this pause, and a list follows one that is refused sooner.
pub(super) const MIN_WATCH_TIME: Duration = Duration::from_secs(1);

/// Lists and watches one resource in one namespace until the observer is dropped.
#[derive(Debug)]
pub(super) struct Reflector {
    pub(super) id: ReflectorId,
    pub(super) type_: &'static ResourceType,
    pub(super) namespace: Option<String>,
    pub(super) shared: Arc<Shared>,
    /// `/apis/apps/v1/namespaces/shop/deployments`.
    pub(super) collection: String,
    /// The selectors of the list and the watch, as a query; empty for all objects.
    pub(super) query: String,
    /// Which objects it keeps.
    kept: KeptObjects,
    /// How it reads the objects.
    mode: ReadMode,
    /// The resourceVersion at which the next watch starts; none to start with a list.
    pub(super) version: Option<String>,
    /// The verbs that succeeded before.
    allowed: BTreeSet<ApiVerb>,
}

/// Which objects a reflector keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeptObjects {
    /// Those that belong to a target.
    OfTargets,
    /// All of them.
    All {
        /// With their managed fields.
        with_managed_fields: bool,
    },
}

/// A Kubernetes API verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ApiVerb {
    List,
    Watch,
    Get,
}

/// How a reflector reads the objects. It falls back to the next mode when RBAC forbids one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadMode {
    /// A list, then a watch.
    Watch,
    /// Lists at an interval.
    List,
    /// Gets of the targets at an interval.
    Get,
}

/// Why a list or a watch ended.
pub(super) enum ReflectorError {
    /// A request failed.
    Request(RequestError),
    /// The resourceVersion has expired (410).
    Expired,
    /// The observer was dropped.
    Closed,
}

impl Reflector {
    pub(super) fn new(
        id: ReflectorId,
        type_: &'static ResourceType,
        namespace: &str,
        shared: Arc<Shared>,
    ) -> Self {
        let all = Self::of_all(id, type_, Some(namespace), String::new(), false, shared);
        let mut reflector = Self { kept: KeptObjects::OfTargets, ..all };
        reflector.query = reflector.narrow_query();
        reflector
    }

    /// Creates a reflector of all objects of a type in a namespace, or in all, that a query selects.
    pub(super) fn of_all(
        id: ReflectorId,
        type_: &'static ResourceType,
        namespace: Option<&str>,
        query: String,
        with_managed_fields: bool,
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            id,
            type_,
            namespace: namespace.map(str::to_owned),
            collection: shared.connection.served.collection(type_, namespace),
            query,
            shared,
            kept: KeptObjects::All { with_managed_fields },
            mode: ReadMode::Watch,
            version: None,
            allowed: BTreeSet::new(),
        }
    }

    /// Starts the watch at the resourceVersion of its only target, as it was just read, without a list. If
    /// that resourceVersion has expired, the reflector lists.
    pub(super) fn start_from(&mut self, found: &Workload, sender: &mpsc::Sender<Update>) {
        let object = found.object();
        let version = object.resource_version().map(str::to_owned);
        if let (Some(version), Some(kept)) = (version, self.keep(object.clone()))
            && sender.try_send(Update::Reflected(self.id, Delta::Listed(vec![kept]))).is_ok()
        {
            self.version = Some(version);
        }
    }

    /// Returns the targets that it reads objects of.
    pub(super) fn targets(&self) -> Vec<TargetId> {
        let here =
            self.shared.targets.iter().filter(|watched| Some(&watched.namespace) == self.namespace.as_ref());
        here.filter(|watched| self.serves(watched.kind)).map(|watched| watched.id).collect()
    }

    fn serves(&self, kind: &'static dyn Kind) -> bool {
        if is_workload(self.type_) {
            kind.type_() == self.type_
        } else {
            !is_revision(self.type_) || kind.revisions().type_() == self.type_
        }
    }

    /// Lists and watches until the observer is dropped or the objects cannot be read.
    pub(super) async fn run(mut self, sender: mpsc::Sender<Update>) {
        let mut tries = 0;
        let mut refused_since = None;
        loop {
            let begun = Instant::now();
            let verb = self.verb();
            let round = match verb {
                ApiVerb::Watch => self.watch(&sender).await,
                ApiVerb::List => self.list(&sender).await,
                ApiVerb::Get => self.get(&sender).await,
            };
            let failure = match round {
                Ok(()) => {
                    self.shared.outage.record_success(self.reader());
                    (tries, refused_since) = (0, None);
                    self.allowed.insert(verb);
                    self.wait_before_poll().await;
                    continue;
                }
                Err(ReflectorError::Closed) => return,
                Err(ReflectorError::Expired) => {
                    self.version = None;
                    if begun.elapsed() < MIN_WATCH_TIME {
                        sleep(MIN_WATCH_TIME).await; // a server may refuse every version at once
                    }
                    continue;
                }
                Err(ReflectorError::Request(failure)) => failure,
            };
            if failure.is_refused() {
                let since = *refused_since.get_or_insert(begun);
                let is_new = failure.is_forbidden() && !self.allowed.contains(&verb);
                let is_final = is_new || since.elapsed() >= REFUSAL_GRACE;
                if is_final {
                    if self.fall_back(failure, &sender).await.is_break() {
                        self.shared.outage.forget(self.reader());
                        return;
                    }
                    refused_since = None;
                    continue;
                }
            }
            self.shared.outage.record_failure(self.reader(), self.type_.plural(), &failure);
            sleep(self.shared.connection.backoff.after(tries, &failure)).await;
            tries += 1;
        }
    }

    pub(super) fn reader(&self) -> ReaderId {
        ReaderId::Reflector(self.id)
    }

    fn verb(&self) -> ApiVerb {
        match self.mode {
            ReadMode::Watch if self.version.is_some() => ApiVerb::Watch,
            ReadMode::Watch | ReadMode::List => ApiVerb::List,
            ReadMode::Get => ApiVerb::Get,
        }
    }

    /// Falls back to the next mode after a final 401 or 403. Ends the reflector after the last mode.
    async fn fall_back(&mut self, failure: RequestError, sender: &mpsc::Sender<Update>) -> ControlFlow<()> {
        let may_be_less = failure.is_forbidden();
        self.mode = match self.mode {
            ReadMode::Watch if may_be_less && self.version.is_some() => ReadMode::List,
            ReadMode::Watch | ReadMode::List
                if may_be_less && is_workload(self.type_) && self.kept == KeptObjects::OfTargets =>
            {
                ReadMode::Get
            }
            _ => {
                let lost = is_workload(self.type_);
                let delta = if lost {
                    Delta::Lost(self.shared.connection.explain(failure))
                } else {
                    Delta::Forbidden
                };
                let _ = sender.send(Update::Reflected(self.id, delta)).await; // the observer may have been dropped
                return ControlFlow::Break(());
            }
        };
        ControlFlow::Continue(())
    }

    /// Returns the facts of an object; none when it belongs to no target.
    pub(super) fn keep(&self, object: Object) -> Option<StoredObject> {
        match (self.kept, &self.namespace) {
            (KeptObjects::OfTargets, Some(namespace)) => {
                StoredObject::of(object, self.type_, namespace, &self.shared.targets)
            }
            (KeptObjects::OfTargets, None) => None,
            (KeptObjects::All { with_managed_fields }, _) => {
                let key = self.key(&object);
                let object = if with_managed_fields { object } else { object.into_unmanaged() };
                StoredObject::of_any(object, self.type_, key)
            }
        }
    }

    /// Returns the name of an object within the collection.
    pub(super) fn key(&self, object: &Object) -> String {
        match &self.namespace {
            Some(_) => object.name().to_owned(),
            None => format!("{}/{}", object.namespace(), object.name()),
        }
    }

    /// Sends a change to the observer.
    pub(super) async fn send(
        &self,
        delta: Delta,
        sender: &mpsc::Sender<Update>,
    ) -> Result<(), ReflectorError> {
        sender.send(Update::Reflected(self.id, delta)).await.map_err(|_| ReflectorError::Closed)
    }

    /// Waits for the poll interval; a watch starts again at once.
    async fn wait_before_poll(&self) {
        if self.mode != ReadMode::Watch {
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns the query that selects the objects of a single target, or the warnings among events. RBAC can
    /// allow a watch of one name, which is why kubectl uses the same field selector.
    fn narrow_query(&self) -> String {
        if self.type_ == &EVENT {
            return warning_query();
        }
        let [target] = self.targets()[..] else {
            return String::new();
        };
        let Some(watched) = self.shared.targets.get(target) else {
            return String::new();
        };
        if is_workload(self.type_) {
            return watched.name_query();
        }
        let selector = watched.selector.as_ref().filter(|_| self.type_ == &POD || is_revision(self.type_));
        selector.map_or_else(String::new, |selector| label_query(&selector.to_query()))
    }
}

fn is_workload(type_: &ResourceType) -> bool {
    kind::of_type(type_).is_some()
}

fn is_revision(type_: &ResourceType) -> bool {
    kind::all().any(|kind| kind.revisions().type_() == type_)
}

impl From<RequestError> for ReflectorError {
    fn from(failure: RequestError) -> Self {
        if failure.is_expired() { Self::Expired } else { Self::Request(failure) }
    }
}
