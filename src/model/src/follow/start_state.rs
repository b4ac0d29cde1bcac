//! The state of a target when the follower started, to which `--undo-on-failure` rolls it back.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::options::FollowOptions;
use crate::change::undo::{TargetRevision, is_live};
use crate::error::{Error, ErrorKind, Result};
use crate::kind::Workload;
use crate::kind::verdict::RolloutState;
use crate::observation::Observation;
use crate::revision::{Revision, RevisionWord};
use crate::status::uses::start_of_last_use;
use crate::status::verdict;
use crate::text::go_duration::StartTime;
use crate::text::json::Digest;
use crate::text::secret::without_secrets;

/// The default of `--since`: how long ago a rollout that is complete may have begun to be the release that a failure rolls
/// back. A pipeline follows within minutes what it applied. What has served for longer fails for another reason, and the
/// revision before it is no better.
pub const RELEASE_AGE: StartTime = StartTime::Ago(Duration::from_secs(600));

/// The state of a target when the follower started: its template, and the revision that a failure rolls it back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartState {
    /// The uid of the workload.
    pub(super) uid: String,
    /// The template that was being rolled out.
    pub(super) template: Digest,
    /// The name and the template of the revision to roll back to, or why there was none.
    pub(super) stable: Result<(String, Digest), &'static str>,
    /// Whether it is a part of the release that is followed: its rollout was under way, or began after `--since`.
    pub(super) is_released: bool,
}

impl StartState {
    /// Records the state of a workload as it was found, with its first complete observation.
    ///
    /// # Errors
    /// If `--undo-to` means no stored revision, or the live one.
    pub(super) fn of(
        found: &Workload,
        observation: &Observation,
        options: &FollowOptions,
        now: Timestamp,
    ) -> Result<Self> {
        let since = options.release_since.unwrap_or(RELEASE_AGE).resolve(now);
        let is_recent = became_current_after(since, observation);
        let stable = match &options.undo_to {
            Some(word) if found.kind().read_only().is_none() => Ok(named(word, observation)?),
            _ => served_before(observation, is_recent),
        };
        let stable = stable.map(|stable| (stable.name.clone(), stable.digest));
        let is_released = is_recent || verdict(observation).state != RolloutState::Complete;
        Ok(Self {
            uid: found.object().uid().to_owned(),
            template: found.template_digest(),
            stable,
            is_released,
        })
    }

    /// Returns the revision to roll back to: that of `--undo-to`, the one that had ready pods at the start, or the one that a
    /// recent complete release replaced. Only a workload that still matches its start state is rolled back.
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

    /// Returns the revision to roll back to that was found at the start, if it still exists with the same template.
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

/// Returns the revision that `--undo-to` names.
///
/// # Errors
/// If it is not stored, or is the live one.
fn named<'a>(word: &RevisionWord, observation: &'a Observation) -> Result<&'a Revision> {
    let found = TargetRevision::Named(word.clone()).find(observation)?;
    if is_live(observation, found) {
        let message = format!("revision {word} is the one that {} rolls out", observation.workload.target());
        return Err(Error::new(ErrorKind::NotFound, message));
    }
    Ok(found)
}

/// Returns the revision that served before the rollout: the stable one. If every pod runs the current revision, no pod shows
/// it, and it is the revision that the current one replaced, if that `is_recent`.
fn served_before(observation: &Observation, is_recent: bool) -> Result<&Revision, &'static str> {
    let has_no_pods = |why| {
        let before = TargetRevision::StableOrPrevious.find(observation).ok();
        match before.filter(|before| observation.pod_count(before).is_some_and(|count| count.total == 0)) {
            Some(before) if is_recent => Ok(before),
            Some(_) if verdict(observation).state == RolloutState::Complete => {
                Err("the current revision was released before --since")
            }
            _ => Err(why),
        }
    };
    let stable = observation.stable().or_else(has_no_pods)?;
    // With `Recreate`, only terminating pods may be left, which the controller does not count.
    if observation.may_serve(stable) || observation.pods_of(stable).any(|pod| pod.ready) {
        Ok(stable)
    } else {
        Err("no pod of the stable revision is ready")
    }
}

/// Whether the current revision certainly became current at a time or after it. A stamp that leaves open when that was does
/// not decide a write.
fn became_current_after(since: Timestamp, observation: &Observation) -> bool {
    let current = observation.revisions.current();
    let start = current.and_then(|current| start_of_last_use(observation, current));
    start.is_some_and(|start| start.earliest() >= since)
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
    /// It may have been written; the reason for which that is unknown, as a sentence.
    Unknown(String),
}

impl NoRollback {
    /// Returns the reason of a rollback that was not written.
    #[must_use]
    pub fn not_written(error: &Error) -> Self {
        Self::NotWritten(without_secrets(&error.to_string()))
    }

    /// Returns the reason of a rollback that may have been written.
    #[must_use]
    pub fn unknown(error: &Error) -> Self {
        Self::Unknown(without_secrets(&error.to_string()))
    }

    /// Returns the reason, as a fragment or a sentence.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Unread => "the observation is incomplete",
            Self::OtherRollout => "another client rolled out another revision",
            Self::Complete => "the rollout is complete",
            Self::NoStableRevision(why) => why,
            Self::NotWritten(why) | Self::Unknown(why) => why,
        }
    }
}
