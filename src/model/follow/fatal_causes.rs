//! Causes that fail a rollout once they have outlasted their grace period.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::now::Now;
use super::options::FollowOptions;
use super::result::RolloutFailure;
use crate::model::status::cause::{Cause, CauseId, has_crash_loop};
use crate::model::status::observation::Observation;

/// A cause that returns within this time never counted as gone. A container in a crash loop runs
/// for a moment, and the kubelet retries an image pull.
const ABSENCE_GRACE: Duration = Duration::from_secs(10);

/// The restart from which a crash is fatal. The first crash may have waited for a dependency.
const FATAL_RESTARTS: i64 = 2;

/// When each fatal cause appeared, and its grace period.
#[derive(Debug, Default)]
pub(in crate::model) struct FatalCauses(BTreeMap<CauseId, LastingCause>);

#[derive(Clone, Copy, Debug)]
struct LastingCause {
    since: Duration,
    grace: Duration,
    /// The time since when the cause is absent, if it is.
    absent_since: Option<Duration>,
}

impl LastingCause {
    fn has_expired(&self, now: Duration) -> bool {
        self.absent_since.is_none() && now >= self.since + self.grace
    }
}

impl FatalCauses {
    /// Records the causes of one observation. `last_progress` is when the rollout last progressed.
    pub(in crate::model) fn record(
        &mut self,
        causes: &[Cause],
        observation: &Observation,
        options: &FollowOptions,
        last_progress: Duration,
        Now { elapsed: now, server_time }: Now,
    ) {
        let mut present = BTreeSet::new();
        for cause in causes {
            if let Some(grace) = grace(cause, observation, options) {
                let cause_state =
                    self.0.entry(cause.id).or_insert(LastingCause { since: now, grace, absent_since: None });
                (cause_state.grace, cause_state.absent_since) = (grace, None);
                if is_refusal(cause.id) {
                    cause_state.since = cause_state.since.max(last_progress);
                }
                present.insert(cause.id);
            }
        }
        // A container that runs for a while between two crashes has no cause meanwhile.
        let has_crash_loop = has_crash_loop(observation, server_time);
        self.0.retain(|id, cause_state| {
            if !present.contains(id) {
                cause_state.absent_since.get_or_insert(now);
            }
            let is_recent = |absent_since| now < absent_since + ABSENCE_GRACE;
            cause_state.absent_since.is_none_or(is_recent) || ends_container(*id) && has_crash_loop
        });
    }

    /// Returns when the first grace period ends.
    pub(in crate::model) fn due(&self) -> Option<Duration> {
        self.0.values().map(|cause_state| cause_state.since + cause_state.grace).min()
    }

    /// Returns the failure of the first present cause whose grace period is over.
    pub(in crate::model) fn expired(&self, now: Duration) -> Option<RolloutFailure> {
        let (id, cause_state) = self.0.iter().find(|(_, cause_state)| cause_state.has_expired(now))?;
        Some(RolloutFailure::Cause { id: *id, grace: cause_state.grace })
    }

    /// Returns every present cause whose grace period is over.
    pub(in crate::model) fn all_expired(&self, now: Duration) -> impl Iterator<Item = CauseId> {
        self.0.iter().filter(move |(_, cause_state)| cause_state.has_expired(now)).map(|(id, _)| *id)
    }

    /// Discards all causes, because another revision is being rolled out.
    pub(in crate::model) fn reset(&mut self) {
        self.0.clear();
    }
}

/// Returns the grace period of a cause; none if the cause does not fail a rollout.
fn grace(cause: &Cause, observation: &Observation, options: &FollowOptions) -> Option<Duration> {
    let named = options.fail_on.iter().find(|(id, _)| *id == cause.id).map(|(_, grace)| *grace);
    named.or_else(|| options.fail_fast.filter(|_| is_fatal(cause, observation)))
}

/// Whether the cause needs a person to resolve it. A refused pod only counts while no other pod is
/// terminating, because that pod may free quota.
fn is_fatal(cause: &Cause, observation: &Observation) -> bool {
    match cause.id {
        CauseId::ImageNotFound
        | CauseId::ImageUnauthorized
        | CauseId::ImageSignatureInvalid
        | CauseId::ImageNameInvalid
        | CauseId::MissingConfigMap
        | CauseId::MissingSecret
        | CauseId::MissingKey
        | CauseId::MissingClaim
        | CauseId::ConfigError
        | CauseId::CommandNotFound => true,
        CauseId::NodeRefused => !cause.is_transient,
        id if ends_container(id) => cause.restarts >= FATAL_RESTARTS,
        id if is_refusal(id) => !has_terminating_pod(observation),
        _ => false,
    }
}

/// Whether a cause may yet fail the rollout, although it is not fatal at this moment.
pub(super) fn can_become_fatal(cause: &Cause, observation: &Observation, options: &FollowOptions) -> bool {
    ends_container(cause.id) || grace(cause, observation, options).is_some()
}

/// Whether a cause ends its container again and again.
pub(super) fn ends_container(id: CauseId) -> bool {
    matches!(
        id,
        CauseId::CrashLoop
            | CauseId::InitCrash
            | CauseId::OutOfMemory
            | CauseId::PostStartHook
            | CauseId::LivenessProbe
            | CauseId::StartupProbe
    )
}

fn is_refusal(id: CauseId) -> bool {
    matches!(id, CauseId::QuotaExceeded | CauseId::AdmissionRefused)
}

fn has_terminating_pod(observation: &Observation) -> bool {
    let counted = observation.workload.object().int("/status/terminatingReplicas").unwrap_or_default();
    counted > 0 || observation.own_pods().any(|pod| pod.terminating)
}
