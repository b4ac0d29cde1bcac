//! `list` as a document for programs.

use serde_json::{Map, Value, json};

use crate::model::api::managed_fields::last_template_author;
use crate::model::status::list::{ListedRollout, StateCounts};
use crate::model::workload::strategy::update_strategy;
use crate::render::follow::json::merge;
use crate::render::status::{cause_json, pods_json, workload_json};

/// The rollouts that are shown, among all that were found.
#[derive(Clone, Copy, Debug)]
pub struct ListDocument<'a> {
    /// The rollouts to show.
    pub shown: &'a [&'a ListedRollout],
    /// All rollouts, which are counted.
    pub all: &'a [ListedRollout],
}

impl ListDocument<'_> {
    /// Returns the document. docs/json.md documents the fields.
    #[must_use]
    pub fn json(&self) -> Value {
        let counts = StateCounts::of(self.all);
        let counts: Map<_, _> =
            counts.iter().map(|(state, count)| (state.word().to_owned(), count.into())).collect();
        json!({
            "apiVersion": "rollout2/v1",
            "kind": "RolloutList",
            "items": self.shown.iter().copied().map(rollout_json).collect::<Vec<_>>(),
            "states": counts,
        })
    }
}

/// Returns one rollout.
#[must_use]
pub fn rollout_json(rollout: &ListedRollout) -> Value {
    let workload = &rollout.workload;
    let author = last_template_author(workload.object());
    let mut document = workload_json(workload);
    let facts = json!({
        "revision": rollout.revision,
        "revisionName": rollout.revision_name,
        "state": rollout.state().word(),
        "message": rollout.verdict.line,
        "since": rollout.since.map(|since| since.to_string()),
        "pods": pods_json(rollout.counts),
        "outage": rollout.is_outage,
        "causes": rollout.causes.iter().map(cause_json).collect::<Vec<_>>(),
        "unknown": rollout.unknown,
        "images": workload.template().images(),
        "strategy": update_strategy(workload),
        "templateChangedBy": author.as_ref().map(|author| &author.manager),
        "templateChangedAt": author.as_ref().map(|author| author.time.to_string()),
    });
    merge(&mut document, facts);
    document
}
