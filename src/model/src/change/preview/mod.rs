//! `preview`: what applying an object would do to the rollout of a workload.
//!
//! The object is as the API server would store it, so that defaults, admission and the rules of `apply` are in it.
//! The preview compares it with the workload that the API server has now.

use serde_json::{Map, Value, json};

use crate::api::managed_fields::LAST_APPLIED;
use crate::api::patch::FieldPath;
use crate::change::effect::Effect;
use crate::change::stuck_pods::stuck_pods;
use crate::change::undo::undone;
use crate::diff::portable_template::has_fixed_tag;
use crate::diff::{Change, Diff, SecretValues};
use crate::hold::{end_command, held_by, left_fields};
use crate::kind::Workload;
use crate::kind::owners::{ManifestOwner, owners};
use crate::observation::Observation;
use crate::revision::template::Template;
use crate::revision::{Revision, Revisions};
use crate::text::shell_command::command;

/// What applying an object would do to the rollout of a workload.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The workload as the API server would store it.
    pub after: Workload,
    /// What happens to its revisions.
    pub outcome: PreviewOutcome,
    /// The revision that the rollout begins from; none if there is none, and for a workload that is created.
    pub from: Option<Revision>,
    /// The changes of the template.
    pub changes: Diff,
    /// The changes of other fields: labels, annotations, and the spec without the template.
    pub fields: Vec<Change>,
    /// The effect on the pods; none for a workload that is created.
    pub effect: Option<Effect>,
    /// What the user may not expect.
    pub warnings: Vec<PreviewWarning>,
}

impl Preview {
    /// Returns the preview for a workload that does not exist.
    #[must_use]
    pub fn of_new(after: Workload) -> Self {
        let template = after.template();
        Self {
            outcome: PreviewOutcome::Created {
                name: after.name_of_next_revision(),
                is_after_pause: is_after_pause(&after),
            },
            from: None,
            changes: Diff::between(&template, &template, SecretValues::Masked),
            fields: Vec::new(),
            effect: None,
            warnings: Vec::new(),
            after,
        }
    }

    /// Returns the preview for a workload that exists. `field_manager` is the manager that applies.
    #[must_use]
    pub fn of(before: &Observation, after: Workload, field_manager: &str, secrets: SecretValues) -> Self {
        let mut revisions = before.revisions.clone();
        revisions.update_current(&after);
        let existing = revisions.current();
        let pending = pending_revision(before, &after);
        let base = pending.map_or_else(|| before.workload.template(), Revision::template);
        let is_same = base.digest() == after.template_digest();
        // A change made during a pause can be taken back before it has a revision.
        let compared = if is_same { before.workload.template() } else { base };
        let changes = Diff::between(&compared, &after.template(), secrets);
        let fields = changed_fields(&before.workload, &after, secrets);
        let effect = Effect::of(before, existing, after.object().json());
        let outcome = if is_same {
            match (releases(before, &effect, existing), fields.is_empty() && changes.is_empty()) {
                (true, _) => PreviewOutcome::Released,
                (false, true) => PreviewOutcome::Unchanged,
                (false, false) => PreviewOutcome::NoRollout,
            }
        } else {
            new_template(&after, &revisions)
        };
        let from = before.revisions.current().or(pending).cloned();
        let warnings = warnings(before, &after, &outcome, &revisions, field_manager);
        Self { outcome, from, changes, fields, effect: Some(effect), warnings, after }
    }
}

/// Returns the revision that the pods run, if the live template was changed during a pause that ends now. The rollout
/// begins from it.
fn pending_revision<'a>(before: &'a Observation, after: &Workload) -> Option<&'a Revision> {
    let is_resumed = before.workload.is_paused() && !after.is_paused();
    let is_pending = before.revisions.current().is_none();
    before.revisions.current_or_newest().filter(|_| is_resumed && is_pending)
}

/// Whether outdated pods that were held are replaced although the template stays.
fn releases(before: &Observation, after: &Effect, existing: Option<&Revision>) -> bool {
    if held_by(&before.workload).is_none() && before.workload.held().in_force().is_none() {
        return false;
    }
    let now = Effect::of(before, existing, before.workload.object().json());
    let replaced = |effect: &Effect| effect.replaced.as_ref().map_or(0, Vec::len);
    replaced(after) > replaced(&now)
}

fn new_template(after: &Workload, revisions: &Revisions) -> PreviewOutcome {
    let existing = revisions.current();
    let number = revisions.number_of_next(existing);
    match existing {
        Some(existing) => PreviewOutcome::Returns { to: Box::new(existing.clone()), number },
        None => PreviewOutcome::NewRevision {
            number,
            name: after.name_of_next_revision(),
            is_after_pause: is_after_pause(after),
        },
    }
}

/// Whether the controller creates the revision of a new template only when the workload is resumed.
fn is_after_pause(after: &Workload) -> bool {
    after.is_paused() && after.kind().revisions().is_synced()
}

/// What applying an object would do to the revisions of a workload.
#[derive(Clone, Debug)]
pub enum PreviewOutcome {
    /// The workload does not exist yet.
    Created {
        /// The name of its first revision, where it can be foretold.
        name: Option<String>,
        /// Whether the revision and its pods are created only after the workload is resumed.
        is_after_pause: bool,
    },
    /// Nothing changes.
    Unchanged,
    /// Fields outside of the template change, and no pod is replaced.
    NoRollout,
    /// The template stays, and outdated pods that were held are replaced.
    Released,
    /// A template that no revision has.
    NewRevision {
        /// The number of the revision.
        number: i64,
        /// Its name, where it can be foretold.
        name: Option<String>,
        /// Whether the revision is created only after the workload is resumed.
        is_after_pause: bool,
    },
    /// A template that a revision has.
    Returns {
        /// The revision.
        to: Box<Revision>,
        /// The number that the controller gives to it.
        number: i64,
    },
}

impl PreviewOutcome {
    /// Whether pods are created or replaced, now or as soon as a hold ends.
    #[must_use]
    pub fn is_rollout(&self) -> bool {
        match self {
            Self::Unchanged | Self::NoRollout => false,
            Self::Created { .. } | Self::Released | Self::NewRevision { .. } | Self::Returns { .. } => true,
        }
    }
}

/// The end of the API server's message (`ValidateDeploymentSpec`).
const DEADLINE: &str = "must be greater than minReadySeconds";

/// Returns that the plan that holds a Deployment is the reason for a refusal, and the command that ends it.
#[must_use]
pub fn refusal_by_plan(live: &Workload, message: &str) -> Option<String> {
    let is_held = live.held().in_force().is_some() && live.hold_blocks_availability();
    (is_held && message.contains(DEADLINE)).then(|| {
        let end = command("to end the plan: {}", [end_command(live)]);
        format!("the API server rejects this manifest until the plan of step ends, which set minReadySeconds; {end}")
    })
}

/// The annotations that `kubectl apply`, the API server and the controllers write.
const GENERATED_ANNOTATIONS: [&str; 3] =
    [LAST_APPLIED, "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"];

/// Returns the changes of labels, annotations and the spec without the template. The spec of another API version has
/// other fields, so that it is not compared.
fn changed_fields(before: &Workload, after: &Workload, secrets: SecretValues) -> Vec<Change> {
    let has_spec = before.api_version() == after.api_version();
    let [from, to] = [before, after].map(|workload| Template::new(&own_fields(workload, has_spec)));
    Diff::between(&from, &to, secrets).changes
}

fn own_fields(workload: &Workload, has_spec: bool) -> Value {
    let object = workload.object();
    let members = |pointer: &str| object.at(pointer).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut annotations: Map<String, Value> = members("/metadata/annotations");
    annotations.retain(|name, _| !GENERATED_ANNOTATIONS.contains(&name.as_str()));
    let mut spec = if has_spec { members("/spec") } else { Map::new() };
    spec.remove("template");
    json!({"metadata": {"labels": members("/metadata/labels"), "annotations": annotations}, "spec": spec})
}

/// What the user may not expect of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreviewWarning {
    /// The object ends a pause.
    EndsPause,
    /// The object ends a plan of `step`.
    EndsPlan,
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
    /// The template is that of the revision that `undo` replaced by the current one.
    BringsBack {
        /// The label of the revision.
        revision: String,
        /// The label of the current one.
        current: String,
    },
    /// The StatefulSet controller waits for pods that are not ready.
    StuckPods(Vec<String>),
    /// The workload is being deleted, in a sentence.
    BeingDeleted(String),
    /// New pods cannot start, with the reason.
    PodsCannotStart(String),
}

/// Returns the warnings. `revisions` are those of the workload, with the current one after the change.
fn warnings(
    before: &Observation,
    after: &Workload,
    outcome: &PreviewOutcome,
    revisions: &Revisions,
    field_manager: &str,
) -> Vec<PreviewWarning> {
    let mut warnings = Vec::new();
    let now = &before.workload;
    warnings.extend(now.deletion_sentence().map(PreviewWarning::BeingDeleted));
    warnings.extend(ended_hold(now, after));
    if let (Some(before), Some(hold)) = (now.held().in_force(), after.held().in_force())
        && before.is_strategy_held(now)
        && !hold.is_strategy_held(after)
    {
        warnings.push(PreviewWarning::ReplacesHeldStrategy);
    }
    warnings.extend(left_fields(after).map(PreviewWarning::LeavesFields));
    if !matches!(outcome, PreviewOutcome::Unchanged) {
        let others = owners(now, &FieldPath::template()).into_iter().filter(|owner| match owner {
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
    if let (PreviewOutcome::Returns { to, .. }, Some(current)) = (outcome, before.revisions.current())
        && undone(before).is_some_and(|undone| undone.name == to.name)
    {
        warnings.push(PreviewWarning::BringsBack { revision: to.label(), current: current.label() });
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

/// Returns the warning if the object ends a hold.
fn ended_hold(now: &Workload, after: &Workload) -> Option<PreviewWarning> {
    match now.held().in_force() {
        Some(_) if after.held().in_force().is_some() => None,
        Some(hold) if hold.has_plan() => Some(PreviewWarning::EndsPlan),
        None if !now.is_paused() || after.is_paused() => None,
        _ => Some(PreviewWarning::EndsPause),
    }
}

/// The API server's default of `revisionHistoryLimit`.
const DEFAULT_LIMIT: i64 = 10;

/// Returns `revisionHistoryLimit`. With a negative one, which only StatefulSets may have, the controller keeps all revisions
/// (`truncateHistory`).
fn history_limit(workload: &Workload) -> i64 {
    let limit = workload.object().int("/spec/revisionHistoryLimit").unwrap_or(DEFAULT_LIMIT);
    if limit < 0 { i64::MAX } else { limit }
}

/// Returns the revisions that the controller removes when the rollout is complete: the oldest, without the current
/// one, above the limit.
fn pruned(revisions: &Revisions, limit: i64) -> Vec<&Revision> {
    let others: Vec<_> = revisions.iter().filter(|revision| !revisions.is_current(revision)).collect();
    let count = others.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
    others.into_iter().take(count).collect()
}

#[cfg(test)]
mod tests;
