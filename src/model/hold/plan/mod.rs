//! The plan of `step`, and the annotation `kubectl-rollout2/held` that stores it: what a plan is, how it is read, and the
//! patches that write it.
//!
//! `pause` and `step` hold a StatefulSet with its partition and a DaemonSet with `OnDelete`. The same patch stores the
//! original update strategy. A plan holds a workload of OpenKruise with its partition, and a Deployment with
//! four fields of `spec`; then `strategy` and `set` are objects with those of the four that are present. The
//! value of the annotation is one JSON object:
//!
//! | member | content |
//! |---|---|
//! | `version` | version of this schema: 1 |
//! | `reason` | `pause`, or `plan` for a plan of `step` |
//! | `strategy` | the original update strategy, raw; absent when there was none |
//! | `set` | the update strategy that holds, as it was written |
//! | `since`, `by` | the time and the user, for display |
//! | `paused` | `true` when a plan is paused |
//! | `plan` | see [`Plan`] |
//! | `lock` | see [`Lock`]; earlier versions wrote a `lease`, which counts as a lock of its holder |
//! | `endByHand` | the kubectl command that ends the hold of a Deployment, for people |
//!
//! Unknown members are kept, because a newer version may have written them.

mod amount;
mod annotation;
mod in_force;
mod lock;
mod pace;
mod record;
mod restore;
mod rollback;
mod schema;
mod start_revision;
mod validation;

pub use crate::model::kind::plan_fields::HOLD_ANNOTATION;
pub use amount::Amount;
pub use annotation::{Hold, HoldReason, have_same_plan};
pub use lock::Lock;
pub use pace::{Batches, Check, CheckWatch, LEAST_CHECK_INTERVAL, OnFailure, Pace, Reach, SETTLING_TIME};
pub(in crate::model) use record::require_fields;
pub use record::{PlanRecord, guarded};
pub use restore::{own_min_ready_seconds, restore_by_hand};
pub use rollback::{PartitionRollback, completed_rollback, is_rollback_held, is_rolling_back};
pub use schema::{BatchRecord, Phase, Plan};
pub use start_revision::StartRevision;
