//! What differs between the kinds: which places there are and in which order they are released, how the
//! hold is begun, how places are released, and when the controller is done. One file a kind says it.

use serde_json::Value;

use super::plan::Begun;
use super::request::Request;
use super::spot::{Sight, Spot};
use super::{daemon_set, stateful_set};
use crate::error::{Error, Result};
use crate::model::follow::PodPlace;
use crate::model::hold;
use crate::model::observed::Observed;
use crate::model::workload::Workload;

/// How the next places of a batch are released, as far as the budget allows now.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Release {
    /// By another update strategy.
    Strategy {
        /// The strategy.
        set: Value,
        /// The places that it releases.
        places: Vec<String>,
    },
    /// By removing a pod.
    Remove {
        /// The place.
        place: String,
        /// The pod.
        pod: PodPlace,
    },
}

/// Why a workload cannot be stepped as it was asked for, if so. Nothing was read beside it.
///
/// # Errors
/// A usage error, with the alternatives.
pub(super) fn check(workload: &Workload, request: &Request) -> Result<()> {
    match workload {
        Workload::Deployment(_) => Err(refusal_of_deployments(workload)),
        Workload::StatefulSet(_) => stateful_set::check(request),
        Workload::DaemonSet(_) => daemon_set::check(workload, request),
    }
}

/// Why a workload cannot be stepped as the plan says, by what is known beside it.
///
/// # Errors
/// When the plan goes by the labels of nodes, and those may not be read.
pub(super) fn check_sight(sight: &Sight<'_>) -> Result<()> {
    match &sight.observed.workload {
        Workload::Deployment(_) | Workload::StatefulSet(_) => Ok(()),
        Workload::DaemonSet(_) => daemon_set::check_nodes(sight),
    }
}

/// The places, in the order of release.
pub(super) fn spots<'a>(sight: &Sight<'a>) -> Vec<Spot<'a>> {
    match &sight.observed.workload {
        Workload::Deployment(_) => Vec::new(),
        Workload::StatefulSet(_) => stateful_set::spots(sight),
        Workload::DaemonSet(_) => daemon_set::spots(sight),
    }
}

/// The update strategy that holds a workload as it is (design rule 12).
///
/// # Errors
/// When nobody can tell, because its pods could not be read.
pub(super) fn holding(observed: &Observed) -> Result<Value> {
    Ok(hold::holding_of(observed)?.strategy(&observed.workload))
}

/// What to do for the places of a batch that are not released yet, when so many more pods may go down
/// ([`Scene::free`](super::scene::Scene::free)); none when none may, or all are released.
pub(super) fn release(
    sight: &Sight<'_>,
    spots: &[Spot<'_>],
    batch: &Begun,
    free: Option<usize>,
) -> Option<Release> {
    match &sight.observed.workload {
        Workload::Deployment(_) => None,
        Workload::StatefulSet(_) => stateful_set::release(sight, spots, batch, free),
        Workload::DaemonSet(_) => daemon_set::release(sight, spots, batch, free),
    }
}

/// Whether places whose pods are on nodes that are not ready can be passed over.
pub(super) fn passes_over(workload: &Workload) -> bool {
    matches!(workload, Workload::DaemonSet(_))
}

/// Whether the controller itself says that the update is complete, so that the strategy may be again
/// what it was.
pub(super) fn is_complete(sight: &Sight<'_>) -> bool {
    let workload = &sight.observed.workload;
    is_seen(sight.observed)
        && match workload {
            Workload::Deployment(_) => false,
            Workload::StatefulSet(_) => stateful_set::is_complete(sight),
            Workload::DaemonSet(_) => true,
        }
}

/// Whether the controller has seen the workload as it is, and made a revision of its template.
pub(super) fn is_seen(observed: &Observed) -> bool {
    let Some(running) = observed.revisions.running() else { return false };
    let named = observed.workload.object().text("/status/updateRevision");
    let names_it = !matches!(observed.workload, Workload::StatefulSet(_)) || named == Some(&running.name);
    observed.workload.is_observed() && names_it
}

fn refusal_of_deployments(workload: &Workload) -> Error {
    let target = workload.target();
    Error::usage(format!(
        "{target} cannot be stepped: a paused Deployment overshoots, and moves when it is scaled, so nobody can \
         say how many of its pods run the new revision"
    ))
    .hint(
        "its own maxSurge and maxUnavailable set its pace; \
         for a canary, a second Deployment behind the same Service",
    )
}
