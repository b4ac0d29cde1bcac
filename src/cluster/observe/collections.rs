//! What all reflectors of an observer have read, and the observations that follow from it.

use std::collections::HashMap;
use std::sync::Arc;

use super::collection::{Collection, Reading};
use super::wanted::Stored;
use crate::model::api::event::Events;
use crate::model::api::resource_type::{EVENT, POD, ResourceType};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::{Revision, Revisions};

/// What all reflectors of an observer have read.
#[derive(Debug, Default)]
pub(super) struct Collections {
    pub(super) all: Vec<Collection>,
    /// The indices of the collections by namespace; those of all namespaces by the empty name.
    by_namespace: HashMap<String, Vec<usize>>,
}

impl Collections {
    /// Adds a collection, and returns its index.
    pub(super) fn add(&mut self, type_: &'static ResourceType, namespace: Option<&str>) -> usize {
        let index = self.all.len();
        self.all.push(Collection::new(type_));
        self.by_namespace.entry(namespace.unwrap_or_default().to_owned()).or_default().push(index);
        index
    }

    /// Whether the revisions and pods of a workload were read, or cannot be read.
    pub(super) fn was_read(&self, workload: &Workload) -> bool {
        let types = [workload.kind().revisions().type_(), &POD];
        let namespace = workload.object().namespace();
        types.iter().all(|type_| self.of(type_, namespace).is_some_and(Collection::was_read))
    }

    /// Returns the observation of a workload.
    pub(super) fn observation(&self, workload: &Workload) -> Observation {
        let revisions = Revisions::among(workload, self.revisions_of(workload));
        let mut observed = Observation { workload: workload.clone(), revisions, pods: None, events: None };
        let pods = self.of(&POD, workload.object().namespace()).filter(|pods| pods.is_readable());
        observed.pods = pods.map(|pods| owners(&observed).flat_map(|owner| pods.pods_of(owner)).collect());
        observed.events = self.events(&observed);
        observed
    }

    fn revisions_of(&self, workload: &Workload) -> Vec<Arc<Revision>> {
        let all = self.of(workload.kind().revisions().type_(), workload.object().namespace());
        let all = all.filter(|all| all.is_readable());
        all.map(|all| all.revisions_of(workload.object().uid()).collect()).unwrap_or_default()
    }

    /// Returns the warning events about a workload and its pods; none if they are not watched, or not readable.
    pub(super) fn events(&self, observed: &Observation) -> Option<Events> {
        let events = self.of(&EVENT, observed.workload.object().namespace())?;
        let about = owners(observed).chain(observed.pods.iter().flatten().map(|pod| pod.uid.as_str()));
        let all = about.flat_map(|uid| events.events_about(uid));
        (events.reading == Reading::Synced).then(|| Events::of(all))
    }

    /// Returns the index of the collection of a type that has the objects of a namespace.
    pub(super) fn index_of(&self, type_: &ResourceType, namespace: &str) -> Option<usize> {
        let here = self.by_namespace.get(namespace).or_else(|| self.by_namespace.get(""))?;
        let is_of_type = |index: &&usize| self.all.get(**index).is_some_and(|all| all.type_ == type_);
        here.iter().find(is_of_type).copied()
    }

    /// Returns the collection of a type that has the objects of a namespace.
    pub(super) fn of(&self, type_: &ResourceType, namespace: &str) -> Option<&Collection> {
        self.all.get(self.index_of(type_, namespace)?)
    }

    fn of_mut(&mut self, type_: &ResourceType, namespace: &str) -> Option<&mut Collection> {
        let index = self.index_of(type_, namespace)?;
        self.all.get_mut(index)
    }

    /// Whether an object that belongs to a workload changed since the last observations were emitted.
    pub(super) fn has_changed(&self, workload: &Workload) -> bool {
        let (namespace, uid) = (workload.object().namespace(), workload.object().uid());
        let [revisions, pods, events] =
            [workload.kind().revisions().type_(), &POD, &EVENT].map(|type_| self.of(type_, namespace));
        if [revisions, pods, events].into_iter().flatten().any(|all| all.has_changed(uid)) {
            return true;
        }
        let own = self.revisions_of(workload);
        let owners = || own.iter().map(|revision| revision.uid.as_str()).chain([uid]);
        let is_about_changed = |events: &Collection| {
            let mut pods = pods.into_iter().flat_map(|pods| owners().flat_map(|owner| pods.pods_of(owner)));
            owners().any(|uid| events.has_changed(uid)) || pods.any(|pod| events.has_changed(&pod.uid))
        };
        pods.is_some_and(|pods| owners().any(|owner| pods.has_changed(owner)))
            || events.filter(|events| !events.is_unchanged()).is_some_and(is_about_changed)
    }

    /// Stores the revisions and pods of a refresh. Returns whether newer ones are known.
    pub(super) fn merge(
        &mut self,
        observed: &Observation,
        revisions: Vec<(String, Stored)>,
        pods: Option<Vec<(String, Stored)>>,
    ) -> bool {
        let (workload, namespace) = (&observed.workload, observed.workload.object().namespace());
        let of_revisions = self.of_mut(workload.kind().revisions().type_(), namespace);
        let uid = workload.object().uid();
        let mut has_newer = of_revisions.is_some_and(|known| known.merge([uid].into_iter(), revisions));
        if let Some(known) = self.of_mut(&POD, namespace) {
            match pods {
                Some(pods) => has_newer |= known.merge(owners(observed), pods),
                None if known.reading == Reading::Pending => known.reading = Reading::Forbidden,
                None => {}
            }
        }
        has_newer
    }
}

/// Returns the observation that a refresh read, without events.
pub(super) fn observation(
    workload: &Workload,
    revisions: &[(String, Stored)],
    pods: Option<&[(String, Stored)]>,
) -> Observation {
    let revisions = revisions.iter().filter_map(|(_, stored)| stored.facts.revision());
    let pods = pods.map(|pods| pods.iter().filter_map(|(_, stored)| stored.facts.pod()).collect());
    Observation {
        workload: workload.clone(),
        revisions: Revisions::among(workload, revisions),
        pods,
        events: None,
    }
}

/// Returns the uids that the controllers of a workload's pods may have: those of its revisions, and its own.
fn owners(observed: &Observation) -> impl Iterator<Item = &str> {
    let revisions = observed.revisions.iter().map(|revision| revision.uid.as_str());
    revisions.chain([observed.workload.object().uid()])
}
