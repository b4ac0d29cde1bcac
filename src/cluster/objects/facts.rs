//! Which objects a command keeps, and which facts it keeps of them; and what readers tell a store.

use std::collections::HashMap;
use std::sync::Arc;

use crate::cluster::list::{ListQuery, PodLabels};
use crate::error::{Error, Result};
use crate::model::api::event::Event;
use crate::model::api::object::Object;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::api::selector::Selector;
use crate::model::cause::container_logs::LogLines;
use crate::model::engine::TargetId;
use crate::model::kind::{self, Kind, Workload};
use crate::model::revision::Revision;

/// The facts of an object. Objects are numerous, so only a few facts of each are kept.
#[derive(Clone, Debug)]
pub(super) enum Facts {
    Workload(Box<Workload>),
    Revision(Arc<Revision>),
    Pod(Arc<Pod>),
    Event(Arc<Event>),
}

/// The facts of the objects of a list, and the resourceVersion of the list; empty if nothing that is newer can arrive.
pub(super) type Listed = (Vec<Facts>, String);

/// A workload that was read again, and the lists of its revisions and of its pods; none of them if RBAC forbids it.
pub(super) type Refresh = (Workload, [Option<Listed>; 2]);

/// What was read. The numbers are the indices of collections.
#[derive(Debug)]
pub(super) enum Update {
    /// The complete list of a collection.
    Listed(usize, Listed),
    /// An object was added or modified, at this resourceVersion.
    Changed { collection: usize, facts: Facts, version: u64, is_added: bool },
    /// An object was deleted, or is no longer wanted.
    Removed(usize, Removed),
    /// The objects of a collection cannot be read. The error of objects without which a command can continue is
    /// [`NotReadable`](crate::error::ErrorKind::NotReadable).
    Unreadable(usize, Error),
    /// Everything about a target; none if it was deleted.
    Refreshed(TargetId, Result<Option<Box<Refresh>>>),
    /// The last lines of the log of a target's container; none if RBAC forbids to read it.
    Log(TargetId, Option<LogLines>),
}

/// What identifies an object that is gone, and its resourceVersion. Its facts are not read.
#[derive(Debug)]
pub(super) struct Removed {
    /// As [`key`] returns it.
    pub(super) key: String,
    /// As [`Facts::id`] returns it.
    pub(super) name: String,
    pub(super) uid: String,
    /// As [`Facts::owner`] returns it.
    pub(super) owner: String,
    pub(super) version: u64,
}

impl Removed {
    pub(super) fn of(object: &Object) -> Self {
        let is_event = object.kind() == EVENT.kind;
        let about = object.text("/involvedObject/uid").filter(|_| is_event);
        let owner = about.or_else(|| Some(object.controller()?.uid)).unwrap_or_default();
        Self {
            key: key(object),
            name: if is_event { String::new() } else { object.name().to_owned() },
            uid: object.uid().to_owned(),
            owner: owner.to_owned(),
            version: object.version_number().unwrap_or_default(),
        }
    }
}

impl Facts {
    /// Reads an object; none for a revision without a workload, and for an event that explains nothing.
    fn read(object: Object, type_: &ResourceType, owner: Option<&'static dyn Kind>) -> Option<Self> {
        Some(if type_ == &POD {
            Self::Pod(Arc::new(Pod::read(&object)))
        } else if type_ == &EVENT {
            Self::Event(Arc::new(Event::read(&object)?))
        } else if kind::of_type(type_).is_some() {
            Self::Workload(Box::new(Workload::of(object)?))
        } else {
            Self::Revision(Arc::new(Revision::read(owner?, &object)))
        })
    }

    /// Returns the name and uid. Events are found by their uid alone.
    pub(super) fn id(&self) -> (&str, &str) {
        match self {
            Self::Workload(workload) => (workload.name(), workload.object().uid()),
            Self::Revision(revision) => (&revision.name, &revision.uid),
            Self::Pod(pod) => (&pod.name, &pod.uid),
            Self::Event(event) => ("", &event.uid),
        }
    }

    /// Returns the uid of the object's controller, or of the object that an event is about; empty for none.
    pub(super) fn owner(&self) -> &str {
        match self {
            Self::Workload(_) => "",
            Self::Revision(revision) => &revision.owner_uid,
            Self::Pod(pod) => &pod.owner_uid,
            Self::Event(event) => &event.about,
        }
    }
}

/// Which objects are kept.
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

/// The workloads that a search found, and what their objects have in common with them.
#[derive(Debug, Default)]
pub(super) struct FoundWorkloads {
    /// Each has its index as the id of the target.
    found: Vec<Workload>,
    /// Whether revisions keep the whole object that stores them.
    with_documents: bool,
    kinds: HashMap<String, &'static dyn Kind>,
    /// The indices of the workloads with a key.
    by_key: HashMap<String, Vec<usize>>,
    labels: PodLabels,
}

impl Wanted {
    /// Keeps the revisions, pods and events that may belong to workloads.
    pub(super) fn owned_by<'w>(
        workloads: impl IntoIterator<Item = &'w Workload>,
        with_documents: bool,
    ) -> Self {
        Self::Found(FoundWorkloads::owned_by(workloads, with_documents))
    }

    /// Keeps the workloads that a search found, and the objects that may belong to them.
    pub(super) fn of_found(found: Vec<Workload>) -> Self {
        let mut all = FoundWorkloads::owned_by(&found, false);
        for (index, workload) in found.iter().enumerate() {
            all.by_key.entry(key(workload.object())).or_default().push(index);
        }
        Self::Found(FoundWorkloads { found, ..all })
    }

    /// Returns the facts of an object; none when it is not wanted.
    pub(super) fn facts(&self, object: Object, type_: &ResourceType) -> Option<Facts> {
        match self {
            Self::Found(found) => found.facts(object, type_),
            Self::Scope { with_managed_fields } => {
                let is_used = *with_managed_fields || type_ == &POD; // the facts of a pod need them
                let object = if is_used { object } else { object.without_managed_fields() };
                let owner = object.controller().and_then(|owner| kind::of(owner.kind, owner.api_version));
                Facts::read(object, type_, owner)
            }
        }
    }

    /// Returns the workloads that a search found; empty if all of a scope are wanted.
    pub(super) fn found(&self) -> &[Workload] {
        match self {
            Self::Found(found) => &found.found,
            Self::Scope { .. } => &[],
        }
    }
}

impl FoundWorkloads {
    fn owned_by<'w>(workloads: impl IntoIterator<Item = &'w Workload>, with_documents: bool) -> Self {
        let mut all = Self { with_documents, ..Self::default() };
        for workload in workloads {
            let object = workload.object();
            all.kinds.insert(object.uid().to_owned(), workload.kind());
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
        } else if self.with_documents && type_ != &EVENT {
            let revision = Revision::read(owner?, &object).with_document(&object);
            return Some(Facts::Revision(Arc::new(revision)));
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

/// Returns the query for all objects of a type in one namespace, or in all; of events without those that say that all is well.
pub(super) fn all_of(type_: &'static ResourceType, namespace: Option<&str>) -> ListQuery {
    if type_ == &EVENT { ListQuery::events(namespace) } else { ListQuery::of(type_, namespace) }
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
