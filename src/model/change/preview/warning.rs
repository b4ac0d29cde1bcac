//! What the user may not expect of a change.

use super::outcome::PreviewOutcome;
use crate::model::api::patch::FieldPath;
use crate::model::change::owners::{ManifestOwner, owners};
use crate::model::change::stuck_pods::stuck_pods;
use crate::model::hold::left_fields;
use crate::model::hold::plan::{Hold, HoldReason};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::template_defaults::has_fixed_tag;
use crate::model::revision::{Revision, Revisions};

/// What the user may not expect of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreviewWarning {
    /// The object ends a hold.
    EndsHold(HoldReason),
    /// The object replaces the strategy of a plan, whose other fields still hold.
    ReplacesHeldStrategy,
    /// Fields of the plan that the object ends stay, with the command that restores them.
    LeavesFields(String),
    /// A tool beside `kubectl apply` owns a manifest of the workload.
    Owner(ManifestOwner),
    /// `revisionHistoryLimit` is 0, so that no revision stays to roll back to.
    KeepsNoHistory,
    /// A lower `revisionHistoryLimit` removes revisions.
    RemovesRevisions {
        /// The limit.
        limit: i64,
        /// The revisions that the present limit keeps.
        revisions: Vec<String>,
    },
    /// Nothing rolls out, and an image has no fixed tag.
    MovingTag(String),
    /// The StatefulSet controller waits for pods that are not ready.
    StuckPods(Vec<String>),
    /// The workload is being deleted.
    BeingDeleted,
    /// New pods cannot start, with the reason.
    PodsCannotStart(String),
}

impl PreviewWarning {
    /// Returns the stable id.
    #[must_use]
    pub fn id(&self) -> &'static str {
        match self {
            Self::EndsHold(_) => "ends-hold",
            Self::ReplacesHeldStrategy => "replaces-held-strategy",
            Self::LeavesFields(_) => "leaves-fields",
            Self::Owner(_) => "owner",
            Self::KeepsNoHistory => "keeps-no-history",
            Self::RemovesRevisions { .. } => "removes-revisions",
            Self::MovingTag(_) => "moving-tag",
            Self::StuckPods(_) => "stuck-pods",
            Self::BeingDeleted => "being-deleted",
            Self::PodsCannotStart(_) => "pods-cannot-start",
        }
    }
}

/// Returns the warnings. `revisions` are those of the workload, with the current one after the change.
pub(super) fn warnings(
    before: &Observation,
    after: &Workload,
    outcome: &PreviewOutcome,
    revisions: &Revisions,
    field_manager: &str,
) -> Vec<PreviewWarning> {
    let mut warnings = Vec::new();
    let now = &before.workload;
    if now.deletion_sentence().is_some() {
        warnings.push(PreviewWarning::BeingDeleted);
    }
    warnings.extend(ended_hold(now, after).map(PreviewWarning::EndsHold));
    if let (Some(before), Some(hold)) = (Hold::in_force(now), Hold::in_force(after))
        && before.is_strategy_held(now)
        && !hold.is_strategy_held(after)
    {
        warnings.push(PreviewWarning::ReplacesHeldStrategy);
    }
    warnings.extend(left_fields(after).map(PreviewWarning::LeavesFields));
    if !matches!(outcome, PreviewOutcome::Unchanged) {
        let others =
            owners(now, &FieldPath::of(["spec", "template"])).into_iter().filter(|owner| match owner {
                ManifestOwner::Apply => false,
                ManifestOwner::ServerSideApply(manager) => manager != field_manager,
                _ => true,
            });
        warnings.extend(others.map(PreviewWarning::Owner));
    }
    let is_new_template =
        matches!(outcome, PreviewOutcome::NewRevision { .. } | PreviewOutcome::Returns { .. });
    let (old_limit, limit) = (history_limit(now), history_limit(after));
    if limit == 0 && (is_new_template || old_limit > 0) && !revisions.is_empty() {
        warnings.push(PreviewWarning::KeepsNoHistory);
    } else if limit < old_limit {
        let kept = pruned(revisions, old_limit).len();
        let removed = pruned(revisions, limit).into_iter().skip(kept);
        let removed: Vec<String> = removed.map(Revision::label).collect();
        if !removed.is_empty() {
            warnings.push(PreviewWarning::RemovesRevisions { limit, revisions: removed });
        }
    }
    if !outcome.is_rollout() {
        let template = after.template();
        let moving = template.images().into_iter().filter(|image| !has_fixed_tag(image));
        warnings.extend(moving.map(|image| PreviewWarning::MovingTag(image.to_owned())));
    }
    if is_new_template {
        let stuck = stuck_pods(before, after, revisions.current());
        let names: Vec<String> = stuck.into_iter().map(|pod| pod.name.clone()).collect();
        if !names.is_empty() {
            warnings.push(PreviewWarning::StuckPods(names));
        }
    }
    warnings
}

/// Returns the reason of the hold that the object ends.
fn ended_hold(now: &Workload, after: &Workload) -> Option<HoldReason> {
    if let Some(hold) = Hold::in_force(now) {
        return Hold::in_force(after).is_none().then(|| hold.reason());
    }
    (now.is_paused() && !after.is_paused()).then_some(HoldReason::Pause)
}

/// The API server's default of `revisionHistoryLimit`.
const DEFAULT_LIMIT: i64 = 10;

/// Returns `revisionHistoryLimit`.
fn history_limit(workload: &Workload) -> i64 {
    workload.object().int("/spec/revisionHistoryLimit").unwrap_or(DEFAULT_LIMIT).max(0)
}

/// Returns the revisions that the controller removes when the rollout is complete: the oldest, without the current
/// one, above the limit.
fn pruned(revisions: &Revisions, limit: i64) -> Vec<&Revision> {
    let others: Vec<_> = revisions.iter().filter(|revision| !revisions.is_current(revision)).collect();
    let count = others.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
    others.into_iter().take(count).collect()
}
