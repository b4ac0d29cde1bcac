//! The revision that `undo` rolls back to.

use crate::error::{Error, ErrorKind, Result};
use crate::model::change::plan::{Hold, is_rolling_back};
use crate::model::revision::{Revision, RevisionNumber, RevisionWord};
use crate::model::status::observation::{Observation, PodCount};
use crate::model::text::shell_command::command;
use crate::model::workload::Workload;
use crate::model::workload::kind::RevisionStore;

/// The value of `--to-revision`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetRevision {
    /// The default: the revision before the current one.
    #[default]
    Previous,
    /// `stable`: the stable revision.
    Stable,
    /// A revision by any of its words.
    Named(RevisionWord),
}

impl TargetRevision {
    /// Finds the revision.
    ///
    /// # Errors
    /// If there is none, or if several match equally. The message lists the candidates.
    pub fn find<'a>(&self, observation: &'a Observation) -> Result<&'a Revision> {
        match self {
            Self::Previous => {
                previous(observation)?.ok_or_else(|| no_previous_revision(&observation.workload))
            }
            Self::Stable => observation.stable().ok_or_else(|| no_stable_revision(observation)),
            Self::Named(word) => word.find_for_flag("--to-revision", &observation.revisions),
        }
    }

    /// Finds the revision as kubectl does: by number only, by default the second highest.
    ///
    /// # Errors
    /// kubectl's own.
    pub fn find_as_kubectl<'a>(&self, observation: &'a Observation) -> Result<&'a Revision> {
        let mut listed = numbered_as_kubectl(observation);
        match self {
            Self::Named(RevisionWord::Number(wanted)) => {
                let found = listed.into_iter().find(|(number, _)| number == wanted);
                found.map(|(_, revision)| revision).ok_or_else(|| not_in_history(*wanted))
            }
            Self::Previous => {
                let previous = match observation.workload.kind().revisions {
                    RevisionStore::ReplicaSets => second_highest(&listed),
                    RevisionStore::ControllerRevisions { .. } => {
                        listed.pop();
                        listed.pop().map(|(_, revision)| revision)
                    }
                };
                previous.ok_or_else(|| no_previous_revision(&observation.workload))
            }
            Self::Stable | Self::Named(_) => self.find(observation),
        }
    }
}

/// Returns the revisions with the numbers that kubectl reads, in the order in which it goes through them: of a
/// Deployment the oldest ReplicaSet first and the one with the live template last, of the other kinds by
/// number. A missing number is 0, and kubectl skips an unreadable one.
fn numbered_as_kubectl(observation: &Observation) -> Vec<(i64, &Revision)> {
    let numbered = observation.revisions.iter().filter_map(|revision| match revision.number {
        RevisionNumber::Known(number) => Some((number, revision)),
        RevisionNumber::Missing => Some((0, revision)),
        RevisionNumber::Unreadable(_) => None,
    });
    let mut numbered: Vec<_> = numbered.collect();
    match observation.workload.kind().revisions {
        RevisionStore::ReplicaSets => numbered.sort_by_key(|&(_, revision)| {
            (observation.revisions.is_current(revision), revision.created, revision.name.as_str())
        }),
        RevisionStore::ControllerRevisions { .. } => numbered.sort_by_key(|(number, _)| *number),
    }
    numbered
}

/// Returns the revision with the second highest number. Of several with the same number it is the first listed, as
/// in kubectl's one pass over the ReplicaSets; where several have the highest, it is the second of those.
fn second_highest<'a>(listed: &[(i64, &'a Revision)]) -> Option<&'a Revision> {
    let (mut highest, mut second) = (None::<(i64, &Revision)>, None::<(i64, &Revision)>);
    for &(number, revision) in listed {
        if highest.is_none_or(|(highest, _)| highest < number) {
            second = highest.replace((number, revision));
        } else if second.is_none_or(|(second, _)| second < number) {
            second = Some((number, revision));
        }
    }
    second.map(|(_, revision)| revision)
}

/// Returns the newest revision other than the current one. Once the controller observed the live
/// template, this is the one before the current revision. Until then it is the revision that the
/// pods run.
///
/// A rollback of `step` under way is completed; another `undo` does not reverse it.
fn previous(observation: &Observation) -> Result<Option<&Revision>> {
    let revisions = &observation.revisions;
    if is_rolling_back(&observation.workload) {
        return Ok(revisions.current());
    }
    if let Some(before) = revision_before_hold(observation)? {
        return Ok(Some(before));
    }
    let others = || revisions.iter().filter(|revision| !revisions.is_current(revision));
    let Some(newest) = others().next_back() else { return Ok(None) };
    match newest.number.known() {
        // Several revisions have the number: refuse, as for --to-revision.
        Some(number) if others().filter(|other| other.number.known() == Some(number)).count() > 1 => {
            RevisionWord::Number(number).find_for_flag("--to-revision", revisions).map(Some)
        }
        _ => Ok(Some(newest)),
    }
}

/// Returns the revision that served before the hold in force: the start of its plan, or the stable
/// revision during a pause. If the template changed twice during a hold, there is a revision
/// that no pod ever ran. It must not be the default of `undo`.
///
/// # Errors
/// When the stable revision of a plan is not stored any more. Any other revision would replace pods that the plan has
/// not released.
fn revision_before_hold(observation: &Observation) -> Result<Option<&Revision>> {
    let Some(hold) = Hold::in_force(&observation.workload) else { return Ok(None) };
    let Some(plan) = hold.plan().ok().flatten() else { return Ok(observation.stable()) };
    let Some(from) = &plan.from else { return Ok(None) };
    match observation.revisions.iter().find(|one| one.name == *from) {
        Some(one) => Ok(Some(one).filter(|one| !observation.revisions.is_current(one))),
        None => Err(plan_revision_not_stored(&observation.workload, from)),
    }
}

fn plan_revision_not_stored(workload: &Workload, from: &str) -> Error {
    let sentence = format!(
        "revision {from}, from which the plan of {} began, is not stored any more",
        workload.target()
    );
    Error::new(ErrorKind::NotFound, sentence).hint(command(
        "choose one: kubectl rollout2 undo {} --to-revision NUMBER",
        [workload.command_target()],
    ))
}

fn no_previous_revision(workload: &Workload) -> Error {
    let compat = match workload.kind().revisions {
        RevisionStore::ReplicaSets => {
            format!("no rollout history found for deployment {:?}", workload.name())
        }
        RevisionStore::ControllerRevisions { .. } => "no last revision to roll back to".to_owned(),
    };
    Error::new(ErrorKind::NotFound, format!("{} has no revision to roll back to", workload.target()))
        .hint(command("kubectl rollout2 history {}", [workload.command_target()]))
        .in_compat(compat)
}

fn not_in_history(number: i64) -> Error {
    let sentence = format!("unable to find specified revision {number} in history");
    Error::new(ErrorKind::NotFound, sentence)
}

fn no_stable_revision(observation: &Observation) -> Error {
    let count = observation.pod_counts();
    let ready = |revision| count(revision).unwrap_or_else(|| PodCount::of_replica_set(revision)).ready;
    let candidates = observation.revisions.iter();
    let candidates: Vec<_> =
        candidates.map(|revision| format!("{} ({} ready)", revision.label(), ready(revision))).collect();
    let candidates =
        if candidates.is_empty() { "there are no revisions".to_owned() } else { candidates.join(", ") };
    Error::new(
        ErrorKind::NotFound,
        format!("{} has no stable revision: {candidates}", observation.workload.target()),
    )
    .hint(command(
        "choose one: kubectl rollout2 undo {} --to-revision NUMBER",
        [observation.workload.command_target()],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::object::Object;
    use crate::model::api::pod::Pod;
    use crate::model::revision::Revisions;
    use serde_json::{Value, json};

    fn template(image: &str) -> Value {
        json!({"spec": {"containers": [{"name": "c", "image": image}]}})
    }

    /// Revisions by number, image and available pods.
    fn observation(kind: &str, live: &str, status: &Value, kept: &[(i64, &str, i64)]) -> Observation {
        let object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": {"template": template(live)}, "status": status});
        let workload = Workload::of(Object::read(object).unwrap()).unwrap();
        let revisions = kept.iter().map(|(number, image, available)| {
            let revision = json!({
                "kind": "X", "revision": number, "data": {"spec": {"template": template(image)}}, "spec": {"template": template(image)},
                "metadata": {"name": format!("w-{number}"), "uid": format!("rs-{number}"), "labels": {"controller-revision-hash": number.to_string()},
                    "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                    "ownerReferences": [{"controller": true, "uid": "u"}]},
                "status": {"availableReplicas": available},
            });
            Object::read(revision).unwrap()
        });
        let pods = kept.iter().flat_map(|(number, _, available)| {
            (0..*available).map(move |index| {
                let hash = if kind == "StatefulSet" { format!("w-{number}") } else { number.to_string() };
                let owner = if kind == "Deployment" { format!("rs-{number}") } else { "u".to_owned() };
                let pod = json!({"kind": "Pod", "metadata": {"name": format!("w-{number}-{index}"), "labels": {"controller-revision-hash": hash},
                    "ownerReferences": [{"controller": true, "uid": owner}]}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
                Pod::read(&Object::read(pod).unwrap()).into()
            })
        });
        Observation {
            revisions: Revisions::of(&workload, revisions),
            pods: Some(pods.collect()),
            events: None,
            workload,
        }
    }

    fn found(goal: &TargetRevision, observation: &Observation) -> Option<i64> {
        goal.find(observation).ok().and_then(|revision| revision.number.known())
    }

    #[test]
    fn the_default_is_the_newest_revision_beside_the_current_one() {
        let kept = [(1, "x:1", 0), (2, "x:2", 0), (3, "x:3", 3)];
        for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
            for (live, expected) in [
                ("x:3", Some(2)),
                ("x:9", Some(3)), // the change has no revision yet: the pods run 3
                ("x:2", Some(3)), // rolled back to 2, and not renumbered yet: the pods run 3
            ] {
                assert_eq!(
                    found(&TargetRevision::Previous, &observation(kind, live, &json!({}), &kept)),
                    expected,
                    "{kind} {live}"
                );
            }
            assert_eq!(
                found(&TargetRevision::Previous, &observation(kind, "x:1", &json!({}), &kept[..1])),
                None
            );
            assert_eq!(found(&TargetRevision::Previous, &observation(kind, "x:1", &json!({}), &[])), None);
        }
    }

    #[test]
    fn stable_is_an_error_on_a_tie() {
        let kept = [(1, "x:1", 2), (2, "x:2", 4), (3, "x:3", 0), (4, "x:4", 9)];
        for kind in ["Deployment", "DaemonSet"] {
            assert_eq!(
                found(&TargetRevision::Stable, &observation(kind, "x:4", &json!({}), &kept)),
                Some(2),
                "{kind}"
            );
            let equal = [(1, "x:1", 2), (2, "x:2", 2), (3, "x:3", 1)];
            assert_eq!(
                found(&TargetRevision::Stable, &observation(kind, "x:3", &json!({}), &equal)),
                None,
                "{kind}"
            );
            assert_eq!(
                found(&TargetRevision::Stable, &observation(kind, "x:4", &json!({}), &kept[3..])),
                None,
                "{kind}"
            );
        }
        let updating = json!({"currentRevision": "w-1", "updateRevision": "w-4"});
        assert_eq!(
            found(&TargetRevision::Stable, &observation("StatefulSet", "x:4", &updating, &kept)),
            Some(1)
        );
        let at_rest = json!({"currentRevision": "w-4", "updateRevision": "w-4"});
        let refused =
            TargetRevision::Stable.find(&observation("StatefulSet", "x:4", &at_rest, &kept)).unwrap_err();
        assert!(refused.sentence().contains("2 (4 ready)"), "{}", refused.sentence());
    }

    /// Reference 6.3: two ReplicaSets have the same number while the controller renumbers them.
    #[test]
    fn of_equal_numbers_kubectl_keeps_the_first_listed() {
        for (numbers, live, expected) in [
            (&[2, 2, 3][..], "x:2", Some("r0")),
            (&[2, 3, 2], "x:1", Some("r0")),
            (&[3, 2, 2], "x:0", Some("r1")), // the current one is listed last
            (&[1, 3, 3], "x:2", Some("r2")),
            (&[3], "x:0", None),
        ] {
            let object = json!({"kind": "Deployment", "metadata": {"name": "w", "uid": "u"}, "spec": {"template": template(live)}});
            let workload = Workload::of(Object::read(object).unwrap()).unwrap();
            let replica_sets = numbers.iter().enumerate().map(|(index, number)| {
                let replica_set = json!({"kind": "ReplicaSet", "spec": {"template": template(&format!("x:{index}"))},
                    "metadata": {"name": format!("r{index}"), "creationTimestamp": format!("2026-11-20T13:00:0{index}Z"),
                        "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                        "ownerReferences": [{"controller": true, "uid": "u"}]}});
                Object::read(replica_set).unwrap()
            });
            let revisions = Revisions::of(&workload, replica_sets);
            let observation = Observation { workload, revisions, pods: None, events: None };
            let found = TargetRevision::Previous.find_as_kubectl(&observation);
            assert_eq!(found.ok().map(|revision| revision.name.as_str()), expected, "{numbers:?}");
        }
    }

    #[test]
    fn an_ambiguous_revision_number_is_rejected() {
        let kept = [(1, "x:1", 0), (2, "x:2", 0), (2, "x:3", 0), (4, "x:4", 3)];
        let refused =
            TargetRevision::Previous.find(&observation("Deployment", "x:4", &json!({}), &kept)).unwrap_err();
        assert!(refused.sentence().contains('2'), "{}", refused.sentence());
        let kept = [(1, "x:1", 0), (1, "x:2", 0), (3, "x:3", 0), (4, "x:4", 3)];
        assert_eq!(
            found(&TargetRevision::Previous, &observation("Deployment", "x:4", &json!({}), &kept)),
            Some(3)
        );
    }

    #[test]
    fn kubectl_counts_numbers_only() {
        let kept = [(1, "x:1", 0), (3, "x:3", 0), (4, "x:4", 0)];
        let number = |goal: &TargetRevision, live: &str| {
            let observation = observation("Deployment", live, &json!({}), &kept);
            goal.find_as_kubectl(&observation)
                .map(|revision| revision.number.known())
                .map_err(|error| error.compat_sentence())
        };
        assert_eq!(number(&TargetRevision::Previous, "x:9"), Ok(Some(3)));
        assert_eq!(number(&TargetRevision::Named(RevisionWord::Number(4)), "x:4"), Ok(Some(4)));
        for missing in [2, -1] {
            let expected = format!("unable to find specified revision {missing} in history");
            assert_eq!(number(&TargetRevision::Named(RevisionWord::Number(missing)), "x:4"), Err(expected));
        }
    }
}
