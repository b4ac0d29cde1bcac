//! The revisions, stored as of a `StatefulSet` or of a `DaemonSet`.

use serde_json::Value;

use super::{Kind, Sync};
use crate::controller::hash::{revision_hash, template_hash};
use crate::controller::revision::{self, template_data};
use crate::controller::{count, pod};
use crate::object;
use crate::resource::CONTROLLERREVISIONS;
use crate::store::Key;

impl Sync<'_> {
    /// Finds the current and the update revision, and creates or renumbers the latter.
    pub(super) fn find_revisions(&mut self) {
        self.known = revision::of_owner(self.store, self.set, &mut self.plan);
        let data = template_data(self.set);
        let newest = self.known.last();
        let number = newest.map_or(0, |newest| revision::number(newest)) + 1;
        self.update = match self.known.iter().rev().find(|one| one["data"] == data) {
            Some(same) => {
                let mut same = Value::clone(same);
                if newest.is_some_and(|newest| newest["data"] != data) {
                    revision::renumber(&same, number, &mut self.plan);
                    same["revision"] = number.into();
                }
                same
            }
            None => self.make_revision(&data, number),
        };
        let current = object::text(self.set, &["status", "currentRevision"]);
        let current = self.known.iter().find(|one| object::name(one) == current);
        self.current = current.map_or_else(|| self.update.clone(), |current| Value::clone(current));
    }

    fn make_revision(&mut self, data: &Value, number: i64) -> Value {
        let (label, hash) = match self.kind {
            Kind::DaemonSet => (pod::REVISION_LABEL, template_hash(&self.set["spec"]["template"], None)),
            Kind::CloneSet | Kind::StatefulSet => ("controller.kubernetes.io/hash", revision_hash(data, 0)),
        };
        let name = format!("{}-{hash}", object::name(self.set));
        revision::make(self.set, &name, (label, &hash), data, number, &mut self.plan)
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
        for one in dead.iter().take(count::as_len(count::of(&dead) - limit)) {
            self.plan.delete(&Key::of(&CONTROLLERREVISIONS, one), object::uid(one));
        }
    }
}
