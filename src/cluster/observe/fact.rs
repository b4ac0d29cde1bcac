//! What the feeds send: objects, reduced to what is needed of them.

use std::sync::Arc;

use super::interest::Interest;
use crate::error::Error;
use crate::model::event::Event;
use crate::model::follow::{News, TargetId};
use crate::model::kind::Kind;
use crate::model::object::Object;
use crate::model::pod::Pod;
use crate::model::resource_type::{EVENT, POD, ResourceType};
use crate::model::revision::Revision;
use crate::model::workload::Workload;

/// Which feed, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FeedId(pub(super) usize);

/// Something new.
#[derive(Debug)]
pub(super) enum Fact {
    /// From a feed.
    Of(FeedId, What),
    /// What a look at a target brought.
    Looked(TargetId, Box<News>),
}

/// What a feed has to tell.
#[derive(Debug)]
pub(super) enum What {
    /// All objects there are.
    Listed(Vec<Kept>),
    /// An object, new or changed.
    Changed(Box<Kept>),
    /// The object of this name does not concern us any more: it was deleted, or changed its labels.
    Removed(String),
    /// The objects may not be read, and can be done without.
    Withheld,
    /// The objects cannot be had, and nothing goes without them.
    Lost(Error),
}

/// What is kept of an object, and whom it concerns.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) name: String,
    /// `metadata.resourceVersion`.
    pub(super) version: String,
    pub(super) targets: Vec<TargetId>,
    pub(super) thing: Thing,
}

/// What is kept of an object. Revisions, pods and events are many, and become a few facts each.
#[derive(Clone, Debug)]
pub(super) enum Thing {
    Workload(Box<Workload>),
    Revision(Arc<Revision>),
    Pod(Box<Pod>),
    Event(Box<Event>),
}

impl Kept {
    /// What is to be kept of an object; none when it concerns nobody.
    pub(super) fn of(
        object: Object,
        type_: &ResourceType,
        namespace: &str,
        interests: &[Interest],
    ) -> Option<Self> {
        let controller = object.controller().map(|owner| owner.uid).unwrap_or_default();
        let concerns = |interest: &Interest| {
            if type_ == &POD {
                interest.selects(&object)
            } else if type_ == &EVENT {
                interest.is_told_of(&object)
            } else if Kind::of(type_.title()).is_some() {
                interest.is_it(&object)
            } else {
                interest.is_controller(controller)
            }
        };
        let mine = interests.iter().filter(|interest| interest.namespace == namespace);
        let targets: Vec<_> =
            mine.filter(|interest| concerns(interest)).map(|interest| interest.target).collect();
        if targets.is_empty() {
            return None;
        }
        let name = object.name().to_owned();
        let version = object.text("/metadata/resourceVersion").unwrap_or_default().to_owned();
        let thing = if type_ == &POD {
            Thing::Pod(Box::new(Pod::read(&object)))
        } else if type_ == &EVENT {
            Thing::Event(Box::new(Event::read(&object)?))
        } else if Kind::of(type_.title()).is_some() {
            Thing::Workload(Box::new(Workload::of(object)?))
        } else {
            let kind = interests.iter().find(|interest| targets.contains(&interest.target))?.kind;
            Thing::Revision(Arc::new(Workload::revision(kind, &object)))
        };
        Some(Self { name, version, targets, thing })
    }
}
