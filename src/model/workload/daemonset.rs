//! DaemonSets: every revision is a ControllerRevision, named by its short hash on the pods.

use crate::model::object::Object;
use crate::model::revision::{Revision, controller_revision};

/// A DaemonSet.
#[derive(Clone, Debug, PartialEq)]
pub struct DaemonSet(pub(super) Object);

/// The hash is the controller's own, over Go structs; it can be read and not recomputed.
pub(super) fn revision(object: &Object) -> Revision {
    controller_revision(object, "controller-revision-hash")
}
