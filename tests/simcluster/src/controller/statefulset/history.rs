//! The revisions of a `StatefulSet`: current and update revision, renumbering, cleanup.

use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use crate::controller::hash::revision_hash;
use crate::controller::plan::Plan;
use crate::controller::{count, pod, revision};
use crate::object;

/// The label with the hash of a revision.
const HASH_LABEL: &str = "controller.kubernetes.io/hash";

/// The maximum length of the set's name in the name of a revision.
const PREFIX_LIMIT: usize = 223;

impl Sync<'_> {
    /// Finds the current and the update revision, creates or renumbers the latter, and returns the revisions before.
    pub(super) fn find_revisions(&mut self) -> Vec<Arc<Value>> {
        let set = self.set;
        let make = |data: &Value, number: i64, plan: &mut Plan| {
            let prefix: String = object::name(set).chars().take(PREFIX_LIMIT).collect();
            let hash = revision_hash(data);
            revision::make(set, &format!("{prefix}-{hash}"), (HASH_LABEL, &hash), data, number, plan)
        };
        let found = revision::find(self.store, set, &mut self.plan, make);
        (self.current, self.update) = (found.current, found.update);
        found.known
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
        let dead = known.iter().filter(|one| !lives(object::name(one)));
        revision::truncate(dead, limit, &mut self.plan);
    }
}
