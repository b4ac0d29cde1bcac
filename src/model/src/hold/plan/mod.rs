//! The plan of `step`, and the annotation `kubectl-rollout2/held` that stores it: what a plan is, how it is read, and the
//! patches that write it.
//!
//! A hold writes fields of the workload that its [mechanism](super::mechanism) names:
//! the update strategy with a partition or with `OnDelete`, or four fields of a Deployment's `spec`. The same patch stores
//! the original ones. The value of the annotation is one JSON object:
//!
//! | member | content |
//! |---|---|
//! | `version` | version of this schema: 1 |
//! | `strategy` | the original fields: an update strategy, or members of `spec`; absent when there were none |
//! | `set` | the fields that hold, in the same form, as they were written |
//! | `since`, `by` | when it began, and the user, for display |
//! | `paused` | `true` when a plan is paused |
//! | `plan` | see [`Plan`]; absent for a hold of `pause` |
//! | `lock` | see [`Lock`] |
//! | `endByHand` | the kubectl command that ends the hold of a Deployment, for people |
//!
//! An annotation of another version is not readable. Unknown members have no effect, and the next write drops them.

mod hold;
mod pace;
mod patch;
mod rollback;
pub(crate) mod schema;

pub use super::held::Hold;
pub use super::read::have_same_plan;
pub use crate::kind::fields::HOLD_ANNOTATION;
pub use hold::original_min_ready_seconds;
pub use pace::{
    Amount, BatchSize, Check, CheckWatch, LEAST_CHECK_INTERVAL, OnFailure, Pace, PaceFlags, Reach,
};
pub(crate) use patch::require_fields;
pub use patch::{guarded, lower_partition_by_hand, restore_by_hand};
pub use rollback::{completed_rollback, is_rollback_held, is_rolling_back};
pub use schema::{BatchFailure, CheckResult, LONGEST_TEXT, Lock, MAX_PODS, Plan, PlannedBatch};
