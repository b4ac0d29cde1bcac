//! Which revision to go back to.

use crate::error::{Error, ErrorKind, Result};
use crate::model::hold::Hold;
use crate::model::observed::Observed;
use crate::model::revision::{Revision, RevisionWord};
use crate::model::step::{Plan, is_on_the_way_back};
use crate::model::workload::Workload;

/// What was asked for after `--to-revision`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// Nothing: the revision before the running one.
    #[default]
    Previous,
    /// `stable`: the revision that carries the service now, other than the one being rolled out.
    Stable,
    /// A revision by any of its words.
    Named(RevisionWord),
}

impl Goal {
    /// Finds the revision that is meant.
    ///
    /// # Errors
    /// When there is none, or when it could only be guessed; what there is to choose from is listed.
    pub fn find<'a>(&self, observed: &'a Observed) -> Result<&'a Revision> {
        match self {
            Self::Previous => previous(observed).ok_or_else(|| nothing_before(&observed.workload)),
            Self::Stable => stable(observed),
            Self::Named(word) => word.find_after("--to-revision", &observed.revisions),
        }
    }

    /// Finds the revision that kubectl would take: by number alone, the second highest by default.
    ///
    /// # Errors
    /// kubectl's own.
    pub fn find_as_kubectl<'a>(&self, observed: &'a Observed) -> Result<&'a Revision> {
        let numbered = || observed.revisions.iter().filter(|revision| revision.number.known().is_some());
        match self {
            Self::Named(RevisionWord::Number(number)) => {
                let found = numbered().find(|revision| revision.number.known() == Some(*number));
                found.ok_or_else(|| not_in_history(*number))
            }
            Self::Previous => numbered().rev().nth(1).ok_or_else(|| nothing_before(&observed.workload)),
            other => other.find(observed),
        }
    }
}

/// Design rule 11: the newest beside the running one. Once the controller has seen the live template
/// the running one is the newest and this is the one before it; until then the newest is what the
/// pods run, whether the live template is new or an old one that is still to be renumbered.
///
/// What goes back already is to get there: another `undo` does not turn it round.
fn previous(observed: &Observed) -> Option<&Revision> {
    let revisions = &observed.revisions;
    if is_on_the_way_back(&observed.workload) {
        return revisions.running();
    }
    before_the_hold(observed).or_else(|| revisions.iter().rfind(|revision| !revisions.is_running(revision)))
}

/// What ran before a hold of ours, while that is in force: what its plan was begun from, or what carries
/// the service while it is paused. Who changes a template twice under a hold has made a revision that
/// never ran, and the newest beside the running one would be that.
fn before_the_hold(observed: &Observed) -> Option<&Revision> {
    let hold = Hold::in_force(&observed.workload)?;
    match Plan::of(&hold).ok().flatten() {
        Some(plan) => {
            let mut others = observed.revisions.iter().filter(|one| !observed.revisions.is_running(one));
            others.find(|one| plan.from.as_ref() == Some(&one.name))
        }
        None => stable(observed).ok(),
    }
}

/// The revision that carries the service: the one a StatefulSet's controller names, or else the one
/// with the most available pods beside the running one. Of two with as many, neither is taken.
fn stable(observed: &Observed) -> Result<&Revision> {
    let workload = &observed.workload;
    let others = || observed.revisions.iter().filter(|revision| !observed.revisions.is_running(revision));
    let found = match workload {
        Workload::StatefulSet(_) => {
            let name = workload.recorded_stable_revision();
            name.and_then(|name| others().find(|revision| revision.name == name))
        }
        Workload::Deployment(_) | Workload::DaemonSet(_) => {
            let counted = others().map(|revision| (available(observed, revision), revision));
            let mut counted: Vec<_> = counted.filter(|(count, _)| *count > 0).collect();
            counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            match counted.as_slice() {
                [(most, _), (next, _), ..] if most == next => None,
                [(_, revision), ..] => Some(*revision),
                [] => None,
            }
        }
    };
    found.ok_or_else(|| nothing_stable(observed))
}

/// A ReplicaSet says how many of its pods are available; for a ControllerRevision the ready ones are
/// counted.
fn available(observed: &Observed, revision: &Revision) -> u64 {
    match &observed.workload {
        Workload::Deployment(_) => revision.recorded.available as u64,
        _ => observed.count(revision).map_or(0, |count| count.ready as u64),
    }
}

fn nothing_before(workload: &Workload) -> Error {
    let compat = match workload {
        Workload::Deployment(_) => format!("no rollout history found for deployment {:?}", workload.name()),
        _ => "no last revision to roll back to".to_owned(),
    };
    Error::new(ErrorKind::NotFound, format!("{} has no revision to go back to", workload.target()))
        .hint(format!("kubectl rollout2 history {}", workload.command_target()))
        .in_compat(compat)
}

fn not_in_history(number: i64) -> Error {
    let sentence = format!("unable to find specified revision {number} in history");
    Error::new(ErrorKind::NotFound, sentence)
}

fn nothing_stable(observed: &Observed) -> Error {
    let candidates: Vec<String> = observed
        .revisions
        .iter()
        .map(|revision| format!("{} ({} available)", revision.label(), available(observed, revision)))
        .collect();
    let candidates =
        if candidates.is_empty() { "there are no revisions".to_owned() } else { candidates.join(", ") };
    Error::new(
        ErrorKind::NotFound,
        format!(
            "no revision of {} but the running one is known to carry the service: {candidates}",
            observed.workload.target()
        ),
    )
    .hint(format!(
        "choose one: kubectl rollout2 undo {} --to-revision NUMBER",
        observed.workload.command_target()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::object::Object;
    use crate::model::pod::Pod;
    use crate::model::revision::Revisions;
    use serde_json::{Value, json};

    fn template(image: &str) -> Value {
        json!({"spec": {"containers": [{"name": "c", "image": image}]}})
    }

    /// Revisions by number, image and available pods.
    fn observed(kind: &str, live: &str, status: &Value, kept: &[(i64, &str, i64)]) -> Observed {
        let object = json!({"kind": kind, "metadata": {"name": "w", "uid": "u"}, "spec": {"template": template(live)}, "status": status});
        let workload = Workload::of(Object::read(object).unwrap()).unwrap();
        let revisions = kept.iter().map(|(number, image, available)| {
            let revision = json!({
                "kind": "X", "revision": number, "data": {"spec": {"template": template(image)}}, "spec": {"template": template(image)},
                "metadata": {"name": format!("w-{number}"), "labels": {"controller-revision-hash": number.to_string()},
                    "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                    "ownerReferences": [{"controller": true, "uid": "u"}]},
                "status": {"availableReplicas": available},
            });
            Object::read(revision).unwrap()
        });
        let pods = kept.iter().flat_map(|(number, _, available)| {
            (0..*available).map(move |index| {
                let hash = if kind == "StatefulSet" { format!("w-{number}") } else { number.to_string() };
                let pod = json!({"kind": "Pod", "metadata": {"name": format!("w-{number}-{index}"), "labels": {"controller-revision-hash": hash},
                    "ownerReferences": [{"controller": true, "uid": if kind == "Deployment" { "rs" } else { "u" }}]}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
                Pod::read(&Object::read(pod).unwrap())
            })
        });
        Observed {
            revisions: Revisions::of(&workload, revisions),
            pods: Some(pods.collect()),
            events: None,
            workload,
        }
    }

    fn found(goal: &Goal, observed: &Observed) -> Option<i64> {
        goal.find(observed).ok().and_then(|revision| revision.number.known())
    }

    #[test]
    fn the_default_is_the_newest_beside_the_running_one_seen_by_the_controller_or_not() {
        let kept = [(1, "x:1", 0), (2, "x:2", 0), (3, "x:3", 3)];
        for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
            for (live, expected) in [
                ("x:3", Some(2)),
                ("x:9", Some(3)), // a change that is no revision yet: its pods run 3
                ("x:2", Some(3)), // gone back to 2, and not renumbered yet: its pods run 3
            ] {
                assert_eq!(
                    found(&Goal::Previous, &observed(kind, live, &json!({}), &kept)),
                    expected,
                    "{kind} {live}"
                );
            }
            assert_eq!(found(&Goal::Previous, &observed(kind, "x:1", &json!({}), &kept[..1])), None);
            assert_eq!(found(&Goal::Previous, &observed(kind, "x:1", &json!({}), &[])), None);
        }
    }

    #[test]
    fn stable_is_what_carries_the_service_and_never_a_guess() {
        let kept = [(1, "x:1", 2), (2, "x:2", 4), (3, "x:3", 0), (4, "x:4", 9)];
        for kind in ["Deployment", "DaemonSet"] {
            assert_eq!(found(&Goal::Stable, &observed(kind, "x:4", &json!({}), &kept)), Some(2), "{kind}");
            let equal = [(1, "x:1", 2), (2, "x:2", 2), (3, "x:3", 1)];
            assert_eq!(found(&Goal::Stable, &observed(kind, "x:3", &json!({}), &equal)), None, "{kind}");
            assert_eq!(found(&Goal::Stable, &observed(kind, "x:4", &json!({}), &kept[3..])), None, "{kind}");
        }
        let updating = json!({"currentRevision": "w-1", "updateRevision": "w-4"});
        assert_eq!(found(&Goal::Stable, &observed("StatefulSet", "x:4", &updating, &kept)), Some(1));
        let at_rest = json!({"currentRevision": "w-4", "updateRevision": "w-4"});
        let refused = Goal::Stable.find(&observed("StatefulSet", "x:4", &at_rest, &kept)).unwrap_err();
        assert!(refused.sentence().contains("2 (4 available)"), "{}", refused.sentence());
    }

    #[test]
    fn kubectl_counts_numbers_only() {
        let kept = [(1, "x:1", 0), (3, "x:3", 0), (4, "x:4", 0)];
        let number = |goal: &Goal, live: &str| {
            let observed = observed("Deployment", live, &json!({}), &kept);
            goal.find_as_kubectl(&observed)
                .map(|revision| revision.number.known())
                .map_err(|error| error.compat_sentence())
        };
        assert_eq!(number(&Goal::Previous, "x:9"), Ok(Some(3)));
        assert_eq!(number(&Goal::Named(RevisionWord::Number(4)), "x:4"), Ok(Some(4)));
        for missing in [2, -1] {
            let expected = format!("unable to find specified revision {missing} in history");
            assert_eq!(number(&Goal::Named(RevisionWord::Number(missing)), "x:4"), Err(expected));
        }
    }
}
