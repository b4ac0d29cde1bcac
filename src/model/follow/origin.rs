//! What was followed from the start, and what carried the service then.

use crate::model::digest::Digest;
use crate::model::observed::{Observed, PodCount};
use crate::model::revision::Revision;
use crate::model::workload::Workload;

/// What was followed from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The object's uid.
    uid: String,
    /// The template that was being rolled out.
    template: Digest,
    /// The name of the revision that carried the service, and its template; none when none did.
    service: Option<(String, Digest)>,
}

impl Origin {
    /// The origin of what was found, once everything about it was seen for the first time.
    pub(super) fn of(found: &Workload, observed: &Observed) -> Self {
        let service = in_service(observed).map(|revision| (revision.name.clone(), revision.digest));
        Self { uid: found.object().uid().to_owned(), template: found.template().digest(), service }
    }

    /// Whether a workload still is what was followed: the same object with the same template.
    #[must_use]
    pub fn is_still(&self, workload: &Workload) -> bool {
        workload.object().uid() == self.uid && workload.template().digest() == self.template
    }

    /// The revision that carried the service at the start, if one did and it is still kept with the
    /// template that it had.
    #[must_use]
    pub fn service<'a>(&self, observed: &'a Observed) -> Option<&'a Revision> {
        let (name, template) = self.service.as_ref()?;
        observed.revisions.iter().find(|revision| revision.name == *name && revision.digest == *template)
    }
}

/// The revision that carries the service beside the one being rolled out: the one that the controller
/// itself names, or the one with the most ready pods.
///
/// Not [`Observed::stable`]: that one shows what is there, and so knows no revision while the live
/// template has yet to become one, and takes one for stable whose pods are all broken. Pods on their
/// way out count here: under `Recreate` they are all that is left of the service.
fn in_service(observed: &Observed) -> Option<&Revision> {
    let rolled_out = observed.workload.template().digest();
    let others = || observed.revisions.iter().filter(|revision| revision.digest != rolled_out);
    if let Some(name) = recorded(&observed.workload) {
        return others().find(|revision| revision.name == name);
    }
    let ready = others().filter_map(|revision| {
        let ready = match &observed.pods {
            Some(_) => observed.pods_of(revision).filter(|pod| pod.ready).count(),
            None => PodCount::recorded(revision).ready,
        };
        (ready > 0).then_some((ready, revision))
    });
    ready.max_by_key(|(ready, _)| *ready).map(|(_, revision)| revision)
}

/// The revision that a StatefulSet's controller says carries the service (`status.currentRevision`).
/// It lags behind the live template, which is just what is wanted here.
fn recorded(workload: &Workload) -> Option<&str> {
    match workload {
        Workload::StatefulSet(_) => workload.object().text("/status/currentRevision"),
        Workload::Deployment(_) | Workload::DaemonSet(_) => None,
    }
}
