//! `--undo-on-failure`: what a failure would be rolled back to, as it is reported at the start.

use crate::model::observation::Observation;

/// What a failure of a target would be rolled back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollbackTarget {
    /// The stable revision.
    Revision {
        /// Its label.
        label: String,
        /// The images of its template.
        images: Vec<String>,
    },
    /// Nothing; the reason, as a fragment.
    Nothing(&'static str),
}

impl RollbackTarget {
    /// Returns the rollback target of a rollout that has just begun.
    pub(super) fn of(observation: &Observation) -> Self {
        match observation.stable_at_start() {
            Some(stable) => Self::Revision {
                label: stable.label(),
                images: stable.template().images().into_iter().map(str::to_owned).collect(),
            },
            None => Self::Nothing(observation.why_nothing_is_stable()),
        }
    }
}
