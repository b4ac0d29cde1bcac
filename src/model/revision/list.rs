//! The revisions of one workload, in order.

use std::sync::Arc;

use super::Revision;
use crate::model::api::object::Object;
use crate::model::kind::Workload;

/// The revisions of one workload by number; those without a number come first.
#[derive(Clone, Debug)]
pub struct Revisions {
    list: Vec<Arc<Revision>>,
    current: Option<usize>,
}

impl Revisions {
    /// Returns the revisions among `objects`: those controlled by the workload, by uid. Names are
    /// reused, uids are not.
    #[must_use]
    pub fn of(workload: &Workload, objects: impl IntoIterator<Item = Object>) -> Self {
        let read = |object| Arc::new(Revision::read(workload.kind(), object));
        Self::among(workload, objects.into_iter().map(read))
    }

    /// As [`Revisions::of`], with revisions that are already read.
    #[must_use]
    pub fn among(workload: &Workload, revisions: impl IntoIterator<Item = Arc<Revision>>) -> Self {
        let uid = workload.object().uid();
        let owned = |revision: &Arc<Revision>| !uid.is_empty() && revision.owner_uid == uid;
        let mut list: Vec<_> = revisions.into_iter().filter(owned).collect();
        list.sort_by(|a, b| {
            (a.number.known(), a.created, &a.name).cmp(&(b.number.known(), b.created, &b.name))
        });
        let current = find_current(workload, &list);
        Self { list, current }
    }

    /// Finds the current revision again, because the live template may have changed.
    pub fn update_current(&mut self, workload: &Workload) {
        self.current = find_current(workload, &self.list);
    }

    /// Iterates in ascending order.
    pub fn iter(&self) -> Iter<'_> {
        self.list.iter().map(Arc::as_ref)
    }

    /// Returns the number of revisions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the revision whose template equals the live template; none while the change has no
    /// revision yet.
    #[must_use]
    pub fn current(&self) -> Option<&Revision> {
        self.at(self.current?)
    }

    /// Returns the current revision, or the newest while the live template has none: the workload
    /// was changed while paused, or the change is not observed yet. The pods run this revision.
    #[must_use]
    pub fn current_or_newest(&self) -> Option<&Revision> {
        self.current().or(self.last())
    }

    /// Returns the revision `steps` before the current one.
    #[must_use]
    pub fn steps_back(&self, steps: usize) -> Option<&Revision> {
        let current = self.current.or(self.list.len().checked_sub(1))?;
        self.at(current.checked_sub(steps)?)
    }

    /// Whether this is the current revision.
    #[must_use]
    pub fn is_current(&self, revision: &Revision) -> bool {
        self.current().is_some_and(|current| current.name == revision.name)
    }

    fn last(&self) -> Option<&Revision> {
        self.list.last().map(Arc::as_ref)
    }

    fn at(&self, index: usize) -> Option<&Revision> {
        self.list.get(index).map(Arc::as_ref)
    }
}

/// Iterates in ascending order.
pub(super) type Iter<'a> =
    std::iter::Map<std::slice::Iter<'a, Arc<Revision>>, fn(&'a Arc<Revision>) -> &'a Revision>;

impl<'a> IntoIterator for &'a Revisions {
    type Item = &'a Revision;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Returns the index of the revision with the live template. Several can have it, of which the controller uses one.
fn find_current(workload: &Workload, list: &[Arc<Revision>]) -> Option<usize> {
    let live = workload.template_digest();
    let alike = list.iter().enumerate().filter(|(_, revision)| revision.digest == live);
    let (indices, alike): (Vec<_>, Vec<_>) =
        alike.map(|(index, revision)| (index, (revision.created, revision.name.as_str()))).unzip();
    indices.get(workload.kind().revisions().current(&alike)?).copied()
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

    /// Revisions by number, creation second and image, named `r0`, `r1` and so on.
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

    fn names(revisions: &Revisions) -> [Option<&str>; 2] {
        [revisions.current(), revisions.current_or_newest()]
            .map(|revision| revision.map(|revision| revision.name.as_str()))
    }

    #[test]
    fn the_current_revision_has_the_live_template() {
        let kept = [(1, 1, "x:1"), (3, 3, "x:3"), (4, 2, "x:2")];
        for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
            for (live, expected) in [
                ("x:2", [Some("r2"), Some("r2")]),
                ("x:3", [Some("r1"), Some("r1")]),
                ("x:1", [Some("r0"), Some("r0")]),
                // Changed while paused, or not observed yet: the pods run the newest revision.
                ("x:9", [None, Some("r2")]),
            ] {
                assert_eq!(names(&revisions(kind, live, &kept)), expected, "{kind} {live}");
            }
            assert_eq!(names(&revisions(kind, "x:1", &[])), [None; 2]);
        }
    }

    #[test]
    fn of_equal_templates_a_deployment_uses_the_oldest_and_the_others_the_newest() {
        let kept = [(1, 5, "x:1"), (2, 2, "x:1"), (3, 3, "x:1")];
        assert_eq!(names(&revisions("Deployment", "x:1", &kept))[0], Some("r1"));
        assert_eq!(names(&revisions("StatefulSet", "x:1", &kept))[0], Some("r2"));
    }

    #[test]
    fn steps_back_are_counted_from_the_current_revision() {
        let revisions = revisions("DaemonSet", "x:2", &[(1, 1, "x:1"), (2, 2, "x:2"), (3, 3, "x:3")]);
        let back = |steps| revisions.steps_back(steps).map(|revision| revision.name.as_str());
        assert_eq!([back(0), back(1), back(2), back(usize::MAX)], [Some("r1"), Some("r0"), None, None]);
    }

    #[test]
    fn revisions_of_other_owners_are_ignored() {
        let stranger = json!({"kind": "ReplicaSet", "metadata": {"name": "x", "ownerReferences": [{"controller": true, "uid": "other"}]}});
        let orphan = json!({"kind": "ReplicaSet", "metadata": {"name": "y"}});
        let objects = [stranger, orphan].map(|object| Object::read(object).unwrap());
        assert!(Revisions::of(&workload("Deployment", "x"), objects).is_empty());
    }
}
