//! Builds the observation of a target from events that arrive one by one.

use std::collections::VecDeque;
use std::sync::Arc;

use super::event::TargetEvent;
use crate::model::api::event::Events;
use crate::model::api::pod::Pod;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};

/// The observation of a target, complete or not yet.
#[derive(Debug)]
pub(in crate::model) enum ObservationBuilder {
    /// Some objects were not read yet. Without revisions a workload would look failed, without pods
    /// held.
    Partial(Box<PartialObservation>),
    /// Everything was read at least once.
    Complete(Box<Observation>),
}

/// The objects that were read so far.
#[derive(Debug, Default)]
pub(in crate::model) struct PartialObservation {
    /// Oldest first.
    workloads: VecDeque<Workload>,
    revisions: Listing<Vec<Arc<Revision>>>,
    pods: Listing<Vec<Arc<Pod>>>,
    events: Option<Events>,
}

/// The objects of one resource.
#[derive(Debug, Default)]
enum Listing<T> {
    /// Not read yet.
    #[default]
    NotRead,
    /// Not readable.
    Forbidden,
    /// All of them.
    Read(T),
}

impl ObservationBuilder {
    /// Starts with nothing read.
    pub(in crate::model) fn new() -> Self {
        Self::Partial(Box::default())
    }

    /// Returns the observation once it is complete.
    pub(in crate::model) fn observation(&self) -> Option<&Observation> {
        match self {
            Self::Partial(_) => None,
            Self::Complete(observation) => Some(observation),
        }
    }

    /// Applies an event. Returns the states of the workload that arrived while something else was
    /// missing. The caller applies them one by one, because each may have a line of its own.
    #[must_use]
    pub(in crate::model) fn apply(&mut self, event: TargetEvent) -> VecDeque<Workload> {
        match self {
            Self::Complete(observation) => replace(observation, event),
            Self::Partial(partial) => {
                if let Some(observation) = partial.apply(event) {
                    let later_workloads = std::mem::take(&mut partial.workloads);
                    *self = Self::Complete(Box::new(observation));
                    return later_workloads;
                }
            }
        }
        VecDeque::new()
    }
}

impl PartialObservation {
    /// Applies an event. Returns the observation if this event completed it.
    fn apply(&mut self, event: TargetEvent) -> Option<Observation> {
        match event {
            TargetEvent::Workload(workload) => self.workloads.push_back(*workload),
            TargetEvent::Revisions(revisions) => self.revisions = revisions.into(),
            TargetEvent::Pods(pods) => self.pods = pods.into(),
            TargetEvent::Refreshed(observation) => {
                self.workloads.clear(); // these are older
                return Some(*observation);
            }
            TargetEvent::Warnings(events) => self.events = events,
            TargetEvent::Log(_)
            | TargetEvent::Deleted
            | TargetEvent::Unreadable(_)
            | TargetEvent::RolledBack(_) => {}
        }
        if matches!(self.revisions, Listing::NotRead) || matches!(self.pods, Listing::NotRead) {
            return None;
        }
        let workload = self.workloads.pop_front()?;
        let revisions = Revisions::among(&workload, self.revisions.take().unwrap_or_default());
        Some(Observation { workload, revisions, pods: self.pods.take(), events: self.events.take() })
    }
}

impl<T> Listing<T> {
    fn take(&mut self) -> Option<T> {
        match std::mem::take(self) {
            Self::Read(seen) => Some(seen),
            Self::NotRead | Self::Forbidden => None,
        }
    }
}

impl<T> From<Option<T>> for Listing<T> {
    fn from(read: Option<T>) -> Self {
        read.map_or(Self::Forbidden, Self::Read)
    }
}

fn replace(observation: &mut Observation, event: TargetEvent) {
    match event {
        TargetEvent::Workload(workload) => {
            observation.revisions.update_current(&workload);
            observation.workload = *workload;
        }
        TargetEvent::Revisions(revisions) => {
            observation.revisions = Revisions::among(&observation.workload, revisions.unwrap_or_default());
        }
        TargetEvent::Pods(pods) => observation.pods = pods,
        TargetEvent::Warnings(events) => observation.events = events,
        TargetEvent::Refreshed(refreshed) => {
            let known_events = observation.events.take(); // a refresh may leave out events
            *observation = *refreshed;
            observation.events = observation.events.take().or(known_events);
        }
        TargetEvent::Log(_)
        | TargetEvent::Deleted
        | TargetEvent::Unreadable(_)
        | TargetEvent::RolledBack(_) => {}
    }
}
