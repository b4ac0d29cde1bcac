//! The options of a `step` command.

use std::time::Duration;

use crate::model::hold::plan::{PaceFlags, Reach};

/// The options of a `step` command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command, and they are independent")]
pub struct StepOptions {
    /// The flags that set the pace. Other values come from the plan, or are defaults.
    pub pace: PaceFlags,
    /// The goal; none for the stored goal of the plan, or else one batch.
    pub reach: Option<Reach>,
    /// Whether the next batch begins even if too many pods are unavailable (`--force`).
    pub force: bool,
    /// Whether to replace the lock of another process (`--take-over`).
    pub take_over: bool,
    /// Whether to skip the rest of a soak (`--skip-soak`).
    pub skip_soak: bool,
    /// Whether to replace an existing plan with one from the flags of this command only (`--new-plan`).
    pub new_plan: bool,
    /// Whether to refuse an update that would recreate a pod (`--in-place-only`).
    pub in_place_only: bool,
    /// Whether to report every decision (`-v 4`).
    pub explains: bool,
    /// The time limit of the command (`--timeout`).
    pub timeout: Option<Duration>,
}
