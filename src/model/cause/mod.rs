//! Why a rollout does not go on: causes from pods, warnings and conditions. One file a family.
//!
//! A cause is only ever told with the words of the component that knows it. A pod that is merely
//! starting has none, nor has one of another revision, unless that is what the rollout waits for.

mod blocked;
mod config;
mod crash;
mod group;
mod held;
mod id;
mod image_pull;
mod init;
mod node;
mod probe;
mod redact;
mod refused;
mod runtime_words;
mod scheduling;
mod sight;
mod start;
mod terminating;
mod volume;

pub use id::CauseId;
pub use redact::without_secrets_of;

use k8s_openapi::jiff::Timestamp;

use super::observed::Observed;
use super::pod::Pod;
use super::verdict::{State, verdict};
use sight::Sight;

/// One reason for which a rollout does not go on, whatever the number of pods that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Which one it is.
    pub id: CauseId,
    /// Whether it may pass by itself.
    pub heals: bool,
    /// What it is, in a few words that are the same for all pods that have it.
    pub summary: String,
    /// The container that has it, if it is a container's.
    pub container: Option<String>,
    /// The pods that have it, the example first; none when it is the workload's own.
    pub pods: Vec<String>,
    /// How often the example's container was restarted, which is the most of all of them.
    pub restarts: i64,
    /// The words of the component that knows, about the example. What looks secret in them is masked,
    /// as in the summary.
    pub evidence: Option<String>,
}

/// The causes for which a rollout does not go on, those that nobody will heal but somebody first.
#[must_use]
pub fn causes(observed: &Observed, now: Timestamp) -> Vec<Cause> {
    let state = verdict(observed).state;
    if state == State::Unobserved {
        return Vec::new(); // the controller has yet to do its part
    }
    let sight = Sight { observed, running: observed.revisions.running(), now };
    let mut causes = held::causes(&sight, state);
    causes.extend(terminating::causes(&sight));
    if state != State::Complete {
        causes.extend(refused::causes(&sight));
        causes.extend(blocked::causes(&sight));
        causes.extend(node::unreachable(&sight));
        causes.extend(group::by_cause(sight.troubled_pods()));
    }
    causes.sort_by(|a, b| {
        (a.heals, a.id, &a.container, &a.summary).cmp(&(b.heals, b.id, &b.container, &b.summary))
    });
    redact::mask_secrets(&mut causes, observed);
    causes
}

impl Cause {
    /// A cause that is the workload's own.
    fn of_workload(id: CauseId, summary: impl Into<String>) -> Self {
        Self {
            id,
            heals: id.heals_by_itself(),
            summary: summary.into(),
            container: None,
            pods: Vec::new(),
            restarts: 0,
            evidence: None,
        }
    }

    fn told_by(mut self, words: &str) -> Self {
        self.evidence = (!words.is_empty()).then(|| words.to_owned());
        self
    }

    fn of_pods<'a>(mut self, pods: impl IntoIterator<Item = &'a Pod>) -> Self {
        self.pods = pods.into_iter().map(|pod| pod.name.clone()).collect();
        self.pods.sort();
        self
    }
}
