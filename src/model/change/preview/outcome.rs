//! What applying an object would do to the revisions of a workload.

use crate::model::hold::end_command;
use crate::model::hold::plan::Hold;
use crate::model::kind::Workload;
use crate::model::revision::Revision;
use crate::model::text::shell_command::command;

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

/// The end of the API server's message (`ValidateDeploymentSpec`).
const DEADLINE: &str = "must be greater than minReadySeconds";

/// Returns that the plan that holds a Deployment is the reason for a refusal, and the command that ends it.
#[must_use]
pub fn refusal_by_plan(live: &Workload, message: &str) -> Option<String> {
    let is_held = Hold::in_force(live).is_some() && live.is_completion_blocked_by_hold();
    (is_held && message.contains(DEADLINE)).then(|| {
        let end = command("to end the plan: {}", [end_command(live)]);
        format!("the API server rejects this manifest until the plan of step ends, which set minReadySeconds; {end}")
    })
}
