//! The preview of what applying objects would do: a block for each workload, or one JSON document.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::change::{pods_cannot_start, stuck_pods};
use super::diff::{self, changes, reordered};
use super::finding::members;
use super::json::{document, workload_json};
use super::line::{Line, Style};
use super::{owner_warnings, pods};
use crate::model::change::effect::{Effect, UpdatePace};
use crate::model::change::preview::{Preview, PreviewOutcome, PreviewWarning};
use crate::model::diff::Change;
use crate::model::finding::{Finding, Reason};
use crate::model::hold::{HeldBy, end_command};
use crate::model::kind::Workload;
use crate::model::text::plural::plural;
use crate::model::text::shell_command::command;

/// What is printed of a workload that nothing refuses, because its namespace does not exist yet.
pub const NO_PREVIEW: &str = "cannot be previewed";

/// A workload without a preview.
#[derive(Clone, Debug)]
pub struct RefusedObject {
    /// The workload of the manifest.
    pub workload: Workload,
    /// What is printed of it: `refused by kubectl`, `refused by the API server` or [`NO_PREVIEW`].
    pub how: &'static str,
    /// The message.
    pub message: String,
}

/// Returns the block of one workload. `in_namespace` adds its namespace to the name.
#[must_use]
pub fn block(preview: &Preview, in_namespace: bool) -> Vec<Line> {
    let mut lines = vec![title(&preview.after, in_namespace, &outcome(preview))];
    if !preview.changes.is_empty() {
        lines.extend(diff::rows(&preview.changes.rows()));
    } else if preview.outcome.is_rollout() && !preview.changes.reordered.is_empty() {
        lines.push(Line::of("  ").joined_with(diff::no_differences(&preview.changes.reordered)));
    }
    let field = |change: &Change| Line::of(format!("  {}   {}", change.path, change.words()));
    lines.extend(preview.fields.iter().map(field));
    if let Some(effect) = preview.effect.as_ref().filter(|_| preview.outcome.is_rollout()) {
        lines.extend(pods::effect_lines(effect));
    }
    lines
}

/// Returns the block of an object that is refused.
#[must_use]
pub fn refused(refused: &RefusedObject, in_namespace: bool) -> Line {
    title(&refused.workload, in_namespace, refused.how)
}

fn title(workload: &Workload, in_namespace: bool, words: &str) -> Line {
    let namespace = workload.object().namespace();
    let place = if in_namespace { format!(" -n {namespace}") } else { String::new() };
    Line::styled(Style::Heading, workload.target()).with(Style::Plain, format!("{place}  {words}"))
}

fn outcome(preview: &Preview) -> String {
    let from =
        preview.from.as_ref().map_or_else(|| "live".to_owned(), |from| format!("revision {}", from.label()));
    let named = |name: &Option<String>| name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    match &preview.outcome {
        PreviewOutcome::Created { name, is_after_pause } => {
            let pods = match preview.after.wanted() {
                0 => String::new(),
                pods if *is_after_pause => format!(" paused, with {} when it is resumed", pods::pods(pods)),
                pods => format!(" with {}", pods::pods(pods)),
            };
            let revision = name.as_ref().map(|name| format!(", revision 1 ({name})")).unwrap_or_default();
            format!("is created{pods}{revision}")
        }
        PreviewOutcome::Unchanged => "no change".to_owned(),
        PreviewOutcome::NoRollout => "no rollout".to_owned(),
        PreviewOutcome::Released => format!("{from}, held pods are released"),
        PreviewOutcome::NewRevision { number, name, is_after_pause } => {
            let when = if *is_after_pause { ", created when it is resumed" } else { "" };
            format!("{from} -> new revision {number}{}{when}", named(name))
        }
        PreviewOutcome::Returns { to, number } => {
            let becomes = match to.number.known() {
                Some(known) if known == *number => String::new(),
                _ => format!(", which becomes {number}"),
            };
            format!("{from} -> returns to revision {}{becomes}", to.label())
        }
    }
}

/// Returns the finding of a warning.
#[must_use]
pub fn warning(warning: &PreviewWarning, workload: &Workload) -> Finding {
    let target = workload.target();
    let (reason, text) = match warning {
        PreviewWarning::EndsPause => (Reason::EndsHold, format!("it ends the pause of {target}")),
        PreviewWarning::EndsPlan => (
            Reason::EndsHold,
            format!("it ends the plan of step for {target}, and the controller updates all pods"),
        ),
        PreviewWarning::ReplacesHeldStrategy => {
            let until = command("until {}", [end_command(workload)]);
            let text = format!(
                "it replaces the strategy of the plan of step, whose other fields still hold {target} {until}"
            );
            (Reason::ReplacesHeldStrategy, text)
        }
        PreviewWarning::LeavesFields(left) => {
            let until = command("until kubectl rollout2 resume {}", [workload.command_target()]);
            (Reason::LeavesFields, format!("it leaves {target} with {left}, from the plan of step, {until}"))
        }
        PreviewWarning::Owner(owner) => (Reason::Owner, owner_warnings::before_an_apply(owner, workload)),
        PreviewWarning::KeepsNoHistory => (
            Reason::KeepsNoHistory,
            format!("revisionHistoryLimit 0 of {target} keeps no revision to roll back to"),
        ),
        PreviewWarning::RemovesRevisions { limit, revisions } => {
            let noun = if revisions.len() == 1 { "revision" } else { "revisions" };
            let text =
                format!("revisionHistoryLimit {limit} of {target} removes {noun} {}", revisions.join(", "));
            (Reason::RemovesRevisions, text)
        }
        PreviewWarning::MovingTag(image) => {
            let text =
                format!("the tag of image {image} is not fixed: applying {target} again replaces no pod");
            let hint = command("to pull it again: kubectl rollout2 restart {}", [workload.command_target()]);
            return Finding::warning(Reason::MovingTag, text).with_hint(hint);
        }
        PreviewWarning::BringsBack { revision, current } => {
            let text = format!(
                "the last rollout rolled revision {revision} back (to {current}); applying the manifest rolls it out again"
            );
            return Finding::warning(Reason::BringsBack, text).about(target);
        }
        PreviewWarning::StuckPods(pods) => {
            let text = stuck_pods(&pods::names(pods), pods.len());
            return Finding::warning(Reason::StuckPods, text).about(target);
        }
        PreviewWarning::BeingDeleted(sentence) => (Reason::BeingDeleted, sentence.clone()),
        PreviewWarning::PodsCannotStart(why) => return pods_cannot_start(workload, why),
    };
    Finding::warning(reason, text)
}

/// Returns the last line: how many workloads roll out, and the other objects by kind.
#[must_use]
pub fn summary(rollouts: usize, workloads: usize, others: &BTreeMap<String, usize>) -> String {
    let verb = if workloads == 1 || rollouts == 1 { "rolls out" } else { "roll out" };
    let count = match workloads {
        0 => "no workload".to_owned(),
        _ => format!("{rollouts} of {} {verb}", plural(workloads, "workload")),
    };
    if others.is_empty() {
        return count;
    }
    let kinds: Vec<String> =
        others.iter().map(|(kind, count)| plural(*count, &kind.to_lowercase())).collect();
    format!("{count}; without rollouts: {}", kinds.join(", "))
}

/// Returns the document of all workloads, with the counts of the other objects by kind.
#[must_use]
pub fn json_list(items: &[Value], others: &BTreeMap<String, usize>) -> Value {
    document("PreviewList", json!({"items": items, "otherObjects": others}))
}

/// Returns the preview of one workload.
#[must_use]
pub fn item_json(preview: &Preview) -> Value {
    let (outcome, to, name) = match &preview.outcome {
        PreviewOutcome::Created { name, .. } => ("created", Some(1), name.clone()),
        PreviewOutcome::Unchanged => ("unchanged", None, None),
        PreviewOutcome::NoRollout => ("no-rollout", None, None),
        PreviewOutcome::Released => ("released", None, None),
        PreviewOutcome::NewRevision { number, name, .. } => ("new-revision", Some(*number), name.clone()),
        PreviewOutcome::Returns { to, number } => ("returns", Some(*number), Some(to.name.clone())),
    };
    let returns_to = match &preview.outcome {
        PreviewOutcome::Returns { to, .. } => to.number.known(),
        _ => None,
    };
    let is_after_pause = matches!(
        &preview.outcome,
        PreviewOutcome::NewRevision { is_after_pause: true, .. }
            | PreviewOutcome::Created { is_after_pause: true, .. }
    );
    let fields: Vec<Value> = preview
        .fields
        .iter()
        .map(|change| json!({"path": change.path.to_string(), "from": change.from, "to": change.to}))
        .collect();
    let warnings = preview.warnings.iter().map(|one| members(&warning(one, &preview.after)));
    let warnings: Vec<Value> = warnings.collect();
    json!({
        "workload": workload_json(&preview.after),
        "outcome": outcome,
        "rollout": preview.outcome.is_rollout(),
        "fromRevision": preview.from.as_ref().and_then(|from| from.number.known()),
        "toRevision": to,
        "revisionName": name,
        "returnsTo": returns_to,
        "afterPause": is_after_pause,
        "changes": changes(&preview.changes),
        "reordered": reordered(&preview.changes),
        "fields": fields,
        "effect": preview.effect.as_ref().filter(|_| preview.outcome.is_rollout()).map(effect_json),
        "warnings": warnings,
        "message": null,
    })
}

/// What begins kubectl's message about fields of other managers.
pub const CONFLICT: &str = "Apply failed with ";

/// Returns the hint for a server-side apply that other managers' fields stop, in place of kubectl's advice of seven lines.
#[must_use]
pub fn conflict_hint(message: &str) -> Option<String> {
    message
        .starts_with(CONFLICT)
        .then(|| "to take the fields over, repeat it with --force-conflicts".to_owned())
}

/// Returns the item of an object that is refused.
#[must_use]
pub fn refused_item_json(refused: &RefusedObject, hint: Option<&str>) -> Value {
    json!({
        "workload": workload_json(&refused.workload),
        "outcome": if refused.how == NO_PREVIEW { "unknown" } else { "refused" },
        "rollout": false,
        "message": refused.message,
        "hint": hint,
    })
}

fn effect_json(effect: &Effect) -> Value {
    let held_by = effect.held_by.map(|held_by| match held_by {
        HeldBy::Paused => json!({"kind": "pause"}),
        HeldBy::OnDelete => json!({"kind": "on-delete"}),
        HeldBy::Partition(partition) => json!({"kind": "partition", "partition": partition}),
        HeldBy::Plan => json!({"kind": "plan"}),
    });
    let pace = effect.pace.map(|pace| match pace {
        UpdatePace::AllAtOnce => json!({"kind": "all-at-once"}),
        UpdatePace::Budget(budget) => {
            json!({"kind": "budget", "unavailable": budget.unavailable, "surge": budget.surge})
        }
    });
    let update = effect.update.as_ref().map(|update| {
        let because: Vec<String> = update.because.iter().map(ToString::to_string).collect();
        json!({
            "inPlace": update.in_place,
            "recreated": update.recreated,
            "containers": update.restarted,
            "because": because,
            "refused": update.refused,
        })
    });
    json!({
        "wanted": effect.wanted,
        "replaced": effect.replaced,
        "alreadyUpdated": effect.already,
        "removed": effect.removed.len(),
        "held": effect.held,
        "heldBy": held_by,
        "nodeSelector": effect.has_node_selector,
        "pace": pace,
        "update": update,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::diff::SecretValues;
    use crate::model::observation::Observation;
    use crate::render::finding;

    #[test]
    fn the_effect_says_whether_the_strategy_has_a_node_selector() {
        for (selector, expected) in [(json!(null), false), (json!({"matchLabels": {"pool": "a"}}), true)] {
            let set = |image: &str| {
                let spec = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"selector": selector}},
                    "template": {"spec": {"containers": [{"name": "c", "image": image}]}}});
                let set = json!({"apiVersion": "apps.kruise.io/v1alpha1", "kind": "DaemonSet",
                    "metadata": {"name": "agent"}, "spec": spec});
                Workload::of_json(&set).unwrap()
            };
            let before = Observation::of_alone(set("x:1"));
            let preview = Preview::of(&before, set("x:2"), "kubectl", SecretValues::Masked);
            assert_eq!(item_json(&preview)["effect"]["nodeSelector"], expected, "{selector}");
        }
    }

    #[test]
    fn pods_that_block_a_stateful_set_are_the_subject_of_the_warning() {
        let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}});
        let workload = Workload::of_json(&set).unwrap();
        for (names, expected) in [
            (
                &["db-1"][..],
                "db-1 is not ready: the StatefulSet controller waits for it and does not replace it",
            ),
            (
                &["db-1", "db-3"],
                "db-1 db-3 are not ready: the StatefulSet controller waits for them and does not replace them",
            ),
        ] {
            let stuck = PreviewWarning::StuckPods(names.iter().map(|&name| name.to_owned()).collect());
            assert_eq!(
                finding::line(&warning(&stuck, &workload)),
                format!("warning: statefulset/db: {expected}")
            );
        }
        let back = PreviewWarning::BringsBack { revision: "4".to_owned(), current: "5".to_owned() };
        let expected = "warning: statefulset/db: the last rollout rolled revision 4 back (to 5); applying the manifest rolls it out again";
        assert_eq!(finding::line(&warning(&back, &workload)), expected);
    }
}
