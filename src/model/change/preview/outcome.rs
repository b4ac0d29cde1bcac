//! What applying an object would do to the revisions of a workload.

use crate::model::revision::Revision;

/// What applying an object would do to the revisions of a workload.
#[derive(Clone, Debug)]
pub enum PreviewOutcome {
    /// The workload does not exist yet.
    Created {
        /// The name of its first revision, where it can be foretold.
        name: Option<String>,
    },
    /// Nothing changes.
    Unchanged,
    /// Fields outside of the template change, and no pod is replaced.
    NoRollout,
    /// The template stays, and outdated pods that were held are replaced.
    Released,
    /// A template that no revision has.
    NewRevision {
        /// The number of the revision.
        number: i64,
        /// Its name, where it can be foretold.
        name: Option<String>,
        /// Whether the revision is created only after the workload is resumed.
        is_after_pause: bool,
    },
    /// A template that a revision has.
    Returns {
        /// The revision.
        to: Box<Revision>,
        /// The number that the controller gives to it.
        number: i64,
    },
}

impl PreviewOutcome {
    /// Whether pods are created or replaced, now or as soon as a hold ends.
    #[must_use]
    pub fn is_rollout(&self) -> bool {
        match self {
            Self::Unchanged | Self::NoRollout => false,
            Self::Created { .. } | Self::Released | Self::NewRevision { .. } | Self::Returns { .. } => true,
        }
    }
}
