//! Causes that fail a rollout once they have lasted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::end::Failure;
use super::options::Options;
use crate::model::cause::{Cause, CauseId};
use crate::model::observed::Observed;

/// A crash loop runs for a moment in between, and an image is tried again: a cause that comes back
/// within this time never went.
const LINGER: Duration = Duration::from_secs(10);

/// From this restart on a crash is no slip: the first one may be a dependency that came up later.
const SECOND_RESTART: i64 = 2;

/// Since when which cause would fail the rollout.
#[derive(Debug, Default)]
pub(in crate::model) struct Doom(BTreeMap<CauseId, Lasting>);

#[derive(Clone, Copy, Debug)]
struct Lasting {
    since: Duration,
    grace: Duration,
    /// Since when it is not there, if it is not.
    away: Option<Duration>,
}

impl Lasting {
    fn is_over(&self, now: Duration) -> bool {
        self.away.is_none() && now >= self.since + self.grace
    }
}

impl Doom {
    /// Takes note of the causes there are now. `moved` is when the rollout last got further.
    pub(in crate::model) fn take(
        &mut self,
        causes: &[Cause],
        observed: &Observed,
        options: &Options,
        moved: Duration,
        now: Duration,
    ) {
        let mut there = BTreeSet::new();
        for cause in causes {
            if let Some(grace) = grace(cause, observed, options) {
                let lasting = self.0.entry(cause.id).or_insert(Lasting { since: now, grace, away: None });
                (lasting.grace, lasting.away) = (grace, None);
                if is_refusal(cause.id) {
                    lasting.since = lasting.since.max(moved);
                }
                there.insert(cause.id);
            }
        }
        self.0.retain(|id, lasting| {
            if !there.contains(id) {
                lasting.away.get_or_insert(now);
            }
            lasting.away.is_none_or(|away| now < away + LINGER)
        });
    }

    /// When the first of them will have lasted long enough.
    pub(in crate::model) fn due(&self) -> Option<Duration> {
        self.0.values().map(|lasting| lasting.since + lasting.grace).min()
    }

    /// The one that is there at this moment and has lasted long enough.
    pub(in crate::model) fn struck(&self, now: Duration) -> Option<Failure> {
        let (id, lasting) = self.0.iter().find(|(_, lasting)| lasting.is_over(now))?;
        Some(Failure::Cause { id: *id, grace: lasting.grace })
    }

    /// All of those that are there at this moment and have lasted long enough.
    pub(in crate::model) fn all_struck(&self, now: Duration) -> impl Iterator<Item = CauseId> {
        self.0.iter().filter(move |(_, lasting)| lasting.is_over(now)).map(|(id, _)| *id)
    }

    /// Nothing that was counts any more.
    pub(in crate::model) fn forget(&mut self) {
        self.0.clear();
    }
}

/// How long a cause may last; none when it does not fail a rollout.
fn grace(cause: &Cause, observed: &Observed, options: &Options) -> Option<Duration> {
    let named = options.fail_on.iter().find(|(id, _)| *id == cause.id).map(|(_, grace)| *grace);
    named.or_else(|| options.fail_fast.filter(|_| fails_by_itself(cause, observed)))
}

/// What nobody but a person heals, and a pod that is refused while none is on its way out, whose
/// room in the quota the new one might take.
fn fails_by_itself(cause: &Cause, observed: &Observed) -> bool {
    match cause.id {
        CauseId::ImageNotFound
        | CauseId::ImageUnauthorized
        | CauseId::ImageSignatureInvalid
        | CauseId::ImageNameInvalid
        | CauseId::MissingConfigMap
        | CauseId::MissingSecret
        | CauseId::MissingKey
        | CauseId::MissingClaim
        | CauseId::CommandNotFound => true,
        CauseId::CrashLoop | CauseId::InitCrash | CauseId::OutOfMemory => cause.restarts >= SECOND_RESTART,
        id if is_refusal(id) => !some_pod_is_terminating(observed),
        _ => false,
    }
}

fn is_refusal(id: CauseId) -> bool {
    matches!(id, CauseId::QuotaExceeded | CauseId::AdmissionRefused)
}

fn some_pod_is_terminating(observed: &Observed) -> bool {
    let counted = observed.workload.object().int("/status/terminatingReplicas").unwrap_or_default();
    counted > 0 || observed.own_pods().any(|pod| pod.terminating)
}
