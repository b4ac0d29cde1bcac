//! What belongs to the workloads of a place.

use std::collections::HashMap;
use std::sync::Arc;

use super::observe::unless_withheld;
use crate::cluster::source::Source;
use crate::error::Result;
use crate::model::kind::Kind;
use crate::model::object::Object;
use crate::model::observed::Observed;
use crate::model::pod::Pod;
use crate::model::resource_type::{CONTROLLER_REVISION, POD, REPLICA_SET};
use crate::model::revision::{Revision, Revisions};
use crate::model::selector::Selector;
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// What belongs to the workloads of a place, by the uid of its owner.
#[derive(Default)]
pub(super) struct Belongings {
    revisions: HashMap<String, Vec<Arc<Revision>>>,
    /// None when they may not be read.
    pods: Option<HashMap<String, Vec<Pod>>>,
}

impl Belongings {
    /// Reads what belongs to `owners`, which are known by uid, in one namespace or in all of them. What may
    /// not be read is done without, which is said once.
    ///
    /// # Errors
    /// When something else goes wrong than that it may not be read.
    pub(super) async fn read(
        namespace: Option<&str>,
        owners: &HashMap<String, Kind>,
        source: &Source,
        screen: &mut Screen<'_>,
    ) -> Result<Self> {
        let mut belongings = Self::default();
        for type_ in [&REPLICA_SET, &CONTROLLER_REVISION] {
            if !owners.values().any(|kind| kind.revision_type() == type_) {
                continue;
            }
            let keep = |object: Object| {
                let kind = *owners.get(object.controller()?.uid)?;
                Some(Workload::revision(kind, &object).without_document())
            };
            let revisions = source.list_as(type_, namespace, &Selector::default(), keep).await;
            let revisions = unless_withheld(revisions, "rollouts are told from counters alone", screen)?;
            for revision in revisions.into_iter().flatten().flatten() {
                let of_owner = belongings.revisions.entry(revision.owner_uid.clone()).or_default();
                of_owner.push(Arc::new(revision));
            }
        }
        let keep = |pod: Object| Pod::read(&pod);
        let pods = source.list_as(&POD, namespace, &Selector::default(), keep).await;
        if let Some(pods) = unless_withheld(pods, "pods in trouble are not told", screen)? {
            let mut by_owner = HashMap::<_, Vec<_>>::new();
            for pod in pods {
                by_owner.entry(pod.owner_uid.clone()).or_default().push(pod);
            }
            belongings.pods = Some(by_owner);
        }
        Ok(belongings)
    }

    /// A workload and what belongs to it, which is taken away: once it was told it takes no room.
    pub(super) fn observed(&mut self, workload: Workload) -> Observed {
        let uid = workload.object().uid();
        let revisions = Revisions::among(&workload, self.revisions.remove(uid).unwrap_or_default());
        let owners = revisions.iter().map(|revision| revision.uid.as_str()).chain([uid]);
        let pods = self.pods.as_mut();
        let pods = pods.map(|pods| owners.filter_map(|owner| pods.remove(owner)).flatten().collect());
        Observed { workload, revisions, pods, events: None }
    }
}
