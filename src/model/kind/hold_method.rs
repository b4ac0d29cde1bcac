//! What each method of holding a workload writes, and how it is recognized.

use serde_json::json;

use super::fields::HoldFields;
use super::{HoldMethod, PresentPods, Workload, deployment_hold, partition_hold, strategy};
use crate::model::api::patch::FieldPath;

impl HoldMethod {
    /// Returns the fields that a hold writes and restores.
    pub(super) fn fields(self, workload: &Workload) -> Vec<FieldPath> {
        match self {
            Self::Partition | Self::OnDelete => vec![strategy::strategy_path(workload)],
            Self::UpdateBudget => deployment_hold::fields(),
        }
    }

    /// Returns the fields that hold a workload with these pods as it is.
    #[must_use]
    pub fn fields_to_hold(self, workload: &Workload, pods: &PresentPods<'_>) -> HoldFields {
        match self {
            Self::Partition => partition_hold::fields_to_hold(workload, pods),
            Self::OnDelete => strategy::as_fields(workload, json!({"type": "OnDelete"})),
            Self::UpdateBudget => deployment_hold::fields_to_hold(workload, pods),
        }
    }

    /// Whether a workload still has the fields that hold it. Once another client writes them, the hold has no effect.
    /// Compares only what holds, because a server may add defaults to the rest. Of an update budget, another client may
    /// have paused the workload, or written the strategy: then the hold has another number of pods, and still does not end.
    #[must_use]
    pub fn is_in_force(self, workload: &Workload, hold_fields: &HoldFields) -> bool {
        match self {
            Self::Partition => partition_hold::is_in_force(workload, hold_fields),
            Self::OnDelete => partition_hold::has_type_of(workload, hold_fields),
            Self::UpdateBudget => deployment_hold::is_held(workload),
        }
    }

    /// Whether one of the fields still has the value of the hold, so that its original has to be restored.
    #[must_use]
    pub fn is_field_held(self, workload: &Workload, hold_fields: &HoldFields, path: &FieldPath) -> bool {
        match self {
            Self::Partition | Self::OnDelete => self.is_in_force(workload, hold_fields),
            Self::UpdateBudget => deployment_hold::is_field_held(workload, hold_fields, path),
        }
    }

    /// Whether the fields of a workload can only be those of a hold, whatever its annotation says.
    #[must_use]
    pub fn is_evident(self, workload: &Workload) -> bool {
        self == Self::UpdateBudget && deployment_hold::is_held(workload)
    }

    /// Whether no updated pod counts as available while a plan holds the workload. The controller then never completes the
    /// rollout, keeps surge pods, and cannot be held for another template.
    pub(super) fn blocks_completion(self) -> bool {
        self == Self::UpdateBudget
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
            Self::Partition => partition_hold::hold_rollback(workload, held, original, is_below),
            Self::OnDelete | Self::UpdateBudget => None,
        }
    }

    /// Whether the controller rounds the number of updated pods to the nearest one when it scales the workload, and not
    /// down.
    #[must_use]
    pub fn rounds_to_nearest(self) -> bool {
        self == Self::UpdateBudget
    }

    /// Returns the field by which `step` holds a workload, and its value where that is not a number of pods.
    #[must_use]
    pub fn step_field(self, workload: &Workload) -> (FieldPath, Option<&'static str>) {
        match self {
            Self::Partition => (strategy::partition_path(workload), None),
            Self::OnDelete => {
                let path = workload.kind().strategy().iter().copied().chain(["type"]);
                (FieldPath::of(path), Some("OnDelete"))
            }
            Self::UpdateBudget => (FieldPath::of(["spec", "minReadySeconds"]), None),
        }
    }
}
