//! Pods that outlive their grace period, and slow terminating pods that the controller waits for.

use std::time::Duration;

use k8s_openapi::jiff::SignedDuration;

use super::context::{CauseContext, PodProblem, Problem, SLOW_AFTER};
use super::group::by_cause;
use super::node::is_unreachable;
use super::{Cause, CauseId};
use crate::model::api::pod::Pod;
use crate::model::text::go_duration;

/// The time that the kubelet has after the grace period to confirm the end of a pod.
const CONFIRMATION_TIME: SignedDuration = SignedDuration::from_secs(30);

/// Returns the cause for slow terminating pods that the controller waits for before it creates their replacements.
/// A Deployment waits only with `Recreate`, a DaemonSet unless it may surge, and a StatefulSet always.
pub(super) fn awaited(context: &CauseContext<'_>) -> Vec<Cause> {
    let workload = &context.observed.workload;
    let waits = workload.kind().pods().wait_for_terminating_pods(workload);
    let began =
        |pod: &Pod| pod.deletion_deadline?.checked_sub(SignedDuration::from_secs(pod.grace_seconds?)).ok();
    let is_awaited = |pod: &&Pod| {
        let is_slow = began(pod).is_some_and(|began| context.now.duration_since(began) > SLOW_AFTER);
        waits && is_slow && !is_late(pod, context)
    };
    let found = context.observed.own_pods().filter(is_awaited).map(|pod| {
        let grace = Duration::from_secs(
            pod.grace_seconds.and_then(|seconds| seconds.try_into().ok()).unwrap_or_default(),
        );
        let summary = format!("old pod is still terminating, grace period {}", go_duration::write(grace));
        PodProblem { pod, container: None, problem: Problem::new(CauseId::OldPodsTerminating, summary, "") }
    });
    by_cause(found.collect())
}

fn is_late(pod: &Pod, context: &CauseContext<'_>) -> bool {
    pod.deletion_deadline
        .is_some_and(|deletion_deadline| context.now.duration_since(deletion_deadline) > CONFIRMATION_TIME)
}

/// Returns the causes for pods, of any revision, that outlive their grace period.
pub(super) fn outliving_grace_period(context: &CauseContext<'_>) -> Vec<Cause> {
    let found = context.observed.own_pods().filter(|pod| is_late(pod, context)).map(|pod| PodProblem {
        pod,
        container: None,
        problem: Problem::new(CauseId::StuckTerminating, summary(pod), pod.message.as_str()),
    });
    by_cause(found.collect())
}

/// Returns the summary for a pod that outlives its grace period. An unreachable kubelet cannot confirm the end of
/// a pod, and may never have received the pod. Older node controllers set the reason `NodeLost`
/// (`pkg/util/node`).
fn summary(pod: &Pod) -> String {
    let is_unheard_of = !pod.node.is_empty() && pod.containers.is_empty();
    if pod.reason == "NodeLost" || is_unreachable(pod) || is_unheard_of {
        format!("stuck terminating, node {} does not answer", pod.node)
    } else if pod.finalizers.is_empty() {
        "stuck terminating".to_owned()
    } else {
        format!("stuck terminating, waits for {}", pod.finalizers.join(", "))
    }
}
