//! What an incident note is about: the workloads that are in trouble, or whose rollout was undone, and what changed before.

use k8s_openapi::jiff::Timestamp;

use super::RolloutView;
use super::history::{ConfigurationChange, RecentRollout};
use crate::cause::Cause;
use crate::observation::Observation;
use crate::status::uses::UseEnd;

/// One workload of an incident.
#[derive(Clone, Debug)]
pub struct Incident<'a> {
    /// The workload with its revisions and pods.
    pub observed: &'a Observation,
    /// Its present rollout.
    pub view: RolloutView,
    /// Its rollouts since the time of the note, oldest first.
    pub rollouts: Vec<&'a RecentRollout<'a>>,
    /// The ConfigMaps and Secrets that it reads and that changed since then, oldest first.
    pub configuration: Vec<&'a ConfigurationChange>,
}

impl<'a> Incident<'a> {
    /// Returns the incident of a workload; none if it is in no trouble, and no rollout of these was undone.
    #[must_use]
    pub fn of(
        observed: &'a Observation,
        rollouts: &'a [RecentRollout<'a>],
        configuration: &[&'a ConfigurationChange],
        now: Timestamp,
    ) -> Option<Self> {
        let uid = observed.workload.object().uid();
        let own = rollouts.iter().filter(|one| one.observed.workload.object().uid() == uid);
        let mut rollouts: Vec<_> = own.collect();
        let is_read = |one: &&'a ConfigurationChange| one.readers.iter().any(|one| one.object().uid() == uid);
        let mut configuration: Vec<_> = configuration.iter().copied().filter(is_read).collect();
        rollouts.reverse();
        configuration.reverse();
        let incident = Self { observed, view: RolloutView::of(observed, now), rollouts, configuration };
        (incident.is_in_trouble() || incident.was_undone()).then_some(incident)
    }

    /// Whether it needs a fix, or no pod serves.
    #[must_use]
    pub fn is_in_trouble(&self) -> bool {
        self.view.needs_a_fix() || self.view.is_outage
    }

    /// Whether one of its rollouts was undone.
    #[must_use]
    pub fn was_undone(&self) -> bool {
        self.rollouts.iter().any(|one| one.used.end == Some(UseEnd::Undone))
    }

    /// Returns the cause that needs a fix, or else the first one.
    #[must_use]
    pub fn cause(&self) -> Option<&Cause> {
        let causes = &self.view.causes;
        causes
            .iter()
            .find(|cause| cause.needs_a_fix())
            .or_else(|| causes.first())
            .filter(|_| self.is_in_trouble())
    }
}
