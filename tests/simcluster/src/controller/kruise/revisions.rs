//! The revisions, stored as of a `StatefulSet` or of a `DaemonSet`.

use serde_json::Value;

use super::{Kind, Sync};
use crate::controller::hash::{revision_hash, template_hash};
use crate::controller::plan::Plan;
use crate::controller::{pod, revision};
use crate::object;

impl Sync<'_> {
    /// Finds the current and the update revision, and creates or renumbers the latter.
    pub(super) fn find_revisions(&mut self) {
        let (set, kind) = (self.set, self.kind);
        let make = |data: &Value, number: i64, plan: &mut Plan| {
            let (label, hash) = match kind {
                Kind::DaemonSet => (pod::REVISION_LABEL, template_hash(&set["spec"]["template"], None)),
                Kind::CloneSet | Kind::StatefulSet => ("controller.kubernetes.io/hash", revision_hash(data)),
            };
            let name = format!("{}-{hash}", object::name(set));
            revision::make(set, &name, (label, &hash), data, number, plan)
        };
        let found = revision::find(self.store, set, &mut self.plan, make);
        (self.known, self.current, self.update) = (found.known, found.current, found.update);
    }

    /// Returns the revision of a pod, if it still exists.
    pub(super) fn revision_of(&self, pod: &Value) -> Option<&Value> {
        let label = pod::revision(pod);
        self.known.iter().map(|one| &**one).find(|one| self.label_of(one) == label)
    }

    /// Deletes the lowest revisions beyond the limit that no pod runs.
    pub(super) fn truncate_history(&mut self) {
        // The webhook of OpenKruise sets the default of 10.
        let limit = self.set["spec"]["revisionHistoryLimit"].as_i64().unwrap_or(10);
        let (current, update) = (object::name(&self.current), object::name(&self.update));
        let lives = |one: &Value| {
            let (name, label) = (object::name(one), self.label_of(one));
            name == update || name == current || self.pods.iter().any(|pod| pod::revision(pod) == label)
        };
        let dead: Vec<_> = self.known.iter().filter(|one| !lives(one)).cloned().collect();
        revision::truncate(&dead, limit, &mut self.plan);
    }
}
