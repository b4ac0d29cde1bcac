//! The state of a target when the follower started, to which `--undo-on-failure` rolls it back.

use crate::kind::Workload;
use crate::kind::verdict::RolloutState;
use crate::observation::Observation;
use crate::revision::Revision;
use crate::status::verdict;
use crate::text::json::Digest;

/// The state of a target when the follower started: its template, and its stable revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartState {
    /// The uid of the workload.
    pub(super) uid: String,
    /// The template that was being rolled out.
    pub(super) template: Digest,
    /// The name and the template of the stable revision, or why there was none.
    pub(super) stable: Result<(String, Digest), &'static str>,
    /// Whether its rollout was complete.
    pub(super) was_complete: bool,
}

impl StartState {
    /// Records the state of a workload as it was found, with its first complete observation.
    pub(super) fn of(found: &Workload, observation: &Observation) -> Self {
        let stable = observation.stable_at_start().and_then(|stable| {
            // With `Recreate`, only terminating pods may be left, which the controller does not count.
            if observation.may_serve(stable) || observation.pods_of(stable).any(|pod| pod.ready) {
                Ok(stable)
            } else {
                Err("no pod of the stable revision is ready")
            }
        });
        let stable = stable.map(|stable| (stable.name.clone(), stable.digest));
        let was_complete = verdict(observation).state == RolloutState::Complete;
        Self { uid: found.object().uid().to_owned(), template: found.template_digest(), stable, was_complete }
    }

    /// Returns the revision to roll back to. Only a workload that still matches its start state is rolled back, and only to a
    /// revision that had ready pods then.
    ///
    /// # Errors
    /// The reason for which it is not rolled back.
    pub fn rollback_revision<'a>(&self, observation: &'a Observation) -> Result<&'a Revision, NoRollback> {
        let workload = &observation.workload;
        if workload.object().uid() != self.uid || workload.template_digest() != self.template {
            return Err(NoRollback::OtherRollout);
        }
        self.stable_revision(observation)
    }

    /// Returns the stable revision at the start, if it still exists with the same template.
    ///
    /// # Errors
    /// Why there is none.
    pub fn stable_revision<'a>(&self, observation: &'a Observation) -> Result<&'a Revision, NoRollback> {
        let (name, template) = self.stable.as_ref().map_err(|why| NoRollback::NoStableRevision(why))?;
        let is_it = |revision: &&Revision| revision.name == *name && revision.digest == *template;
        let is_gone = NoRollback::NoStableRevision("the stable revision is not stored any more");
        observation.revisions.iter().find(is_it).ok_or(is_gone)
    }
}

/// Why a target is not rolled back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRollback {
    /// Its revisions and pods were not read.
    Unread,
    /// Another client rolled out another revision.
    OtherRollout,
    /// The rollout lacks only what `--until` waits for beyond its completion.
    Complete,
    /// The stable revision is missing; the reason, as a fragment.
    NoStableRevision(&'static str),
    /// The write failed, or was not sent; the reason, as a sentence.
    NotWritten(String),
}

impl NoRollback {
    /// Returns the reason, as a fragment or a sentence.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Unread => "the observation is incomplete",
            Self::OtherRollout => "another client rolled out another revision",
            Self::Complete => "the rollout is complete",
            Self::NoStableRevision(why) => why,
            Self::NotWritten(why) => why,
        }
    }
}
