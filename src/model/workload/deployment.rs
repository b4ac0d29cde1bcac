//! Deployments: every revision is a ReplicaSet.

use crate::model::object::Object;
use crate::model::revision::{Number, Revision};

/// A Deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment(pub(super) Object);

/// Where the controller writes a ReplicaSet's revision number.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// The numbers a ReplicaSet had before rollbacks renumbered it, oldest first, separated by commas.
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";

pub(super) fn revision(replica_set: &Object) -> Revision {
    let number = replica_set.annotation(REVISION).map_or(Number::Missing, Number::read);
    let past_numbers = replica_set.annotation(REVISION_HISTORY).unwrap_or_default();
    let past_numbers = past_numbers.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    let hash = replica_set.label("pod-template-hash").unwrap_or_default().to_owned();
    Revision::new(number, hash, replica_set, "/spec/template").once_numbered(past_numbers)
}
