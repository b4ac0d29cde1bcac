//! What reflectors send: objects, reduced to the facts that the model uses.

use std::sync::Arc;

use super::target_index::TargetIndex;
use crate::error::Error;
use crate::model::api::event::Event;
use crate::model::api::object::Object;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::follow::{TargetEvent, TargetId};
use crate::model::kind;
use crate::model::kind::Workload;
use crate::model::revision::Revision;

/// The index of a reflector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReflectorId(pub(super) usize);

/// A message to the observer.
#[derive(Debug)]
pub(super) enum Update {
    /// A change that a reflector received.
    Reflected(ReflectorId, Delta),
    /// The result of reading everything about a target.
    Refreshed(TargetId, Box<TargetEvent>),
}

/// A change of the objects that a reflector lists.
#[derive(Debug)]
pub(super) enum Delta {
    /// The complete list of objects.
    Listed(Vec<StoredObject>),
    /// An object was added or modified.
    Changed(Box<StoredObject>),
    /// The object with this name was deleted, or no longer belongs to a target.
    Removed(String),
    /// RBAC forbids reading the objects. Following continues without them.
    Forbidden,
    /// The workloads themselves cannot be read.
    Lost(Error),
}

/// The facts of an object, and the targets that it belongs to.
#[derive(Clone, Debug)]
pub(super) struct StoredObject {
    pub(super) name: String,
    /// `metadata.resourceVersion`.
    pub(super) version: String,
    pub(super) targets: Vec<TargetId>,
    pub(super) parsed: ParsedObject,
}

/// The facts of an object. Revisions, pods and events are numerous, so only a few facts of each are kept.
#[derive(Clone, Debug)]
pub(super) enum ParsedObject {
    Workload(Box<Workload>),
    /// A workload whose state the store has emitted. Only its version and its targets are needed later.
    Seen,
    Revision(Arc<Revision>),
    Pod(Arc<Pod>),
    Event(Box<Event>),
}

impl StoredObject {
    /// Returns the facts of an object; none when it belongs to no target.
    pub(super) fn of(
        object: Object,
        type_: &ResourceType,
        namespace: &str,
        index: &TargetIndex,
    ) -> Option<Self> {
        let targets = index.concerned(&object, type_, namespace);
        if targets.is_empty() {
            return None;
        }
        let name = object.name().to_owned();
        let version = object.resource_version().unwrap_or_default().to_owned();
        let parsed = if type_ == &POD {
            ParsedObject::Pod(Arc::new(Pod::read(&object)))
        } else if type_ == &EVENT {
            ParsedObject::Event(Box::new(Event::read(&object)?))
        } else if kind::of_type(type_).is_some() {
            let watched = index.get(*targets.first()?)?;
            let object = watched.same_version(&object).cloned().unwrap_or(object);
            ParsedObject::Workload(Box::new(Workload::of(object)?))
        } else {
            let kind = index.get(*targets.first()?)?.kind;
            ParsedObject::Revision(Arc::new(Revision::read(kind, object)))
        };
        Some(Self { name, version, targets, parsed })
    }

    /// Returns the facts of an object that need not belong to a target; none for a revision without a workload.
    pub(super) fn of_any(object: Object, type_: &ResourceType, name: String) -> Option<Self> {
        let version = object.text("/metadata/resourceVersion").unwrap_or_default().to_owned();
        let parsed = if type_ == &POD {
            ParsedObject::Pod(Arc::new(Pod::read(&object)))
        } else if type_ == &EVENT {
            ParsedObject::Event(Box::new(Event::read(&object)?))
        } else if kind::of_type(type_).is_some() {
            ParsedObject::Workload(Box::new(Workload::of(object)?))
        } else {
            let owner = object.controller()?;
            let kind = kind::of(owner.kind, owner.api_version)?;
            ParsedObject::Revision(Arc::new(Revision::read(kind, object)))
        };
        Some(Self { name, version, targets: Vec::new(), parsed })
    }
}
