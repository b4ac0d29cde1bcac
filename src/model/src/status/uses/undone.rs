//! The change that the last `undo` took back, in an annotation. The rollback takes over the stamp of the client that made it.

use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{RevisionUse, UseStart, last_change_of, uses};
use crate::kind::Workload;
use crate::observation::Observation;

/// The annotation. It has one entry, which the next `undo` replaces.
pub const UNDONE: &str = "kubectl-rollout2/undone";

/// A change that an `undo` took back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// The name of the ReplicaSet or ControllerRevision that it went from.
    pub revision: String,
    /// The field manager that made the change, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// When that was, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// The change-cause of the revision, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

impl Undone {
    /// Returns the change that a rollback takes back now; none while the live template has no revision.
    #[must_use]
    pub fn by_undo(observed: &Observation) -> Option<Self> {
        let current = observed.revisions.current()?;
        let change = last_change_of(observed, &uses(observed))?;
        let time = match change.start {
            UseStart::At(time) => Some(time),
            UseStart::Between { .. } => None,
        };
        Some(Self {
            revision: current.name.clone(),
            manager: change.by,
            time,
            cause: current.change_cause.clone(),
        })
    }

    /// Returns the value of the annotation.
    #[must_use]
    pub fn annotation(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the change that the annotation of a workload stores; none if it is not readable.
    pub(super) fn of(workload: &Workload) -> Option<Self> {
        serde_json::from_str(workload.object().annotation(UNDONE)?).ok()
    }

    /// Names the manager of the use that was undone, unless a stamp shows who began it, or that it is another use.
    pub(super) fn date(self, uses: &mut [RevisionUse<'_>]) {
        let is_undone = |one: &&mut RevisionUse<'_>| {
            one.end.is_some() && one.by.is_none() && one.revision.name == self.revision
        };
        let Some(one) = uses.iter_mut().rev().find(is_undone) else { return };
        match (one.start, self.time) {
            (UseStart::At(start), time) if time != Some(start) => return,
            (UseStart::Between { earliest, latest }, Some(time)) => {
                if time < earliest || latest.is_some_and(|latest| time > latest) {
                    return;
                }
                one.start = UseStart::At(time);
            }
            (_, _) => {}
        }
        one.by = self.manager;
    }
}
