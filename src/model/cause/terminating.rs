//! Pods that should be gone.

use k8s_openapi::jiff::SignedDuration;

use super::group::by_cause;
use super::sight::{Found, Sight, Trouble};
use super::{Cause, CauseId};
use crate::model::pod::Pod;

/// How long after its grace period a pod may still be there: the kubelet has to say that it is gone.
const CLEANING_UP: SignedDuration = SignedDuration::from_secs(30);

/// The workload's pods, of any revision, that outlive their grace period.
pub(super) fn causes(sight: &Sight<'_>) -> Vec<Cause> {
    let is_late =
        |pod: &&Pod| pod.gone_by.is_some_and(|gone_by| sight.now.duration_since(gone_by) > CLEANING_UP);
    let found = sight.observed.own_pods().filter(is_late).map(|pod| Found {
        pod,
        container: None,
        trouble: Trouble::new(CauseId::StuckTerminating, summary(pod), pod.message.as_str()),
    });
    by_cause(found.collect())
}

/// `NodeLost` is the node controller's word for a kubelet that cannot confirm the end
/// (`pkg/util/node`).
fn summary(pod: &Pod) -> String {
    if pod.reason == "NodeLost" {
        format!("stuck terminating, node {} does not answer", pod.node)
    } else if pod.finalizers.is_empty() {
        "stuck terminating".to_owned()
    } else {
        format!("stuck terminating, waits for {}", pod.finalizers.join(", "))
    }
}
