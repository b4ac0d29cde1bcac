//! Matches pods to revisions by owner reference and hash. A label alone proves nothing: any client can set one.

use super::Revision;
use crate::model::api::pod::Pod;
use crate::model::workload::Workload;
use crate::model::workload::kind::{PodLabelValue, RevisionStore};

impl Workload {
    /// Whether a pod runs a revision of this workload.
    #[must_use]
    pub fn runs(&self, pod: &Pod, revision: &Revision) -> bool {
        let key = self.revision_key(revision);
        !key.is_empty() && self.pod_key(pod) == key
    }

    /// Returns the key that the pods of a revision have.
    pub(in crate::model) fn revision_key<'a>(&self, revision: &'a Revision) -> &'a str {
        match self.kind().revisions {
            RevisionStore::ReplicaSets => &revision.uid,
            RevisionStore::ControllerRevisions { pod_label: PodLabelValue::Hash, .. } => &revision.hash,
            RevisionStore::ControllerRevisions { pod_label: PodLabelValue::Name, .. } => &revision.name,
            RevisionStore::ControllerRevisions { pod_label: PodLabelValue::NameOrHash, .. } => {
                after_last_dash(&revision.name)
            }
        }
    }

    /// Returns the key of a pod; empty for pods of other workloads.
    pub(in crate::model) fn pod_key<'a>(&self, pod: &'a Pod) -> &'a str {
        match self.kind().revisions {
            RevisionStore::ReplicaSets => &pod.owner_uid,
            RevisionStore::ControllerRevisions { .. } if !self.owns(pod) => "",
            RevisionStore::ControllerRevisions { pod_label: PodLabelValue::NameOrHash, .. } => {
                after_last_dash(&pod.revision_hash)
            }
            RevisionStore::ControllerRevisions { .. } => &pod.revision_hash,
        }
    }
}

/// Returns the hash at the end of a name; the whole text if there is no `-`.
fn after_last_dash(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or_default()
}
