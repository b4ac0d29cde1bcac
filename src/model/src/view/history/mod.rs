//! What `history` shows: the revisions of a workload, what each one changed, and its role in the rollout. With `--since`, the
//! rollouts that began since a time, and the ConfigMaps and Secrets that changed since then, with the workloads that read them.
//!
//! A rollback moves a revision to the end of the list, so that the revision before it is often not the row above.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::RolloutView;
use crate::api::managed_fields::Authorship;
use crate::diff::{Diff, SecretValues};
use crate::kind::Workload;
use crate::observation::{Observation, Role};
use crate::revision::references::{Configuration, NamedConfiguration, ObjectKey};
use crate::revision::{Integrity, PodCount, Revision};
use crate::status::stale_configuration::{PodsReadingAtStart, pods_reading_at_start};
use crate::status::uses::{RevisionUse, TemplateChange, UseStart, last_change_of, skips_numbers, uses};

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
    /// When its latest use began; none if no stamp shows it.
    pub start: Option<UseStart>,
    /// Its pods; none if pods cannot be read.
    pub pods: Option<PodCount>,
    /// Its role in the rollout.
    pub role: Option<Role>,
    /// Whether its stored data matches its hash.
    pub integrity: Integrity,
    /// What it changed, as the parts of one line with secrets masked; none if the revision in use before is not known. Empty
    /// for no change.
    pub changes: Option<Vec<String>>,
    /// The revision that its change-cause was copied from, if it is a copy.
    pub cause_origin: Option<&'a Revision>,
}

impl<'a> History<'a> {
    /// Builds the history of an observation.
    #[must_use]
    pub fn of(observation: &'a Observation, now: Timestamp) -> Self {
        let (role, count) = (observation.roles(), observation.pod_counts());
        let uses = uses(observation);
        let origins = cause_origins(&uses);
        let starts: BTreeMap<_, _> = uses.iter().map(|one| (one.revision.name.as_str(), one.start)).collect();
        let present = uses.iter().filter(|one| one.number == one.revision.number.known());
        let predecessors: BTreeMap<&str, &Revision> =
            present.filter_map(|one| Some((one.revision.name.as_str(), one.before?))).collect();
        let mut row_above: Option<(&Revision, Value)> = None; // mostly the predecessor
        let entries = observation.revisions.iter().map(|revision| {
            let template = revision.template().canonical();
            let between =
                |before: &Value| Diff::of_canonical(before, &template, SecretValues::Masked).summary();
            let changes = match (predecessors.get(revision.name.as_str()), &row_above) {
                (Some(before), Some((one, above))) if one.name == before.name => Some(between(above)),
                (Some(before), _) => Some(between(&before.template().canonical())),
                // Recorded objects can lack the time of their creation.
                (None, Some((one, above))) if revision.created.is_none() => {
                    let is_known = !skips_numbers(one.number.known(), revision.number.known());
                    is_known.then(|| between(above))
                }
                (None, _) => None,
            };
            row_above = Some((revision, template));
            HistoryEntry {
                revision,
                start: starts.get(revision.name.as_str()).copied(),
                pods: count(revision),
                role: role(revision),
                integrity: revision.integrity(&observation.workload),
                changes,
                cause_origin: origins.get(revision.name.as_str()).copied().flatten(),
            }
        });
        let entries = entries.collect();
        let change = last_change_of(observation, &uses);
        Self { observation, author: change.as_ref().and_then(TemplateChange::author), entries, now }
    }
}

/// Returns the revision from which each change-cause was copied, by the name of the revision; none for a cause of its own.
///
/// A change without a cause keeps the annotation of the workload, which the controller copies to the new revision. So a
/// cause is a copy if the revision before the first use has it too.
fn cause_origins<'a>(uses: &[RevisionUse<'a>]) -> BTreeMap<&'a str, Option<&'a Revision>> {
    let mut origins = BTreeMap::<&str, Option<&Revision>>::new();
    for one in uses {
        if !origins.contains_key(one.revision.name.as_str()) {
            let same = one.before.filter(|before| {
                before.change_cause.is_some() && before.change_cause == one.revision.change_cause
            });
            let origin = same.map(|same| origins.get(same.name.as_str()).copied().flatten().unwrap_or(same));
            origins.insert(&one.revision.name, origin);
        }
    }
    origins
}

/// A revision that a workload began to use.
#[derive(Clone, Debug)]
pub struct RecentRollout<'a> {
    /// The workload with its revisions and pods.
    pub observed: &'a Observation,
    /// The use of the revision.
    pub used: RevisionUse<'a>,
    /// The pods of the revision in its last use; none for another use, and if pods cannot be read.
    pub pods: Option<PodCount>,
    /// The role of the revision in its last use.
    pub role: Option<Role>,
    /// The rollout; none if the use ended.
    pub view: Option<RolloutView>,
}

/// Returns the rollouts of a workload that began since a time, newest first. `now` is the server's time.
#[must_use]
pub fn recent_rollouts<'a>(
    observed: &'a Observation,
    since: Timestamp,
    now: Timestamp,
) -> Vec<RecentRollout<'a>> {
    let recent: Vec<_> =
        uses(observed).into_iter().rev().filter(|used| used.start.may_be_since(since)).collect();
    if recent.is_empty() {
        return Vec::new();
    }
    let (count, role) = (observed.pod_counts(), observed.roles());
    let rollout = |used: RevisionUse<'a>| {
        let last = Some(used.revision).filter(|revision| used.number == revision.number.known());
        let view = used.end.is_none().then(|| RolloutView::of(observed, now));
        RecentRollout { observed, pods: last.and_then(&count), role: last.and_then(&role), view, used }
    };
    recent.into_iter().map(rollout).collect()
}

/// Sorts rollouts of several workloads, newest first. Those of one workload stay in their order.
pub fn sort_recent(rollouts: &mut [RecentRollout<'_>]) {
    rollouts.sort_by_key(|one| Reverse(one.used.start.earliest()));
}

impl RecentRollout<'_> {
    /// Returns what it changed against the revision in use before, as the parts of one line with secrets masked; empty for
    /// no change. None if there was none before, or it is not kept.
    #[must_use]
    pub fn changes(&self) -> Option<Vec<String>> {
        let [before, after] =
            [self.used.before?, self.used.revision].map(|revision| revision.template().canonical());
        Some(Diff::of_canonical(&before, &after, SecretValues::Masked).summary())
    }

    /// Whether it is the first revision of the workload.
    #[must_use]
    pub fn is_first(&self) -> bool {
        let RevisionUse { number, is_return, before, .. } = &self.used;
        !is_return && before.is_none() && number.is_some_and(|number| number <= 1)
    }
}

/// A ConfigMap or Secret that changed.
#[derive(Clone, Debug)]
pub struct ConfigurationChange {
    /// The object.
    pub object: Configuration,
    /// Its last change.
    pub change: Authorship,
    /// The workloads whose live templates name it.
    pub readers: Vec<Workload>,
    /// Whether a container reads it only when it starts.
    pub is_read_at_start: bool,
    /// The pods with such containers; none if they are not readable.
    pub pods: Option<PodsReadingAtStart>,
}

/// The ConfigMaps and Secrets that changed since a time.
#[derive(Debug, Default)]
pub struct ConfigurationChanges {
    changed: BTreeMap<ObjectKey, ConfigurationChange>,
    named: NamedConfiguration,
    undated: Vec<Configuration>,
}

impl ConfigurationChanges {
    /// Returns the changes of these objects, without their readers. `named` is what the workloads read.
    #[must_use]
    pub fn of(objects: Vec<Configuration>, named: NamedConfiguration) -> Self {
        let mut all = Self { named, ..Self::default() };
        for object in objects {
            let Some(change) = object.change.clone() else {
                all.undated.push(object);
                continue;
            };
            let (readers, pods) = (Vec::new(), Some(PodsReadingAtStart::default()));
            let key = object.key();
            all.changed
                .insert(key, ConfigurationChange { object, change, readers, is_read_at_start: false, pods });
        }
        all
    }

    /// Whether the live template of a workload names an object that changed.
    #[must_use]
    pub fn is_read_by(&self, workload: &Workload) -> bool {
        self.named.uses_of(workload).any(|(key, _)| self.changed.contains_key(&key))
    }

    /// Adds a workload to what its live template names.
    pub fn add_reader(&mut self, observed: &Observation) {
        for (key, of_template) in self.named.uses_of(&observed.workload) {
            let Some(changed) = self.changed.get_mut(&key) else { continue };
            changed.readers.push(observed.workload.clone());
            changed.is_read_at_start |= !of_template.read_at_start.is_empty();
            changed.pods = changed.pods.filter(|_| observed.pods.is_some()).map(|pods| {
                let revisions = observed.revisions.iter();
                let own = pods_reading_at_start(observed, revisions, &changed.object, changed.change.time);
                PodsReadingAtStart {
                    started_before: pods.started_before + own.started_before,
                    total: pods.total + own.total,
                }
            });
        }
    }

    /// Returns the changes, newest first, and the objects whose metadata has no time of a change.
    #[must_use]
    pub fn into_sorted(self) -> (Vec<ConfigurationChange>, Vec<Configuration>) {
        let mut changed: Vec<_> =
            self.changed.into_values().filter(|changed| !changed.readers.is_empty()).collect();
        changed.sort_by_key(|one| Reverse(one.change.time));
        (changed, self.undated)
    }
}
