//! The history of a workload: its revisions, what each one changed, and its role in the rollout.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::model::api::managed_fields::Authorship;
use crate::model::diff::{Changes, SecretValues};
use crate::model::observation::{Observation, PodCount, Role};
use crate::model::revision::{Integrity, Revision};
use crate::model::status::template_author::template_author;

mod predecessors;

use self::predecessors::{cause_origins, predecessors};

/// The history of one workload.
#[derive(Debug)]
pub struct History<'a> {
    /// The observation that it was built from.
    pub observation: &'a Observation,
    /// The last writer of the template; none if it is not known.
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
    /// What it changed, as the parts of one line with secrets masked; none for the oldest kept revision. Empty for no
    /// change.
    pub changes: Option<Vec<String>>,
    /// The revision that its change-cause was copied from, if it is a copy.
    pub cause_origin: Option<&'a Revision>,
}

impl<'a> History<'a> {
    /// Builds the history of an observation.
    #[must_use]
    pub fn of(observation: &'a Observation, now: Timestamp) -> Self {
        let (role, count) = (observation.roles(), observation.pod_counts());
        let mut uses: Vec<(Option<i64>, &Revision)> = Vec::new();
        for revision in &observation.revisions {
            uses.extend(revision.past_numbers.iter().map(|number| (Some(*number), revision)));
            uses.push((revision.number.known(), revision));
        }
        uses.sort_by_key(|(number, _)| *number);
        let mut by_first_use: Vec<&Revision> = uses.iter().map(|(_, revision)| *revision).collect();
        if by_first_use.len() == observation.revisions.len() {
            by_first_use.sort_by_key(|revision| revision.created); // without past numbers, a rollback leaves no other trace
        }
        let origins = cause_origins(&by_first_use);
        let predecessors = predecessors(&uses);
        let mut row_above: Option<(&str, Value)> = None; // mostly the predecessor
        let entries = observation.revisions.iter().map(|revision| {
            let template = revision.template();
            let images = template.images().into_iter().map(str::to_owned).collect();
            let template = template.into_canonical();
            let between =
                |before: &Value| Changes::between(before, &template, SecretValues::Masked).summary();
            let changes = predecessors.get(revision.name.as_str()).map(|before| match &row_above {
                Some((name, above)) if *name == before.name => between(above),
                _ => between(&before.template().into_canonical()),
            });
            row_above = Some((&revision.name, template));
            HistoryEntry {
                revision,
                pods: count(revision),
                role: role(revision),
                integrity: revision.integrity(&observation.workload),
                images,
                changes,
                cause_origin: origins.get(revision.name.as_str()).copied().flatten(),
            }
        });
        let entries = entries.collect();
        Self { observation, author: template_author(observation), entries, now }
    }
}
