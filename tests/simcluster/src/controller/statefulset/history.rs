//! The revisions of a `StatefulSet`: current and update revision, renumbering, cleanup.

use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use crate::controller::hash::revision_hash;
use crate::controller::revision::{self, template_data};
use crate::controller::{count, pod};
use crate::object;
use crate::resource::CONTROLLERREVISIONS;
use crate::store::Key;

/// The label with the hash of a revision.
const HASH_LABEL: &str = "controller.kubernetes.io/hash";

/// The maximum length of the set's name in the name of a revision.
const PREFIX_LIMIT: usize = 223;

impl Sync<'_> {
    /// Finds the current and the update revision, creates or renumbers the latter, and returns the revisions before.
    pub(super) fn find_revisions(&mut self) -> Vec<Arc<Value>> {
        let known = revision::of_owner(self.store, self.set, &mut self.plan);
        let data = template_data(self.set);
        let newest = known.last();
        let number = newest.map_or(0, |newest| revision::number(newest)) + 1;
        self.update = match known.iter().rev().find(|one| one["data"] == data) {
            Some(same) => {
                if newest.is_some_and(|newest| newest["data"] != data) {
                    revision::renumber(same, number, &mut self.plan);
                }
                Value::clone(same)
            }
            None => self.make_revision(&data, number),
        };
        let current = object::text(self.set, &["status", "currentRevision"]);
        let current = known.iter().find(|one| object::name(one) == current);
        self.current = current.map_or_else(|| self.update.clone(), |current| Value::clone(current));
        known
    }

    /// Creates the revision of the live template. A name that exists already increments the collision count, and the
    /// next name is tried.
    fn make_revision(&mut self, data: &Value, number: i64) -> Value {
        let prefix: String = object::name(self.set).chars().take(PREFIX_LIMIT).collect();
        let taken = |name: &str| {
            self.store.get(&Key::new(&CONTROLLERREVISIONS, object::namespace(self.set), name)).is_some()
        };
        let mut collisions = count::status(self.set, "collisionCount");
        let mut hash = revision_hash(data, collisions);
        while taken(&format!("{prefix}-{hash}")) {
            collisions += 1;
            hash = revision_hash(data, collisions);
        }
        let name = format!("{prefix}-{hash}");
        revision::make(self.set, &name, (HASH_LABEL, &hash), data, number, &mut self.plan)
    }

    /// Deletes the lowest unused revisions beyond the limit. A negative limit keeps all.
    pub(super) fn truncate_history(&mut self, known: &[Arc<Value>]) {
        let limit = count::at(self.set, &["spec", "revisionHistoryLimit"]);
        if limit < 0 {
            return;
        }
        let (current, update) = (object::name(&self.current), object::name(&self.update));
        let lives = |name: &str| {
            name == current || name == update || self.pods.iter().any(|pod| pod::revision(pod) == name)
        };
        let dead: Vec<&Arc<Value>> = known.iter().filter(|one| !lives(object::name(one))).collect();
        let surplus = count::as_len(count::of(&dead) - limit);
        let gone: Vec<(Key, String)> = dead
            .into_iter()
            .take(surplus)
            .map(|one| (Key::of(&CONTROLLERREVISIONS, one), object::uid(one).to_owned()))
            .collect();
        for (key, uid) in gone {
            self.plan.delete(&key, &uid);
        }
    }
}
