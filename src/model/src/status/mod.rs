//! The status of a rollout: its verdict, when each revision was used, and who changed the template.

pub mod stale_configuration;
pub mod uses;

use crate::api::pod::Pod;
use crate::hold::plan::Hold;
use crate::kind::strategy;
use crate::kind::verdict::{Activity, RolloutState, Verdict};
use crate::observation::Observation;

/// Returns the verdict of a rollout, by the rules of its kind and the counters of its controller.
///
/// Its line is always one of kubectl's, because scripts match them. Where kubectl draws a wrong conclusion from the
/// counters, the state of the verdict differs from kubectl's.
#[must_use]
pub fn verdict(observation: &Observation) -> Verdict {
    let workload = &observation.workload;
    if !workload.is_observed() {
        return workload.unobserved_verdict();
    }
    let hold = workload.held().in_force();
    // A plan itself pauses a Deployment until its first batch.
    let is_of_plan = |hold: &Hold| hold.has_plan() && !hold.is_paused_by_another_client(workload);
    let is_paused = workload.is_paused() && !hold.is_some_and(is_of_plan);
    let counts_starting_pods = strategy::is_on_delete(workload) || workload.held().holds() && !is_paused;
    let activity = Activity {
        current: observation.revisions.current().map(|current| current.name.as_str()),
        has_revisions: !observation.revisions.is_empty(),
        is_updating_pods: counts_starting_pods && updated_pods_are_starting(observation)
            || strategy::has_node_selector(workload) && pods_are_changing(observation),
        is_rolling_back: hold.is_some_and(|hold| has_pods_to_roll_back(observation, hold)),
    };
    let verdict = workload.kind().verdict(workload, &activity);
    // The last batch removes its plan, so a plan in force has a batch, a soak or a check to come.
    let is_unfinished = |hold: &Hold| hold.has_plan() && !hold.is_rolling_back_to_live_template(workload);
    if verdict.state == RolloutState::Complete && hold.is_some_and(is_unfinished) {
        return Verdict { state: RolloutState::Held, ..verdict };
    }
    verdict
}

/// Whether an updated pod is not ready, or is missing from its ReplicaSet. An `OnDelete` workload, and a Deployment with a
/// plan, is held only once its updated pods are ready. False if pods cannot be read.
fn updated_pods_are_starting(observation: &Observation) -> bool {
    let wanted = observation.revisions.current().map_or(0, |current| current.replica_set_counts.wanted);
    let ready = observation.updated_pods().filter(|pod| pod.ready).count();
    observation.pods.is_some() && ready < wanted.max(observation.updated_pods().count())
}

/// Whether a pod is being updated or replaced, or waits for a lifecycle hook. False if pods cannot be read.
fn pods_are_changing(observation: &Observation) -> bool {
    let is_changing = |pod: &Pod| !pod.ready || pod.terminating || pod.is_updating_in_place();
    let is_missing = || {
        let active = observation.own_pods().filter(|pod| pod.is_active()).count();
        i64::try_from(active).is_ok_and(|active| active < observation.workload.wanted())
    };
    observation.pods.is_some() && (observation.own_pods().any(is_changing) || is_missing())
}

/// Whether `step` is rolling back and pods are not on the revision of the rollback yet. Its hold is in force then only where
/// the partition counts pods; it keeps none.
fn has_pods_to_roll_back(observation: &Observation, hold: &Hold) -> bool {
    hold.is_rolling_back_to_live_template(&observation.workload)
        && observation.own_pods().any(|pod| !observation.is_updated(pod))
}
