//! The history of a workload: its revisions, what each one changed, and its role in the rollout.
//!
//! A rollback moves a revision to the end of the list, so that the revision before it is often not the row above.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::model::api::managed_fields::Authorship;
use crate::model::diff::{Changes, SecretValues};
use crate::model::observation::{Observation, PodCount, Role};
use crate::model::revision::{Integrity, Revision};
use crate::model::status::uses::{dated_uses, template_author};

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
        let uses = dated_uses(observation);
        let origins = cause_origins(uses.iter().map(|one| one.revision));
        let present = uses.iter().filter(|one| one.number == one.revision.number.known());
        let predecessors: BTreeMap<&str, &Revision> =
            present.filter_map(|one| Some((one.revision.name.as_str(), one.before?))).collect();
        let mut row_above: Option<(&str, Value)> = None; // mostly the predecessor
        let entries = observation.revisions.iter().map(|revision| {
            let template = revision.template();
            let images = template.images().into_iter().map(str::to_owned).collect();
            let template = template.into_canonical();
            let between =
                |before: &Value| Changes::between(before, &template, SecretValues::Masked).summary();
            let changes = match (predecessors.get(revision.name.as_str()), &row_above) {
                (Some(before), Some((name, above))) if *name == before.name => Some(between(above)),
                (Some(before), _) => Some(between(&before.template().into_canonical())),
                // Recorded objects can lack the time of their creation.
                (None, above) => {
                    above.as_ref().filter(|_| revision.created.is_none()).map(|(_, above)| between(above))
                }
            };
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

/// Returns the revision from which each change-cause was copied, by the name of the revision; none for a cause of its own.
///
/// A change without a cause keeps the annotation of the workload, which the controller copies to the new revision. So a
/// cause is a copy if the revision before the first use has it too.
fn cause_origins<'a>(
    in_order_of_use: impl Iterator<Item = &'a Revision>,
) -> BTreeMap<&'a str, Option<&'a Revision>> {
    let mut origins = BTreeMap::new();
    let mut before: Option<&Revision> = None;
    for revision in in_order_of_use {
        if !origins.contains_key(revision.name.as_str()) {
            let same = before.filter(|before| before.cause.is_some() && before.cause == revision.cause);
            let origin = same.map(|same| origins.get(same.name.as_str()).copied().flatten().unwrap_or(same));
            origins.insert(revision.name.as_str(), origin);
        }
        before = Some(revision);
    }
    origins
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;
    use serde_json::{Value, json};

    use crate::model::api::object::Object;
    use crate::model::kind::Workload;
    use crate::model::observation::Observation;
    use crate::model::revision::Revisions;
    use crate::model::status::history::History;
    use crate::render::history::changes;

    /// Returns `NUMBER CHANGES ORIGIN` of each revision of a Deployment, from its numbers, image and change-cause. They were
    /// created in this order.
    fn rows(kept: &[(&[i64], &str, &str)]) -> Vec<String> {
        let template = |image: &str| json!({"spec": {"containers": [{"name": "c", "image": image}]}});
        let live = kept.iter().max_by_key(|(numbers, ..)| numbers.last()).map_or("", |(_, image, _)| image);
        let workload = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w", "namespace": "n", "uid": "u"},
            "spec": {"template": template(live)},
        });
        let workload = Workload::of(Object::read(workload).unwrap()).unwrap();
        let objects = kept.iter().enumerate().map(|(second, (numbers, image, cause))| {
            let (number, past) = numbers.split_last().unwrap();
            let past: Vec<String> = past.iter().map(ToString::to_string).collect();
            let replica_set: Value = json!({
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": {"template": template(image)},
                "metadata": {
                    "name": image, "creationTimestamp": format!("2026-11-20T13:00:{second:02}Z"),
                    "ownerReferences": [{"controller": true, "uid": "u"}],
                    "annotations": {
                        "deployment.kubernetes.io/revision": number.to_string(),
                        "deployment.kubernetes.io/revision-history": past.join(","),
                        "kubernetes.io/change-cause": cause,
                    },
                },
            });
            Object::read(replica_set).unwrap()
        });
        let revisions = Revisions::of(&workload, objects);
        let observation = Observation { revisions, ..Observation::of_alone(workload) };
        let history = History::of(&observation, Timestamp::UNIX_EPOCH);
        let row = |entry: &super::HistoryEntry<'_>| {
            let origin = entry.cause_origin.map(|origin| format!(" (as in {})", origin.label()));
            format!("{} {}{}", entry.revision.label(), changes(entry), origin.unwrap_or_default())
        };
        history.entries.iter().map(row).collect()
    }

    #[test]
    fn a_restored_revision_keeps_the_cause_that_a_bad_one_copied() {
        let kept: [(&[i64], _, _); 3] =
            [(&[3, 6], "w:1.0", "good"), (&[4], "w:3.0", "good"), (&[5], "w:3.1", "good")];
        assert_eq!(rows(&kept), ["4 image w:3.0 (as in 6)", "5 image w:3.1 (as in 6)", "6 image w:1.0"]);
        let kept: [(&[i64], _, _); 2] = [(&[1], "w:1", "one"), (&[2], "w:2", "one")];
        assert_eq!(rows(&kept), ["1 first: w:1", "2 image w:2 (as in 1)"]);
        // Other controllers only renumber a restored revision.
        let kept: [(&[i64], _, _); 2] = [(&[3], "w:1", "one"), (&[2], "w:2", "one")];
        assert_eq!(rows(&kept), ["2 image w:2 (as in 3)", "3 image w:1"]);
    }

    #[test]
    fn changes_are_those_to_the_revision_before_and_the_oldest_one_is_not_the_first() {
        // 2 was restored as 4. So 3 changed it, and not 1.
        let kept: [(&[i64], _, _); 3] = [(&[1], "w:1", "a"), (&[3], "x:2", "c"), (&[2, 4], "w:2", "b")];
        assert_eq!(rows(&kept)[1], "3 image x:2");
        let kept: [(&[i64], _, _); 2] = [(&[4], "w:4", "a"), (&[5], "w:5", "b")];
        assert_eq!(rows(&kept), ["4 oldest kept: w:4", "5 image w:5"]);
        let kept: [(&[i64], _, _); 1] = [(&[1, 3], "w:1", "a")];
        assert_eq!(rows(&kept), ["3 first: w:1"]);
    }
}
