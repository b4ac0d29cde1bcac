//! What a feed has brought so far, and the news that follow from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::fact::{Kept, Thing, What};
use crate::model::event::Events;
use crate::model::follow::{News, Seen, TargetId};
use crate::model::kind::Kind;
use crate::model::resource_type::{EVENT, POD, ResourceType};
use crate::model::workload::Workload;

/// What a feed has brought so far.
#[derive(Debug)]
pub(super) struct Store {
    type_: &'static ResourceType,
    /// The targets that the feed is for.
    targets: Vec<TargetId>,
    kept: BTreeMap<String, Kept>,
    withheld: bool,
    /// Whether the feed brought anything yet, be it that there is nothing.
    reported: bool,
    /// Whom something changed for that was not told yet.
    stale: BTreeSet<TargetId>,
    /// The version of a target's workload when it was last looked at beside the feed.
    looked: BTreeMap<TargetId, u64>,
}

impl Store {
    pub(super) fn new(type_: &'static ResourceType, targets: Vec<TargetId>) -> Self {
        Self {
            type_,
            targets,
            kept: BTreeMap::new(),
            withheld: false,
            reported: false,
            stale: BTreeSet::new(),
            looked: BTreeMap::new(),
        }
    }

    /// Whether it keeps what workloads are judged with.
    pub(super) fn keeps_revisions(&self) -> bool {
        !self.keeps_workloads() && self.type_ != &POD && self.type_ != &EVENT
    }

    /// Whether it is known what there is, or that it may not be read.
    pub(super) fn has_reported(&self) -> bool {
        self.reported
    }

    /// What may not be read, if that is so.
    pub(super) fn withheld(&self) -> Option<&'static str> {
        self.withheld.then(|| self.type_.plural())
    }

    /// Takes in what the feed brought. States of workloads are news at once.
    pub(super) fn take(&mut self, what: What, seen: &mut Vec<Seen>) {
        self.reported = true;
        match what {
            What::Lost(error) => {
                seen.extend(self.targets.iter().map(|target| Seen::News(*target, News::Lost(error.clone()))));
            }
            What::Withheld => {
                self.withheld = true;
                self.stale.extend(&self.targets);
            }
            What::Listed(all) => self.replace(all, seen),
            What::Changed(kept) => self.change(*kept, seen),
            What::Removed(name) => self.remove(&name, seen),
        }
    }

    /// Tells what was not told yet.
    pub(super) fn flush(&mut self, seen: &mut Vec<Seen>) {
        for target in std::mem::take(&mut self.stale) {
            seen.push(Seen::News(target, self.news(target)));
        }
    }

    /// Takes note that a target was looked at. What the feed still brings from before is old.
    pub(super) fn looked(&mut self, target: TargetId, workload: &Workload) {
        let version = workload.object().text("/metadata/resourceVersion").and_then(|text| text.parse().ok());
        if let (true, Some(version)) = (self.keeps_workloads(), version) {
            self.looked.insert(target, version);
        }
    }

    fn replace(&mut self, all: Vec<Kept>, seen: &mut Vec<Seen>) {
        self.looked.clear(); // a list is never older than what was seen before it
        let before = std::mem::take(&mut self.kept);
        for kept in all {
            let is_known = before.get(&kept.name).is_some_and(|known| known.version == kept.version);
            if is_known && self.keeps_workloads() {
                self.kept.insert(kept.name.clone(), kept);
            } else {
                self.change(kept, seen);
            }
        }
        if self.keeps_workloads() {
            let there: BTreeSet<_> =
                self.kept.values().flat_map(|kept| kept.targets.iter().copied()).collect();
            let gone = self.targets.iter().filter(|target| !there.contains(target));
            seen.extend(gone.map(|target| Seen::News(*target, News::Gone)));
        } else {
            self.stale.extend(&self.targets);
        }
    }

    fn change(&mut self, kept: Kept, seen: &mut Vec<Seen>) {
        if let Thing::Workload(workload) = &kept.thing {
            for target in &kept.targets {
                if !self.is_older_than_looked(*target, &kept.version) {
                    seen.push(Seen::News(*target, News::Workload(workload.clone())));
                }
            }
            self.kept.insert(kept.name.clone(), kept);
            return;
        }
        self.stale.extend(&kept.targets);
        if let Some(before) = self.kept.insert(kept.name.clone(), kept) {
            self.stale.extend(&before.targets); // whom it no longer concerns
        }
    }

    fn remove(&mut self, name: &str, seen: &mut Vec<Seen>) {
        let Some(gone) = self.kept.remove(name) else {
            return;
        };
        if self.keeps_workloads() {
            seen.extend(gone.targets.into_iter().map(|target| Seen::News(target, News::Gone)));
        } else {
            self.stale.extend(gone.targets);
        }
    }

    /// Versions are numbers, and those of one resource can be compared (documented since 1.35). One that
    /// is no number is taken for new.
    fn is_older_than_looked(&self, target: TargetId, version: &str) -> bool {
        let looked = self.looked.get(&target);
        version.parse().is_ok_and(|version: u64| looked.is_some_and(|looked| version < *looked))
    }

    fn news(&self, target: TargetId) -> News {
        let mine =
            || self.kept.values().filter(|kept| kept.targets.contains(&target)).map(|kept| &kept.thing);
        if self.type_ == &POD {
            let pods = mine().filter_map(|thing| match thing {
                Thing::Pod(pod) => Some((**pod).clone()),
                _ => None,
            });
            return News::Pods((!self.withheld).then(|| pods.collect()));
        }
        if self.type_ == &EVENT {
            let events = mine().filter_map(|thing| match thing {
                Thing::Event(event) => Some((**event).clone()),
                _ => None,
            });
            return News::Warnings((!self.withheld).then(|| Events::of(events)));
        }
        let revisions = mine().filter_map(|thing| match thing {
            Thing::Revision(revision) => Some(Arc::clone(revision)),
            _ => None,
        });
        News::Revisions((!self.withheld).then(|| revisions.collect()))
    }

    fn keeps_workloads(&self) -> bool {
        Kind::of(self.type_.title()).is_some()
    }
}
