//! The revisions and pods of many workloads in one namespace or in all, listed together.

use std::collections::HashMap;
use std::sync::Arc;

use super::observe::{Details, Owned, list_revisions};
use crate::cluster::source::Source;
use crate::error::{Error, Result};
use crate::model::api::object::Object;
use crate::model::api::pod::Pod;
use crate::model::api::resource_type::{CONTROLLER_REVISION, POD, REPLICA_SET, ResourceType};
use crate::model::api::selector::Selector;
use crate::model::revision::Revision;
use crate::model::workload::KindSpec;
use crate::model::workload::Workload;

/// Revisions and pods by the uid of their owner.
#[derive(Default)]
pub(super) struct OwnedObjects {
    revisions: HashMap<String, Vec<Arc<Revision>>>,
    /// None if they were not requested.
    pods: Option<HashMap<String, Vec<Arc<Pod>>>>,
    /// How often each workload, by uid, is still to be observed. A workload may be named twice.
    uses: HashMap<String, usize>,
    /// The types that are forbidden to list, with the errors.
    forbidden: Vec<(&'static ResourceType, Error)>,
}

impl OwnedObjects {
    /// Reads the objects of these workloads with one list of each type.
    ///
    /// # Errors
    /// When a list fails for another reason than missing permission.
    pub(super) async fn read(
        namespace: Option<&str>,
        workloads: &[&Workload],
        details: Details,
        source: &Source,
    ) -> Result<Self> {
        let owner = |workload: &&Workload| (workload.object().uid().to_owned(), workload.kind());
        let owners: HashMap<String, &'static KindSpec> = workloads.iter().map(owner).collect();
        let revisions = async |type_: &'static ResourceType| {
            if !owners.values().any(|kind| kind.revisions.type_() == type_) {
                return Ok(Vec::new());
            }
            let kind_of = |object: &Object| owners.get(object.controller()?.uid).copied();
            list_revisions(type_, namespace, &Selector::default(), details, source, kind_of).await
        };
        let pods = async {
            if !details.pods {
                return Ok(Vec::new());
            }
            source.list_as(&POD, namespace, &Selector::default(), |pod| Arc::new(Pod::read(&pod))).await
        };
        let (replica_sets, controller_revisions, pods) =
            tokio::join!(biased; revisions(&REPLICA_SET), revisions(&CONTROLLER_REVISION), pods);
        let mut read = Self::default();
        for workload in workloads {
            *read.uses.entry(workload.object().uid().to_owned()).or_default() += 1;
        }
        for (type_, listed) in [(&REPLICA_SET, replica_sets), (&CONTROLLER_REVISION, controller_revisions)] {
            for revision in read.unless_withheld(type_, listed)? {
                read.revisions.entry(revision.owner_uid.clone()).or_default().push(revision);
            }
        }
        let mut by_owner = HashMap::<_, Vec<_>>::new();
        for pod in read.unless_withheld(&POD, pods)? {
            by_owner.entry(pod.owner_uid.clone()).or_default().push(pod);
        }
        read.pods = details.pods.then_some(by_owner);
        Ok(read)
    }

    fn unless_withheld<T>(&mut self, type_: &'static ResourceType, listed: Result<Vec<T>>) -> Result<Vec<T>> {
        match listed {
            Err(error) if error.is_withheld() => {
                self.forbidden.push((type_, error));
                Ok(Vec::new())
            }
            listed => listed,
        }
    }

    /// Returns the objects of a workload. Its last use moves them out, so that they can be freed.
    pub(super) fn take(&mut self, workload: &Workload) -> Owned {
        let uid = workload.object().uid();
        let uses = self.uses.entry(uid.to_owned()).or_default();
        *uses = uses.saturating_sub(1);
        let is_last = *uses == 0;
        let revisions = taken(&mut self.revisions, uid, is_last);
        let owners = revisions.iter().map(|revision| revision.uid.as_str()).chain([uid]);
        let pods = self.pods.as_mut();
        let pods = pods.map(|pods| owners.flat_map(|owner| taken(pods, owner, is_last)).collect());
        Owned {
            revisions: self.or_forbidden(workload.kind().revisions.type_(), revisions),
            pods: pods.map(|pods| self.or_forbidden(&POD, pods)),
        }
    }

    fn or_forbidden<T>(&self, type_: &ResourceType, listed: Vec<T>) -> Result<Vec<T>> {
        match self.forbidden.iter().find(|(forbidden, _)| *forbidden == type_) {
            Some((_, error)) => Err(error.clone()),
            None => Ok(listed),
        }
    }
}

fn taken<T: Clone>(by_owner: &mut HashMap<String, Vec<T>>, owner: &str, is_last: bool) -> Vec<T> {
    let taken = if is_last { by_owner.remove(owner) } else { by_owner.get(owner).cloned() };
    taken.unwrap_or_default()
}
