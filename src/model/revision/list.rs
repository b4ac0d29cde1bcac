//! All revisions of one workload, in order.

use std::sync::Arc;

use super::Revision;
use crate::model::object::Object;
use crate::model::workload::Workload;

/// The revisions of one workload, by number, the unnumbered ones first.
#[derive(Clone, Debug)]
pub struct Revisions {
    list: Vec<Arc<Revision>>,
    running: Option<usize>,
}

impl Revisions {
    /// The revisions among `objects`: those that the workload controls, by uid; names come back, uids do not.
    #[must_use]
    pub fn of(workload: &Workload, objects: impl IntoIterator<Item = Object>) -> Self {
        let read = |object| Arc::new(Workload::revision(workload.kind(), &object));
        Self::among(workload, objects.into_iter().map(read))
    }

    /// The same, among revisions that were read one by one.
    #[must_use]
    pub fn among(workload: &Workload, revisions: impl IntoIterator<Item = Arc<Revision>>) -> Self {
        let uid = workload.object().uid();
        let owned = |revision: &Arc<Revision>| !uid.is_empty() && revision.owner_uid == uid;
        let mut list: Vec<_> = revisions.into_iter().filter(owned).collect();
        list.sort_by(|a, b| {
            (a.number.known(), a.created, &a.name).cmp(&(b.number.known(), b.created, &b.name))
        });
        let running = find_running(workload, &list);
        Self { list, running }
    }

    /// Takes note of a change of the workload: another template may be the live one now.
    pub fn look_again(&mut self, workload: &Workload) {
        self.running = find_running(workload, &self.list);
    }

    /// All of them, ascending.
    pub fn iter(&self) -> Iter<'_> {
        self.list.iter().map(Arc::as_ref)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The one whose template is the live one; none while a change is not a revision yet.
    #[must_use]
    pub fn running(&self) -> Option<&Revision> {
        self.at(self.running?)
    }

    /// The one the pods run as far as revisions tell: the running one, or the newest while the
    /// live template is no revision yet (changed while paused, or not yet observed).
    #[must_use]
    pub fn current(&self) -> Option<&Revision> {
        self.running().or(self.last())
    }

    /// The one to go back to: the last before the running one, or the newest while the live
    /// template is no revision yet, which then is what the pods still run.
    #[must_use]
    pub fn previous(&self) -> Option<&Revision> {
        match self.running {
            Some(running) => self.before(running),
            None => self.last(),
        }
    }

    /// The one `steps` before the current one.
    #[must_use]
    pub fn back(&self, steps: usize) -> Option<&Revision> {
        let current = self.running.or(self.list.len().checked_sub(1))?;
        self.at(current.checked_sub(steps)?)
    }

    /// The one that a revision of this list followed.
    #[must_use]
    pub fn predecessor(&self, revision: &Revision) -> Option<&Revision> {
        self.before(self.list.iter().position(|other| other.name == revision.name)?)
    }

    /// Whether this revision is the one that runs.
    #[must_use]
    pub fn is_running(&self, revision: &Revision) -> bool {
        self.running().is_some_and(|running| running.name == revision.name)
    }

    fn before(&self, index: usize) -> Option<&Revision> {
        self.at(index.checked_sub(1)?)
    }

    fn last(&self) -> Option<&Revision> {
        self.list.last().map(Arc::as_ref)
    }

    fn at(&self, index: usize) -> Option<&Revision> {
        self.list.get(index).map(Arc::as_ref)
    }
}

/// All revisions, ascending.
pub(super) type Iter<'a> =
    std::iter::Map<std::slice::Iter<'a, Arc<Revision>>, fn(&'a Arc<Revision>) -> &'a Revision>;

impl<'a> IntoIterator for &'a Revisions {
    type Item = &'a Revision;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Several revisions can have the live template. The Deployment controller takes the oldest
/// ReplicaSet of them; of ControllerRevisions the newest is the one it renumbers.
fn find_running(workload: &Workload, list: &[Arc<Revision>]) -> Option<usize> {
    let live = workload.template().digest();
    let mut alike = list.iter().enumerate().filter(|(_, revision)| revision.digest == live);
    match workload {
        Workload::Deployment(_) => alike.min_by_key(|(_, revision)| (revision.created, &revision.name)),
        Workload::DaemonSet(_) | Workload::StatefulSet(_) => alike.next_back(),
    }
    .map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn template(image: &str) -> Value {
        json!({"spec": {"containers": [{"name": "c", "image": image}]}})
    }

    fn workload(kind: &str, live: &str) -> Workload {
        let object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": {"template": template(live)}});
        Workload::of(Object::read(object).unwrap()).unwrap()
    }

    /// Revisions by number, creation second and image; their names are `r0`, `r1`...
    fn revisions(kind: &str, live: &str, kept: &[(i64, i64, &str)]) -> Revisions {
        let objects = kept.iter().enumerate().map(|(index, (number, second, image))| {
            let object = json!({
                "kind": "ReplicaSet", "revision": number, "data": {"spec": {"template": template(image)}},
                "spec": {"template": template(image)},
                "metadata": {
                    "name": format!("r{index}"),
                    "creationTimestamp": format!("2026-11-20T13:00:{second:02}Z"),
                    "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                    "ownerReferences": [{"controller": true, "uid": "u"}],
                },
            });
            Object::read(object).unwrap()
        });
        Revisions::of(&workload(kind, live), objects)
    }

    fn names(revisions: &Revisions) -> [Option<&str>; 3] {
        [revisions.running(), revisions.current(), revisions.previous()]
            .map(|revision| revision.map(|revision| revision.name.as_str()))
    }

    #[test]
    fn the_running_revision_is_the_one_with_the_live_template_and_the_previous_the_one_before_it() {
        let kept = [(1, 1, "x:1"), (3, 3, "x:3"), (4, 2, "x:2")];
        for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
            for (live, expected) in [
                ("x:2", [Some("r2"), Some("r2"), Some("r1")]),
                ("x:3", [Some("r1"), Some("r1"), Some("r0")]),
                ("x:1", [Some("r0"), Some("r0"), None]),
                // Changed while paused, or not yet observed: the pods run the newest, so that is
                // both what is current and where to go back to.
                ("x:9", [None, Some("r2"), Some("r2")]),
            ] {
                assert_eq!(names(&revisions(kind, live, &kept)), expected, "{kind} {live}");
            }
            assert_eq!(names(&revisions(kind, "x:1", &[])), [None; 3]);
        }
    }

    #[test]
    fn of_equal_templates_a_deployment_runs_the_oldest_and_the_others_the_newest() {
        let kept = [(1, 5, "x:1"), (2, 2, "x:1"), (3, 3, "x:1")];
        assert_eq!(names(&revisions("Deployment", "x:1", &kept))[0], Some("r1"));
        assert_eq!(names(&revisions("StatefulSet", "x:1", &kept))[0], Some("r2"));
    }

    #[test]
    fn steps_back_are_counted_from_the_current_revision() {
        let revisions = revisions("DaemonSet", "x:2", &[(1, 1, "x:1"), (2, 2, "x:2"), (3, 3, "x:3")]);
        let back = |steps| revisions.back(steps).map(|revision| revision.name.as_str());
        assert_eq!([back(0), back(1), back(2), back(usize::MAX)], [Some("r1"), Some("r0"), None, None]);
    }

    #[test]
    fn what_another_owns_is_no_revision_of_this() {
        let stranger = json!({"kind": "ReplicaSet", "metadata": {"name": "x", "ownerReferences": [{"controller": true, "uid": "other"}]}});
        let orphan = json!({"kind": "ReplicaSet", "metadata": {"name": "y"}});
        let objects = [stranger, orphan].map(|object| Object::read(object).unwrap());
        assert!(Revisions::of(&workload("Deployment", "x"), objects).is_empty());
    }
}
