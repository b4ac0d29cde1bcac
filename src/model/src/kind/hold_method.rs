//! What each method of holding a workload writes, and how it is recognized.

use serde_json::{Value, json};

use super::fields::{HoldFields, UPDATE_STRATEGY, spec_path};
use super::strategy::{self, ABOVE_EVERY_POD};
use super::{HoldMethod, PresentPods, Workload, deployment_hold};
use crate::api::patch::FieldPath;
use crate::api::pod::Pod;

impl HoldMethod {
    /// Returns the members of `spec` that a hold writes and restores.
    pub(super) fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Partition | Self::OnDelete => &[UPDATE_STRATEGY],
            Self::MinReadySeconds => deployment_hold::FIELDS,
        }
    }

    /// Returns the fields that hold a workload with these pods as it is.
    #[must_use]
    pub fn fields_to_hold(self, workload: &Workload, pods: &PresentPods<'_>) -> HoldFields {
        match self {
            Self::Partition => partition_to_hold(workload, pods),
            Self::OnDelete => strategy::as_fields(workload, json!({"type": "OnDelete"})),
            Self::MinReadySeconds => deployment_hold::fields_to_hold(workload, pods),
        }
    }

    /// Whether a workload still has the fields that hold it. Once another client writes them, the hold has no effect.
    /// Compares only what holds, because a server may add defaults to the rest. Of an update budget, another client may
    /// have paused the workload, or written the strategy: then the hold has another number of pods, and still does not end.
    #[must_use]
    pub fn is_in_force(self, workload: &Workload, hold_fields: &HoldFields) -> bool {
        match self {
            Self::Partition => has_partition_of(workload, hold_fields),
            Self::OnDelete => has_type_of(workload, hold_fields),
            Self::MinReadySeconds => deployment_hold::is_held(workload),
        }
    }

    /// Whether the update strategy is still that of the hold.
    #[must_use]
    pub fn is_strategy_held(self, workload: &Workload, hold_fields: &HoldFields) -> bool {
        match self {
            Self::Partition | Self::OnDelete => self.is_in_force(workload, hold_fields),
            Self::MinReadySeconds => deployment_hold::is_strategy_held(workload, hold_fields),
        }
    }

    /// Returns the value of a field after the end of the hold: the original one, or the live one if another client wrote it.
    /// Of an update strategy that another client changed meanwhile, only what the hold wrote is restored.
    #[must_use]
    pub fn restored(
        self,
        workload: &Workload,
        held: &HoldFields,
        original: &HoldFields,
        name: &str,
    ) -> Option<Value> {
        match self {
            Self::Partition | Self::OnDelete if self.is_in_force(workload, held) => {
                strategy::restored(workload, held.get(name), original.get(name), &[])
            }
            Self::Partition | Self::OnDelete => spec_path(name).value_in(workload.object().json()).cloned(),
            Self::MinReadySeconds => deployment_hold::restored(workload, held, original, name),
        }
    }

    /// Returns the fields that hold a workload while it is rolled back, if the original ones would leave released pods on
    /// the failed revision. `is_below` tells whether the plan released pods below the original partition.
    #[must_use]
    pub fn hold_rollback(
        self,
        workload: &Workload,
        held: &HoldFields,
        original: &HoldFields,
        is_below: bool,
    ) -> Option<HoldFields> {
        match self {
            Self::Partition => partition_of_rollback(workload, held, original, is_below),
            Self::OnDelete | Self::MinReadySeconds => None,
        }
    }

    /// Returns the field by which `step` holds a workload, and its value where that is not a number of pods.
    #[must_use]
    pub fn step_field(self, workload: &Workload) -> (FieldPath, Option<&'static str>) {
        match self {
            Self::Partition => (strategy::partition_path(workload), None),
            Self::OnDelete => (FieldPath::of(["spec", UPDATE_STRATEGY, "type"]), Some("OnDelete")),
            Self::MinReadySeconds => (FieldPath::of(["spec", "minReadySeconds"]), None),
        }
    }
}

/// Returns the partition that holds: one above the highest outdated pod, or the number of outdated pods, and never below
/// the present partition. If no pod is updated, or all are, it is above every possible pod, so that later revisions are
/// held too.
fn partition_to_hold(workload: &Workload, pods: &PresentPods<'_>) -> HoldFields {
    let highest = || {
        let index = |pod: &&Pod| strategy::partition_index(workload, &pod.name);
        pods.outdated.iter().filter_map(index).max()
    };
    let kept = if pods.updated.is_empty() || pods.outdated.is_empty() {
        None
    } else if strategy::partition_counts_pods(workload) {
        // Surge pods are updated, and beside all outdated ones.
        let (updated, outdated) = pods.active();
        Some(outdated.min(workload.wanted() - updated))
    } else {
        highest().map(|highest| highest.saturating_add(1).min(ABOVE_EVERY_POD))
    };
    let kept = kept.map_or(ABOVE_EVERY_POD, |kept| kept.max(strategy::partition(workload)));
    strategy::as_fields(workload, strategy::with_partition(workload, kept))
}

/// Whether the live partition and the held one are the same, of the same type of strategy.
fn has_partition_of(workload: &Workload, hold_fields: &HoldFields) -> bool {
    let live = strategy::update_strategy(workload).and_then(strategy::written_partition);
    has_type_of(workload, hold_fields)
        && live == hold_fields.get(UPDATE_STRATEGY).and_then(strategy::written_partition)
}

/// Returns what stays held in a rollback. Of pods by ordinal, the present partition, if it is below the original one. Of a
/// partition that counts pods, the original keeps any pods of that number, so also released ones. It is left out then.
fn partition_of_rollback(
    workload: &Workload,
    hold_fields: &HoldFields,
    original: &HoldFields,
    is_below: bool,
) -> Option<HoldFields> {
    let original = original.get(UPDATE_STRATEGY);
    let own = original.map_or(0, |original| strategy::partition_of(workload, original));
    if !strategy::partition_counts_pods(workload) {
        return (is_below && strategy::partition(workload) < own).then(|| hold_fields.clone());
    }
    (own > 0).then(|| strategy::as_fields(workload, strategy::with_partition(workload, 0)))
}

/// Whether a workload and the strategy that holds it are both `OnDelete`, or both not.
fn has_type_of(workload: &Workload, hold_fields: &HoldFields) -> bool {
    hold_fields
        .get(UPDATE_STRATEGY)
        .is_some_and(|held| strategy::is_on_delete(workload) == strategy::is_on_delete_strategy(held))
}
