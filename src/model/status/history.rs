//! The history of a workload: its revisions, what each one changed, and its role in the rollout.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::model::api::managed_fields::{Authorship, last_template_author};
use crate::model::revision::diff::{Changes, SecretValues};
use crate::model::revision::{Integrity, Revision};
use crate::model::status::observation::{Observation, PodCount, Role};

/// The history of one workload.
#[derive(Debug)]
pub struct History<'a> {
    /// The observation that it was built from.
    pub observation: &'a Observation,
    /// The last writer of the template.
    pub author: Option<Authorship>,
    /// The revisions, ascending.
    pub entries: Vec<HistoryEntry<'a>>,
    /// The time that ages are relative to.
    pub now: Timestamp,
}

/// One revision of a history.
#[derive(Debug)]
pub struct HistoryEntry<'a> {
    /// The revision.
    pub revision: &'a Revision,
    /// Its pods; none if pods cannot be read.
    pub pods: Option<PodCount>,
    /// Its role in the rollout.
    pub role: Option<Role>,
    /// Whether its stored data matches its hash.
    pub integrity: Integrity,
    /// The images of its containers, init containers first.
    pub images: Vec<String>,
    /// What it changed, with secrets masked; none for the first revision.
    pub changes: Option<Changes>,
}

impl<'a> History<'a> {
    /// Builds the history of an observation.
    #[must_use]
    pub fn of(observation: &'a Observation, now: Timestamp) -> Self {
        let (role, count) = (observation.roles(), observation.pod_counts());
        let mut before: Option<Value> = None;
        let entries = observation.revisions.iter().map(|revision| {
            let template = revision.template();
            let images = template.images().into_iter().map(str::to_owned).collect();
            let template = template.into_canonical();
            let changes =
                before.as_ref().map(|before| Changes::between(before, &template, SecretValues::Masked));
            before = Some(template);
            HistoryEntry {
                revision,
                pods: count(revision),
                role: role(revision),
                integrity: revision.integrity(&observation.workload),
                images,
                changes,
            }
        });
        let entries = entries.collect();
        Self { observation, author: last_template_author(observation.workload.object()), entries, now }
    }
}
