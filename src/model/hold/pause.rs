//! `pause`: the patch that holds a workload.

use serde_json::{Value, json};

use super::own_pause::begin_pause;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::patch::{FieldPath, Patch};
use crate::model::api::pod::Pod;
use crate::model::hold::plan::{HOLD_ANNOTATION, Hold, HoldReason, completed_rollback, require_fields};
use crate::model::kind::Workload;
use crate::model::kind::properties::HoldBy;
use crate::model::kind::strategy;
use crate::model::kind::strategy::ABOVE_EVERY_POD;
use crate::model::observation::Observation;

/// What `pause` does.
#[derive(Clone, Debug, PartialEq)]
pub enum Pause {
    /// Nothing: the workload is paused already.
    AlreadyPaused,
    /// Nothing: the strategy `OnDelete` replaces no running pod.
    OnDelete,
    /// Write a patch.
    Change {
        /// The patch.
        patch: Patch,
        /// How it holds the workload.
        method: HoldMethod,
    },
}

/// How a workload is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldMethod {
    /// A Deployment by `spec.paused`.
    Paused,
    /// A StatefulSet by its partition.
    Partition(i64),
    /// A DaemonSet by `OnDelete`.
    OnDelete {
        /// The number of surge pods, which `OnDelete` removes.
        surging: usize,
    },
    /// A plan of `step`, by a flag in its annotation.
    Plan,
}

/// Returns the patch that holds a workload in its present state. `by` and `since` are stored for display.
///
/// # Errors
/// If the annotation of a hold is not readable, if pods cannot be read, and if the update strategy cannot be held.
pub fn pause(observation: &Observation, by: Option<&str>, since: &str) -> Result<Pause> {
    let workload = &observation.workload;
    let mut patch = Patch::of(workload.object());
    if let Some(hold) = completed_rollback(observation) {
        let mut patch = hold.ending(workload);
        let method = match Workload::of_json(patch.after()) {
            Some(restored) => hold_by(observation, &restored, &mut patch, by, since)?,
            None => HoldMethod::Plan,
        };
        return Ok(Pause::Change { patch, method });
    }
    if let Some(hold) = Hold::of(workload)?.filter(|hold| hold.is_in_force(workload)) {
        if hold.is_paused() {
            return Ok(Pause::AlreadyPaused);
        }
        require_fields(workload, &mut patch);
        if let (HoldBy::Paused(_), true) =
            (workload.kind().hold(), hold.is_rolling_back_to_live_template(workload))
        {
            // The partition of a rollback keeps no pod.
            begin_pause(workload, &mut patch);
        }
        patch.set(FieldPath::annotation(HOLD_ANNOTATION), hold.with_pause(true).annotation().into());
        return Ok(Pause::Change { patch, method: HoldMethod::Plan });
    }
    match workload.kind().hold() {
        HoldBy::Paused(_) if workload.is_paused() => return Ok(Pause::AlreadyPaused),
        _ if strategy::is_on_delete(workload) => return Ok(Pause::OnDelete),
        _ => {}
    }
    let method = hold_by(observation, workload, &mut patch, by, since)?;
    Ok(Pause::Change { patch, method })
}

/// Adds to a patch what holds a workload in its present state, and returns how.
fn hold_by(
    observation: &Observation,
    workload: &Workload,
    patch: &mut Patch,
    by: Option<&str>,
    since: &str,
) -> Result<HoldMethod> {
    if let HoldBy::Paused(_) = workload.kind().hold() {
        begin_pause(workload, patch);
        return Ok(HoldMethod::Paused);
    }
    strategy::require_gradual(workload, "paused")?;
    let method = hold_method(observation)?;
    let set = method.strategy(workload);
    let hold = Hold::new(workload, HoldReason::Pause, &set).written_by(by, since);
    patch.require_unchanged(strategy::strategy_path(workload));
    patch.set(strategy::strategy_path(workload), set);
    patch.set(FieldPath::annotation(HOLD_ANNOTATION), hold.annotation().into());
    Ok(method)
}

impl HoldMethod {
    /// Returns the update strategy that holds.
    pub(in crate::model) fn strategy(self, workload: &Workload) -> Value {
        match self {
            Self::Partition(partition) => strategy::with_partition(workload, partition),
            Self::Paused | Self::OnDelete { .. } | Self::Plan => json!({"type": "OnDelete"}),
        }
    }
}

/// Returns how to hold a StatefulSet or DaemonSet in its present state.
///
/// # Errors
/// If pods cannot be read.
pub(in crate::model) fn hold_method(observation: &Observation) -> Result<HoldMethod> {
    let workload = &observation.workload;
    let wanted = usize::try_from(workload.wanted()).unwrap_or_default();
    let Some(pods) = &observation.pods else { return Err(cannot_see_pods(workload)) };
    let own: Vec<&Pod> = pods.iter().map(AsRef::as_ref).filter(|pod| workload.owns(pod)).collect();
    Ok(match workload.kind().hold() {
        HoldBy::Paused(_) => HoldMethod::Paused,
        HoldBy::Partition => HoldMethod::Partition(hold_partition(observation, &own)),
        HoldBy::OnDelete => HoldMethod::OnDelete {
            surging: own.iter().filter(|pod| pod.is_active()).count().saturating_sub(wanted),
        },
    })
}

/// Returns the strategy by which the partition holds a workload in its present state.
///
/// # Errors
/// If pods cannot be read.
pub(in crate::model) fn holding_partition(observation: &Observation) -> Result<Value> {
    let workload = &observation.workload;
    if observation.pods.is_none() {
        return Err(cannot_see_pods(workload));
    }
    let pods: Vec<&Pod> = observation.own_pods().collect();
    Ok(strategy::with_partition(workload, hold_partition(observation, &pods)))
}

/// Returns the partition that holds: one above the highest outdated pod, or the number of outdated pods, and never below
/// the present partition. If no pod is updated, or all are, it is above every possible pod, so that later revisions
/// are held too.
fn hold_partition(observation: &Observation, pods: &[&Pod]) -> i64 {
    let workload = &observation.workload;
    let is_updated =
        |pod: &Pod| observation.revisions.current().is_some_and(|update| workload.runs(pod, update));
    let (updated, outdated): (Vec<&Pod>, Vec<&Pod>) = pods.iter().partition(|pod| is_updated(pod));
    if strategy::partition_counts_pods(workload) && !outdated.is_empty() && !updated.is_empty() {
        let count = |pods: &[&Pod]| {
            i64::try_from(pods.iter().filter(|pod| pod.is_active()).count()).unwrap_or(ABOVE_EVERY_POD)
        };
        // Surge pods are updated, and beside all outdated ones.
        let kept = count(&outdated).min(workload.wanted() - count(&updated));
        return kept.max(strategy::partition(workload));
    }
    let highest = outdated.iter().filter_map(|pod| strategy::partition_index(workload, &pod.name)).max();
    match highest {
        Some(highest) if !updated.is_empty() => {
            highest.saturating_add(1).max(strategy::partition(workload)).min(ABOVE_EVERY_POD)
        }
        _ => ABOVE_EVERY_POD,
    }
}

fn cannot_see_pods(workload: &Workload) -> Error {
    Error::new(
        ErrorKind::Refused,
        format!("{} cannot be held, because its pods cannot be listed", workload.target()),
    )
    .hint("request permission to list pods")
}
