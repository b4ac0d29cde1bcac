//! The preview as one JSON document. docs/json.md documents the fields.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{RefusedObject, warning};
use crate::model::change::effect::Effect;
use crate::model::change::least_time::UpdatePace;
use crate::model::change::preview::{Preview, PreviewOutcome};
use crate::model::hold::HeldBy;
use crate::render::diff::changes;
use crate::render::json::{least_time_json, workload_json};

/// Returns the document of all workloads, with the counts of the other objects by kind.
#[must_use]
pub fn document(items: &[Value], others: &BTreeMap<String, usize>) -> Value {
    json!({"apiVersion": "rollout2/v1", "kind": "PreviewList", "items": items, "otherObjects": others})
}

/// Returns the preview of one workload.
#[must_use]
pub fn item(preview: &Preview) -> Value {
    let (outcome, to, name) = match &preview.outcome {
        PreviewOutcome::Created { name } => ("created", Some(1), name.clone()),
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
    let is_after_pause = matches!(&preview.outcome, PreviewOutcome::NewRevision { is_after_pause: true, .. });
    let fields: Vec<Value> = preview
        .fields
        .iter()
        .map(|change| json!({"path": change.path.to_string(), "from": change.from, "to": change.to}))
        .collect();
    let warnings: Vec<Value> = preview
        .warnings
        .iter()
        .map(|it| {
            let message = warning(it, &preview.after);
            json!({"id": it.id(), "message": message.trim_start_matches("warning: ")})
        })
        .collect();
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
        "fields": fields,
        "effect": preview.effect.as_ref().filter(|_| preview.outcome.is_rollout()).map(effect),
        "warnings": warnings,
        "message": null,
    })
}

/// Returns the item of an object that the API server refuses.
#[must_use]
pub fn refused_item(refused: &RefusedObject) -> Value {
    json!({
        "workload": {
            "apiVersion": refused.api_version,
            "kind": refused.kind,
            "namespace": refused.namespace,
            "name": refused.name,
        },
        "outcome": "refused",
        "rollout": false,
        "message": refused.message,
    })
}

fn effect(effect: &Effect) -> Value {
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
        "pace": pace,
        "leastTime": least_time_json(effect.least_time),
        "update": update,
    })
}
