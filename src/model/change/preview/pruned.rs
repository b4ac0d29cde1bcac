//! The revisions that `revisionHistoryLimit` removes.

use crate::model::kind::Workload;
use crate::model::revision::{Revision, Revisions};

/// The API server's default of `revisionHistoryLimit`.
const DEFAULT_LIMIT: i64 = 10;

/// Returns `revisionHistoryLimit`.
pub(super) fn limit(workload: &Workload) -> i64 {
    workload.object().int("/spec/revisionHistoryLimit").unwrap_or(DEFAULT_LIMIT).max(0)
}

/// Returns the revisions that the controller removes when the rollout is complete: the oldest, without the current
/// one, above the limit.
pub(super) fn pruned(revisions: &Revisions, limit: i64) -> Vec<&Revision> {
    let others: Vec<_> = revisions.iter().filter(|revision| !revisions.is_current(revision)).collect();
    let count = others.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
    others.into_iter().take(count).collect()
}
