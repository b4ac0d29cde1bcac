//! Matches pods to revisions by owner reference and hash. A label alone proves nothing: any client can set one.

use super::Revision;
use crate::model::api::pod::Pod;
use crate::model::kind::Workload;
use crate::model::kind::revision_store::RevisionNames;

impl Workload {
    /// Whether a pod runs a revision of this workload.
    #[must_use]
    pub fn runs(&self, pod: &Pod, revision: &Revision) -> bool {
        let key = self.revision_key(revision);
        !key.is_empty() && self.pod_key(pod) == key
    }

    /// Returns the key that the pods of a revision have.
    pub(in crate::model) fn revision_key<'a>(&self, revision: &'a Revision) -> &'a str {
        let Revision { name, uid, hash, .. } = revision;
        self.kind().revisions().key_of_revision(RevisionNames { name, uid, hash })
    }

    /// Returns the key of a pod; empty for pods of other workloads.
    pub(in crate::model) fn pod_key<'a>(&self, pod: &'a Pod) -> &'a str {
        self.kind().revisions().key_of_pod(pod, self.owns(pod))
    }
}
