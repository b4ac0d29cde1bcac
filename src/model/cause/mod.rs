//! The causes of a stalled rollout, found in pods, warning events and conditions. Each file detects one group of
//! causes.
//!
//! The evidence of a cause quotes the component that reported it. A pod that is still starting has no cause. An
//! outdated pod has one only if the rollout waits for that pod, or if the pod outlives its grace period.

mod admission;
mod awaited;
mod config;
pub mod container_logs;
mod context;
mod crash;
mod creating;
mod group;
mod held;
mod id;
mod image_pull;
mod in_place;
mod node;
mod pod_problems;
mod probe;
mod runtime_messages;
mod scheduling;
mod start;
mod stuck;
mod surge_deadlock;

pub use context::{AllowedRestarts, Cause};
pub(in crate::model) use crash::{has_crash_loop, is_crash_looping};
pub use group::without_secrets_of;
pub use id::CauseId;
pub use stuck::stuck_if;
pub use surge_deadlock::surge_deadlock_commands;

use std::cmp::Ordering;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::model::kind::Workload;
use crate::model::kind::verdict::RolloutState;
use crate::model::observation::Observation;
use crate::model::revision::Revision;
use crate::model::status::rollout_facts::verdict;
use context::CauseContext;

/// Returns the causes why a rollout does not progress, with the holds. Causes that need a user come first.
#[must_use]
pub fn causes(observed: &Observation, now: Timestamp) -> Vec<Cause> {
    causes_allowing(observed, AllowedRestarts::default(), now)
}

/// Returns the same causes without the crash loops that an option allows.
#[must_use]
pub fn causes_allowing(observed: &Observation, allowed: AllowedRestarts, now: Timestamp) -> Vec<Cause> {
    find_causes(observed, Holds::Included, allowed, now)
}

/// Returns the same causes without the holds, for `step`, which holds every workload that it steps.
#[must_use]
pub fn causes_without_holds(observed: &Observation, now: Timestamp) -> Vec<Cause> {
    find_causes(observed, Holds::Omitted, AllowedRestarts::default(), now)
}

/// Whether holds are among the causes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Included,
    Omitted,
}

fn find_causes(observed: &Observation, holds: Holds, allowed: AllowedRestarts, now: Timestamp) -> Vec<Cause> {
    let state = verdict(observed).state;
    let deleting = deleting(&observed.workload);
    if state == RolloutState::Unobserved {
        // The controller has not observed the spec, so its pods explain nothing yet.
        return deleting.into_iter().collect();
    }
    let context = CauseContext::new(observed, observed.revisions.current(), allowed, now);
    let mut causes = Vec::new();
    if holds == Holds::Included {
        causes.extend(held::holds(&context, state));
    }
    causes.extend(held::unavailable_pods(&context, state));
    causes.extend(deleting);
    causes.extend(awaited::outliving_grace_period(&context));
    if state != RolloutState::Complete {
        causes.extend(awaited::terminating(&context));
        causes.extend(admission::causes(&context));
        causes.extend(awaited::blocking(&context));
        causes.extend(in_place::causes(&context, state));
        causes.extend(node::unreachable(&context));
        causes.extend(group::by_cause(context.pod_problems()));
        if matches!(state, RolloutState::Progressing | RolloutState::Failed) {
            let deadlock = surge_deadlock::cause(&context, &causes);
            causes.extend(deadlock);
        }
    }
    causes.sort_by(by_importance);
    group::mask_secrets(&mut causes, observed);
    for cause in &mut causes {
        cause.allowed_restarts = allowed.limit();
    }
    causes
}

/// The order of causes: those that need a fix come first.
pub(in crate::model) fn by_importance(a: &Cause, b: &Cause) -> Ordering {
    let [a, b] = [a, b].map(|cause| (cause.is_transient, cause.id, &cause.container, &cause.summary));
    a.cmp(&b)
}

/// Returns the cause for a workload that is being deleted. It remains until its finalizers are removed, and its
/// controller no longer updates its pods.
fn deleting(workload: &Workload) -> Option<Cause> {
    let object = workload.object();
    let requested = object.text("/metadata/deletionTimestamp")?;
    let finalizers = object.at("/metadata/finalizers").and_then(Value::as_array).into_iter().flatten();
    let finalizers: Vec<_> = finalizers.filter_map(Value::as_str).collect();
    let waits =
        if finalizers.is_empty() { String::new() } else { format!(", waits for {}", finalizers.join(", ")) };
    let cause = Cause::of_workload(CauseId::Deleting, format!("deletion requested at {requested}{waits}"));
    Some(Cause { since: requested.parse().ok(), ..cause })
}

/// Returns the causes of the pods of one revision, current or not.
#[must_use]
pub fn causes_of_revision(observed: &Observation, revision: &Revision, now: Timestamp) -> Vec<Cause> {
    let context = CauseContext::new(observed, Some(revision), AllowedRestarts::default(), now);
    let mut causes = group::by_cause(context.pod_problems());
    group::mask_secrets(&mut causes, observed);
    causes
}

impl Cause {
    /// Whether the cause does not end without a fix. A hold needs none: a user requested it.
    #[must_use]
    pub fn needs_a_fix(&self) -> bool {
        !self.is_transient && !self.id.is_hold()
    }

    /// Whether two causes have the same text, apart from the state of a crash loop.
    #[must_use]
    pub(in crate::model) fn reads_as(&self, other: &Self) -> bool {
        crash::without_state(&self.summary) == crash::without_state(&other.summary)
    }
}
