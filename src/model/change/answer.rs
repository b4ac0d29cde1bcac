//! The answers to the writes of a command.

use super::conflict::Conflict;
use crate::error::{Error, ErrorKind};
use crate::model::api::object::Object;

/// The result of a patch.
#[derive(Clone, Debug)]
pub enum WriteResult {
    /// It is stored. Holds the object that the API server returned.
    Stored(Object),
    /// Another client changed a field that the patch tests, so nothing is stored.
    Conflict(Conflict),
    /// The server refused it, so nothing is stored.
    Refused(Error),
    /// The server could not process it now, or it could not be sent. Nothing is stored, and a later try may succeed.
    Unavailable(Error),
    /// No response arrived, so it may be stored.
    Unknown(Error),
}

impl WriteResult {
    /// Returns the result of a patch that is not stored, by its error.
    #[must_use]
    pub fn not_stored(error: Error) -> Self {
        if error.kind() == ErrorKind::Unreachable { Self::Unavailable(error) } else { Self::Refused(error) }
    }
}

/// The result of a deletion.
#[derive(Clone, Debug)]
pub enum DeletionResult {
    /// The pod terminates, is gone, or another pod has its name.
    Deleted,
    /// A PodDisruptionBudget does not allow it now. Holds the server's message.
    Disallowed(String),
    /// The server refused it.
    Refused(Error),
    /// It could not be sent. A later try may succeed.
    Unavailable(Error),
    /// No response arrived.
    Unknown(Error),
    /// It was not sent: another client changed the workload, or the command ends.
    NotSent,
}

impl DeletionResult {
    /// Returns the result for a pod that was not deleted, by its error.
    #[must_use]
    pub fn not_deleted(error: Error) -> Self {
        if error.kind() == ErrorKind::Unreachable { Self::Unavailable(error) } else { Self::Refused(error) }
    }

    /// Returns the reason if the pod was certainly not deleted.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Deleted | Self::Unknown(_) => None,
            Self::Disallowed(message) => Some(message.clone()),
            Self::Refused(error) | Self::Unavailable(error) => Some(error.sentence()),
            Self::NotSent => Some("another client changed the workload meanwhile".to_owned()),
        }
    }
}
