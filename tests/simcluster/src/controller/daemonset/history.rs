//! The revisions of a `DaemonSet`: the live one, its number, and the cleanup of old ones.

use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use crate::controller::hash::template_hash;
use crate::controller::revision::{self, template_data};
use crate::controller::{count, pod};
use crate::object;
use crate::resource::CONTROLLERREVISIONS;
use crate::store::Key;

impl Sync<'_> {
    /// Returns the hash of the live template's revision, which is created or renumbered if necessary, and the other
    /// revisions.
    pub(super) fn history(&mut self) -> (String, Vec<Arc<Value>>) {
        let all = revision::of_owner(self.store, self.set, &mut self.plan);
        let data = template_data(self.set);
        let (current, old): (Vec<_>, Vec<_>) = all.into_iter().partition(|known| known["data"] == data);
        let number = old.last().map_or(0, |newest| revision::number(newest)) + 1;
        let Some(newest) = current.last() else {
            return (self.make_revision(&data, number), old);
        };
        if revision::number(newest) < number {
            revision::renumber(newest, number, &mut self.plan);
        }
        (pod::revision(newest).to_owned(), old)
    }

    /// Creates the revision of the live template.
    fn make_revision(&mut self, data: &Value, number: i64) -> String {
        let hash = template_hash(&self.set["spec"]["template"], None);
        let name = format!("{}-{hash}", object::name(self.set));
        let label = (pod::REVISION_LABEL, hash.as_str());
        revision::make(self.set, &name, label, data, number, &mut self.plan);
        hash
    }

    /// Deletes the lowest old revisions beyond the limit. It skips those that have pods.
    pub(super) fn clean_up(&mut self, old: &[Arc<Value>]) {
        let surplus = count::of(old) - count::at(self.set, &["spec", "revisionHistoryLimit"]);
        let carried =
            |known: &&Arc<Value>| self.pods.iter().any(|pod| pod::revision(pod) == pod::revision(known));
        let gone: Vec<_> = old.iter().filter(|known| !carried(known)).take(count::as_len(surplus)).collect();
        for known in gone {
            self.plan.delete(&Key::of(&CONTROLLERREVISIONS, known), object::uid(known));
        }
    }
}
