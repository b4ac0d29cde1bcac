//! Reasons to doubt that a rollback goes to the right revision.

use super::TargetRevision;
use crate::model::revision::Revision;
use crate::model::status::observation::Observation;

/// A reason to ask before a rollback.
#[derive(Clone, Copy, Debug)]
pub enum Doubt<'a> {
    /// The revision has pods, and none of them is ready.
    NotReady {
        /// The number of its pods.
        pods: usize,
    },
    /// The default target is what a rollback left just before. Going there ends that rollback.
    UndoneBefore {
        /// The current revision, to which that rollback went.
        current: &'a Revision,
        /// The number of the current revision before that rollback, if it is recorded.
        was: Option<i64>,
    },
}

/// Returns the reasons to doubt a rollback from the current revision to `target`. A user who names a revision
/// may want to take a rollback back.
#[must_use]
pub fn doubts<'a>(observation: &'a Observation, target: &Revision, word: &TargetRevision) -> Vec<Doubt<'a>> {
    let count = observation.pod_count(target).filter(|count| count.total > 0 && count.ready == 0);
    let not_ready = count.map(|count| Doubt::NotReady { pods: count.total });
    let current = observation.revisions.current().filter(|_| *word == TargetRevision::Previous);
    let undone = current.filter(|current| was_undone(target, current)).map(|current| {
        let was = current.past_numbers.last().copied();
        Doubt::UndoneBefore { current, was }
    });
    not_ready.into_iter().chain(undone).collect()
}

/// Whether the rollout of `current` went back from `revision`: it had a lower number before, or it is older.
/// The controller of a Deployment records past numbers; the other controllers only renumber.
fn was_undone(revision: &Revision, current: &Revision) -> bool {
    let Some((number, now)) = revision.number.known().zip(current.number.known()) else { return false };
    let was_lower = current.past_numbers.last().is_some_and(|was| *was < number);
    let is_older = current.created.zip(revision.created).is_some_and(|(current, other)| current < other);
    number < now && (was_lower || is_older)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::object::Object;
    use crate::model::api::pod::Pod;
    use crate::model::revision::Revisions;
    use crate::model::workload::Workload;
    use serde_json::{Value, json};

    fn template(image: &str) -> Value {
        json!({"spec": {"containers": [{"name": "c", "image": image}]}})
    }

    /// A workload on `x:1`. A revision is its number, the second of its creation, its image, and its past
    /// numbers. The pods run `x:2`.
    fn observation(kind: &str, kept: &[(i64, i64, &str, &str)], pods: &[bool]) -> Observation {
        let object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": {"template": template("x:1")}});
        let workload = Workload::of(Object::read(object).unwrap()).unwrap();
        let revisions = kept.iter().map(|(number, second, image, past)| {
            let revision = json!({
                "kind": "X", "revision": number, "data": {"spec": {"template": template(image)}},
                "spec": {"template": template(image)},
                "metadata": {"name": image, "uid": image, "creationTimestamp": format!("2026-11-20T13:00:{second:02}Z"),
                    "annotations": {"deployment.kubernetes.io/revision": number.to_string(),
                        "deployment.kubernetes.io/revision-history": past},
                    "ownerReferences": [{"controller": true, "uid": "u"}]},
            });
            Object::read(revision).unwrap()
        });
        let pods = pods.iter().map(|ready| {
            let (owner, status) = (if kind == "Deployment" { "x:2" } else { "u" }, if *ready { "True" } else { "False" });
            let pod = json!({"kind": "Pod", "metadata": {"name": "w-0", "labels": {"controller-revision-hash": "x:2"},
                "ownerReferences": [{"controller": true, "uid": owner}]},
                "status": {"conditions": [{"type": "Ready", "status": status}]}});
            Pod::read(&Object::read(pod).unwrap()).into()
        });
        Observation {
            pods: Some(pods.collect()),
            events: None,
            revisions: Revisions::of(&workload, revisions),
            workload,
        }
    }

    fn doubts_of(observation: &Observation, word: &TargetRevision) -> Vec<String> {
        let target = observation.revisions.iter().find(|revision| revision.name == "x:2").unwrap();
        let words = doubts(observation, target, word).into_iter().map(|doubt| match doubt {
            Doubt::NotReady { pods } => format!("{pods} not ready"),
            Doubt::UndoneBefore { current, was } => format!("undone by {} (was {was:?})", current.label()),
        });
        words.collect()
    }

    #[test]
    fn what_was_undone_just_before_is_doubtful() {
        let undone = [(2, 2, "x:2", ""), (3, 1, "x:1", "1")];
        for (kind, kept, expected) in [
            ("Deployment", undone, &["undone by 3 (was Some(1))"][..]),
            ("StatefulSet", undone, &["undone by 3 (was None)"]),
            ("Deployment", [(1, 1, "x:2", ""), (2, 2, "x:1", "")], &[]),
            ("StatefulSet", [(1, 1, "x:2", ""), (2, 2, "x:1", "")], &[]),
        ] {
            let observation = observation(kind, &kept, &[]);
            assert_eq!(doubts_of(&observation, &TargetRevision::Previous), expected, "{kind} {kept:?}");
            let named = doubts_of(&observation, &TargetRevision::Stable);
            assert!(named.is_empty(), "a revision that was named: {named:?}");
        }
    }

    #[test]
    fn a_revision_whose_pods_are_not_ready_is_doubtful() {
        let kept = [(1, 1, "x:2", ""), (2, 2, "x:1", "")];
        for (pods, expected) in
            [(&[false, false][..], &["2 not ready"][..]), (&[false, true], &[]), (&[], &[])]
        {
            let observation = observation("Deployment", &kept, pods);
            for word in [TargetRevision::Previous, TargetRevision::Stable] {
                assert_eq!(doubts_of(&observation, &word), expected);
            }
        }
    }
}
