//! What is known of a target, put together from facts that arrive one by one.

use std::collections::VecDeque;
use std::sync::Arc;

use super::seen::News;
use crate::model::event::Events;
use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::revision::{Revision, Revisions};
use crate::model::workload::Workload;

/// What is known of a target.
#[derive(Debug)]
pub(in crate::model) enum View {
    /// Some of it was never seen, and nothing can be said before: without its revisions a workload
    /// would be taken for failed, without its pods for held.
    Partial(Box<Partial>),
    /// All of it was seen at some time.
    Whole(Box<Observed>),
}

/// What was seen so far.
#[derive(Debug, Default)]
pub(in crate::model) struct Partial {
    /// Oldest first.
    workloads: VecDeque<Workload>,
    revisions: Part<Vec<Arc<Revision>>>,
    pods: Part<Vec<Pod>>,
    events: Option<Events>,
}

/// What is known of one kind of object.
#[derive(Debug, Default)]
enum Part<T> {
    /// Nothing yet.
    #[default]
    Unseen,
    /// That it may not be read.
    Withheld,
    /// All there is.
    Seen(T),
}

impl View {
    /// Nothing was seen yet.
    pub(in crate::model) fn new() -> Self {
        Self::Partial(Box::default())
    }

    /// All of it, once everything was seen.
    pub(in crate::model) fn observed(&self) -> Option<&Observed> {
        match self {
            Self::Partial(_) => None,
            Self::Whole(observed) => Some(observed),
        }
    }

    /// Takes in a fact. Returns the states of the workload that came after the one that is viewed now,
    /// while something else was still missing; they are to be taken in one by one, since each may have
    /// its own line.
    #[must_use]
    pub(in crate::model) fn take(&mut self, news: News) -> VecDeque<Workload> {
        match self {
            Self::Whole(observed) => replace(observed, news),
            Self::Partial(partial) => {
                if let Some(observed) = partial.take(news) {
                    let later = std::mem::take(&mut partial.workloads);
                    *self = Self::Whole(Box::new(observed));
                    return later;
                }
            }
        }
        VecDeque::new()
    }
}

impl Partial {
    /// Takes in a fact; all of it, if this was the last that was missing.
    fn take(&mut self, news: News) -> Option<Observed> {
        match news {
            News::Workload(workload) => self.workloads.push_back(*workload),
            News::Revisions(revisions) => self.revisions = revisions.into(),
            News::Pods(pods) => self.pods = pods.into(),
            News::Look(observed) => {
                self.workloads.clear(); // they are older
                return Some(*observed);
            }
            News::Warnings(events) => self.events = events,
            News::Log(_) | News::Gone | News::Lost(_) | News::Undone(_) => {}
        }
        if matches!(self.revisions, Part::Unseen) || matches!(self.pods, Part::Unseen) {
            return None;
        }
        let workload = self.workloads.pop_front()?;
        let revisions = Revisions::among(&workload, self.revisions.take().unwrap_or_default());
        Some(Observed { workload, revisions, pods: self.pods.take(), events: self.events.take() })
    }
}

impl<T> Part<T> {
    fn take(&mut self) -> Option<T> {
        match std::mem::take(self) {
            Self::Seen(seen) => Some(seen),
            Self::Unseen | Self::Withheld => None,
        }
    }
}

impl<T> From<Option<T>> for Part<T> {
    fn from(read: Option<T>) -> Self {
        read.map_or(Self::Withheld, Self::Seen)
    }
}

fn replace(observed: &mut Observed, news: News) {
    match news {
        News::Workload(workload) => {
            observed.revisions.look_again(&workload);
            observed.workload = *workload;
        }
        News::Revisions(revisions) => {
            observed.revisions = Revisions::among(&observed.workload, revisions.unwrap_or_default());
        }
        News::Pods(pods) => observed.pods = pods,
        News::Warnings(events) => observed.events = events,
        News::Look(looked) => {
            let known = observed.events.take(); // a look may leave them out
            *observed = *looked;
            observed.events = observed.events.take().or(known);
        }
        News::Log(_) | News::Gone | News::Lost(_) | News::Undone(_) => {}
    }
}
