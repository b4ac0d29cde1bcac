//! Which objects an observer keeps, which facts it keeps of them, and how it learns of changes; and the read of everything
//! about one target, independently of the watches.

use std::collections::HashMap;
use std::sync::Arc;

use super::outage::{Attempts, Outage};
use crate::cluster::connection::{ApiRequest, Cluster, Policy, RequestError};
use crate::cluster::list::{ListQuery, PodLabels};
use crate::error::Error;
use crate::model::api::event::Event;
use crate::model::api::object::Object;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::api::selector::Selector;
use crate::model::cause::container_logs::LogLines;
use crate::model::engine::TargetId;
use crate::model::kind::{self, Kind, Workload};
use crate::model::revision::Revision;

/// What all reads of an observer share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) cluster: Arc<Cluster>,
    pub(super) wanted: Wanted,
    pub(super) outage: Arc<Outage>,
}

impl Shared {
    /// Gets a workload as it is now; none if it does not exist.
    pub(super) async fn get(&self, found: &Workload, policy: Policy) -> Result<Option<Object>, RequestError> {
        let (type_, namespace) = (found.kind().type_(), found.object().namespace());
        let path = self.cluster.served.object(type_, Some(namespace), found.name());
        Ok(self.cluster.object(&ApiRequest::get(&path), policy, type_, found.name()).await?.ok())
    }

    /// Reads everything about a workload that was found, and retries until it succeeds, or is refused
    /// for long.
    pub(super) async fn refresh(&self, found: &Workload) -> Refresh {
        let mut attempts = Attempts::new(found.kind().type_(), &self.outage);
        loop {
            let failure = match self.refresh_once(found, &mut attempts).await {
                Ok(refresh) => {
                    attempts.succeed();
                    return refresh;
                }
                Err(failure) => failure,
            };
            if let Err(failure) = attempts.fail(failure, false).await {
                attempts.give_up();
                return Refresh::Unreadable(self.cluster.explain(&failure));
            }
        }
    }

    async fn refresh_once(&self, found: &Workload, attempts: &mut Attempts) -> Result<Refresh, RequestError> {
        let Some(workload) = self.read_workload(found).await? else {
            return Ok(Refresh::Deleted);
        };
        attempts.record_answer();
        // After the workload, so that they are not older than it.
        let owned = async |type_| {
            let listed = self.list(found, type_, |object| self.wanted.keyed(object, type_)).await;
            listed.map(|listed| listed.map(Listed::of))
        };
        let (revisions, pods) =
            tokio::try_join!(biased; owned(found.kind().revisions().type_()), owned(&POD))?;
        Ok(Refresh::Read { workload, revisions, pods })
    }

    /// Reads a workload; none when it does not exist. When RBAC forbids to get it, lists it by its name.
    async fn read_workload(&self, found: &Workload) -> Result<Option<Workload>, RequestError> {
        let forbidden = match self.get(found, REFRESH_POLICY).await {
            Ok(object) => return Ok(object.and_then(Workload::of)),
            Err(failure) if failure.is_forbidden() => failure,
            Err(failure) => return Err(failure),
        };
        let is_it = |object: &Object| object.name() == found.name();
        let workload = |object| Some(object).filter(is_it).and_then(Workload::of);
        let (listed, _) = self.list(found, found.kind().type_(), workload).await?.ok_or(forbidden)?;
        Ok(listed.into_iter().next())
    }

    /// Lists the objects of a workload, and returns what `keep` makes of each and the resourceVersion of the list; none when
    /// RBAC forbids it.
    async fn list<T>(
        &self,
        found: &Workload,
        type_: &'static ResourceType,
        keep: impl Fn(Object) -> Option<T>,
    ) -> Result<Option<(Vec<T>, String)>, RequestError> {
        let query = narrow_query(type_, found.object().namespace(), &[found]);
        match query.read(REFRESH_POLICY, &self.cluster, keep).await {
            Ok(listed) => Ok(Some(listed)),
            Err(failure) if failure.is_forbidden() => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

/// How each request of a refresh is sent. If a server fails every third request, every refresh as a whole would fail without
/// more attempts.
const REFRESH_POLICY: Policy = Policy::Quiet { attempts: 3 };

/// Which objects an observer keeps.
#[derive(Debug)]
pub(super) enum Wanted {
    /// Those that may belong to the workloads that a search found.
    Found(FoundWorkloads),
    /// All of a scope.
    Scope {
        /// Whether the workloads keep their managed fields.
        with_managed_fields: bool,
    },
}

/// The facts of an object. Objects are numerous, so only a few facts of each are kept.
#[derive(Clone, Debug)]
pub(super) enum Facts {
    Workload(Box<Workload>),
    Revision(Arc<Revision>),
    Pod(Arc<Pod>),
    Event(Box<Event>),
}

/// The objects of a list, each with its key, `namespace/name`.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) objects: Vec<(String, Facts)>,
    /// The resourceVersion of the list; zero if it is not a number.
    pub(super) version: u64,
}

impl Listed {
    pub(super) fn of((objects, version): (Vec<(String, Facts)>, String)) -> Self {
        Self { objects, version: version.parse().unwrap_or_default() }
    }
}

/// A message to the observer.
#[derive(Debug)]
pub(super) enum ObserverMessage {
    /// A change of the objects of the reflector with this index.
    Reflected(usize, Delta),
    /// The result of reading everything about a target.
    Refreshed(TargetId, Box<Refresh>),
    /// The last lines of the log of a target's container; none if RBAC forbids to read it.
    Log(TargetId, Option<LogLines>),
}

/// What a refresh read.
#[derive(Debug)]
pub(super) enum Refresh {
    /// Everything; none of the revisions or pods if RBAC forbids to list them.
    Read { workload: Workload, revisions: Option<Listed>, pods: Option<Listed> },
    /// The workload was deleted.
    Deleted,
    /// It cannot be read.
    Unreadable(Error),
}

/// A change of the objects that a reflector lists.
#[derive(Debug)]
pub(super) enum Delta {
    /// The complete list of objects.
    Listed(Listed),
    /// The object with this key was added or modified, at this resourceVersion.
    Changed(String, Facts, u64),
    /// The object with this key was deleted, or is no longer wanted, at this resourceVersion.
    Removed(String, u64),
    /// RBAC forbids reading the objects. Following continues without them.
    Forbidden,
    /// The workloads themselves cannot be read.
    Unreadable(Error),
}

/// The workloads that a search found, and what their objects have in common with them.
#[derive(Debug, Default)]
pub(super) struct FoundWorkloads {
    /// Each has its index as the id of the target.
    pub(super) found: Vec<Workload>,
    kinds: HashMap<String, &'static dyn Kind>,
    /// The indices of the workloads with a key.
    by_key: HashMap<String, Vec<usize>>,
    labels: PodLabels,
}

impl Wanted {
    /// Returns the key and the facts of an object; none when it is not wanted.
    pub(super) fn keyed(&self, object: Object, type_: &ResourceType) -> Option<(String, Facts)> {
        Some((key(&object), self.facts(object, type_)?))
    }

    fn facts(&self, object: Object, type_: &ResourceType) -> Option<Facts> {
        match self {
            Self::Found(found) => found.facts(object, type_),
            Self::Scope { with_managed_fields } => {
                let is_used = *with_managed_fields || type_ == &POD; // the facts of a pod need them
                let object = if is_used { object } else { object.into_unmanaged() };
                let owner = object.controller().and_then(|owner| kind::of(owner.kind, owner.api_version));
                Facts::read(object, type_, owner)
            }
        }
    }

    /// Returns the workloads that a search found; empty if all are watched.
    pub(super) fn found(&self) -> &[Workload] {
        match self {
            Self::Found(found) => &found.found,
            Self::Scope { .. } => &[],
        }
    }
}

impl Facts {
    /// Reads an object; none for a revision without a workload, and for an event that is no warning.
    fn read(object: Object, type_: &ResourceType, owner: Option<&'static dyn Kind>) -> Option<Self> {
        Some(if type_ == &POD {
            Self::Pod(Arc::new(Pod::read(&object)))
        } else if type_ == &EVENT {
            Self::Event(Box::new(Event::read(&object)?))
        } else if kind::of_type(type_).is_some() {
            Self::Workload(Box::new(Workload::of(object)?))
        } else {
            Self::Revision(Arc::new(Revision::read(owner?, &object)))
        })
    }
}

impl FoundWorkloads {
    pub(super) fn of(found: &[Workload]) -> Self {
        let mut all = Self { found: found.to_vec(), ..Self::default() };
        for (index, workload) in found.iter().enumerate() {
            let object = workload.object();
            all.kinds.insert(object.uid().to_owned(), workload.kind());
            all.by_key.entry(key(object)).or_default().push(index);
            // Without a valid selector no pod belongs to it, as for its controller.
            if let Ok(selector) = Selector::of_workload(object) {
                all.labels.add(&selector);
            }
        }
        all
    }

    fn facts(&self, object: Object, type_: &ResourceType) -> Option<Facts> {
        let owner = object.controller().and_then(|owner| self.kinds.get(owner.uid).copied());
        if type_ == &POD {
            self.labels.may_belong(&object).then_some(())?;
        } else if let Some(kind) = kind::of_type(type_) {
            let mut named = self.by_key.get(&key(&object))?.iter().filter_map(|index| self.found.get(*index));
            let found = named.find(|found| found.kind() == kind)?;
            let object = same_version(found.object(), &object).cloned().unwrap_or(object);
            return Facts::read(object, type_, owner);
        }
        Facts::read(object, type_, owner)
    }
}

/// Returns the workload that a search found, if this is the same version of it. Thousands of workloads are then in memory
/// once, and those of a search by type without their managed fields.
fn same_version<'a>(found: &'a Object, object: &Object) -> Option<&'a Object> {
    let version = found.resource_version();
    (version.is_some() && version == object.resource_version() && found.uid() == object.uid())
        .then_some(found)
}

/// Returns the key of an object: `namespace/name`.
pub(super) fn key(object: &Object) -> String {
    format!("{}/{}", object.namespace(), object.name())
}

/// Returns the query for all objects of a type in one namespace, or in all; of events for the warnings.
pub(super) fn all_of(type_: &'static ResourceType, namespace: Option<&str>) -> ListQuery {
    if type_ == &EVENT { ListQuery::warnings(namespace) } else { ListQuery::of(type_, namespace) }
}

/// Returns the query for the objects of a type that belong to workloads of a namespace. For a single workload it selects only
/// these. RBAC can allow a watch of one name, which is why kubectl uses the same field selector.
pub(super) fn narrow_query(type_: &'static ResourceType, namespace: &str, found: &[&Workload]) -> ListQuery {
    let mut query = all_of(type_, Some(namespace));
    match found {
        _ if type_ == &EVENT => {}
        [only] if kind::of_type(type_).is_some() => query.fields = format!("metadata.name={}", only.name()),
        [only] => query.labels = Selector::of_workload(only.object()).unwrap_or_default(),
        _ => {}
    }
    query
}
